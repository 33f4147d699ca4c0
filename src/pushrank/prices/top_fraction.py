"""The mean of the largest heights: one-way partial AUC's price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.exceptions import InvalidParameter
from pushrank.prices.base import Price


@dataclass(frozen=True)
class TopFraction(Price):
    """Γ(r) = the mean of the largest heights that make up `share` of the losers' weight (a CVaR).

    With the hinge it is a convex bound of 1 − (area under the ROC curve left of `share`) / `share`.

    Parameters
    ----------
    share : float, default=0.05
        Between 0 and 1, both excluded. The loser at the border counts with the part that fits.

    Examples
    --------
    >>> TopFraction(0.5).value_and_gradient(np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 0.25))[0]
    2.5
    """

    share: float = 0.05
    name: ClassVar[str] = "top_fraction"
    smooth: ClassVar[bool] = False
    orders_rest: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (isinstance(self.share, int | float | np.number) and 0 < self.share < 1):
            raise InvalidParameter(
                f"share must lie between 0 and 1, both excluded; got {self.share!r}. All losers: Identity()."
            )

    @property
    def degree(self) -> float:
        return 1.0

    def value_and_gradient(self, heights: Array, weight: Array) -> tuple[float, Array]:
        blocks = Segments.one(len(heights))
        taken = blocks.weight_of_largest(heights, weight, self.share * blocks.sum(weight))
        taken /= taken.sum()
        return float(taken @ heights), taken
