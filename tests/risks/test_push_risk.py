"""What is peculiar to the price of heights: raw values, scales, overflow, and fuzzed problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pushrank import losses, prices
from pushrank.exceptions import ScoreOverflow
from pushrank.prices import Identity, Power, TopFraction
from pushrank.risks import PushRisk, make_risk
from pushrank.targets.ranking import RankingTarget
from twins import risks as twin

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge", "smoothed_hinge")
PRICES = {
    Identity(): ("identity", None),
    Power(1.5): ("power", 1.5),
    Power(4): ("power", 4),
    prices.Exponential(): ("exponential", None),
}


@st.composite
def bipartite_problems(draw):
    n = draw(st.integers(2, 10))
    is_winner = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    is_winner[:2] = True, False
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    weight[:2] = 1.0
    score = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5, allow_subnormal=False))
    return np.array(draw(st.lists(score, min_size=n, max_size=n))), is_winner, weight


@pytest.mark.parametrize("price", PRICES, ids=str)
@given(loss=st.sampled_from(LOSSES), problem=bipartite_problems())
def test_it_equals_the_sum_over_all_pairs(price, loss, problem):
    scores, is_winner, weight = problem
    risk = make_risk(loss, price)
    contests = twin.bipartite(is_winner, weight)
    value, gradient = risk.value_and_gradient(scores, RankingTarget.bipartite(is_winner, weight))
    expected, slopes = twin.push_risk(loss, PRICES[price], contests, scores)
    # e^r of the exponential loss under the exponential price is known to eps·r, r up to e^10.
    assert_allclose(value, float(expected), rtol=1e-10, atol=1e-12)
    assert_allclose(gradient, slopes.astype(float), atol=1e-10 * max(1.0, float(np.abs(slopes).max())))


TARGET = RankingTarget.bipartite(np.array([1, 0, 1, 0, 0], dtype=bool), np.array([1.0, 2, 1, 1, 0.5]))
CONTESTS = twin.bipartite(np.array([1, 0, 1, 0, 0], dtype=bool), np.array([1.0, 2, 1, 1, 0.5]))
SCORES = np.array([0.3, -0.2, 1.1, 0.9, 0.45])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("price", [*PRICES, TopFraction(0.3)], ids=str)
def test_raw_is_the_price_of_plain_heights(loss, price):
    spec = {**PRICES, TopFraction(0.3): ("top_fraction", 0.3)}[price]
    v = np.array([2, 1, 0.5], dtype=np.longdouble) / 3.5
    expected, _ = twin.price_value(spec, twin.heights(loss, CONTESTS, SCORES), v)
    assert make_risk(loss, price).raw(SCORES, TARGET) == pytest.approx(float(expected), rel=1e-12)


def test_raw_beyond_a_float_is_infinite():
    assert PushRisk(losses.Exponential(), Power(8)).raw(SCORES * 1e4, TARGET) == np.inf


def test_the_value_at_degree_one_is_the_pth_root_of_the_papers_cost():
    for p in (1, 2, 7.5):
        risk = PushRisk(losses.Exponential(), Power(p))
        value, _ = risk.value_and_gradient(SCORES, TARGET)
        assert p * value == pytest.approx(np.log(risk.raw(SCORES, TARGET)), rel=1e-12)
        risk = PushRisk(losses.Logistic(), Power(p))
        assert risk.value_and_gradient(SCORES, TARGET)[0] ** p == pytest.approx(
            risk.raw(SCORES, TARGET), rel=1e-12
        )


@given(problem=bipartite_problems(), p=st.floats(1, 50))
def test_the_risk_grows_with_p(problem, p):
    scores, is_winner, weight = problem
    target = RankingTarget.bipartite(is_winner, weight)
    for loss in (losses.Exponential(), losses.Hinge()):
        low, _ = PushRisk(loss, Power(p)).value_and_gradient(scores, target)
        high, _ = PushRisk(loss, Power(p + 1)).value_and_gradient(scores, target)
        assert low <= high + 1e-12 * max(1.0, abs(high))


def test_a_perfect_list_costs_the_hinges_nothing():
    scores = np.array([9.0, 0, 9, 0, 0])
    for loss in (losses.Hinge(), losses.SquaredHinge(), losses.SmoothedHinge()):
        for price in (Power(3), TopFraction(0.3), Identity()):
            value, gradient = PushRisk(loss, price).value_and_gradient(scores, TARGET)
            assert value == 0.0
            assert not gradient.any()
    hessian = PushRisk(losses.SquaredHinge(), Power(3)).hessian(scores, TARGET)
    assert not hessian.apply(np.ones(5)).any()


@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_curvature_is_finite_where_some_heights_vanish(p):
    scores = np.array([0.5, -9.0, 0.7, 0.0, 0.6])
    for loss in (losses.SquaredHinge(), losses.Exponential(), losses.SmoothedHinge()):
        for spread in (1.0, 1e4):  # At 1e4, e^r underflows.
            hessian = PushRisk(loss, Power(p)).hessian(scores * spread, TARGET)
            assert np.all(np.isfinite(hessian.apply(np.arange(5.0))))


def test_the_exponential_price_of_huge_heights_is_refused():
    with pytest.raises(
        ScoreOverflow, match=r"The largest height is e\^\d+, which the exponential price cannot take"
    ):
        PushRisk(losses.Exponential(), prices.Exponential()).value_and_gradient(SCORES * 1e4, TARGET)


def test_what_a_risk_says_of_itself():
    assert PushRisk(losses.Exponential(), Power(2)).log
    assert not PushRisk(losses.Exponential(), prices.Exponential()).log
    assert not PushRisk(losses.Logistic(), Power(2)).log
    assert PushRisk(losses.Logistic(), Power(2)).smooth
    assert not PushRisk(losses.Logistic(), TopFraction(0.1)).smooth
    assert not PushRisk(losses.Hinge(), Power(2)).smooth
    assert PushRisk(losses.Hinge(), Power(2)).convex
    assert PushRisk(losses.Hinge(), Power(2)).dual() is None
    assert PushRisk(losses.Hinge(), Power(2)) == PushRisk(losses.Hinge(), Power(2.0))
