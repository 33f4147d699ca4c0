"""Every exported price: its twin, its derivatives, what it declares."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pushrank import prices
from pushrank.exceptions import InvalidParameter
from pushrank.prices import Exponential, Identity, Power, TopFraction
from twins import risks as twin

PRICES = [
    (Identity(), ("identity", None)),
    (Power(1), ("power", 1)),
    (Power(1.5), ("power", 1.5)),
    (Power(2), ("power", 2)),
    (Power(64), ("power", 64)),
    (TopFraction(0.3), ("top_fraction", 0.3)),
    (TopFraction(0.9), ("top_fraction", 0.9)),
    (Exponential(), ("exponential", None)),
]
every_price = pytest.mark.parametrize(("price", "spec"), PRICES, ids=[str(price) for price, _ in PRICES])

heights_and_weights = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 2).map(float), st.floats(1e-3, 2)), st.sampled_from([0.5, 1.0, 2.0, 1 / 3])
    ),
    min_size=1,
    max_size=10,
).map(lambda rows: (np.array(rows)[:, 0].copy(), np.array(rows)[:, 1] / np.array(rows)[:, 1].sum()))


def test_every_exported_price_is_tested():
    exported = {getattr(prices, name) for name in prices.__all__} - {prices.Price}
    untested = {part.__name__ for part in exported - {type(price) for price, _ in PRICES}}
    assert not untested, (
        f"{sorted(untested)}: add an instance and its twin's parameters to PRICES in this file, and the "
        "formula to price_value and degree in tests/twins/risks.py."
    )


@every_price
@given(problem=heights_and_weights)
def test_value_and_gradient_equal_the_twin(price, spec, problem):
    heights, weight = problem
    value, gradient = price.value_and_gradient(heights, weight)
    expected, slopes = twin.price_value(spec, heights.astype(np.longdouble), weight.astype(np.longdouble))
    assert_allclose(value, float(expected), rtol=1e-12, atol=1e-15)
    assert_allclose(gradient, slopes.astype(float), rtol=1e-10, atol=1e-12)
    assert price.degree == twin.degree(spec)


any_price = st.sampled_from([price for price, _ in PRICES])


@given(price=any_price, problem=heights_and_weights)
def test_logarithms_are_of_the_same_price(price, problem):
    heights, weight = problem
    heights = heights + 0.5
    if price.degree is None:
        with pytest.raises(AssertionError, match="only a price with a degree"):
            price.log_value_and_gradient(np.log(heights), weight)
        return
    value, gradient = price.value_and_gradient(heights, weight)
    log_value, log_gradient = price.log_value_and_gradient(np.log(heights), weight)
    assert log_value == pytest.approx(np.log(value), rel=1e-12, abs=1e-12)
    assert_allclose(log_gradient, gradient * heights / value, atol=1e-10)
    # Of heights far beyond e^700 only the differences count, which a shift of 2^20 rounds by 2^-33 each; the
    # derivative moves by the degree for the power, and again for being of the degree.
    far, same = price.log_value_and_gradient(np.log(heights) + 2.0**20, weight)
    assert far == pytest.approx(log_value + price.degree * 2.0**20, rel=1e-12)
    assert_allclose(same, log_gradient, atol=price.degree**2 * 2.0**-31)


@every_price
@given(problem=heights_and_weights, other=heights_and_weights, scale=st.floats(0.25, 1.5))
def test_it_keeps_what_every_price_promises(price, spec, problem, other, scale):
    heights, weight = problem
    moved = heights + np.resize(other[0], len(heights))
    value, gradient = price.value_and_gradient(heights, weight)
    moved_value, _ = price.value_and_gradient(moved, weight)
    middle, _ = price.value_and_gradient((heights + moved) / 2, weight)
    slack = 1e-12 * max(1.0, abs(moved_value))
    assert np.all(gradient >= 0)
    assert moved_value >= value - slack
    assert middle <= (value + moved_value) / 2 + slack
    assert moved_value >= value + gradient @ (moved - heights) - slack
    if price.degree is not None:
        scaled, _ = price.value_and_gradient(scale * heights, weight)
        assert scaled == pytest.approx(scale**price.degree * value, rel=1e-10)
    else:
        assert price.value_and_gradient(2 * heights + 1, weight)[0] != pytest.approx(2 * value, rel=1e-3)


@every_price
def test_repeated_heights_are_weights(price, spec):
    heights, times = np.array([0.5, 1.0, 1.0, 2.0, 0.0]), np.array([2, 1, 3, 1, 4])
    value, gradient = price.value_and_gradient(heights, times / 11)
    rows = np.repeat(np.arange(5), times)
    repeated, parts = price.value_and_gradient(heights[rows], np.full(11, 1 / 11))
    assert repeated == pytest.approx(value, rel=1e-13)
    assert_allclose(np.bincount(rows, parts), gradient, rtol=1e-12, atol=1e-15)


@every_price
def test_curvature_is_a_difference_of_gradients(price, spec):
    heights, weight = np.array([0.5, 1.25, 1.0, 2.0, 0.75]), np.array([1, 2, 1, 3, 1]) / 8
    curvature = price.curvature(heights, weight)
    if not price.smooth:
        assert curvature is None
        return
    step = 1e-5
    for direction in np.eye(5):
        ahead = price.value_and_gradient(heights + step * direction, weight)[1]
        behind = price.value_and_gradient(heights - step * direction, weight)[1]
        product = curvature.apply(direction)
        assert_allclose(product, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_powers_have_a_finite_curvature_at_height_zero(p):
    curvature = Power(p).curvature(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    assert np.all(np.isfinite(curvature.diagonal))
    assert curvature.diagonal[1] == pytest.approx(0.5 * p * (p - 1))
    assert curvature.diagonal[0] == (1.0 if p == 2 else 0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Power(0.5), r"p must be a number of at least 1; got 0\.5\."),
        (lambda: Power(np.nan), "p must be a number of at least 1; got nan"),
        (lambda: Power("2"), "p must be a number of at least 1; got '2'"),
        (lambda: Power(True), "p must be a number of at least 1; got True"),
        (lambda: Power(2j), "p must be a number of at least 1; got 2j"),
        (lambda: Power(np.complex128(2)), "p must be a number of at least 1; got"),
        (lambda: Power(np.array([1.0, 2.0])), "p must be a number of at least 1; got array"),
        (lambda: Power(np.inf), r'for p = inf use PushRanker\("exponential", .*Maximum\(\)\)'),
        (
            lambda: TopFraction(0),
            r"share must lie between 0 and 1, both excluded; got 0\. All losers: Identity\(\)\.",
        ),
        (lambda: TopFraction(1.0), "share must lie between 0 and 1"),
        (lambda: TopFraction("5%"), "got '5%'"),
        (lambda: TopFraction(True), "both excluded; got True"),
    ],
)
def test_bad_parameters_get_one_sentence(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()


@every_price
def test_prices_are_values(price, spec):
    assert pickle.loads(pickle.dumps(price)) == price
    assert type(price)().name == price.name
    assert hash(price) == hash(pickle.loads(pickle.dumps(price)))
