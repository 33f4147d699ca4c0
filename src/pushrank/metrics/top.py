"""What stands above the negatives that score highest: the aims of the push papers.

The worked example of the Infinite Push paper, two scorers of equal AUC (its Table 1, Figure 1):

>>> import numpy as np
>>> from pushrank.metrics import auc, average_precision, dcg, positives_at_top, r_infinity
>>> y = np.repeat([1, 0], [4, 6])
>>> one = [9.7, 7.3, 5.2, 4.0, 8.7, 6.3, 3.9, 2.7, 1.1, 0.8]
>>> two = [9.5, 8.1, 7.2, 1.5, 6.3, 5.1, 4.4, 3.1, 2.7, 0.9]
>>> for scores in (one, two):
...     print(positives_at_top(y, scores), r_infinity(y, scores), round(auc(y, scores), 4),
...           round(average_precision(y, scores), 4), round(dcg(y, scores), 5))
1.0 0.75 0.7917 0.7333 2.24306
3.0 0.25 0.7917 0.8611 2.43196
"""

from __future__ import annotations

import numpy as np

from pushrank._typing import Array
from pushrank.metrics.area import area_left
from pushrank.metrics.inputs import require_number
from pushrank.metrics.ranked import RankedList, ratio
from pushrank.metrics.registry import metric


@metric(best="high", total=True)
def positives_at_top(ranked: RankedList) -> Array:
    """Count the positives ranked above every negative.

    Of P positives tied with the highest negatives, N of them, P/(N + 1) are expected to come first, which
    also is the continuation to fractional weights; none do where a threshold takes the run whole.

    Returns
    -------
    float
        Weight of the positives above the highest negative: the aim of [1]_, §3, as a count. O(n), no sort.

    References
    ----------
    .. [1] Agarwal (2011). The Infinite Push. SIAM International Conference on Data Mining.

    Examples
    --------
    >>> positives_at_top([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.1])
    2.0
    """
    return _at_top(ranked)


@metric(best="low")
def r_infinity(ranked: RankedList) -> Array:
    """The share of positives that do not stand above every negative: the Infinite Push's R_∞ [1]_.

    For the bounds of the papers, which count ties against the positives, take ``ties="worst"``.

    Returns
    -------
    float
        1 − `positives_at_top` / number of positives.

    References
    ----------
    .. [1] Agarwal (2011). The Infinite Push. SIAM International Conference on Data Mining, (3.1).

    Examples
    --------
    >>> r_infinity([1, 1, 0, 1, 1], [0.9, 0.8, 0.7, 0.1, 0.0])
    0.5
    """
    return np.where(ranked.negatives > 0, 1.0 - ratio(_at_top(ranked), ranked.positives), np.nan)


@metric(best="high")
def top_fraction_score(ranked: RankedList, *, share: float = 0.05) -> Array:
    """The mean share of positives above the negatives of the highest-scored share.

    It is one minus the mean of the greatest heights, and the partial area under the ROC curve left of
    `share`, divided by it.

    Parameters
    ----------
    share : float, default=0.05
        The share of negatives looked at, in (0, 1]; 1 gives `auc`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> top_fraction_score([1, 0, 1, 0], [4, 3, 2, 1], share=0.5)
    0.5
    """
    require_number("share", share, lambda x: 0 < x <= 1, "a number above 0 and at most 1")
    return area_left(ranked, share) / share


@metric(best="low")
def pnorm_height_cost(ranked: RankedList, *, p: float = 2.0, root: bool = False) -> Array:
    """The mean over negatives of (height)^p, the height being the share of positives not above the negative.

    It is the ranking cost that the P-Norm Push bounds [1]_, as means: p = 1 gives 1 − `auc`, and greater p
    looks nearer the top. The paper counts ties against the positives: ``ties="worst"``. Under "threshold" a
    tie counts one half in the height.

    Parameters
    ----------
    p : float, default=2.0
        The power, at least 1 and finite.
    root : bool, default=False
        Return the cost to the power 1/p, which is comparable over p and tends to `r_infinity`; under
        "expected" it is the root of the expectation.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    .. [1] Rudin (2009). The P-Norm Push. Journal of Machine Learning Research 10, §2 and §3.

    Examples
    --------
    >>> pnorm_height_cost([1, 0, 1, 0], [4, 3, 2, 1], p=2)
    0.125
    """
    rule = "a number of at least 1 and finite (r_infinity is the limit of infinite p)"
    require_number("p", p, lambda x: 1 <= x < np.inf, rule)
    blocks, ids = ranked.blocks, ranked.blocks.ids
    # Where a list has no positive the measure is undefined, whatever is divided by.
    whole = np.maximum(ranked.positives, np.finfo(float).tiny)[ids]
    below = np.maximum(whole - blocks.positives_above - blocks.positives, 0.0) / whole
    cost = np.zeros(len(ids))
    tied = np.flatnonzero(blocks.negatives)
    shares = blocks.positives[tied] / whole[tied]
    if ranked.ties == "threshold":
        cost[tied] = (below[tied] + shares / 2) ** p
    else:
        cost[tied] = _mean_power(below[tied], shares, blocks.positives[tied], p)
    cost *= blocks.negatives
    # The negatives between two runs, and below the last, have all positives above the gap above them.
    following = ranked.negatives[ids]
    follows = np.flatnonzero(ids[1:] == ids[:-1])
    following[follows] = blocks.negatives_above[follows + 1]
    cost += (following - blocks.negatives_above - blocks.negatives) * below**p
    first = np.append(True, ids[1:] != ids[:-1])[: len(ids)]
    cost[first] += blocks.negatives_above[first]
    value = np.where(ranked.positives > 0, ratio(ranked.sum(cost, ids), ranked.negatives), np.nan)
    return value ** (1 / p) if root else value


def _at_top(ranked: RankedList) -> Array:
    blocks = ranked.head
    first = blocks.positives / (blocks.negatives + 1)
    if ranked.ties == "threshold":
        first = np.where(blocks.negatives > 0, 0.0, first)
    return ranked.sum(np.where(blocks.negatives_above == 0, first, 0.0), blocks.ids)


def _mean_power(low: Array, width: Array, positives: Array, p: float) -> Array:
    """The mean of height^p of a negative that stands anywhere among its run's positives, all places alike."""
    units = np.maximum(np.floor(positives), 1.0).astype(np.intp)
    part = np.maximum(positives - units, 0.0)
    mean = _mean_over_units(low, width, units, p)
    between = np.flatnonzero(part)
    if len(between):
        more = _mean_over_units(low[between], width[between], units[between] + 1, p)
        mean[between] += part[between] * (more - mean[between])
    return mean


def _mean_over_units(low: Array, width: Array, units: Array, p: float) -> Array:
    counts = units + 1
    starts = np.cumsum(counts) - counts
    runs = np.repeat(np.arange(len(units)), counts)
    place = np.arange(len(runs)) - starts[runs]
    heights = np.maximum(low[runs] + width[runs] * (place / units[runs]), 0.0)
    return np.add.reduceat(heights**p, starts) / counts if len(starts) else np.zeros(0)
