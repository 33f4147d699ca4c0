"""A loss against the top: every winner must beat the one score where the losers' top begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank, centred
from pushrank._typing import Array
from pushrank.losses.base import Loss
from pushrank.risks.base import Risk
from pushrank.targets.ranking import Contest, RankingTarget
from pushrank.tops.base import Top, TopCurvature


@dataclass(frozen=True)
class TopRisk(Risk[RankingTarget]):
    """R = Σ_i u_i ℓ(s_i − t) / Σu, or its logarithm for the exponential loss; t is the top of the losers.

    Over several contests: their mean by pair weight. O(m + n) for every loss.

    Parameters
    ----------
    loss : Loss
        What it costs a winner to be no more than its pull above the top.
    top : Top
        Where the losers' top begins. With `Maximum()` and the hinge the risk is the Infinite Push's [1]_.

    References
    ----------
    .. [1] Agarwal (2011). The Infinite Push. SIAM International Conference on Data Mining, §3.

    Examples
    --------
    >>> from pushrank.losses import Hinge
    >>> from pushrank.tops import Maximum
    >>> target = RankingTarget.bipartite(np.array([True, False, False]), np.ones(3))
    >>> value, weights = TopRisk(Hinge(), Maximum()).value_and_gradient(np.array([2.0, 1.5, 3.0]), target)
    >>> value, weights.tolist()
    (2.0, [-1.0, 0.0, 1.0])
    """

    loss: Loss
    top: Top

    @property
    def smooth(self) -> bool:
        return self.loss.smooth and self.top.smooth

    @property
    def convex(self) -> bool:
        return self.top.convex

    @property
    def log(self) -> bool:
        return self.loss.log

    def value_and_gradient(self, scores: Array, target: RankingTarget) -> tuple[float, Array]:
        contest = target.stars
        scores = self._centred(scores)
        tops, slopes = self._tops(scores, contest)
        value, pulled = self._average(scores, tops, contest)
        against = -contest.winner_blocks.sum(pulled)
        return value, self._join(contest, pulled, slopes, against)

    def hessian(self, scores: Array, target: RankingTarget) -> TopHessian | None:
        contest = target.stars
        if not self.smooth or self.top.over == "all":
            return None
        scores = self._centred(scores)
        losers = scores[contest.loser_items]
        bend = self.top.curvature(losers, contest.loser_weight, contest.loser_blocks)
        if bend is None:
            return None
        tops, slopes = self._tops(scores, contest)
        _, pulled = self._average(scores, tops, contest)
        pulls = scores[contest.winner_items] - contest.winner_blocks.spread(tops)
        curvature = self.loss.average_curvature(pulls, contest.average_weight)
        return TopHessian(contest, curvature, slopes, bend, -contest.winner_blocks.sum(pulled))

    def dual(self) -> TopDual | None:
        knows_conjugate = type(self.top).conjugate is not Top.conjugate
        if not (self.top.convex and knows_conjugate) or self.top.over == "all":
            return None
        return TopDual(self.loss, self.top)

    def _centred(self, scores: Array) -> Array:
        return centred(scores) if self.top.shifts else scores

    def _tops(self, scores: Array, contest: Contest) -> tuple[Array, Array]:
        if self.top.over == "all":
            items, weight, blocks = contest.everyone
            return self.top.value_and_gradient(scores[items], weight, blocks)
        losers = scores[contest.loser_items]
        return self.top.value_and_gradient(losers, contest.loser_weight, contest.loser_blocks)

    def _average(self, scores: Array, tops: Array, contest: Contest) -> tuple[float, Array]:
        """The mean loss, and its derivative by every winner's pull."""
        winners = scores[contest.winner_items]
        return self.loss.average_against(winners, tops, contest.average_weight, contest.winner_blocks)

    def _join(self, contest: Contest, pulled: Array, slopes: Array, against: Array) -> Array:
        if self.top.over == "all":
            items, _, blocks = contest.everyone
            looked_at = np.bincount(items, slopes * blocks.spread(against), contest.n_items)
            return looked_at + contest.join(pulled, np.zeros(len(contest.loser_items)))
        return contest.join(pulled, slopes * contest.loser_blocks.spread(against))


@dataclass(eq=False)
class TopHessian:
    """Zᵀ H Z + A ∇²t: H the curvature of the mean loss, Z the pulls' derivative, A the loss's slope at t."""

    contest: Contest
    curvature: DiagonalPlusLowRank
    slopes: Array
    bend: TopCurvature
    against: Array

    def apply(self, direction: Array) -> Array:
        contest = self.contest
        winners, losers = contest.split(direction)
        moved = contest.loser_blocks.sum(self.slopes * losers)
        bent = self.curvature.apply(winners - contest.winner_blocks.spread(moved))
        back = -contest.winner_blocks.sum(bent)
        at_losers = self.slopes * contest.loser_blocks.spread(back)
        at_losers += self.bend.apply(losers) * contest.loser_blocks.spread(self.against)
        return contest.join(bent, at_losers)

    def factors(self) -> DiagonalPlusLowRank | None:
        """Diagonal and a few vectors for one contest; None for several."""
        contest = self.contest
        if contest.winner_blocks.n > 1:
            return None
        join, against = contest.join, float(self.against[0])
        none_won, none_lost = np.zeros(len(contest.winner_items)), np.zeros(len(contest.loser_items))
        diagonal, total = self.curvature.diagonal, float(self.curvature.diagonal.sum())
        vectors = [join(none_won, self.bend.vector)]
        coefficients = [against * float(self.bend.coefficient[0])]
        if total > 0:
            # diag(h) on winners, −h τᵀ across, (Σh) τ τᵀ on losers, written as two squares.
            vectors += [join(diagonal, none_lost), join(-diagonal / total, self.slopes)]
            coefficients += [-1.0 / total, total]
        for vector, coefficient in zip(self.curvature.vectors, self.curvature.coefficients, strict=True):
            vectors.append(join(vector, -self.slopes * vector.sum()))
            coefficients.append(float(coefficient))
        return DiagonalPlusLowRank(
            join(diagonal, against * self.bend.diagonal), np.array(vectors), np.array(coefficients)
        )


@dataclass(frozen=True)
class TopDual:
    """The one dual of `TopRisk`: Σ u ℓ*(−a/u) + Σ A t*(b/A), Σa = Σb = A per contest."""

    loss: Loss
    top: Top

    def conjugate(self, winners: Array, losers: Array, target: RankingTarget) -> float:
        """R* at item weights −`winners` (a) on winner entries and `losers` (b) on loser entries, all ≥ 0."""
        contest = target.stars
        mass, heaped = contest.winner_blocks.sum(winners), contest.loser_blocks.sum(losers)
        scale = max(float(np.abs(winners).sum()), float(np.abs(losers).sum()), 1e-300)
        if np.any(winners < 0) or np.any(losers < 0) or np.any(np.abs(mass - heaped) > 1e-9 * scale):
            return np.inf
        value = self.loss.average_conjugate(-winners, contest.average_weight)
        present = heaped > 0
        shares = losers / contest.loser_blocks.spread(np.where(present, heaped, 1.0))
        tops = self.top.conjugate(shares, contest.loser_weight, contest.loser_blocks)
        assert tops is not None, "a convex top knows its conjugate"
        # A contest without weight adds 0 · t*, whatever t* says of no shares at all.
        return value + float(heaped[present] @ tops[present])
