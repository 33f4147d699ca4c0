"""A researcher's top is one method in one class, and works wherever a top does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from pushrank.losses import Exponential, Logistic, SquaredHinge
from pushrank.risks import TopRisk
from pushrank.targets.ranking import RankingTarget
from pushrank.tops import Top


@dataclass(frozen=True)
class Mean(Top):
    """t(s) = the weighted mean."""

    name = "mean"

    def value_and_gradient(self, scores, weight, blocks):
        shares = weight / blocks.spread(blocks.sum(weight))
        return blocks.sum(shares * scores), shares


@pytest.mark.parametrize("loss", [Exponential(), Logistic(), SquaredHinge()], ids=str)
def test_one_method_makes_a_top(loss):
    grades, qid, weight = (
        np.array([1, 0, 0, 2, 0, 1]),
        np.array([0, 0, 0, 1, 1, 1]),
        np.array([1.0, 2, 1, 1, 2, 1]),
    )
    scores = np.array([0.3, -0.2, 1.1, 0.9, 0.45, 0.1])
    target = RankingTarget.graded(grades, weight, qid)
    risk = TopRisk(loss, Mean())
    _, gradient = risk.value_and_gradient(scores, target)
    differences = approx_fprime(scores, lambda s: risk.value_and_gradient(s, target)[0], 1e-7)
    assert_allclose(gradient, differences, atol=1e-5)
    # What it does not write, it does not have: no curvature, and no certificate from a dual.
    assert risk.hessian(scores, target) is None
    assert risk.dual() is None
