"""How many cases can be acted on: a number of places, a share of the list, or k of a list of N."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from pushrank.exceptions import InvalidParameter


@dataclass(frozen=True)
class Budget:
    """How many cases of a list can be acted on.

    Parameters
    ----------
    k : int or float
        A whole number of places, or a share of the list strictly between 0 and 1.
    of : float, default=None
        The length of the list in which k cases are acted on. On a list of another length M the budget is
        k·M/of, which may be a fraction of a place. None means k places of a list of any length.

    Examples
    --------
    >>> Budget(200).places(5000)
    200.0
    >>> Budget(0.05).places(5000)
    250.0
    >>> Budget(200, of=10_000).places(5000)
    100.0
    """

    k: float
    of: float | None = None

    def __post_init__(self) -> None:
        k, of = self.k, self.of
        if isinstance(k, (bool, np.bool_)) or not isinstance(k, Real):
            raise InvalidParameter(
                f"k must be a whole number, a share between 0 and 1, or a Budget; got {k!r}."
            )
        if isinstance(k, Integral):
            if k < 1:
                raise InvalidParameter(f"k must be at least 1, or a share between 0 and 1; got {k}.")
        elif not 0 < k < 1:
            raise InvalidParameter(
                f"A share must lie strictly between 0 and 1, and a count must be an int; got {k!r}."
            )
        if of is None:
            return
        if self.is_share:
            raise InvalidParameter(f"Budget({k!r}, of={of!r}): a share is of any list; leave `of` out.")
        if isinstance(of, (bool, np.bool_)) or not isinstance(of, Real) or not k <= of < np.inf:
            raise InvalidParameter(f"Budget: `of` must be a finite length of at least k={k}; got {of!r}.")

    @classmethod
    def read(cls, k: float | Budget) -> Budget:
        """The budget meant by an int, a share or a budget."""
        return k if isinstance(k, Budget) else cls(k)

    @property
    def is_share(self) -> bool:
        """Whether k is a share of the list."""
        return not isinstance(self.k, Integral)

    def places(self, n: float) -> float:
        """The places acted on in a list of length (or weight) `n`; it may exceed `n` where k is a count."""
        if self.is_share:
            return float(self.k * n)
        return float(self.k) if self.of is None else float(self.k * (n / self.of))

    def share(self, n: float) -> float:
        """The share acted on of a list of length (or weight) `n`, at most 1."""
        return min(1.0, self.places(n) / n)

    def within(self, n: float) -> Budget:
        """The same budget, a count being of a list of length `n` from now on."""
        if self.is_share or self.of is not None:
            return self
        return Budget(self.k, of=n)

    def __str__(self) -> str:
        if self.is_share:
            return f"the first {100 * self.k:g} %"
        return f"the first {self.k}" if self.of is None else f"the first {self.k} of {self.of:g}"
