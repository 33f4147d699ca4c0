"""The exponential price: the steepest of the paper's examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank
from pushrank._typing import Array
from pushrank.prices.base import Price


@dataclass(frozen=True)
class Exponential(Price):
    """Γ(r) = log Σ v e^r, the logarithm of the mean exponential height: g = exp in [1]_, §2.

    It does not scale, so it has no degree; with logarithmic heights r = e^(log r) must fit a float64.

    References
    ----------
    .. [1] Rudin (2006). Ranking with a P-Norm Push. COLT.

    Examples
    --------
    >>> value, slopes = Exponential().value_and_gradient(np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 0.25))
    >>> round(value, 4), round(float(slopes.sum()), 4)
    (2.0539, 1.0)
    """

    name: ClassVar[str] = "exponential"

    def value_and_gradient(self, heights: Array, weight: Array) -> tuple[float, Array]:
        top = float(heights.max())
        shares = weight * np.exp(heights - top)
        total = float(shares.sum())
        return top + float(np.log(total)), shares / total

    def curvature(self, heights: Array, weight: Array) -> DiagonalPlusLowRank:
        _, shares = self.value_and_gradient(heights, weight)
        return DiagonalPlusLowRank(shares, shares[None, :], np.array([-1.0]))
