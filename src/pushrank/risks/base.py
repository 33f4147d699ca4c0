"""What a risk is: a number for how bad scores are, and one weight per score for where to move them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from pushrank._arrays import DiagonalPlusLowRank
from pushrank._typing import Array

T_contra = TypeVar("T_contra", contravariant=True)


class ScoreHessian(Protocol):
    """The second derivative of a risk by the scores."""

    def apply(self, direction: Array) -> Array:
        """The product with a direction, one number per item."""
        ...

    def factors(self) -> DiagonalPlusLowRank | None:
        """Diagonal and low rank over the items, where it has that form."""
        ...


class DualRisk(Protocol[T_contra]):
    """The convex conjugate of a risk, with item weights as (winner, loser) blocks."""

    def conjugate(self, winners: Array, losers: Array, target: T_contra) -> float:
        """The sup over scores of losers·s − winners·s − R, weights ≥ 0; inf outside its domain."""
        ...


class Risk(ABC, Generic[T_contra]):
    """A risk of scores against a target; a frozen dataclass of a loss and a push."""

    @property
    @abstractmethod
    def smooth(self) -> bool:
        """Whether the gradient is continuous."""

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether the risk is convex in the scores."""

    @property
    @abstractmethod
    def log(self) -> bool:
        """Whether the value is a logarithm: then it may be negative, and has no lower bound of its own."""

    @abstractmethod
    def value_and_gradient(self, scores: Array, target: T_contra) -> tuple[float, Array]:
        """The risk, and its derivative by every score (a subgradient at a kink)."""

    def hessian(self, scores: Array, target: T_contra) -> ScoreHessian | None:
        """The exact second derivative by the scores; None at kinks."""
        return None

    def dual(self) -> DualRisk[T_contra] | None:
        """The conjugate, where it is known."""
        return None
