"""The P-Norm Push's price: a power of the height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank
from pushrank._typing import Array
from pushrank.exceptions import InvalidParameter
from pushrank.prices.base import Price


@dataclass(frozen=True)
class Power(Price):
    """Γ(r) = Σ v r^p, taken at degree one: the p-norm of the heights [1]_.

    Parameters
    ----------
    p : float, default=2
        At least 1. The larger, the more the highest losers count; p = 1 is `Identity()`.

    References
    ----------
    .. [1] Rudin (2006). Ranking with a P-Norm Push. COLT, §4.

    Examples
    --------
    >>> heights, weight = np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 0.25)
    >>> Power(2).value_and_gradient(heights, weight)[0]
    3.5
    """

    p: float = 2.0
    name: ClassVar[str] = "power"

    def __post_init__(self) -> None:
        is_real = isinstance(self.p, int | float | np.integer | np.floating)
        is_number = is_real and not isinstance(self.p, bool)
        if not (is_number and 1 <= self.p < np.inf):
            message = f"p must be a number of at least 1; got {self.p!r}."
            if is_number and self.p == np.inf:
                message = (
                    'p must be finite in Power(p); for p = inf use PushRanker("exponential", Maximum()).'
                )
            raise InvalidParameter(message)

    @property
    def degree(self) -> float:
        return float(self.p)

    def value_and_gradient(self, heights: Array, weight: Array) -> tuple[float, Array]:
        slopes = weight * heights ** (self.p - 1)
        return float(slopes @ heights), self.p * slopes

    def log_value_and_gradient(self, log_heights: Array, weight: Array) -> tuple[float, Array]:
        # As one exponential of p·(difference), which keeps its digits at p = 1e6 where a power of a ratio
        # near one would lose six of them.
        top = float(log_heights.max())
        shares = log_heights - top
        with np.errstate(over="ignore"):  # A difference beyond 1e308/p is a share of zero.
            shares *= self.p
        np.exp(shares, out=shares)
        shares *= weight
        total = float(shares.sum())
        shares *= self.p / total
        return float(np.log(total)) + self.p * top, shares

    def curvature(self, heights: Array, weight: Array) -> DiagonalPlusLowRank:
        p = self.p
        if p == 1:
            diagonal = np.zeros_like(heights)
        else:
            # For p < 2 the curvature is infinite at height 0, but a smooth loss has no slope there, and the
            # product of the two tends to 0 with the height.
            present = heights > 0
            diagonal = (
                p * (p - 1) * weight * np.where(present, np.where(present, heights, 1.0) ** (p - 2), p == 2)
            )
        return DiagonalPlusLowRank(diagonal, np.zeros((0, len(heights))), np.zeros(0))
