"""What a top is: where the losers' top begins, the score that a winner must beat.

A top t is a function of the losers' scores (of all scores where `over` says so), one number per contest. The
convex ones are t(s) = max over b of b·s − t*(b), b a distribution over the losers: their gradient is the
best b, and the conjugate t* serves the one dual of `TopRisk`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.budget import Budget


@dataclass(frozen=True, eq=False)
class TopCurvature:
    """∇²t of every contest: diag(diagonal) + coefficient · vector vectorᵀ, one coefficient each."""

    diagonal: Array
    vector: Array
    coefficient: Array
    blocks: Segments

    def apply(self, direction: Array) -> Array:
        """The product with a direction over the entries."""
        along = self.coefficient * self.blocks.sum(self.vector * direction)
        return self.diagonal * direction + self.vector * self.blocks.spread(along)


class Top(ABC):
    """The score that a winner must beat. A frozen dataclass.

    `convex`, `monotone` (t rises with every loser's score), `shifts` (t(s + c) = t(s) + c) and `orders_rest`
    (losers below the top are told apart as well) are declared, and tested.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    shifts: ClassVar[bool] = True
    orders_rest: ClassVar[bool] = False

    @property
    def over(self) -> str:
        """Whose scores it looks at: "losers" or "all"."""
        return "losers"

    def convex_above(self) -> Top | None:
        """Of a top that is not convex: a convex one, from whose optimum to start."""
        return None

    @abstractmethod
    def value_and_gradient(self, scores: Array, weight: Array, blocks: Segments) -> tuple[Array, Array]:
        """The top of every contest, and ∂t/∂score of every entry; `weight` is positive and unscaled."""

    def curvature(self, scores: Array, weight: Array, blocks: Segments) -> TopCurvature | None:
        """∇²t, or None at kinks."""
        return None

    def conjugate(self, shares: Array, weight: Array, blocks: Segments) -> Array | None:
        """t*(shares) of every contest (inf outside its domain); None where t is not convex."""
        return None


def places_acted_on(budget: Budget, total: Array) -> Array:
    """The budget as a weight of losers in every contest, at most all of them."""
    # A count is the same in every contest, and everything else is a part of its total.
    places = budget.k if not budget.is_share and budget.of is None else total * budget.places(1.0)
    return np.minimum(places, total)


CAP_SLACK = 1 + 1e-9
"""How far a share may pass its cap by the rounding of whoever made it."""


def is_distribution(shares: Array, blocks: Segments) -> Array:
    """Whether the shares of every contest are at least 0 and sum to one, but for rounding."""
    is_positive = blocks.max(-shares) <= 0
    return is_positive & (np.abs(blocks.sum(shares) - 1.0) <= 1e-9)
