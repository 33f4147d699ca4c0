"""The hinge loss: RankSVM's and the Infinite Push's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._typing import Array
from pushrank.losses.truncated import Piece, TruncatedLoss


@dataclass(frozen=True)
class Hinge(TruncatedLoss):
    """ℓ(z) = max(0, 1 − z). A pull of one is enough; the subgradient at the kink is 0.

    Examples
    --------
    >>> Hinge().value([-1.0, 0.0, 1.0, 2.0]).tolist()
    [2.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "hinge"
    smooth: ClassVar[bool] = False
    orders_top: ClassVar[bool] = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return (Piece(-1.0, (0.0, 1.0)),)

    def conjugate(self, slope: Array) -> Array:
        x = np.asarray(slope, dtype=np.float64)
        return np.where((x >= -1) & (x <= 0), x, np.inf)
