"""What a penalty is: what keeps the parameters small, with the conjugate that certifies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from pushrank._typing import Vector


class Penalty(ABC):
    """A convex penalty of euclidean parameters, strength included (strength = 1/C)."""

    name: ClassVar[str]
    smooth: ClassVar[bool]
    strength: float

    @property
    @abstractmethod
    def l1(self) -> float:
        """The weight of ‖w‖₁ in it."""

    @property
    @abstractmethod
    def l2(self) -> float:
        """The weight of ½‖w‖² in it."""

    @abstractmethod
    def value(self, parameters: Vector) -> float:
        """Ω(w)/C."""

    @abstractmethod
    def gradient(self, parameters: Vector) -> Vector:
        """A subgradient of the value (the gradient where it is smooth)."""

    @abstractmethod
    def prox(self, parameters: Vector, step: float) -> Vector:
        """The w that minimises step·value(w) + ½‖w − parameters‖²."""

    @abstractmethod
    def conjugate(self, slope: Vector) -> float:
        """The supremum over w of slope·w − value(w); inf where it is unbounded."""

    def gap(self, parameters: Vector, slope: Vector) -> float:
        """A bound of the objective above its optimum, from the risk's gradient `slope` at `parameters`.

        Fenchel and Young: value(w) + slope·w + conjugate(−slope) ≥ 0, and it bounds P(w) − min P for every
        convex risk. For the ridge it is ‖∇P‖²/2λ.

        Parameters
        ----------
        parameters, slope : ndarray of shape (n_parameters,)
            A point, and a subgradient of the risk there.

        Returns
        -------
        float
            At least 0; inf where nothing is known.
        """
        conjugate = self.conjugate(-slope)
        if np.isinf(conjugate):
            return np.inf
        return max(self.value(parameters) + float(slope @ parameters) + conjugate, 0.0)

    def certify(self, slope: Vector, offset: float) -> float:
        """A lower bound of min P from a plane offset + slope·w below a risk that is nowhere negative.

        Zero is below R as well, and so is every mixture of the two planes: sup over k in [0, 1] of
        k·offset − conjugate(−k·slope), here at the ends alone.
        """
        return max(offset - self.conjugate(-slope), 0.0)
