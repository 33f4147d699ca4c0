"""What a loss is: a convex, decreasing price of a pull, and its sums over all pairs without the pairs.

A pull z = s_i − s_k says how far winner i stands above loser k. Sums are written with φ(z) = ℓ(−z),
which grows with the loser's score: φ⁽ᵒ⁾ is its derivative of order o.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank, Segments
from pushrank._typing import Array


class PairSums(Protocol):
    """Sums over the pairs of one evaluation: one sort, or one set of cells, that is asked several times."""

    def at_losers(self, order: int, weight: Array) -> Array:
        """Σ_i weight_i φ⁽ᵒ⁾(s_k − s_i), one number per loser k."""
        ...

    def at_winners(self, order: int, weight: Array) -> Array:
        """Σ_k weight_k φ⁽ᵒ⁾(s_k − s_i), one number per winner i."""
        ...


@dataclass(eq=False)
class UndefinedSums:
    """Sums of scores that are not all finite, as after a step gone too far: NaN, an answer and no error."""

    n_winners: int
    n_losers: int

    def at_losers(self, order: int, weight: Array) -> Array:
        return np.full(self.n_losers, np.nan)

    def at_winners(self, order: int, weight: Array) -> Array:
        return np.full(self.n_winners, np.nan)


@dataclass(frozen=True, eq=False)
class PairList:
    """The pairs of small contests, written out once per target: entry numbers of both sides."""

    winner: Array
    loser: Array
    n_winners: int
    n_losers: int


@dataclass(frozen=True, eq=False)
class Sides:
    """The scores of a batch of contests: winners and losers as entries, contest after contest.

    `weight` holds the winners' weights, which sum to one in every contest. `small` holds the pairs of the
    contests that are cheaper written out; `large` numbers the others (sums without pairs pay from a few
    hundred entries on). A single contest has neither.
    """

    winners: Array
    losers: Array
    weight: Array
    winner_blocks: Segments
    loser_blocks: Segments
    small: PairList | None = None
    large: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


class Heights(Protocol):
    """The heights of all losers at some scores, and what moves them: r_k, or log r_k where `log` holds.

    `centred` is `values` − `offset`, not rounded by a far winner that lifts all logarithms alike.
    """

    log: bool
    offset: float

    @property
    def values(self) -> Array: ...

    @property
    def centred(self) -> Array: ...

    def pull_back(self, weight: Array) -> tuple[Array, Array]:
        """∂(Σ_k weight_k values_k) by winner scores and by loser scores."""
        ...

    def push_forward(self, winners: Array, losers: Array) -> Array:
        """The change of the values as scores move along (winners, losers)."""
        ...

    def bend(self, weight: Array, winners: Array, losers: Array) -> tuple[Array, Array]:
        """Σ_k weight_k ∇²values_k times the direction (winners, losers)."""
        ...


class Loss(ABC):
    """A convex, decreasing loss of a pull. A frozen dataclass that can be made without arguments."""

    name: ClassVar[str]
    smooth: ClassVar[bool] = True
    log: ClassVar[bool] = False
    """Whether averages and heights are taken in logarithms."""
    orders_top: ClassVar[bool] = True
    """Whether the population optimum against a smooth top orders the winners above it strictly."""

    @abstractmethod
    def value(self, pull: Array, order: int = 0) -> Array:
        """ℓ (order 0), ℓ′ (1) or ℓ″ (2; the generalised one at a kink of ℓ′)."""

    @abstractmethod
    def pair_sums(self, winners: Array, losers: Array) -> PairSums:
        """The sums over all pairs of one contest."""

    @abstractmethod
    def conjugate(self, slope: Array) -> Array:
        """ℓ*(slope) = sup_z slope·z − ℓ(z), elementwise; inf outside its domain."""

    def heights(self, sides: Sides) -> Heights:
        """The height of every loser: the mean loss of its winners' pulls."""
        from pushrank.losses.blocks import sums_of_blocks

        sums = sums_of_blocks(self, sides)
        return PairHeights(sums, sides.weight, sums.at_losers(0, sides.weight))

    def average(self, pulls: Array, weight: Array) -> tuple[float, Array]:
        """Σ weight·ℓ(pulls) (its logarithm where `log` holds), and its gradient by the pulls."""
        return float(weight @ self.value(pulls)), weight * self.value(pulls, 1)

    def average_against(
        self, winners: Array, tops: Array, weight: Array, blocks: Segments
    ) -> tuple[float, Array]:
        """`average` of the winners' pulls from the top of their contest."""
        return self.average(winners - blocks.spread(tops), weight)

    def average_curvature(self, pulls: Array, weight: Array) -> DiagonalPlusLowRank:
        """The second derivative of `average`."""
        return DiagonalPlusLowRank(weight * self.value(pulls, 2), np.zeros((0, len(pulls))), np.zeros(0))

    def average_conjugate(self, slopes: Array, weight: Array) -> float:
        """The convex conjugate of `average`: Σ weight·ℓ*(slopes / weight); inf outside its domain."""
        return float(weight @ self.conjugate(slopes / weight))


@dataclass(eq=False)
class PairHeights:
    """Heights as plain means: r_k = Σ_i weight_i φ(s_k − s_i)."""

    sums: PairSums
    weight: Array
    values: Array
    log: bool = False
    offset: float = 0.0
    _derivatives: dict[int, Array] = field(default_factory=dict)
    """The values' derivatives by their losers' scores, of order 1 and 2: Hessian products ask often."""

    @property
    def centred(self) -> Array:
        return self.values

    def pull_back(self, weight: Array) -> tuple[Array, Array]:
        # A gradient asks once, and what is kept for it would be held while the winners' sums are made.
        slopes = self._derivatives.get(1)
        losers = weight * (self.sums.at_losers(1, self.weight) if slopes is None else slopes)
        return -self.weight * self.sums.at_winners(1, weight), losers

    def push_forward(self, winners: Array, losers: Array) -> Array:
        return losers * self._derivative(1) - self.sums.at_losers(1, self.weight * winners)

    def bend(self, weight: Array, winners: Array, losers: Array) -> tuple[Array, Array]:
        at_losers = losers * self._derivative(2) - self.sums.at_losers(2, self.weight * winners)
        at_winners = winners * self.sums.at_winners(2, weight) - self.sums.at_winners(2, weight * losers)
        return self.weight * at_winners, weight * at_losers

    def _derivative(self, order: int) -> Array:
        if order not in self._derivatives:
            self._derivatives[order] = self.sums.at_losers(order, self.weight)
        return self._derivatives[order]
