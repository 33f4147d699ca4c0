"""The mean of the highest losers: TopPushK's top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.budget import Budget
from pushrank.tops.base import CAP_SLACK, Top, is_distribution, places_acted_on


@dataclass(frozen=True)
class MeanOfTop(Top):
    """t(s) = the mean of the K highest losers, where K counts weight; at most all losers of a contest.

    Parameters
    ----------
    top : int, float or Budget, default=0.05
        A count K of losers, a share of each contest's losers, or ``Budget(k, of=N)``. The loser at the border
        counts with the part that fits, and equal scores there share that part by weight.

    Examples
    --------
    >>> from pushrank import MeanOfTop, PushRanker
    >>> beat_the_first_ten = PushRanker("squared_hinge", MeanOfTop(10))
    >>> beat_the_first_percent = PushRanker("squared_hinge", MeanOfTop(0.01))
    """

    top: float | Budget = 0.05
    name: ClassVar[str] = "mean_of_top"
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        Budget.read(self.top)

    def value_and_gradient(self, scores: Array, weight: Array, blocks: Segments) -> tuple[Array, Array]:
        wanted = self._wanted(weight, blocks)
        shares = blocks.weight_of_largest(scores, weight, wanted)
        shares /= blocks.spread(wanted)
        return blocks.dot(shares, scores), shares

    def conjugate(self, shares: Array, weight: Array, blocks: Segments) -> Array:
        caps = weight / blocks.spread(self._wanted(weight, blocks)) * CAP_SLACK
        fits = is_distribution(shares, blocks) & (blocks.max(shares - caps) <= 0)
        return np.where(fits, 0.0, np.inf)

    def _wanted(self, weight: Array, blocks: Segments) -> Array:
        """K of every contest."""
        return places_acted_on(Budget.read(self.top), blocks.sum(weight))
