"""The bundle's inner problem against its own dual value, which is written here from the formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushrank.solvers.master import least_of_cuts


def primal(slopes, offsets, l1, bend, w, tilt):
    smooth = 0.5 * bend * w @ w + tilt @ w
    return (offsets + slopes @ w).max() + l1 * np.abs(w).sum() + smooth


def dual(slopes, offsets, l1, bend, shares, tilt):
    beyond = np.maximum(np.abs(shares @ slopes + tilt) - l1, 0.0)
    return shares @ offsets - (beyond @ beyond) / (2 * bend)


@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.1, 3.0]),
    st.sampled_from([1e-4, 1.0, 1e3]),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_primal_and_dual_meet(seed, n_cuts, d, l1, bend, unit):
    random = np.random.default_rng(seed)
    slopes, offsets = random.standard_normal((n_cuts, d)) * unit, random.standard_normal(n_cuts)
    tilt = -bend * unit * random.standard_normal(d)  # Of ½ bend ‖w − centre‖², as the bundle has it.
    plan = least_of_cuts(slopes, offsets, l1=l1 * unit, bend=bend * unit**2, tilt=tilt)
    assert plan.shares.min() >= 0
    assert plan.shares.sum() == pytest.approx(1.0, rel=1e-14)
    upper = primal(slopes, offsets, l1 * unit, bend * unit**2, plan.parameters, tilt)
    lower = dual(slopes, offsets, l1 * unit, bend * unit**2, plan.shares, tilt)
    # Both are exact values of feasible points; the method closes about ten digits between them.
    scale = 1.0 + abs(upper) + np.abs(offsets).max() + (slopes**2).max() / (bend * unit**2)
    assert -1e-13 * scale <= upper - lower <= 1e-9 * scale


def test_pure_l1_with_the_zero_cut_is_a_linear_program():
    slopes = np.array([[0.0, 0.0], [-3.0, 0.5], [-1.0, -1.0]])
    offsets = np.array([0.0, 2.0, 1.0])
    plan = least_of_cuts(slopes, offsets, l1=0.5, bend=0.0)
    w = plan.parameters
    assert np.abs(plan.shares @ slopes).max() <= 0.5 * (1 + 1e-9)
    value = (offsets + slopes @ w).max() + 0.5 * np.abs(w).sum()
    assert value == pytest.approx(plan.shares @ offsets, abs=1e-9)


def test_equal_cuts_and_a_rough_answer_are_harmless():
    slopes, offsets = np.ones((5, 3)), np.ones(5)
    plan = least_of_cuts(slopes, offsets, l1=0.0, bend=2.0)
    np.testing.assert_allclose(plan.parameters, -0.5, rtol=1e-9)
    rough = least_of_cuts(slopes, offsets + np.arange(5), l1=0.1, bend=2.0, accuracy=1.0)
    assert rough.shares.sum() == pytest.approx(1.0)
