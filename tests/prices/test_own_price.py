"""A researcher's price is one method in one class, and works wherever a price does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from pushrank.losses import Exponential, Hinge, Logistic, SquaredHinge
from pushrank.prices import Power, Price
from pushrank.risks import PushRisk
from pushrank.targets.ranking import RankingTarget

TARGET = RankingTarget.bipartite(np.array([1, 0, 1, 0, 0], dtype=bool), np.array([1.0, 2, 1, 1, 0.5]))
SCORES = np.array([0.3, -0.2, 1.1, 0.9, 0.45])


@dataclass(frozen=True)
class SteepMean(Price):
    """Γ(r) = Σ v (r + r²): no degree."""

    name = "steep_mean"

    def value_and_gradient(self, heights, weight):
        return float(weight @ (heights + heights**2)), weight * (1 + 2 * heights)


@dataclass(frozen=True)
class Cube(Price):
    """Γ(r) = Σ v r³, which scales."""

    name = "cube"
    degree = 3.0

    def value_and_gradient(self, heights, weight):
        return float(weight @ heights**3), 3 * weight * heights**2


@pytest.mark.parametrize("loss", [Exponential(), Logistic(), Hinge(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("price", [SteepMean(), Cube()], ids=str)
def test_one_method_makes_a_price(loss, price):
    risk = PushRisk(loss, price)
    value, gradient = risk.value_and_gradient(SCORES, TARGET)
    differences = approx_fprime(SCORES, lambda s: risk.value_and_gradient(s, TARGET)[0], 1e-7)
    assert np.isfinite(value)
    assert_allclose(gradient, differences, atol=1e-5)
    assert risk.hessian(SCORES, TARGET) is None
    assert risk.log == (loss.log and price.degree is not None)


@pytest.mark.parametrize("loss", [Exponential(), Logistic()], ids=str)
def test_a_degree_gives_it_logarithms_and_the_common_scale(loss):
    own, ours = PushRisk(loss, Cube()), PushRisk(loss, Power(3))
    value, gradient = own.value_and_gradient(SCORES, TARGET)
    expected, slopes = ours.value_and_gradient(SCORES, TARGET)
    assert value == pytest.approx(expected, rel=1e-13)
    assert_allclose(gradient, slopes, rtol=1e-12)
    assert own.raw(SCORES, TARGET) == pytest.approx(ours.raw(SCORES, TARGET), rel=1e-12)
    far = SCORES * 1e250
    if loss.log:
        assert own.value_and_gradient(far, TARGET)[0] == pytest.approx(
            ours.value_and_gradient(far, TARGET)[0]
        )
