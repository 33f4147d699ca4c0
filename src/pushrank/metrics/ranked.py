"""The ranked list: the weight of each class per run of equal scores, best first, per list.

It is made once and read by many measures. A row of weight w takes a stretch of w places, so that whole
weights equal repeated rows; the places of a run of equal scores are dealt out at random ("expected"), or the
least or the most useful rows come first ("worst", "best"), which only splits the run in two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pushrank._typing import Array
from pushrank.budget import Budget
from pushrank.exceptions import InvalidData, InvalidParameter
from pushrank.metrics.inputs import TIES, Items, closest


@dataclass(frozen=True, eq=False)
class Blocks:
    """Runs of equal scores, best first, list after list; runs without a positive may be left out."""

    ids: Array
    """The number of the list of every run."""
    positives_above: Array
    negatives_above: Array
    positives: Array
    negatives: Array
    score: Array

    def broken(self, ties: str) -> Blocks:
        """The runs after their ties are broken against ("worst") or for ("best") the positives."""
        if ties in ("expected", "threshold"):
            return self
        above = self.negatives_above + self.negatives if ties == "worst" else self.negatives_above
        nothing = np.zeros_like(self.negatives)
        return Blocks(self.ids, self.positives_above, above, self.positives, nothing, self.score)


@dataclass(frozen=True, eq=False)
class Gains:
    """Runs of equal scores with what they bring: the weight above, their own weight, and their whole gain."""

    ids: Array
    above: Array
    weight: Array
    gain: Array


class RankedList:
    """Scored rows in order, one or many lists, made once and read by many measures.

    Parameters
    ----------
    items : Items
        The rows, as `read_items` returns them.
    ties : {"expected", "worst", "best", "threshold"}, default="expected"
        How rows of equal score are ordered.
    """

    def __init__(self, items: Items, ties: str = "expected") -> None:
        if ties not in TIES:
            raise InvalidParameter(f"ties={ties!r} is not known. {closest(ties, TIES)}")
        self.items = items
        self.ties = ties
        self.n_lists = items.n_lists

    @cached_property
    def positives(self) -> Array:
        """The weight of the positives of every list."""
        return self._weight_of(self.items.positive)

    @cached_property
    def sizes(self) -> Array:
        """The weight of every list."""
        return self._weight_of(None)

    @cached_property
    def negatives(self) -> Array:
        """The weight of the negatives of every list."""
        # Not a difference of the other two: a list without negatives must have exactly none.
        return self._weight_of(~self.items.positive)

    @cached_property
    def total_gain(self) -> Array:
        """What acting on every row brings, per list."""
        gain = self.items.gain
        if gain is None:
            return self.positives
        return self.sum(gain if self.items.weight is None else gain * self.items.weight, self.items.list_ids)

    @cached_property
    def blocks(self) -> Blocks:
        """All runs that hold a positive (several lists: all runs)."""
        whole = self._two_sides() if self.items.list_ids is None else self._one_sort()
        return whole.broken(self.ties)

    @cached_property
    def head(self) -> Blocks:
        """Runs that suffice to see what stands above the highest negative; O(n) for one list."""
        items = self.items
        if items.list_ids is not None or "blocks" in self.__dict__:
            return self.blocks
        # Where there is no negative, everything stands above.
        highest = items.score[~items.positive].max(initial=-np.inf)
        return self._cut_at(highest).broken(self.ties)

    @cached_property
    def gains(self) -> Gains:
        """All runs that bring something."""
        return self.counts if self.items.gain is None else self._sorted_gains(self.items.score, tied=True)

    @cached_property
    def counts(self) -> Gains:
        """All runs that hold a positive, which brings 1."""
        return _gains_of(self.blocks)

    @cached_property
    def ideal_gains(self) -> Gains:
        """The runs of the best possible order: the greatest gain first."""
        gain = self.items.gain
        if gain is not None and self.n_lists == 1 and self.items.weight is None:
            # Equal gains need not be put together: what each place brings is all that counts.
            places = np.arange(len(gain), dtype=np.float64)
            ids = np.zeros(len(gain), dtype=np.intp)
            return Gains(ids, places, np.ones(len(gain)), np.sort(gain)[::-1])
        if gain is not None:
            return self._sorted_gains(gain, tied=False)
        nothing = np.zeros(self.n_lists)
        return Gains(np.arange(self.n_lists), nothing, self.positives, self.positives)

    def sum(self, values: Array, ids: Array | None) -> Array:
        """One sum per list."""
        if self.n_lists == 1:
            return np.atleast_1d(values.sum())
        assert ids is not None, "many lists have numbers"
        return np.bincount(ids, weights=values, minlength=self.n_lists)

    def places(self, k: float | Budget, *, whole: bool = False) -> Array:
        """The places acted on in every list: no more than it holds; shares rounded up if `whole`."""
        budget = Budget.read(k)
        places = np.array([budget.places(size) for size in self.sizes])
        longest = self.sizes.max()
        # A count of all rows, computed as a fraction of their number, may be one rounding above it.
        if places.min() > longest * (1 + 1e-12):
            where = "the list" if self.n_lists == 1 else "the longest list"
            raise InvalidData(
                f"k={places.min():g} is more than {where} holds ({longest:g}); lower k, or give a share."
            )
        if whole and (budget.is_share or budget.of is not None):
            # 0.1 · 30 is 3.0000000000000004 in floating point, and means 3 places.
            places = np.ceil(places * (1 - 1e-12))
        return np.minimum(places, self.sizes)

    def first(self, places: Array) -> tuple[Array, Array]:
        """The weight acted on and the gain it brings, per list, when so many places are acted on."""
        gains = self._gains_around(places)
        end = gains.above + gains.weight
        if self.ties == "threshold":
            # A threshold cannot part equal scores: the run that holds the last place is taken whole.
            taken = gains.above < places[gains.ids]
            acted = places.copy()
            np.maximum.at(acted, gains.ids[taken], end[taken])
            return acted, self.sum(np.where(taken, gains.gain, 0.0), gains.ids)
        taken = np.clip(places[gains.ids] - gains.above, 0.0, gains.weight)
        return places, self.sum(gains.gain * (taken / gains.weight), gains.ids)

    def _gains_around(self, places: Array) -> Gains:
        """Runs that suffice to see what the first places bring; O(n) for one unweighted list."""
        items = self.items
        if items.gain is not None or items.list_ids is not None:
            return self.gains
        n, k = len(items.score), places[0]
        if items.weight is None:
            # The place of the cut; half a place belongs to the place it lies in.
            last = n - min(n, int(np.ceil(k)))
            score = np.partition(items.score, last)[last]
        else:
            order = np.argsort(-items.score)
            reached = np.searchsorted(np.cumsum(items.weight[order]), k * (1 - 1e-12))
            score = items.score[order[min(reached, n - 1)]]
        return _gains_of(self._cut_at(score).broken(self.ties))

    def _cut_at(self, score: float) -> Blocks:
        """What stands above a score, as one run, and the run at that score."""
        items = self.items
        above, at = items.score > score, items.score == score
        sides = [self._weight_of(side) for side in (above & items.positive, at & items.positive)]
        others = [self._weight_of(side) for side in (above & ~items.positive, at & ~items.positive)]
        zero = np.zeros(1)
        return Blocks(
            np.zeros(2, dtype=np.intp),
            np.concatenate([zero, sides[0]]),
            np.concatenate([zero, others[0]]),
            np.concatenate(sides),
            np.concatenate(others),
            np.array([np.inf, score]),
        )

    def _weight_of(self, rows: Array | None) -> Array:
        """The weight of some rows (None: all) of every list."""
        weight, ids = self.items.weight, self.items.list_ids
        if ids is not None:
            if rows is None:
                return np.bincount(ids, weights=weight, minlength=self.n_lists).astype(np.float64)
            part = None if weight is None else weight[rows]
            return np.bincount(ids[rows], weights=part, minlength=self.n_lists).astype(np.float64)
        if weight is None:
            return np.array([float(len(self.items.score) if rows is None else np.count_nonzero(rows))])
        return np.array([float(weight.sum() if rows is None else weight[rows].sum())])

    def _two_sides(self) -> Blocks:
        """The runs of one list: positives and negatives sorted apart as values, and merged.

        Sorting values costs a fraction of finding an order (about a seventh), and the merge asks only where
        each distinct score of a positive falls among the negatives.
        """
        items = self.items
        score, heavy = _side(items, items.positive)
        losers, light = _side(items, ~items.positive)
        if heavy is not None and light is not None:
            # The totals of the same sums: what is above a run never exceeds them by a rounding error.
            self.positives, self.negatives = heavy[-1:], light[-1:]
        starts = _run_starts(score)
        own = score[starts]
        before = np.searchsorted(losers, own)
        after = before.copy()
        tied = np.zeros(len(own), dtype=bool)
        if len(losers):
            tied = losers[np.minimum(before, len(losers) - 1)] == own
            after[tied] = np.searchsorted(losers, own[tied], side="right")
        above, within = _weights_between(heavy, starts, np.append(starts[1:], len(score)))
        losers_above, losers_within = _weights_between(light, before, after)
        return Blocks(np.zeros(len(own), dtype=np.intp), above, losers_above, within, losers_within, -own)

    def _one_sort(self) -> Blocks:
        """The runs of many lists, by one sort of all rows."""
        items = self.items
        assert items.list_ids is not None, "one list is ranked by its two sides"
        order = self._order(items.score)
        ids, score = items.list_ids.take(order), items.score.take(order)
        starts = _run_starts(ids, score)
        weight = np.ones(len(order)) if items.weight is None else items.weight.take(order)
        positive = items.positive.take(order)
        positives = np.add.reduceat(np.where(positive, weight, 0.0), starts)
        negatives = np.add.reduceat(np.where(positive, 0.0, weight), starts)
        ids = ids[starts]
        return Blocks(
            ids, _above(positives, ids), _above(negatives, ids), positives, negatives, score[starts]
        )

    def _sorted_gains(self, score: Array, *, tied: bool) -> Gains:
        """The runs of equal scores with their gains; ties broken by gain where the rule says so."""
        items, gain = self.items, self.items.gain
        assert gain is not None, "rows that bring 1 or nothing are ranked by their classes"
        breaking = tied and self.ties in ("worst", "best")
        order = self._order(score, (gain if self.ties == "worst" else -gain) if breaking else None)
        ids = np.zeros(len(order), dtype=np.intp) if items.list_ids is None else items.list_ids.take(order)
        keys = [key.take(order) for key in ([score, gain] if breaking else [score])]
        starts = _run_starts(*([] if items.list_ids is None else [ids]), *keys)
        gain = gain.take(order)
        weight = None if items.weight is None else items.weight.take(order)
        if len(starts) < len(order):
            gain = np.add.reduceat(gain if weight is None else gain * weight, starts)
            weight = np.diff(starts, append=len(order)) if weight is None else np.add.reduceat(weight, starts)
        elif weight is not None:
            gain = gain * weight
        ids = ids[starts]
        if weight is None:
            above = np.arange(len(order), dtype=np.float64)
            if self.n_lists > 1:
                above -= _spread_firsts(above, ids)
            return Gains(ids, above, np.ones(len(order)), gain)
        return Gains(ids, _above(weight, ids), weight.astype(np.float64), gain)

    def _order(self, score: Array, tie_break: Array | None = None) -> Array:
        """Row numbers, best first, list after list."""
        ids = self.items.list_ids
        if tie_break is not None:
            return np.lexsort((tie_break, -score) if ids is None else (tie_break, -score, ids))
        order = np.argsort(-score)
        if ids is None:
            return order
        # Two bytes at a time: numpy sorts these by counting, which keeps the order of the scores.
        for shift in range(0, (self.n_lists - 1).bit_length(), 16):
            digit = (ids >> shift).astype(np.uint16)
            order = order.take(np.argsort(digit.take(order), kind="stable"))
        return order


def _gains_of(blocks: Blocks) -> Gains:
    weight = blocks.positives + blocks.negatives
    held = weight > 0
    above = blocks.positives_above + blocks.negatives_above
    if held.all():
        return Gains(blocks.ids, above, weight, blocks.positives)
    return Gains(blocks.ids[held], above[held], weight[held], blocks.positives[held])


def _side(items: Items, rows: Array) -> tuple[Array, Array | None]:
    """The negated scores of some rows in ascending order, and the weight up to each of them."""
    numbers = np.flatnonzero(rows)
    # take() gathers in half the time of indexing.
    score = items.score.take(numbers)
    np.negative(score, out=score)
    if items.weight is None:
        score.sort()
        return score, None
    order = np.argsort(score)
    cumulated = np.zeros(len(score) + 1)
    np.cumsum(items.weight.take(numbers).take(order), out=cumulated[1:])
    return score.take(order), cumulated


def _weights_between(cumulated: Array | None, start: Array, stop: Array) -> tuple[Array, Array]:
    """The weight before `start`, and from there to `stop`."""
    if cumulated is None:
        return start.astype(np.float64), (stop - start).astype(np.float64)
    return cumulated[start], cumulated[stop] - cumulated[start]


def _run_starts(*keys: Array) -> Array:
    """Where a run of rows begins that agree in all keys."""
    n = len(keys[0])
    if n == 0:
        return np.zeros(0, dtype=np.intp)
    change = np.empty(n, dtype=bool)
    change[0] = True
    np.not_equal(keys[0][1:], keys[0][:-1], out=change[1:])
    for key in keys[1:]:
        change[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(change)


def _above(weight: Array, ids: Array) -> Array:
    """The weight of the runs above each run of the same list."""
    # Shifted, not subtracted: where nothing stands above, the difference must be exactly zero.
    before = np.concatenate([np.zeros(1), np.cumsum(weight[:-1], dtype=np.float64)])
    return before - _spread_firsts(before, ids)


def _spread_firsts(values: Array, ids: Array) -> Array:
    """The first value of each list, at each of its runs."""
    starts = _run_starts(ids)
    return np.repeat(values[starts], np.diff(starts, append=len(ids)))


def ratio(part: Array, whole: Array) -> Array:
    """The part over the whole, NaN where the whole is not positive and a measure has no meaning."""
    some = whole > 0
    return np.where(some, part / np.where(some, whole, 1.0), np.nan)
