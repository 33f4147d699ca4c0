"""The papers' general form: a price on the heights of the losers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank
from pushrank._typing import Array
from pushrank.exceptions import ScoreOverflow
from pushrank.losses.base import Heights, Loss
from pushrank.prices.base import Price
from pushrank.risks.base import Risk
from pushrank.targets.ranking import Contest, RankingTarget


@dataclass(frozen=True)
class PushRisk(Risk[RankingTarget]):
    """R = Γ(r_1..r_n)^(1/degree), or log Γ / degree where the heights are logarithms [1]_.

    Heights are means over winners and prices means over losers, so R does not grow with the list. The argmin
    without a penalty is that of the paper's F_p; `raw` gives F_p's own value.

    Parameters
    ----------
    loss : Loss
        What a pull costs; a loser's height is the mean loss of the winners against it.
    price : Price
        How dear the heights are together.

    References
    ----------
    .. [1] Rudin (2005). Ranking with a P-Norm Push. Technical report, §4; F_p in §4 of the COLT paper (2006).

    Examples
    --------
    >>> from pushrank.losses import Hinge
    >>> from pushrank.prices import Identity, Power
    >>> target = RankingTarget.bipartite(np.array([True, False, False]), np.ones(3))
    >>> PushRisk(Hinge(), Identity()).value_and_gradient(np.array([2.0, 1.5, 3.0]), target)[0]
    1.25
    >>> PushRisk(Hinge(), Power(2)).raw(np.array([2.0, 1.5, 3.0]), target)
    2.125
    """

    loss: Loss
    price: Price

    @property
    def smooth(self) -> bool:
        return self.loss.smooth and self.price.smooth

    @property
    def convex(self) -> bool:
        return True

    @property
    def log(self) -> bool:
        return self.loss.log and self.price.degree is not None

    def value_and_gradient(self, scores: Array, target: RankingTarget) -> tuple[float, Array]:
        contest = target.contest
        heights = self.loss.heights(contest.sides(scores))
        value, slopes = self._priced(heights, contest)
        winners, losers = heights.pull_back(slopes)
        # What an evaluation holds is several times as long as the scores: it goes before more is made.
        del heights, slopes
        return value, contest.join(winners, losers)

    def raw(self, scores: Array, target: RankingTarget) -> float:
        """Γ itself, of means: the papers' F_p over n·m^p; inf where it does not fit a float64."""
        contest = target.contest
        heights = self.loss.heights(contest.sides(scores))
        with np.errstate(over="ignore"):
            if heights.log and self.price.degree is not None:
                log_value, _ = self.price.log_value_and_gradient(heights.centred, contest.price_weight)
                return float(np.exp(log_value + self.price.degree * heights.offset))
            values = np.exp(heights.values) if heights.log else heights.values
            return float(self.price.value_and_gradient(values, contest.price_weight)[0])

    def hessian(self, scores: Array, target: RankingTarget) -> PushHessian | None:
        if not self.smooth:
            return None
        contest = target.contest
        heights = self.loss.heights(contest.sides(scores))
        curvature = self._price_curvature(heights, contest)
        if curvature is None:
            return None
        _, slopes = self._priced(heights, contest)
        return PushHessian(contest, heights, slopes, curvature)

    def _priced(self, heights: Heights, contest: Contest) -> tuple[float, Array]:
        """The value at degree one, and its derivative by the values of the heights."""
        weight, degree = contest.price_weight, self.price.degree
        if degree is None:
            if not heights.log:
                return self.price.value_and_gradient(heights.values, weight)
            plain = _exponential(heights.values)
            value, gradient = self.price.value_and_gradient(plain, weight)
            return value, gradient * plain
        if heights.log:
            value, gradient = self.price.log_value_and_gradient(heights.centred, weight)
            return value / degree + heights.offset, gradient / degree
        top = float(heights.values.max())
        if top <= 0:
            return 0.0, np.zeros_like(heights.values)
        # Γ(r) = top^degree Γ(r / top): the largest height is one, so no power overflows or vanishes.
        value, gradient = self.price.value_and_gradient(heights.values / top, weight)
        return top * value ** (1 / degree), gradient * (value ** (1 / degree - 1) / degree)

    def _price_curvature(self, heights: Heights, contest: Contest) -> DiagonalPlusLowRank | None:
        """The second derivative of the value at degree one, by the values of the heights."""
        weight, degree = contest.price_weight, self.price.degree
        if degree is None:
            plain = _exponential(heights.values) if heights.log else heights.values
            bend = self.price.curvature(plain, weight)
            if bend is None or not heights.log:
                return bend
            gradient = self.price.value_and_gradient(plain, weight)[1] * plain
            return DiagonalPlusLowRank(
                bend.diagonal * plain**2 + gradient, bend.vectors * plain, bend.coefficients
            )
        top = float(heights.centred.max())
        if heights.log:
            scaled = np.exp(heights.centred - top)
        elif top > 0:
            scaled = heights.values / top
        else:
            flat = np.zeros_like(heights.values)
            return DiagonalPlusLowRank(flat, np.zeros((0, len(flat))), np.zeros(0))
        value, gradient = self.price.value_and_gradient(scaled, weight)
        bend = self.price.curvature(scaled, weight)
        if bend is None:
            return None
        if heights.log:
            # ∇²(log Γ / g) by log r: diag(r ∇Γ / gΓ) + diag(r) ∇²Γ diag(r) / gΓ − g q qᵀ, q = r ∇Γ / gΓ.
            q = gradient * scaled / (degree * value)
            scale = 1.0 / (degree * value)
            return DiagonalPlusLowRank(
                bend.diagonal * scaled**2 * scale + q,
                np.vstack([bend.vectors * scaled, q]),
                np.append(bend.coefficients * scale, -degree),
            )
        # ∇²Γ^(1/g) = Γ^(1/g − 1)/g · (∇²Γ − (1 − 1/g)/Γ ∇Γ∇Γᵀ), at heights over their largest.
        scale = value ** (1 / degree - 1) / degree / top
        return DiagonalPlusLowRank(
            bend.diagonal * scale,
            np.vstack([bend.vectors, gradient]),
            np.append(bend.coefficients * scale, -scale * (1 - 1 / degree) / value),
        )


@dataclass(eq=False)
class PushHessian:
    """Jᵀ G J + Σ_k g_k ∇²r_k, with J the heights' derivative, g and G the price's first and second."""

    contest: Contest
    heights: Heights
    slopes: Array
    curvature: DiagonalPlusLowRank

    def apply(self, direction: Array) -> Array:
        winners, losers = self.contest.split(direction)
        moved = self.curvature.apply(self.heights.push_forward(winners, losers))
        back = self.heights.pull_back(moved)
        bent = self.heights.bend(self.slopes, winners, losers)
        return self.contest.join(back[0] + bent[0], back[1] + bent[1])

    def factors(self) -> DiagonalPlusLowRank | None:
        """Diagonal minus low rank for logarithmic heights of one contest; None otherwise.

        With log r_k = s_k + log Σ u e^{−s}, J = [−1 Uᵀ, I]: G's diagonal D and vectors stay, and what crosses
        from winners to losers is written with the two vectors (U, 0) and (0, D1).
        """
        contest, heights = self.contest, self.heights
        if not heights.log or contest.winner_blocks.n > 1:
            return None
        ones = np.ones(len(contest.loser_items))
        shares = -heights.pull_back(ones)[0] / len(ones)
        none_won, none_lost = np.zeros(len(shares)), np.zeros(len(ones))
        diagonal, total = self.curvature.diagonal, float(self.curvature.diagonal.sum())
        mass = float(self.slopes.sum())
        join = contest.join
        # J D Jᵀ-like part: diag(D) on losers, −U (D1)ᵀ across, (1ᵀD1) U Uᵀ on winners, in squares:
        # with c = 1ᵀD1: c·(U − D1/c)(U − D1/c)ᵀ − (D1)(D1)ᵀ/c + diag(D).
        vectors = [join(shares, none_lost)]
        coefficients = [-mass]
        if total > 0:
            vectors += [join(shares, -diagonal / total), join(none_won, diagonal)]
            coefficients += [total, -1.0 / total]
        for vector, coefficient in zip(self.curvature.vectors, self.curvature.coefficients, strict=True):
            vectors.append(join(-shares * vector.sum(), vector))
            coefficients.append(float(coefficient))
        return DiagonalPlusLowRank(join(mass * shares, diagonal), np.array(vectors), np.array(coefficients))


def _exponential(log_heights: Array) -> Array:
    """The plain heights, for prices that do not scale and so cannot be taken in logarithms."""
    top = float(log_heights.max())
    if top > 700:
        raise ScoreOverflow(
            f"The largest height is e^{top:.0f}, which the exponential price cannot take (limit e^700): "
            "scale the columns down, lower C, or use Power(p)."
        )
    return np.exp(log_heights)
