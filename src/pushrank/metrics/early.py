"""Early retrieval as virtual screening measures it: exponential weights of the places."""

from __future__ import annotations

import warnings

import numpy as np

from pushrank._typing import Array
from pushrank.exceptions import PushRankWarning
from pushrank.metrics.inputs import require_number
from pushrank.metrics.ranked import RankedList, ratio
from pushrank.metrics.registry import metric


@metric(best="high")
def rie(ranked: RankedList, *, alpha: float = 20.0) -> Array:
    """Robust initial enhancement: the positives' mean of exp(−alpha · place / n), relative to random order.

    Under "threshold" a positive comes at the end of its run of equal scores.

    Parameters
    ----------
    alpha : float, default=20.0
        How early is early; the first 1/alpha of the list carries most of the weight.

    Returns
    -------
    float
        1 for random order.

    References
    ----------
    .. [1] Sheridan et al. (2001). Protocols for bridging the peptide to nonpeptide gap. Journal of Chemical
       Information and Computer Sciences 41.

    Examples
    --------
    >>> round(rie([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], alpha=2.0), 4)
    1.3815
    """
    return _rie(ranked, alpha)


@metric(best="high")
def bedroc(ranked: RankedList, *, alpha: float = 20.0) -> Array:
    """Boltzmann-enhanced discrimination of ROC [1]_: `rie` between its least and its greatest value.

    It is the chance that a positive comes before a place drawn from the exponential law only where
    alpha · (share of positives) is well below 1; a warning says where it is not.

    Parameters
    ----------
    alpha : float, default=20.0
        How early is early; the first 1/alpha of the list carries most of the weight.

    Returns
    -------
    float
        Between 0 and 1; 1 where every row is positive.

    References
    ----------
    .. [1] Truchon and Bayly (2007). Evaluating virtual screening methods. J. Chem. Inf. Model. 47.

    Examples
    --------
    >>> y = [1] + [0] * 99
    >>> round(bedroc(y, range(100, 0, -1)), 4)
    1.0
    """
    value = _rie(ranked, alpha)
    share = ranked.positives / ranked.sizes
    if alpha * share.max() > 0.5:
        warnings.warn(
            f"bedroc: alpha · (share of positives) is {alpha * share.max():.2g}, not well below 1, where the "
            f"measure loses its meaning; lower alpha={alpha:g}, or use enrichment_factor.",
            PushRankWarning,
            stacklevel=4,
        )
    some = np.where(share > 0, share, 0.5)
    greatest = np.expm1(-alpha * some) / (some * np.expm1(-alpha))
    least = np.exp(-alpha * (1 - some)) * greatest
    full = share == 1
    return np.where(full, 1.0, (value - least) / np.where(full, 1.0, greatest - least))


def _rie(ranked: RankedList, alpha: float) -> Array:
    require_number("alpha", alpha, lambda x: 0 < x < np.inf, "a number above 0 and finite")
    gains = ranked.counts
    rate = alpha / ranked.sizes[gains.ids]
    if ranked.ties == "threshold":
        # Σ exp(−rate · place) over all places, by which a mean is divided, is a geometric sum.
        terms = gains.gain * np.exp(-rate * (gains.above + gains.weight)) * np.expm1(rate)
    else:
        terms = gains.gain / gains.weight * np.exp(-rate * gains.above) * -np.expm1(-rate * gains.weight)
    total = ranked.sum(terms, gains.ids) * ranked.sizes / -np.expm1(-alpha)
    return ratio(total, ranked.positives)
