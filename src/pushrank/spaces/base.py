"""What a space is: where the scorer lives. It alone sees X."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from pushrank._typing import Array, Vector


class Scorer(Protocol):
    """All that is needed to score new rows."""

    def scores(self, X: Any) -> Array:
        """One score per row."""
        ...


class Space(ABC):
    """Turns parameters into scores of the training items, and item weights back into parameters."""

    n_items: int
    n_parameters: int

    @abstractmethod
    def scores(self, parameters: Vector) -> Array:
        """Float64 scores, one per training item (one row per item where there are several outputs)."""

    @abstractmethod
    def pull_back(self, weights: Array) -> Vector:
        """The adjoint of `scores`."""

    @abstractmethod
    def scorer(self, parameters: Vector) -> Scorer:
        """A scorer of new rows that pickles."""

    @abstractmethod
    def inner(self, one: Vector, other: Vector) -> float:
        """The inner product of two parameter vectors."""

    @abstractmethod
    def gram(self, weights: Array) -> Array:
        """Xᵀ diag(weights) X."""

    @abstractmethod
    def rows(self, index: Array) -> Space:
        """The space of some items, without a copy."""
