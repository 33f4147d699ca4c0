"""The soft maximum: a top between the losers' mean and their maximum, with a cap on each loser's share.

With v̄ = v/V, t(s) = max over distributions b of b·s − KL(b‖v̄)/p. Without caps b_k ∝ v_k e^{p s_k} and
t = (1/p) log Σ v̄_k e^{p s_k}. With caps b_k ≤ v_k/K, a loser of score x reaches its cap if and only if
Σ_k v_k min(1, e^{p(s_k − x)}) ≤ K; what the capped leave is shared as e^{p s_k} among the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.budget import Budget
from pushrank.exceptions import InvalidParameter
from pushrank.tops.base import CAP_SLACK, Top, TopCurvature, is_distribution, places_acted_on


@dataclass(frozen=True)
class SoftTop(Top):
    """t(s) = (1/p) log of the weighted mean of e^{p s_k}; smooth, and nearer the maximum the larger p.

    Parameters
    ----------
    p : float, default=8
        Above 0. Towards 0 the top is the losers' mean, towards infinity their maximum.
    at_least : int, float or Budget, default=None
        A count K of losers, or a share of them: no loser has a greater share in the top than its weight over
        K (of a contest whose losers weigh less, over their weight). The answer to winners that hide among
        the losers.

    Examples
    --------
    With the exponential loss it is the P-Norm Push of the same p.

    >>> from pushrank import PushRanker, SoftTop
    >>> smooth = PushRanker("logistic", SoftTop(8))
    >>> forgiving = PushRanker("logistic", SoftTop(8, at_least=20))
    """

    p: float = 8.0
    at_least: float | Budget | None = None
    name: ClassVar[str] = "soft_top"
    orders_rest: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (_is_number(self.p) and 0 < self.p < np.inf):
            raise InvalidParameter(
                f"p must be a finite number above 0; got {self.p!r}. For the highest loser use Maximum()."
            )
        if self.at_least is not None:
            Budget.read(self.at_least)

    def value_and_gradient(self, scores: Array, weight: Array, blocks: Segments) -> tuple[Array, Array]:
        value, shares, _ = self._solved(scores, weight, blocks)
        return value, shares

    def curvature(self, scores: Array, weight: Array, blocks: Segments) -> TopCurvature:
        _, shares, lowest_capped = self._solved(scores, weight, blocks)
        if lowest_capped is not None:
            shares *= scores < blocks.spread(lowest_capped)
        mass = blocks.sum(shares)
        coefficient = np.where(mass > 0, -self.p / np.where(mass > 0, mass, 1.0), 0.0)
        return TopCurvature(self.p * shares, shares, coefficient, blocks)

    def conjugate(self, shares: Array, weight: Array, blocks: Segments) -> Array:
        total = blocks.sum(weight)
        fits = is_distribution(shares, blocks)
        if self.at_least is not None:
            caps = weight / blocks.spread(places_acted_on(Budget.read(self.at_least), total)) * CAP_SLACK
            fits &= blocks.max(shares - caps) <= 0
        present = shares > 0
        ratio = np.where(present, shares * blocks.spread(total) / weight, 1.0)
        return np.where(fits, blocks.sum(np.where(present, shares, 0.0) * np.log(ratio)) / self.p, np.inf)

    def _solved(self, scores: Array, weight: Array, blocks: Segments) -> tuple[Array, Array, Array | None]:
        """Every contest's t, every loser's share, and the lowest score at its cap (None: nobody is)."""
        if self.at_least is not None:
            solved = self._capped(scores, weight, blocks, Budget.read(self.at_least))
            if np.any(solved[2] < np.inf):
                return solved
        highest, total = blocks.max(scores), blocks.sum(weight)
        shares = _exponents(self.p, scores, blocks.spread(highest))
        np.exp(shares, out=shares)
        shares *= weight
        heaped = blocks.sum(shares)
        shares /= blocks.spread(heaped)
        height = np.log(heaped / total)
        is_flat = heaped > 0.9 * total
        if np.any(is_flat):
            # All exponents are small, and the logarithm of a number near one would lose their digits.
            small = np.expm1(_exponents(self.p, scores, blocks.spread(highest)))
            small *= weight
            height = np.where(is_flat, np.log1p(np.maximum(blocks.sum(small) / total, -0.5)), height)
        return highest + height / self.p, shares, None

    def _capped(
        self, scores: Array, weight: Array, blocks: Segments, at_least: Budget
    ) -> tuple[Array, Array, Array]:
        """The same with caps. Where nobody reaches them it is right as well, but less exact at a tiny p."""
        total = blocks.sum(weight)
        wanted = places_acted_on(at_least, total)
        if blocks.n > 1:
            order = blocks.ascending(scores)
            nothing = np.full(blocks.n, -np.inf), np.zeros(blocks.n)
            shares = np.empty(len(scores))
            value, shares[order], lowest, _, _ = self._shared(
                scores[order], weight[order], blocks, total, wanted, nothing
            )
            return value, shares, lowest
        # Those at their caps weigh K at most, so only the highest losers of that weight are candidates; all
        # others are one sum of exponentials, counted from the lowest candidate.
        border = blocks.upper_quantile(scores, weight, wanted)
        candidates = np.flatnonzero(scores >= border)
        with np.errstate(over="ignore"):
            shares = _exponents(self.p, scores, border)
            np.exp(shares, out=shares)
        shares[candidates] = 0.0
        shares *= weight
        rest = border, blocks.sum(shares)
        few = Segments.one(len(candidates))
        value, taken, lowest, free_top, unit = self._shared(
            scores[candidates], weight[candidates], few, total, wanted, rest
        )
        shares *= np.exp(_exponents(self.p, border, free_top)) * unit
        shares[candidates] = taken
        return value, shares, lowest

    def _shared(
        self,
        scores: Array,
        weight: Array,
        blocks: Segments,
        total: Array,
        wanted: Array,
        rest: tuple[Array, Array],
    ) -> tuple[Array, Array, Array, Array, Array]:
        """The same of candidates, and below the caps the ρ and c of a share c v e^{p(s − ρ)}."""
        below_caps = _below_caps_of_one if blocks.n == 1 else _below_caps
        lowest, free_top, free_sum = below_caps(self.p, scores, weight, blocks, wanted, rest)
        is_capped = scores >= blocks.spread(lowest)
        at_cap = weight * is_capped
        capped = blocks.sum(at_cap)
        left = np.maximum(wanted - capped, 0.0)  # The weight of K that the capped leave to the others.
        left = np.where(free_sum > 0, left, 0.0)
        part = left / np.where(free_sum > 0, free_sum, 1.0)
        # At the caps the exponent is cut to 0 and the factor is one; sums are faster here than a choice.
        taken = _exponents(self.p, scores, blocks.spread(free_top))
        np.minimum(taken, 0.0, out=taken)
        np.exp(taken, out=taken)
        # A part above one, of a rest that is nothing beside its rounding, is no candidate's.
        of_free = np.minimum(part, 1.0)
        factor = is_capped * blocks.spread((1.0 - of_free) / wanted)
        factor += blocks.spread(of_free / wanted)
        factor *= weight
        taken *= factor
        # KL's logarithms are log V/K at the caps, and p(s − free_top) + log(part · V/K) below them.
        log_cap = np.log(total / wanted)
        height = np.where(left > 0, free_top, 0.0)
        height -= (log_cap + np.log(np.where(left > 0, part, 1.0))) / self.p
        value = blocks.dot(at_cap / blocks.spread(wanted), scores) - capped / wanted * log_cap / self.p
        return value + left / wanted * height, taken, lowest, free_top, part / wanted


def _exponents(p: float, scores: Array, highest: Array) -> Array:
    """What e is raised to, p (scores − highest); −inf where that is beyond a float64: a share of zero."""
    exponents = scores - highest
    with np.errstate(over="ignore"):
        exponents *= p
    return exponents


def _below_caps_of_one(
    p: float, scores: Array, weight: Array, blocks: Segments, wanted: Array, rest: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """The lowest score at its cap (inf: none is), and a score ρ and Σ v e^{p(s − ρ)} over all below the caps.

    `rest` are ρ and the sum of those known to be below. Every round cuts the candidates at a middle score x:
    either x and all above are at their caps, or x and all below are not. The decided leave as one sum, so all
    rounds together cost one exponential a candidate.
    """
    lowest, free_top, free_sum, capped = np.inf, float(rest[0][0]), float(rest[1][0]), 0.0
    while len(scores):
        cut = float(np.partition(scores, len(scores) // 2)[len(scores) // 2])
        above, below = np.flatnonzero(scores > cut), np.flatnonzero(scores < cut)
        terms = np.exp(_exponents(p, scores[below], cut))
        with np.errstate(over="ignore"):
            light = free_sum * float(np.exp(p * np.float64(free_top - cut))) + float(terms @ weight[below])
        here = float(weight @ (scores == cut))
        heavy = here + float(weight[above].sum())
        if light + heavy + capped <= wanted[0]:
            lowest, capped, kept = cut, capped + heavy, below
        else:
            free_top, free_sum, kept = cut, light + here, above
        scores, weight = scores[kept], weight[kept]
    return np.array([lowest]), np.array([free_top]), np.array([free_sum])


def _below_caps(
    p: float, scores: Array, weight: Array, blocks: Segments, wanted: Array, rest: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """`_below_caps_of_one` for many contests at once, scores sorted in each, each with its own cuts."""
    lowest, capped = np.full(blocks.n, np.inf), np.zeros(blocks.n)
    free_top, free_sum = np.array(rest[0]), np.array(rest[1])
    contests = np.arange(blocks.n)  # Those that still have candidates, one run each.
    while len(scores):
        cut = scores[blocks.starts + blocks.lengths // 2]
        gaps = scores - blocks.spread(cut)
        with np.errstate(over="ignore"):
            heights = np.exp(np.minimum(gaps, 0.0) * p)
            before = free_sum[contests] * np.exp((free_top[contests] - cut) * p)
        heights *= weight
        reached = before + capped[contests] + blocks.sum(heights)
        is_capped = reached <= wanted[contests]
        heavy = blocks.sum(weight * (gaps >= 0))
        light = before + blocks.sum(heights * (gaps <= 0))
        capped[contests] += np.where(is_capped, heavy, 0.0)
        lowest[contests] = np.where(is_capped, cut, lowest[contests])
        free_top[contests] = np.where(is_capped, free_top[contests], cut)
        free_sum[contests] = np.where(is_capped, free_sum[contests], light)
        kept = np.flatnonzero(np.where(blocks.spread(is_capped), gaps < 0, gaps > 0))
        ids = np.searchsorted(blocks.starts, kept, side="right") - 1
        scores, weight = scores[kept], weight[kept]
        contests, blocks = contests[np.unique(ids)], Segments.of_sorted(ids)
    return lowest, free_top, free_sum


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
