"""What random order does to a run of equal scores, where the mean place is not all that counts.

Whole weights are that many single rows. Where a weight is not whole, results are interpolated between the two
whole numbers of units around it, each unit then weighing a little more or less than one row; a weight below
one is one unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pushrank._typing import Array


def in_units(weight: float) -> Iterator[tuple[int, float]]:
    """The whole numbers of units around a positive weight, and how much each of them counts."""
    low = math.floor(weight)
    if low == weight or low == 0:
        yield max(low, 1), 1.0
    else:
        yield low, low + 1 - weight
        yield low + 1, weight - low


def in_units_both(positives: float, negatives: float) -> Iterator[tuple[int, int, float]]:
    """The same for both classes of a run."""
    for p, p_share in in_units(positives):
        for n, n_share in in_units(negatives):
            yield p, n, p_share * n_share


def negatives_before(positives: int, negatives: int, which: int) -> Array:
    """The chances of 0, 1, … negatives before the positive number `which` (from 1) in random order.

    The negative hypergeometric law, C(y+i−1, y) C(n−y+m−i, n−y) / C(n+m, n), by the ratio of its neighbours.
    """
    before = np.arange(negatives, dtype=np.float64)
    left = negatives - before
    steps = np.log((before + which) / (before + 1)) + np.log(left / (left + positives - which))
    logs = np.concatenate([np.zeros(1), np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def first_positive(positives: float, negatives: float, above: float, last: float) -> float:
    """The expected reciprocal place of the first positive of a run, 0 beyond the place `last`."""
    value = 0.0
    for p, n, share in in_units_both(positives, negatives):
        chances = negatives_before(p, n, 1)
        place = 1.0 + above + np.arange(n + 1) * (negatives / n)
        value += share * float(chances @ np.where(place <= last, 1.0 / place, 0.0))
    return value


def area_before(positives: float, negatives: float, skipped: float, within: float) -> float:
    """The expected area ∫₀^within max(H(t) − skipped, 0) dt under the counts of a run's random order.

    H(t) is the weight of the run's positives above the negative that holds the stretch at t.
    """
    value = 0.0
    for p, n, share in in_units_both(positives, negatives):
        width, height = negatives / n, positives / p
        area = _area_of_units(p, n, skipped / height, within / width)
        value += share * width * height * area
    return value


def _area_of_units(p: int, n: int, skipped: float, within: float) -> float:
    within = min(within, float(n))
    # The stretch that each negative takes; the last may be cut.
    stretch = np.clip(within - np.arange(math.ceil(within)), 0.0, 1.0)
    low = math.floor(skipped)
    part = skipped - low
    # Counts are whole, so max(H − skipped, 0) is interpolated exactly between whole numbers of skipped ones.
    area = (1 - part) * _excess(p, n, low, len(stretch)) @ stretch
    if part:
        area += part * _excess(p, n, low + 1, len(stretch)) @ stretch
    return float(area)


def _excess(p: int, n: int, skipped: int, length: int) -> Array:
    """E max(H_j − skipped, 0) for the negatives j = 1..length, H_j positives being above the j-th."""
    j = np.arange(1, length + 1)
    mean = j * (p / (n + 1))
    if skipped == 0:
        return mean
    if skipped >= p:
        return np.zeros(length)
    # E[H; H > c] = E[H] · P(H′ ≥ c), H′ being H with one negative more and one positive less.
    larger = np.cumsum(negatives_before(p - 1, n + 1, skipped))[j]
    reached = np.cumsum(negatives_before(p, n, skipped + 1))[j - 1]
    return np.maximum(mean * larger - skipped * reached, 0.0)


def positives_among(positives: int, negatives: int, first: int) -> tuple[Array, int]:
    """The chances of the numbers of positives among the first places of a run, and the least such number.

    The hypergeometric law, by the ratio of its neighbours.
    """
    low, high = max(0, first - negatives), min(first, positives)
    count = np.arange(low, high, dtype=np.float64)
    steps = np.log((positives - count) / (count + 1)) + np.log(
        (first - count) / (negatives - first + count + 1)
    )
    logs = np.concatenate([np.zeros(1), np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    return chances / chances.sum(), low


def _last_doubt(p: int, n: int, needed: Array) -> int:
    """The place after which so many positives as are needed are out of reach, in random order.

    Bernstein's bound exp(−d²/2(v + d/3)), which holds for draws without replacement, is below 1e-20 for every
    later place; d is what is needed above the mean, v the variance of independent draws.
    """
    place = np.arange(1, p + n + 1)
    short = np.maximum(needed - place * (p / (p + n)), 0.0)
    variance = np.minimum(place, p + n - place) * (p * n / (p + n) ** 2)
    doubt = np.flatnonzero(short**2 < 2 * 46 * (variance + short / 3))
    return min(int(place[doubt[-1]]) + 1, p + n) if len(doubt) else 1


def last_reach(
    positives: float, negatives: float, above: float, others_above: float, precision: float
) -> tuple[float, float]:
    """Walk back through a run whose end lacks the precision, to the last place where it is reached.

    Returns
    -------
    value : float
        Σ over such places of their chance times the weight of the positives reached there.
    missed : float
        The chance that no place within the run reaches the precision.
    """
    value = missed = 0.0
    for p, n, share in in_units_both(positives, negatives):
        height, width = positives / p, negatives / n
        place = np.arange(1, p + n + 1)
        needed = precision * (above + others_above + place * width) - above
        start = _last_doubt(p, n, needed / (height * (1 - precision) + width * precision))
        chance, low = positives_among(p, n, start)
        # chance[i]: of standing at the place `end` with low + i positives, the precision not reached since.
        for end in range(start, 1, -1):
            passed = chance * ((low + np.arange(len(chance))) / end)
            chance = np.append(passed, 0.0) + np.append(0.0, chance - passed)
            low -= 1
            counts = low + np.arange(len(chance))
            reached = above + counts * height
            places = reached + others_above + (end - 1 - counts) * width
            good = reached / places >= precision
            value += share * float(chance[good] @ reached[good])
            chance[good] = 0.0
            # What is less likely than a rounding error is dropped, so that a long run costs its square root.
            kept = np.flatnonzero(chance > 1e-18)
            if len(kept) == 0:
                break
            chance, low = chance[kept[0] : kept[-1] + 1], low + int(kept[0])
        missed += share * float(chance.sum())
    return value, missed
