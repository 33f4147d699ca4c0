"""The mean of the highest losers: TopPushK's top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.exceptions import InvalidParameter
from pushrank.tops.base import CAP_SLACK, Top, is_distribution


@dataclass(frozen=True)
class MeanOfTop(Top):
    """t(s) = the mean of the K highest losers, where K counts weight; at most all losers of a contest.

    Parameters
    ----------
    top : int or float, default=0.05
        From 1 on, the weight K itself; between 0 and 1, the share of each contest's losers. The loser at the
        border counts with the part that fits, and equal scores there share that part by weight.
    """

    top: float = 0.05
    name: ClassVar[str] = "mean_of_top"
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        is_number = isinstance(self.top, int | float | np.number) and not isinstance(self.top, bool)
        if not (is_number and 0 < self.top < np.inf):
            raise InvalidParameter(
                f"top must be a count of at least 1, or a share above 0 and below 1; got {self.top!r}."
            )

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
        total = blocks.sum(weight)
        return self.top * total if self.top < 1 else np.minimum(float(self.top), total)
