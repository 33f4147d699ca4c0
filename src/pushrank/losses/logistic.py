"""The logistic loss: RankNet's pairs, and the bounded pull of the soft-top machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._typing import Array
from pushrank.losses.analytic import AnalyticLoss, Tails


@dataclass(frozen=True)
class Logistic(AnalyticLoss):
    """ℓ(z) = log(1 + exp(−z)), in natural logarithms. Smooth, and never steeper than 1."""

    name: ClassVar[str] = "logistic"
    # φ(z) = log(1 + eᶻ) is z + e⁻ᶻ − … above and eᶻ − e²ᶻ/2 + … below: at 40 what is left out is below 1e-18.
    tails: ClassVar[Tails] = Tails(reach=40.0, slope=1.0, intercept=0.0, scale=1.0, rate=1.0)

    def value(self, pull: Array, order: int = 0) -> Array:
        # exp is taken of −|z| only, so nothing overflows and small values keep all their digits.
        small = np.exp(-np.abs(pull))
        if order == 0:
            return np.maximum(-pull, 0.0) + np.log1p(small)
        if order == 1:
            return -np.where(pull > 0, small, 1.0) / (1.0 + small)
        return small / (1.0 + small) ** 2

    def conjugate(self, slope: Array) -> Array:
        a = -np.asarray(slope, dtype=np.float64)
        inside = (a >= 0) & (a <= 1)
        a = np.where(inside, a, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(a > 0, a * np.log(a), 0.0) + np.where(a < 1, (1 - a) * np.log1p(-a), 0.0)
        return np.where(inside, terms, np.inf)
