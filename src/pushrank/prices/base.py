"""What a price is: how dear the heights of the losers are together.

A price Γ is convex and increasing in the heights r_1..r_n, whose weights sum to one. Risks return it at
degree one, Γ^(1/degree), so that values, C and tol keep their meaning along a path of prices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from pushrank._arrays import DiagonalPlusLowRank
from pushrank._typing import Array


class Price(ABC):
    """A convex, increasing price of the heights. A frozen dataclass; one method makes a new one.

    A researcher's price writes `value_and_gradient`; it may add `degree` (which gives it logarithms and a
    common scale) and `curvature` (which gives it Newton solvers).
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True
    orders_rest: ClassVar[bool] = True
    """Whether losers below the top are told apart as well."""

    @property
    def degree(self) -> float | None:
        """The g of Γ(t·r) = t^g Γ(r) for t > 0; None where it does not scale."""
        return None

    @abstractmethod
    def value_and_gradient(self, heights: Array, weight: Array) -> tuple[float, Array]:
        """Γ of the heights, and its derivative by each of them.

        Parameters
        ----------
        heights : ndarray of shape (n_losers,)
            At least 0. Risks pass them over their largest where the price has a degree.
        weight : ndarray of shape (n_losers,)
            Positive, and one in sum.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_losers,)
            A subgradient at a kink.
        """

    def log_value_and_gradient(self, log_heights: Array, weight: Array) -> tuple[float, Array]:
        """Log Γ, and its derivative by the logarithm of each height; for prices that have a degree.

        Parameters
        ----------
        log_heights, weight : ndarray of shape (n_losers,)
            Any finite logarithms; weights that sum to one.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_losers,)
        """
        assert self.degree is not None, "only a price with a degree can be taken in logarithms"
        top = float(log_heights.max())
        heights = np.exp(log_heights - top)
        value, gradient = self.value_and_gradient(heights, weight)
        return float(np.log(value)) + self.degree * top, gradient * heights / value

    def curvature(self, heights: Array, weight: Array) -> DiagonalPlusLowRank | None:
        """The second derivative of Γ, or None at kinks."""
        return None
