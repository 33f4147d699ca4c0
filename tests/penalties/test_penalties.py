"""Penalties: values, prox, conjugates and the bounds made of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pushrank.penalties import L1, L2, ElasticNet, Penalty

numbers = st.floats(-10, 10, allow_subnormal=False)
vectors = arrays(np.float64, 4, elements=numbers)
penalties = st.sampled_from([L2(0.5), L1(0.7), ElasticNet(2.0, 0.3), ElasticNet(0.1, 0.9)])


def test_values_are_the_formulas():
    w = np.array([3.0, -4.0, 0.0])
    assert L2(2.0).value(w) == 25.0
    assert L1(2.0).value(w) == 14.0
    assert ElasticNet(2.0, 0.25).value(w) == pytest.approx(0.5 * 7 + 1.5 * 12.5)
    assert (L1(2.0).l1, L1(2.0).l2, L2(2.0).l1, L2(2.0).l2) == (2.0, 0.0, 0.0, 2.0)
    assert [kind.smooth for kind in (L1, L2, ElasticNet)] == [False, True, False]


@given(penalties, vectors, vectors)
def test_the_gradient_is_a_subgradient(penalty, w, other):
    below = penalty.value(w) + penalty.gradient(w) @ (other - w)
    assert penalty.value(other) >= below - 1e-9


@given(penalties, vectors, vectors, st.floats(0.01, 10))
def test_the_prox_is_the_least_point(penalty, w, other, step):
    def objective(z):
        return step * penalty.value(z) + 0.5 * ((z - w) ** 2).sum()

    assert objective(penalty.prox(w, step)) <= objective(other) + 1e-9


@given(penalties, vectors, vectors)
def test_the_conjugate_bounds_every_value(penalty, w, slope):
    assert penalty.conjugate(slope) >= slope @ w - penalty.value(w) - 1e-9


@given(penalties, vectors)
def test_the_conjugate_is_attained_at_gradients(penalty, w):
    slope = penalty.gradient(w)
    assert penalty.conjugate(slope) == pytest.approx(slope @ w - penalty.value(w), abs=1e-9)


def test_the_conjugate_of_a_lasso_is_an_indicator():
    assert L1(1.0).conjugate(np.array([1.0, -1.0])) == 0
    assert L1(1.0).conjugate(np.array([1.0, -1.1])) == np.inf


@given(penalties, vectors, vectors)
def test_the_gap_without_cancellation_is_fenchel_and_young(penalty, w, slope):
    expected = Penalty.gap(penalty, w, slope)
    assert penalty.gap(w, slope) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert penalty.gap(w, slope) >= 0


def test_the_gap_sees_far_below_the_rounding_of_the_value():
    penalty, w = L2(1.0), np.array([1.0, 2.0])
    slope = -w + np.array([2.0**-40, 0.0])
    assert penalty.gap(w, slope) == 2.0**-81


@given(penalties, vectors, numbers, vectors)
def test_what_is_certified_is_below_the_model(penalty, slope, offset, w):
    """The greater of zero and the plane, plus the penalty, is nowhere below the bound."""
    lower = penalty.certify(slope, offset)
    assert lower <= max(offset + slope @ w, 0.0) + penalty.value(w) + 1e-9
    assert lower >= Penalty.certify(penalty, slope, offset) - 1e-9


@given(penalties, vectors, st.floats(0.1, 10))
def test_no_other_mixture_certifies_more(penalty, slope, offset):
    shares = np.linspace(0, 1, 101)
    tried = max(share * offset - penalty.conjugate(-share * slope) for share in shares)
    assert penalty.certify(slope, offset) >= tried - 1e-9
