"""The ridge, the lasso, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._typing import Vector
from pushrank.penalties.base import Penalty


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """strength · (l1_ratio ‖w‖₁ + (1 − l1_ratio)/2 ‖w‖²).

    Parameters
    ----------
    strength : float
        1/C, above 0.
    l1_ratio : float, default=0.5
        From 0, the ridge, to 1, the lasso.

    Examples
    --------
    >>> ElasticNet(2.0, 0.25).value(np.array([1.0, -2.0]))
    5.25
    """

    strength: float
    l1_ratio: float = 0.5
    name: ClassVar[str] = "elasticnet"
    smooth: ClassVar[bool] = False

    @property
    def l1(self) -> float:
        return self.strength * self.l1_ratio

    @property
    def l2(self) -> float:
        return self.strength * (1.0 - self.l1_ratio)

    def value(self, parameters: Vector) -> float:
        return self.l1 * float(np.abs(parameters).sum()) + 0.5 * self.l2 * float(parameters @ parameters)

    def gradient(self, parameters: Vector) -> Vector:
        return self.l1 * np.sign(parameters) + self.l2 * parameters

    def prox(self, parameters: Vector, step: float) -> Vector:
        shrunk = np.sign(parameters) * np.maximum(np.abs(parameters) - step * self.l1, 0.0)
        return shrunk / (1.0 + step * self.l2)

    def conjugate(self, slope: Vector) -> float:
        beyond = np.maximum(np.abs(slope) - self.l1, 0.0)
        if self.l2 == 0:
            return 0.0 if not beyond.any() else np.inf
        return float(beyond @ beyond) / (2.0 * self.l2)

    def gap(self, parameters: Vector, slope: Vector) -> float:
        # Fenchel and Young's sum as squares and products of one sign: nothing cancels, so that a gap far
        # below the rounding of the objective is seen. `pull` is the subgradient of l1‖·‖₁ nearest to −slope.
        pull = np.clip(-slope, -self.l1, self.l1)
        beyond = -slope - pull
        apart = float((self.l1 * np.abs(parameters) - pull * parameters).sum())
        if self.l2 == 0:
            return apart if not beyond.any() else np.inf
        missed = self.l2 * parameters - beyond
        return apart + float(missed @ missed) / (2.0 * self.l2)

    def certify(self, slope: Vector, offset: float) -> float:
        size = np.abs(slope)
        largest = float(size.max(initial=0.0))
        if offset <= 0 or largest == 0:
            return max(offset, 0.0)
        if self.l2 == 0:
            return offset * min(1.0, self.l1 / largest)
        # d/dk of k·offset − Ω*(−k·slope) is concave and falls piece by piece: Newton from the right ends.
        share = 1.0
        for _ in range(50):
            beyond = np.maximum(share * size - self.l1, 0.0)
            fall = offset - float(beyond @ size) / self.l2
            steep = float(size[beyond > 0] @ size[beyond > 0]) / self.l2
            if fall >= 0 or steep == 0:
                break
            share = max(share + fall / steep, 0.0)
        return share * offset - self.conjugate(share * slope)


class L1(ElasticNet):
    """strength · ‖w‖₁.

    Parameters
    ----------
    strength : float
        1/C, above 0.

    Examples
    --------
    >>> L1(2.0).value(np.array([1.0, -2.0]))
    6.0
    """

    name: ClassVar[str] = "l1"

    def __init__(self, strength: float) -> None:
        super().__init__(strength, 1.0)


class L2(ElasticNet):
    """strength/2 · ‖w‖².

    Parameters
    ----------
    strength : float
        1/C, above 0.

    Examples
    --------
    >>> L2(2.0).value(np.array([1.0, -2.0]))
    5.0
    """

    name: ClassVar[str] = "l2"
    smooth: ClassVar[bool] = True

    def __init__(self, strength: float) -> None:
        super().__init__(strength, 0.0)
