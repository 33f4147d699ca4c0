"""Discounted gains, and the place of the first positive."""

from __future__ import annotations

import numpy as np

from pushrank._typing import Array
from pushrank.budget import Budget
from pushrank.exceptions import InvalidData
from pushrank.metrics.ranked import Gains, RankedList, ratio
from pushrank.metrics.registry import metric
from pushrank.metrics.ties import first_positive

TABLE = 4096
"""Places whose discounts are summed one by one; farther ones by a quadrature whose error is below 1e-15."""


@metric(best="high", grades=True, gains=True)
def dcg(ranked: RankedList, *, k: float | Budget | None = None) -> Array:
    """Discounted cumulative gain, Σ gain / log₂(1 + place): the Infinite Push paper's (6.27) for two classes.

    Grades are gains as they stand; for the exponential form give ``gain=2.0**y - 1``. A fraction of a place
    counts by its part. Under "threshold" a run of equal scores is averaged, as scikit-learn does.

    Parameters
    ----------
    k : int, float or Budget, default=None
        Places that count; None means all.

    Returns
    -------
    float
        0 at least, unless gains are negative.

    Examples
    --------
    >>> round(dcg([1, 0, 1], [3, 2, 1]), 4)
    1.5
    """
    return _discounted(ranked, ranked.gains, k)


@metric(best="high", grades=True, gains=True)
def ndcg(ranked: RankedList, *, k: float | Budget | None = None) -> Array:
    """Discounted cumulative gain over that of the best possible order.

    Parameters
    ----------
    k : int, float or Budget, default=None
        Places that count; None means all.

    Returns
    -------
    float
        Between 0 and 1; without weights scikit-learn's `ndcg_score`. Undefined where nothing can be gained.

    Examples
    --------
    >>> round(ndcg([3, 2, 0, 1], [0.9, 0.7, 0.8, 0.1]), 4)
    0.9305
    """
    gain = ranked.items.gain
    if gain is not None and gain.min() < 0:
        raise InvalidData(f"ndcg needs gains that are not negative; the least is {gain.min():g}. Use dcg.")
    ideal = _discounted(ranked, ranked.ideal_gains, k)
    return ratio(_discounted(ranked, ranked.gains, k), ideal)


@metric(best="high", grades=True)
def mrr(ranked: RankedList, *, k: float | Budget | None = None) -> Array:
    """The reciprocal place of the first positive (of a grade above 0), averaged over lists.

    Under "threshold" a positive comes at the end of its run of equal scores.

    Parameters
    ----------
    k : int, float or Budget, default=None
        A first positive beyond place k counts 0; None looks everywhere.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> mrr([0, 1, 0, 1], [4, 3, 2, 1])
    0.5
    """
    blocks = ranked.blocks
    last = np.full(ranked.n_lists, np.inf) if k is None else ranked.places(k)
    first = np.flatnonzero((blocks.positives_above == 0) & (blocks.positives > 0))
    ids, above = blocks.ids[first], blocks.negatives_above[first]
    p, n = blocks.positives[first], blocks.negatives[first]
    place = 1 + above
    if ranked.ties == "threshold":
        place = above + p + n
    value = np.where(ranked.positives > 0, 0.0, np.nan)
    value[ids] = np.where(place <= last[ids], 1 / place, 0.0)
    if ranked.ties == "expected":
        tied = np.flatnonzero(n)
        held = ids[tied]
        value[held] = first_positive(p[tied], n[tied], above[tied], last[held])
    return value


def _discounted(ranked: RankedList, gains: Gains, k: float | Budget | None) -> Array:
    """Σ over runs of the mean gain of their rows times the discounts of their places, per list."""
    if k is None:
        start, width = gains.above, gains.weight
    else:
        last = ranked.places(k)[gains.ids]
        start = np.minimum(gains.above, last)
        width = np.minimum(gains.weight, last - start)
    terms = discounts_between(start, width)
    if not (gains.weight == 1).all():
        terms /= np.where(gains.weight > 0, gains.weight, 1.0)
    terms *= gains.gain
    return ranked.sum(terms, gains.ids)


def discounts_between(start: Array, width: Array) -> Array:
    """The discounts of stretches of places, the place r taking (r − 1, r] and counting 1/log₂(1 + r)."""
    first = np.floor(start)
    whole = (width == 1) & (first == start)
    if whole.all():
        return _discount(start + 1)
    stop = start + width
    last = np.floor(stop)
    sums = _whole_places(first, last)
    sums -= (start - first) * _discount(first + 1)
    sums += (stop - last) * _discount(last + 1)
    # A place by itself is worth its own discount, free of the rounding of sums.
    sums[whole] = _discount(start[whole] + 1)
    return sums


def _discount(place: Array) -> Array:
    value = np.log1p(place)
    return np.divide(np.log(2.0), value, out=value)


def _whole_places(start: Array, stop: Array) -> Array:
    """Σ_{r=start+1}^{stop} 1/log₂(1 + r) for whole numbers, in time that does not grow with them."""
    table = np.concatenate([np.zeros(1), np.cumsum(_discount(np.arange(1.0, TABLE + 1)))])
    near = [table[np.minimum(bound, TABLE).astype(np.intp)] for bound in (start, stop)]
    sums = near[1] - near[0]
    # The sum of a smooth function is its integral over (start + ½, stop + ½) less a 24th of the change of its
    # slope. The integral is taken octave by octave, where Gauss and Legendre's twelve points are exact.
    low, end = np.maximum(start, TABLE) + 0.5, stop + 0.5
    far = np.flatnonzero(end > low)
    sums[far] -= (_discount_slope(end[far]) - _discount_slope(low[far])) / 24
    nodes, weights = np.polynomial.legendre.leggauss(12)
    while len(far):
        left, right = low[far], np.minimum(2 * low[far], end[far])
        half = (right - left) / 2
        points = (left + half)[:, None] + half[:, None] * nodes
        sums[far] += half * (_discount(points) @ weights)
        low[far] = right
        far = far[right < end[far]]
    return sums


def _discount_slope(place: Array) -> Array:
    return -np.log(2.0) / ((1 + place) * np.log1p(place) ** 2)
