"""A quantile of the scores: Pat&Mat's fixed fraction. Not convex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.exceptions import InvalidParameter
from pushrank.tops.base import Top
from pushrank.tops.mean_of_top import MeanOfTop


@dataclass(frozen=True)
class Quantile(Top):
    """t(s) = the highest score at or above which at least `share` of a contest's weight lies.

    It rises with every score that it looks at; with `over="all"` these are the winners' too, so a winner that
    stands at the quantile may raise the risk as it rises. At a tie the gradient lies on the first entry.

    Parameters
    ----------
    share : float, default=0.05
        Between 0 and 1, both excluded.
    over : {"losers", "all"}, default="losers"
        Whose weight is shared out.
    """

    share: float = 0.05
    over: Literal["losers", "all"] = "losers"
    name: ClassVar[str] = "quantile"
    smooth: ClassVar[bool] = False
    convex: ClassVar[bool] = False

    def convex_above(self) -> Top:
        # The mean of the highest scores that make up a share is nowhere below the lowest of them.
        return MeanOfTop(self.share)

    def __post_init__(self) -> None:
        if not (isinstance(self.share, int | float | np.number) and 0 < self.share < 1):
            raise InvalidParameter(
                f"share must lie between 0 and 1, both excluded; got {self.share!r}. "
                "For the highest loser use Maximum()."
            )
        if self.over not in ("losers", "all"):
            raise InvalidParameter(f'over must be "losers" or "all"; got {self.over!r}.')

    def value_and_gradient(self, scores: Array, weight: Array, blocks: Segments) -> tuple[Array, Array]:
        gradient = np.zeros(len(scores))
        quantile = blocks.upper_quantile(scores, weight, self.share * blocks.sum(weight))
        gradient[blocks.first(scores == blocks.spread(quantile))] = 1.0
        return quantile, gradient
