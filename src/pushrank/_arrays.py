"""Sums, maxima and logarithms of sums over segments, and matrices that are a diagonal plus a few vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pushrank._typing import Array


@dataclass(frozen=True, eq=False)
class Segments:
    """Consecutive runs of entries: which entries belong to which contest. No run is empty."""

    starts: Array
    n_entries: int

    @classmethod
    def one(cls, n_entries: int) -> Segments:
        """All entries in one run."""
        return cls(np.zeros(1, dtype=np.intp), n_entries)

    @classmethod
    def of_sorted(cls, ids: Array) -> Segments:
        """The runs of equal values in sorted `ids`."""
        changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
        return cls(np.concatenate([np.zeros(1, dtype=np.intp), changes]), len(ids))

    @property
    def n(self) -> int:
        """The number of runs."""
        return len(self.starts)

    @cached_property
    def lengths(self) -> Array:
        """Entries per run."""
        return np.diff(self.starts, append=self.n_entries)

    @cached_property
    def ids(self) -> Array:
        """The number of the run of every entry."""
        return np.repeat(np.arange(self.n), self.lengths)

    def sum(self, values: Array) -> Array:
        """One sum per run."""
        if self.n == 1:
            return np.atleast_1d(values.sum())
        return np.add.reduceat(values, self.starts)

    def dot(self, left: Array, right: Array) -> Array:
        """One sum of products per run."""
        if self.n == 1:
            return np.atleast_1d(left @ right)
        return np.add.reduceat(left * right, self.starts)

    def max(self, values: Array) -> Array:
        """One maximum per run."""
        if self.n == 1:
            return np.atleast_1d(values.max())
        return np.maximum.reduceat(values, self.starts)

    def spread(self, values: Array) -> Array:
        """One value per run, written at each of its entries (of one run: as it is, to be broadcast)."""
        return values if self.n == 1 else np.repeat(values, self.lengths)

    def cumulative(self, values: Array) -> Array:
        """Running sums that start anew in every run."""
        if self.n == 1:
            return np.cumsum(values)
        steps = np.array(values, dtype=np.float64)
        # Each run begins by taking the run before it away, so the running total never grows beyond one run
        # and keeps its digits; what rounding leaves of the taking away is known at the start, and taken off.
        steps[self.starts[1:]] -= self.sum(steps)[:-1]
        running = np.cumsum(steps)
        return running - self.spread(running[self.starts] - values[self.starts])

    def first(self, is_chosen: Array) -> Array:
        """The place of the first chosen entry of every run; every run has one."""
        if self.n == 1:
            return np.atleast_1d(is_chosen.argmax())
        chosen = np.flatnonzero(is_chosen)
        return chosen[np.searchsorted(chosen, self.starts)]

    def ascending(self, values: Array) -> Array:
        """The places of the entries, run after run, by ascending values within each."""
        if self.n == 1:
            return np.argsort(values)
        # One sort by value and one of whole numbers take a fifth of the time of a sort by two keys.
        rank = np.empty(self.n_entries, dtype=np.int64)
        rank[np.argsort(values)] = np.arange(self.n_entries)
        return np.argsort(self.ids * self.n_entries + rank)

    def upper_quantile(self, values: Array, weight: Array, wanted: Array) -> Array:
        """The largest value of every run at or above which at least `wanted` of its weight lies.

        A weight that reaches `wanted` but for its rounding reaches it.
        """
        wanted = wanted * (1 - _ROUNDING)
        if self.n == 1:
            return np.array([_selected(values, weight, float(wanted[0]))])
        order = self.ascending(-values)
        heaped = self.cumulative(weight[order])
        place = self.sum((heaped < self.spread(wanted)).astype(np.intp))
        return values[order[self.starts + np.minimum(place, self.lengths - 1)]]

    def weight_of_largest(self, values: Array, weight: Array, wanted: Array) -> Array:
        """The part of `weight` that lies on the largest values of every run, `wanted` in all.

        Equal values at the border share what is left in proportion to their weights, so that a row written
        twice counts as a weight of two.
        """
        border = self.spread(self.upper_quantile(values, weight, wanted))
        taken = weight * (values > border)  # A product is several times faster than a choice by the mask.
        at_border = np.flatnonzero(values == border)
        blocks = self.within(at_border)
        weight_there = weight[at_border]
        reached = blocks.sum(weight_there)
        left = np.clip(wanted - self.sum(taken), 0.0, reached)
        taken[at_border] = weight_there * blocks.spread(left / reached)
        return taken

    def within(self, chosen: Array) -> Segments:
        """The runs of the chosen entries alone (sorted places); every run has one."""
        if self.n == 1:
            return Segments.one(len(chosen))
        return Segments(np.searchsorted(chosen, self.starts), len(chosen))

    def log_sum_exp(self, values: Array, weight: Array) -> tuple[Array, Array]:
        """Log Σ weight·exp(values) per run, and the share of every entry in that sum."""
        top = self.max(values)
        shares = values - self.spread(top)
        np.exp(shares, out=shares)
        shares *= weight
        total = self.sum(shares)
        shares /= self.spread(total)
        return top + np.log(total), shares


_ROUNDING = 1e-14
"""How far a sum of weights may miss what is wanted by rounding alone: some fifty units in the last place."""


def _selected(values: Array, weight: Array, wanted: float) -> float:
    """The upper quantile of one run, by selection instead of a sort."""
    turn = 0
    while len(values) > _SORTED_BELOW:
        # The place is guessed from the mean weight, which is right at once for equal weights. For unequal
        # ones it is near, so the first cut leaves a margin above the guess and the second one below it, which
        # leaves few. Every third cut is at the median, so that no weights can make it slow.
        n_values, count = len(values), int(np.ceil(wanted * len(values) / float(weight.sum())))
        if turn % 3 == 2:
            count = n_values // 2
        elif turn % 3 == 1:
            count = 2 * count - n_values - 16
        elif weight.min() < weight.max():
            count += 4 * int(np.sqrt(count)) + 16
        place = n_values - min(max(count, 1), n_values)
        pivot = np.partition(values, place)[place]
        above = values > pivot
        weight_above = float(weight @ above)
        if weight_above >= wanted:
            kept = np.flatnonzero(above)
        else:
            wanted -= weight_above + float(weight[np.flatnonzero(values == pivot)].sum())
            kept = np.flatnonzero(values < pivot)
            if wanted <= 0 or len(kept) == 0:
                return float(pivot)
        values, weight = values[kept], weight[kept]
        turn += 1
    order = np.argsort(-values)
    place = int(np.searchsorted(np.cumsum(weight[order]), wanted))
    return float(values[order[min(place, len(order) - 1)]])


_SORTED_BELOW = 64
"""Runs of at most so many entries are sorted, which is as fast as selecting."""


@dataclass(frozen=True, eq=False)
class DiagonalPlusLowRank:
    """The symmetric matrix diag(diagonal) + Σ_j coefficients_j · vectors_j vectors_jᵀ."""

    diagonal: Array
    vectors: Array
    coefficients: Array

    def apply(self, direction: Array) -> Array:
        """The product with a direction, in O(n · rank)."""
        return self.diagonal * direction + (self.coefficients * (self.vectors @ direction)) @ self.vectors


def offset_and_spread(scores: Array) -> tuple[float, float]:
    """The largest size of a score, and the distance of the highest from the lowest."""
    low, high = float(scores.min()), float(scores.max())
    return max(abs(low), abs(high)), high - low


def centred(scores: Array) -> Array:
    """The scores without an offset that they share: pulls are the same, and sums keep their digits.

    Scores that lie closer together than they are large are within a factor of two of each other, so that the
    difference from the first is exact (Sterbenz).
    """
    offset, spread = offset_and_spread(scores)
    return scores - scores[0] if offset > 2.0 * spread else scores
