"""Who should stand above whom: contests, and the targets that are made of them.

A `Contest` is a batch of winners-against-losers blocks: one block for a plain two-class list, one for every
query and pair of grades, one for every loser (or winner) of explicit pairs. Its arrays hold entries, block
after block; an item may be an entry of several blocks, on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from pushrank._arrays import Segments, centred
from pushrank._typing import Array
from pushrank.losses.base import PairList, Sides

ContestWeight = Literal["pairs", "equal"]


@dataclass(frozen=True, eq=False)
class Contest:
    """A batch of blocks; every block has winners and losers, and every weight is positive."""

    n_items: int
    winner_items: Array
    winner_weight: Array
    winner_blocks: Segments
    loser_items: Array
    loser_weight: Array
    loser_blocks: Segments
    contest_weight: ContestWeight = "pairs"

    @cached_property
    def share(self) -> Array:
        """What each block weighs in the whole: its pair weight, or the same for all; sums to one."""
        winners = self.winner_blocks.sum(self.winner_weight)
        losers = self.loser_blocks.sum(self.loser_weight)
        # Each over its largest: the product of two tiny weights would be none.
        share = (winners / winners.max()) * (losers / losers.max())
        if self.contest_weight == "equal":
            share = np.ones_like(share)
        return share / share.sum()

    @cached_property
    def winner_share(self) -> Array:
        """The winners' weights, which sum to one in every block."""
        return self.winner_weight / self.winner_blocks.spread(self.winner_blocks.sum(self.winner_weight))

    @cached_property
    def average_weight(self) -> Array:
        """The winners' weights in a mean over blocks, which sum to one in all, for `TopRisk`."""
        return self.winner_share * self.winner_blocks.spread(self.share)

    @cached_property
    def price_weight(self) -> Array:
        """The losers' weights in a pooled price, which sum to one in all, for `PushRisk`."""
        total = self.loser_blocks.sum(self.loser_weight)
        return self.loser_weight * self.loser_blocks.spread(self.share / total)

    @cached_property
    def everyone(self) -> tuple[Array, Array, Segments]:
        """Winners and losers together, block after block: items, weights and blocks."""
        items = np.concatenate([self.winner_items, self.loser_items])
        weight = np.concatenate([self.winner_weight, self.loser_weight])
        if self.winner_blocks.n == 1:
            return items, weight, Segments.one(len(items))
        ids = np.concatenate([self.winner_blocks.ids, self.loser_blocks.ids])
        order = np.argsort(ids, kind="stable")
        return items[order], weight[order], Segments.of_sorted(ids[order])

    @cached_property
    def _written_out(self) -> tuple[PairList | None, Array]:
        """The pairs of the blocks that are cheaper written out, and the numbers of the other blocks."""
        m, n = self.winner_blocks.lengths, self.loser_blocks.lengths
        is_small = m * n <= 32 * (m + n)
        if self.winner_blocks.n == 1 or not is_small.any():
            return None, np.flatnonzero(~is_small)
        m, n = m[is_small], n[is_small]
        pair = _places(np.zeros_like(m), m * n)
        width = np.repeat(n, m * n)
        winner = pair // width + np.repeat(self.winner_blocks.starts[is_small], m * n)
        loser = pair % width + np.repeat(self.loser_blocks.starts[is_small], m * n)
        pairs = PairList(winner, loser, len(self.winner_items), len(self.loser_items))
        return pairs, np.flatnonzero(~is_small)

    def sides(self, scores: Array) -> Sides:
        """The scores of both sides, as entries."""
        scores = centred(scores)
        small, large = (None, np.zeros(0, dtype=np.intp))
        if self.winner_blocks.n > 1:
            small, large = self._written_out
        return Sides(
            scores[self.winner_items],
            scores[self.loser_items],
            self.winner_share,
            self.winner_blocks,
            self.loser_blocks,
            small,
            large,
        )

    def split(self, per_item: Array) -> tuple[Array, Array]:
        """One number per item, as entries of both sides."""
        return per_item[self.winner_items], per_item[self.loser_items]

    def join(self, winners: Array, losers: Array) -> Array:
        """The sum over each item's entries on both sides."""
        if self.winner_blocks.n == 1 and self._is_disjoint:
            joined: Array = np.zeros(self.n_items)
            joined[self.winner_items] = winners
            joined[self.loser_items] = losers
            return joined
        joined = np.bincount(self.winner_items, winners, self.n_items)
        joined += np.bincount(self.loser_items, losers, self.n_items)
        return joined

    @cached_property
    def _is_disjoint(self) -> bool:
        counts = np.bincount(self.winner_items, minlength=self.n_items)
        return int((counts + np.bincount(self.loser_items, minlength=self.n_items)).max()) <= 1


@dataclass(frozen=True, eq=False)
class RankingTarget:
    """What a ranking should bring about.

    `contest` is what heights are taken over. `stars` is what tops are taken over; it differs for explicit
    pairs only, where heights go loser by loser and tops winner by winner. `ignored` counts the contests that
    had one side only.
    """

    contest: Contest
    stars: Contest
    ignored: int = 0

    @classmethod
    def bipartite(cls, is_winner: Array, weight: Array) -> RankingTarget:
        """One list of two classes."""
        is_winner = np.asarray(is_winner, dtype=bool)
        winners = np.flatnonzero(is_winner & (weight > 0))
        losers = np.flatnonzero(~is_winner & (weight > 0))
        assert len(winners), "a contest needs winners"
        assert len(losers), "a contest needs losers"
        contest = Contest(
            len(weight),
            winners,
            weight[winners].astype(np.float64),
            Segments.one(len(winners)),
            losers,
            weight[losers].astype(np.float64),
            Segments.one(len(losers)),
        )
        return cls(contest, contest)

    @classmethod
    def graded(
        cls, grades: Array, weight: Array, qid: Array, contest_weight: ContestWeight = "pairs"
    ) -> RankingTarget | None:
        """One block for every query and pair of grades in it; None where no query has a pair."""
        present = np.flatnonzero(weight > 0)
        order = present[np.lexsort((grades[present], qid[present]))]
        grades, qid = grades[order], qid[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (qid[1:] != qid[:-1]) | (grades[1:] != grades[:-1])
        starts = np.flatnonzero(new)
        lengths = np.diff(starts, append=len(order))
        group_qid = qid[starts]
        _, first, n_grades = np.unique(group_qid, return_index=True, return_counts=True)
        ignored = int((n_grades == 1).sum())
        # Every pair of groups of one query: the lower group, and one that lies `rise` grades above it.
        low = np.arange(len(starts))
        query_end = np.repeat(first + n_grades, n_grades)
        above = query_end - low - 1
        loser_group = np.repeat(low, above)
        winner_group = loser_group + 1 + _places(np.zeros_like(above), above)
        if len(loser_group) == 0:
            return None
        contest = Contest(
            len(weight),
            *_entries(order, weight, starts[winner_group], lengths[winner_group]),
            *_entries(order, weight, starts[loser_group], lengths[loser_group]),
            contest_weight,
        )
        return cls(contest, contest, ignored)

    @classmethod
    def pairs(
        cls,
        winners: Array,
        losers: Array,
        pair_weight: Array,
        n_items: int,
        contest_weight: ContestWeight = "pairs",
    ) -> RankingTarget:
        """Explicit pairs: item winners[j] should stand above item losers[j]; all weights are positive."""
        by_loser = np.lexsort((winners, losers))
        by_winner = np.lexsort((losers, winners))
        contest = _stars(losers[by_loser], winners[by_loser], pair_weight[by_loser], n_items)
        mirrored = _stars(winners[by_winner], losers[by_winner], pair_weight[by_winner], n_items)
        stars = replace(
            mirrored,
            winner_items=mirrored.loser_items,
            winner_weight=mirrored.loser_weight,
            winner_blocks=mirrored.loser_blocks,
            loser_items=mirrored.winner_items,
            loser_weight=mirrored.winner_weight,
            loser_blocks=mirrored.winner_blocks,
        )
        return cls(
            replace(contest, contest_weight=contest_weight), replace(stars, contest_weight=contest_weight)
        )


def _places(starts: Array, lengths: Array) -> Array:
    """starts_b, starts_b + 1, …, lengths_b of them, block after block."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + lengths, lengths)


def _entries(order: Array, weight: Array, starts: Array, lengths: Array) -> tuple[Array, Array, Segments]:
    items = order[_places(starts, lengths)]
    borders = np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(lengths)[:-1]])
    return items, weight[items].astype(np.float64), Segments(borders, len(items))


def _stars(centres: Array, rays: Array, weight: Array, n_items: int) -> Contest:
    """Blocks of one loser each, the centre, with its rays as winners; sorted by centre."""
    blocks = Segments.of_sorted(centres)
    return Contest(
        n_items,
        rays,
        weight.astype(np.float64),
        blocks,
        centres[blocks.starts],
        np.ones(blocks.n),
        Segments(np.arange(blocks.n), blocks.n),
    )
