"""The smoothed hinge loss: a hinge whose kink is a short parabola, so that Newton's steps apply."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from pushrank._typing import Array
from pushrank.exceptions import InvalidParameter
from pushrank.losses.truncated import Piece, TruncatedLoss


@dataclass(frozen=True)
class SmoothedHinge(TruncatedLoss):
    """ℓ(z) = x² / (2 width) for x = 1 − z within [0, width], x − width / 2 above, and 0 below.

    Parameters
    ----------
    width : float, default=0.1
        The length of the parabola, from 1e-8 to 1e8. The hinge is at most width / 2 above: with a tenth, one
        twentieth of what a tied pair costs, while a gradient step of a tenth of a unit of score still helps.

    Examples
    --------
    >>> SmoothedHinge(width=0.5).value([-1.0, 0.5, 0.75, 1.0]).tolist()
    [1.75, 0.25, 0.0625, 0.0]
    """

    width: float = 0.1

    name: ClassVar[str] = "smoothed_hinge"
    orders_top: ClassVar[bool] = False

    def __post_init__(self) -> None:
        is_number = isinstance(self.width, Real) and not isinstance(self.width, bool)
        if not (is_number and 1e-8 <= self.width <= 1e8):
            raise InvalidParameter(
                f"SmoothedHinge: width must lie between 1e-8 and 1e8; got {self.width!r}. "
                "Leave it at 0.1, or use Hinge()."
            )

    @property
    def pieces(self) -> tuple[Piece, ...]:
        w = self.width
        return Piece(-1.0, (0.0, 0.0, 0.5 / w)), Piece(w - 1.0, (w / 2, 1.0))

    def conjugate(self, slope: Array) -> Array:
        x = np.asarray(slope, dtype=np.float64)
        return np.where((x >= -1) & (x <= 0), x + self.width / 2 * x * x, np.inf)
