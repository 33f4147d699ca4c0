"""What random order does to a run of equal scores, where the mean place is not all that counts.

Whole weights are that many single rows. Where a weight is not whole, results are interpolated between the two
whole numbers of units around it, each unit then weighing a little more or less than one row; a weight below
one is one unit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pushrank._typing import Array


def in_units(weight: Array) -> list[tuple[Array, Array]]:
    """The whole numbers of units below and above positive weights, and how much each of them counts."""
    low = np.floor(weight)
    whole = (low == weight) | (low == 0)
    units = np.maximum(low, 1).astype(np.intp)
    above = np.where(whole, 0.0, weight - low)
    return [(units, 1.0 - above), (units + 1, above)]


def in_units_both(positives: Array, negatives: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """The same for both classes of many runs: which runs, their units of either class, and the share."""
    for p, p_share in in_units(positives):
        for n, n_share in in_units(negatives):
            share = p_share * n_share
            runs = np.flatnonzero(share)
            if len(runs):
                yield runs, p[runs], n[runs], share[runs]


def of_like_length(length: Array) -> Iterator[Array]:
    """The numbers of runs of about the same length, so few at a time that they fit into memory together."""
    _, octave = np.frexp(length)
    for one in np.unique(octave):
        runs = np.flatnonzero(octave == one)
        step = max(1, _CELLS >> int(one))
        for start in range(0, len(runs), step):
            yield runs[start : start + step]


_CELLS = 1 << 20
"""Chances held at a time, unless one run has more."""


def negatives_before(positives: Array, negatives: Array, which: Array, most: int | None = None) -> Array:
    """The chances of 0, 1, … negatives before the positive number `which` (from 1) in random order, per run.

    The negative hypergeometric law, C(y+i−1, y) C(n−y+m−i, n−y) / C(n+m, n), by the ratio of its neighbours;
    beyond the negatives of a run they are 0. Numbers above `most` are left out, where they have no chance.
    """
    positives, negatives, which = positives[:, None], negatives[:, None], which[:, None]
    before = np.arange(negatives.max() if most is None else most, dtype=np.float64)
    left = negatives - before
    beyond = left <= 0
    if beyond.any():
        left[beyond] = 1.0
    steps = np.log((before + which) / (before + 1)) + np.log(left / (left + positives - which))
    steps[beyond] = -np.inf
    logs = np.zeros((len(steps), len(before) + 1))
    np.cumsum(steps, axis=1, out=logs[:, 1:])
    logs -= logs.max(axis=1, keepdims=True)
    chances = np.exp(logs, out=logs)
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def first_positive(positives: Array, negatives: Array, above: Array, last: Array) -> Array:
    """The expected reciprocal place of the first positive of every run, 0 beyond the place `last`."""
    value = np.zeros(len(positives))
    for runs, p, n, share in in_units_both(positives, negatives):
        # P(no positive among j rows) ≤ (1 − P/(P + N))^j, which is below 1e-20 for every later place.
        reach = np.minimum(n, np.ceil(46 * (n + p) / p)).astype(np.intp)
        for part in of_like_length(reach):
            own, units = runs[part], n[part]
            most = int(reach[part].max())
            chances = negatives_before(p[part], units, np.ones_like(units), most)
            width = negatives[own] / units
            place = (1.0 + above[own])[:, None] + np.arange(chances.shape[1]) * width[:, None]
            chances /= place
            chances[place > last[own][:, None]] = 0.0
            value[own] += share[part] * chances.sum(axis=1)
    return value


def area_before(positives: Array, negatives: Array, skipped: Array, within: Array) -> Array:
    """The expected area ∫₀^within max(H(t) − skipped, 0) dt under the counts of every run's random order.

    H(t) is the weight of the run's positives above the negative that holds the stretch at t.
    """
    value = np.zeros(len(positives))
    for runs, p, n, share in in_units_both(positives, negatives):
        width, height = negatives[runs] / n, positives[runs] / p
        low, part = np.divmod(skipped[runs] / height, 1.0)
        end = np.minimum(within[runs] / width, n)
        # Counts are whole: max(H − skipped, 0) is interpolated exactly between whole numbers of skipped ones.
        area = (1 - part) * _area_of_units(p, n, low, end)
        between = np.flatnonzero(part)
        area[between] += part[between] * _area_of_units(
            p[between], n[between], low[between] + 1, end[between]
        )
        value[runs] += share * width * height * area
    return value


def _area_of_units(p: Array, n: Array, skipped: Array, within: Array) -> Array:
    """∫₀^within E max(H(t) − skipped, 0) dt for whole numbers of positives, negatives, and skipped ones."""
    # The j-th negative has j p / (n + 1) positives above it on average; the last may be cut.
    whole = np.floor(within)
    area = p / (n + 1) * (whole + 1) * (whole / 2 + within - whole)
    area[skipped >= p] = 0.0
    rest = np.flatnonzero((skipped > 0) & (skipped < p))
    for part in of_like_length(n[rest]):
        runs = rest[part]
        positives, negatives, c = p[runs], n[runs], skipped[runs]
        # E max(H − c, 0) = E[H; H > c] − c P(H > c), and E[H; H > c] = E[H] P(H′ ≥ c), H′ being H with one
        # negative more and one positive less.
        larger = np.cumsum(negatives_before(positives - 1, negatives + 1, c), axis=1)[:, 1:-1]
        reached = np.cumsum(negatives_before(positives, negatives, c + 1), axis=1)[:, :-1]
        j = np.arange(1, larger.shape[1] + 1)
        mean = j * (positives / (negatives + 1))[:, None]
        excess = np.maximum(mean * larger - c[:, None] * reached, 0.0)
        stretch = np.clip(within[runs][:, None] - (j - 1), 0.0, 1.0)
        area[runs] = (excess * stretch).sum(axis=1)
    return area


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
    for _, (p,), (n,), (share,) in in_units_both(np.array([positives]), np.array([negatives])):
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
            # Counts that are out of reach have the chance 0, and may have no places to divide by.
            good = np.divide(reached, places, out=np.zeros(len(chance)), where=chance > 0) >= precision
            value += share * float(chance[good] @ reached[good])
            chance[good] = 0.0
            # What is less likely than a rounding error is dropped, so that a long run costs its square root.
            kept = np.flatnonzero(chance > 1e-18)
            if len(kept) == 0:
                break
            chance, low = chance[kept[0] : kept[-1] + 1], low + int(kept[0])
        missed += share * float(chance.sum())
    return value, missed
