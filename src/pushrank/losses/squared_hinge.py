"""The squared hinge loss: TopPush's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._typing import Array
from pushrank.losses.truncated import Piece, TruncatedLoss


@dataclass(frozen=True)
class SquaredHinge(TruncatedLoss):
    """ℓ(z) = max(0, 1 − z)²: smooth, and dearer than the hinge for a pull that is far wrong.

    Examples
    --------
    >>> SquaredHinge().value([-1.0, 0.0, 1.0, 2.0]).tolist()
    [4.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "squared_hinge"

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return (Piece(-1.0, (0.0, 0.0, 1.0)),)

    def conjugate(self, slope: Array) -> Array:
        x = np.asarray(slope, dtype=np.float64)
        return np.where(x <= 0, x + x * x / 4, np.inf)
