"""The exponential loss: RankBoost's and the P-Norm Push's, known in logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank, Segments
from pushrank._typing import Array
from pushrank.losses.base import Heights, Loss, PairSums, Sides


@dataclass(frozen=True)
class Exponential(Loss):
    """ℓ(z) = exp(−z). Heights and averages are kept as logarithms, so no score overflows.

    log r_k = s_k + log Σ_i u_i exp(−s_i): O(m + n) for all heights together, the product form of [1]_, §4.

    References
    ----------
    .. [1] Rudin (2006). Ranking with a P-Norm Push. COLT.

    Examples
    --------
    >>> Exponential().value(np.array([0.0, 1.0])).round(4).tolist()
    [1.0, 0.3679]
    """

    name: ClassVar[str] = "exponential"
    log: ClassVar[bool] = True

    def value(self, pull: Array, order: int = 0) -> Array:
        terms = np.exp(-pull)
        return -terms if order == 1 else terms

    def pair_sums(self, winners: Array, losers: Array) -> PairSums:
        return _ProductSums(winners, losers)

    def conjugate(self, slope: Array) -> Array:
        a = -np.asarray(slope, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(a > 0, a * np.log(a) - a, np.where(a == 0, 0.0, np.inf))

    def heights(self, sides: Sides) -> Heights:
        below, shares = sides.winner_blocks.log_sum_exp(-sides.winners, sides.weight)
        offset = float(below.max())
        centred = sides.losers + sides.loser_blocks.spread(below - offset)
        return LogHeights(sides.winner_blocks, sides.loser_blocks, shares, centred, offset)

    def average(self, pulls: Array, weight: Array) -> tuple[float, Array]:
        value, shares = Segments.one(len(pulls)).log_sum_exp(-pulls, weight)
        return float(value[0]), np.negative(shares, out=shares)

    def average_against(
        self, winners: Array, tops: Array, weight: Array, blocks: Segments
    ) -> tuple[float, Array]:
        # log Σ_c e^{t_c} Σ_i w e^{−s_i}: winners meet each other before a far top rounds them.
        below, shares = blocks.log_sum_exp(-winners, weight)
        highest = int(np.argmax(tops + below))
        rises = (tops - tops[highest]) + (below - below[highest])
        value, of_block = Segments.one(len(rises)).log_sum_exp(rises, np.ones_like(rises))
        shares *= blocks.spread(-of_block)
        return float(value[0] + (tops[highest] + below[highest])), shares

    def average_curvature(self, pulls: Array, weight: Array) -> DiagonalPlusLowRank:
        _, shares = Segments.one(len(pulls)).log_sum_exp(-pulls, weight)
        return DiagonalPlusLowRank(shares, shares[None, :], np.array([-1.0]))

    def average_conjugate(self, slopes: Array, weight: Array) -> float:
        # The conjugate of log Σ w exp(−z) is the relative entropy KL(a ‖ w) on the simplex.
        a = -slopes
        if np.any(a < 0) or abs(a.sum() - 1.0) > 1e-9:
            return np.inf
        present = a > 0
        return float(a[present] @ np.log(a[present] / weight[present]))


@dataclass(eq=False)
class LogHeights:
    """Logarithms of heights; `shares` is U, each winner's share in the heights of its contest."""

    winner_blocks: Segments
    loser_blocks: Segments
    shares: Array
    centred: Array
    offset: float
    log: bool = True

    @cached_property
    def values(self) -> Array:
        return self.centred + self.offset

    def pull_back(self, weight: Array) -> tuple[Array, Array]:
        totals = self.loser_blocks.sum(weight)
        return -self.shares * self.winner_blocks.spread(totals), weight

    def push_forward(self, winners: Array, losers: Array) -> Array:
        moved = self.winner_blocks.sum(self.shares * winners)
        return losers - self.loser_blocks.spread(moved)

    def bend(self, weight: Array, winners: Array, losers: Array) -> tuple[Array, Array]:
        totals = self.winner_blocks.spread(self.loser_blocks.sum(weight))
        mean = self.winner_blocks.spread(self.winner_blocks.sum(self.shares * winners))
        return totals * self.shares * (winners - mean), np.zeros_like(losers)


@dataclass(eq=False)
class _ProductSums:
    """Plain sums: φ(s_k − s_i) = e^{s_k} e^{−s_i} is a product, for any order of derivative."""

    winners: Array
    losers: Array

    def at_losers(self, order: int, weight: Array) -> Array:
        shift = self.winners.min()
        return np.exp(self.losers - shift) * (weight @ np.exp(shift - self.winners))

    def at_winners(self, order: int, weight: Array) -> Array:
        shift = self.losers.max()
        return np.exp(shift - self.winners) * (weight @ np.exp(self.losers - shift))
