"""What the first k hold, precision averaged over the positives, and recall at a precision."""

from __future__ import annotations

import numpy as np

from pushrank._typing import Array
from pushrank.budget import Budget
from pushrank.exceptions import InvalidParameter
from pushrank.metrics.inputs import require_number
from pushrank.metrics.ranked import Blocks, RankedList, ratio
from pushrank.metrics.registry import metric
from pushrank.metrics.ties import last_reach


@metric(best="high", gains=True)
def precision_at_k(ranked: RankedList, *, k: float | Budget) -> Array:
    """The share of positives among the first k of one list (of every list, where there are several).

    Parameters
    ----------
    k : int, float or Budget
        Places acted on: a count, a share of the list, or k of a list of N. A fraction of a place counts by
        its part. A list shorter than k, among longer ones, is acted on whole.

    Returns
    -------
    float
        Weight of the positives (or the gain) in the first k, over the weight acted on. Under "threshold", the
        run of equal scores that holds place k is taken whole.

    Examples
    --------
    >>> precision_at_k([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.1], k=3)
    0.6666666666666666
    """
    acted, gain = ranked.first(ranked.places(k))
    return gain / acted


@metric(best="high", gains=True)
def recall_at_k(ranked: RankedList, *, k: float | Budget) -> Array:
    """The share of all positives that stands among the first k.

    Parameters
    ----------
    k : int, float or Budget
        Places acted on, as in `precision_at_k`.

    Returns
    -------
    float
        Weight of the positives (or the gain) in the first k, over that of the whole list.

    Examples
    --------
    >>> recall_at_k([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.1], k=2)
    0.6666666666666666
    """
    _, gain = ranked.first(ranked.places(k))
    return ratio(gain, ranked.total_gain)


@metric(best="high", gains=True)
def lift(ranked: RankedList, *, k: float | Budget) -> Array:
    """How many times more positives the first k hold than k rows drawn at random.

    Parameters
    ----------
    k : int, float or Budget
        Places acted on, as in `precision_at_k`.

    Returns
    -------
    float
        `precision_at_k` over the share of positives in the list.

    Examples
    --------
    >>> lift([1, 1, 0, 0], [0.9, 0.8, 0.7, 0.1], k=0.5)
    2.0
    """
    acted, gain = ranked.first(ranked.places(k))
    return ratio(gain, ranked.total_gain) * ranked.sizes / acted


@metric(best="high", gains=True)
def enrichment_factor(ranked: RankedList, *, k: float | Budget) -> Array:
    """The enrichment factor of virtual screening: `lift`, a share being rounded up to whole places.

    Parameters
    ----------
    k : int, float or Budget
        Places acted on; a share such as 0.01 gives EF1%, over the next whole number of places.

    Returns
    -------
    float
        Share of positives among the first places over that in the list.

    Examples
    --------
    >>> enrichment_factor([1, 0, 0, 1, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], k=0.1)
    4.0
    """
    acted, gain = ranked.first(ranked.places(k, whole=True))
    return ratio(gain, ranked.total_gain) * ranked.sizes / acted


@metric(best="high")
def average_precision(ranked: RankedList) -> Array:
    """The mean over positives of the precision at their place.

    The Infinite Push paper's (6.26), each positive counted among those at or above it. Within a run of P
    positives and N negatives the expected precision at each place is summed in closed form by the digamma
    function, which also is the continuation to fractional weights.

    Returns
    -------
    float
        Between 0 and 1; with ``ties="threshold"`` scikit-learn's `average_precision_score`.

    Examples
    --------
    >>> average_precision([1, 0, 1], [0.9, 0.8, 0.7])
    0.8333333333333333
    """
    blocks = ranked.blocks
    if ranked.ties == "threshold":
        reached = blocks.positives_above + blocks.positives
        ends = reached + blocks.negatives_above
        ends += blocks.negatives
        reached *= blocks.positives
        reached /= ends
        precision = reached
    else:
        precision = _precision_sums(blocks)
    total = ranked.sum(precision, blocks.ids)
    return ratio(total, ranked.positives)


@metric(best="high")
def recall_at_precision(ranked: RankedList, *, precision: float) -> Array:
    """The greatest recall at which the precision is still at least a given one.

    Under "expected" it is the mean over random order of the greatest recall of each order; a run of very many
    equal scores takes long where its share of positives is very close to the precision.
    `threshold_at_precision` gives the score to cut at.

    Parameters
    ----------
    precision : float
        The precision to be kept, in (0, 1].

    Returns
    -------
    float
        Between 0 and 1; 0 where no cut reaches the precision.

    Examples
    --------
    >>> recall_at_precision([1, 1, 0, 1, 0], [5, 4, 3, 2, 1], precision=0.75)
    1.0
    """
    _check_precision(precision)
    blocks = ranked.blocks
    starts = np.searchsorted(blocks.ids, np.arange(ranked.n_lists + 1))
    good = _reaches(blocks, precision)
    # A run whose end lacks the precision may reach it inside, if its positives happen to come first.
    best = blocks.positives_above + blocks.positives
    hopeful = (blocks.negatives > 0) & (best > 0) & (ranked.ties == "expected")
    hopeful &= best >= precision * (best + blocks.negatives_above) * (1 - 1e-12)
    hopeful &= (blocks.positives > 0) & ~good
    matter = np.flatnonzero(good | hopeful)
    borders = np.searchsorted(matter, starts)
    first, last = borders[:-1], borders[1:] - 1
    reached, chance = np.zeros(ranked.n_lists), np.ones(ranked.n_lists)
    # Short lists are much alike: runs that agree in their counts are walked through once.
    walked: dict[tuple[float, float, float, float], tuple[float, float]] = {}
    alive = np.flatnonzero(first <= last)
    while len(alive):
        runs = matter[last[alive]]
        value, missed = best[runs], np.zeros(len(runs))
        doubtful = np.flatnonzero(~good[runs])
        own, others, above, others_above = (
            count[runs[doubtful]].tolist()
            for count in (blocks.positives, blocks.negatives, blocks.positives_above, blocks.negatives_above)
        )
        keys = zip(own, others, above, others_above, strict=True)
        for i, key in zip(doubtful.tolist(), keys, strict=True):
            if key not in walked:
                walked[key] = last_reach(*key, precision)
            value[i], missed[i] = walked[key]
        reached[alive] += chance[alive] * value
        chance[alive] *= missed
        last[alive] -= 1
        alive = alive[(missed > 0) & (first[alive] <= last[alive])]
    return ratio(reached, ranked.positives)


@metric(best="neither")
def threshold_at_precision(ranked: RankedList, *, precision: float) -> Array:
    """The score to cut at for `recall_at_precision`: all rows that score at least this much are taken.

    A cut cannot part equal scores, so that `ties` does not matter.

    Parameters
    ----------
    precision : float
        The precision to be kept, in (0, 1].

    Returns
    -------
    float
        The lowest score of a positive at which the precision is reached; inf where none reaches it.

    Examples
    --------
    >>> threshold_at_precision([1, 1, 0, 1, 0], [5, 4, 3, 2, 1], precision=0.75)
    2.0
    """
    _check_precision(precision)
    if ranked.n_lists > 1:
        raise InvalidParameter("threshold_at_precision: one cut belongs to one list; call it for each list.")
    blocks = RankedList(ranked.items, "threshold").blocks
    good = np.flatnonzero(_reaches(blocks, precision))
    return np.array([blocks.score[good[-1]] if len(good) else np.inf])


def _check_precision(precision: float) -> None:
    require_number("precision", precision, lambda x: 0 < x <= 1, "a number above 0 and at most 1")


def _reaches(blocks: Blocks, precision: float) -> Array:
    """The runs at whose end the precision is reached."""
    reached = blocks.positives_above + blocks.positives
    end = reached + blocks.negatives_above + blocks.negatives
    return (end > 0) & (reached / np.where(end > 0, end, 1.0) >= precision)


def _precision_sums(blocks: Blocks) -> Array:
    """Σ over the places of a run of the chance of a positive there times the expected precision."""
    above = blocks.positives_above + blocks.negatives_above
    single = (blocks.positives == 1) & (blocks.negatives == 0)
    sums = blocks.positives_above + 1
    sums /= above + 1
    if single.all():
        return sums
    some = blocks.positives > 0
    sums[~some] = 0.0
    rest = np.flatnonzero(some & ~single)
    if len(rest) == 0:
        return sums
    p, n = blocks.positives[rest], blocks.negatives[rest]
    height, above = blocks.positives_above[rest], above[rest]
    others_above = blocks.negatives_above[rest]
    size = p + n
    harmonic = _reciprocals_between(above, size)
    # With no negative in the run, Σ (A + r)/(A + B + r) = P − B Σ 1/(A + B + r).
    pure = p - others_above * harmonic
    # Otherwise a place r, if positive, has (r − 1)(P − 1)/(T − 1) of the run's positives above it on average.
    near = np.abs(size - 1) < 1e-6
    later = np.where(near, 0.0, (size - (above + 1) * harmonic) / np.where(near, 1.0, size - 1))
    if near.any():
        # At T = 1 the quotient is 0/0; its limit is the derivative, right to the square of the distance.
        from scipy.special import polygamma

        later[near] = 1 - (above[near] + 1) * polygamma(1, above[near] + 1.5 + size[near] / 2)
    mixed = p / np.where(size > 0, size, 1.0) * ((height + 1) * harmonic + (p - 1) * later)
    sums[rest] = np.where(n == 0, pure, mixed)
    return sums


def _reciprocals_between(start: Array, length: Array) -> Array:
    """Σ_{r=1}^{length} 1/(start + r) = ψ(start + length + 1) − ψ(start + 1), without cancellation."""
    x = start + 1.0
    value = np.zeros_like(x)
    # Far from 0 the asymptotic series is exact; near it, the recurrence of ψ leads there.
    near = x < 16
    if near.any():
        shifts = np.arange(16.0)
        at = x[near, None] + shifts
        value[near] = (length[near, None] / (at * (at + length[near, None]))).sum(axis=1)
    x = np.where(near, x + 16, x)
    end = x + length
    value += np.log1p(length / x) + length / (2 * x * end)
    for power, coefficient in ((2, -1 / 12), (4, 1 / 120), (6, -1 / 252), (8, 1 / 240), (10, -1 / 132)):
        value += coefficient * (end**-power - x**-power)
    return value
