"""The mean height: RankBoost's and RankSVM's price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank
from pushrank._typing import Array
from pushrank.prices.base import Price


@dataclass(frozen=True)
class Identity(Price):
    """Γ(r) = Σ v r: every misplaced pair costs the same, wherever it stands.

    Examples
    --------
    >>> Identity().value_and_gradient(np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 0.25))[0]
    1.5
    """

    name: ClassVar[str] = "identity"

    @property
    def degree(self) -> float:
        return 1.0

    def value_and_gradient(self, heights: Array, weight: Array) -> tuple[float, Array]:
        return float(weight @ heights), weight

    def curvature(self, heights: Array, weight: Array) -> DiagonalPlusLowRank:
        return DiagonalPlusLowRank(np.zeros_like(heights), np.zeros((0, len(heights))), np.zeros(0))
