"""Pair sums of a batch of contests: small contests pair by pair, large ones by their loss's own sums.

Writing out m·n pairs is cheaper than sorting when a contest is small, and it needs no loop over contests; a
contest is written out when m·n ≤ 32 (m + n), so the list stays linear in the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._typing import Array
from pushrank.losses.base import Loss, PairList, PairSums, Sides


def sums_of_blocks(loss: Loss, sides: Sides) -> PairSums:
    """The pair sums within every contest of `sides`."""
    if sides.winner_blocks.n == 1 and sides.small is None:
        return loss.pair_sums(sides.winners, sides.losers)
    return _BlockSums(loss, sides)


class _BlockSums:
    def __init__(self, loss: Loss, sides: Sides):
        self._n_winners, self._n_losers = len(sides.winners), len(sides.losers)
        self._parts: list[tuple[Array | slice, Array | slice, PairSums]] = []
        if sides.small is not None:
            everything = slice(None)
            pulls = sides.winners[sides.small.winner] - sides.losers[sides.small.loser]
            self._parts.append((everything, everything, _ListedSums(loss, sides.small, pulls)))
        for block in sides.large:
            winners, losers = _run(sides.winner_blocks, block), _run(sides.loser_blocks, block)
            sums = loss.pair_sums(sides.winners[winners], sides.losers[losers])
            self._parts.append((winners, losers, sums))

    def at_losers(self, order: int, weight: Array) -> Array:
        sums = np.zeros(self._n_losers)
        for winners, losers, part in self._parts:
            sums[losers] += part.at_losers(order, weight[winners])
        return sums

    def at_winners(self, order: int, weight: Array) -> Array:
        sums = np.zeros(self._n_winners)
        for winners, losers, part in self._parts:
            sums[winners] += part.at_winners(order, weight[losers])
        return sums


def _run(blocks: Array, block: int) -> slice:
    start = int(blocks.starts[block])
    return slice(start, start + int(blocks.lengths[block]))


@dataclass(eq=False)
class _ListedSums:
    loss: Loss
    pairs: PairList
    pulls: Array

    def at_losers(self, order: int, weight: Array) -> Array:
        terms = self._terms(order) * weight[self.pairs.winner]
        return np.bincount(self.pairs.loser, terms, self.pairs.n_losers)

    def at_winners(self, order: int, weight: Array) -> Array:
        terms = self._terms(order) * weight[self.pairs.loser]
        return np.bincount(self.pairs.winner, terms, self.pairs.n_winners)

    def _terms(self, order: int) -> Array:
        terms = self.loss.value(self.pulls, order)
        return -terms if order == 1 else terms  # φ′(−z) = −ℓ′(z)
