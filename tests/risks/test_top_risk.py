"""What is peculiar to the loss against the top: fuzzed problems of many contests, and its declarations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pushrank import losses
from pushrank.risks import TopRisk, make_risk
from pushrank.targets.ranking import RankingTarget
from pushrank.tops import Maximum, MeanOfTop, Quantile, SoftTop
from twins import risks as twin

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge", "smoothed_hinge")
TOPS = {
    Maximum(): ("maximum",),
    MeanOfTop(2): ("mean_of_top", 2),
    SoftTop(3.0): ("soft_top", 3, None),
    SoftTop(3.0, at_least=2): ("soft_top", 3, 2),
    Quantile(0.4): ("quantile", 0.4, "losers"),
    Quantile(0.4, over="all"): ("quantile", 0.4, "all"),
}


@st.composite
def graded_problems(draw):
    n = draw(st.integers(3, 14))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    grades, qid = column(st.integers(0, 2)), column(st.integers(0, 2))
    weight = column(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    grades[:2], qid[:2], weight[:2] = (0, 2), 1, 1.0
    # No ties: at a tie across grades the first entry is a matter of how the entries lie.
    scores = column(st.integers(-100, 100)) / 16 + np.arange(n) / 1024
    return scores, grades, weight, qid, draw(st.sampled_from(["pairs", "equal"]))


@pytest.mark.parametrize("top", TOPS, ids=str)
@given(loss=st.sampled_from(LOSSES), problem=graded_problems())
def test_it_equals_the_sum_over_all_contests(top, loss, problem):
    scores, grades, weight, qid, contest_weight = problem
    risk = make_risk(loss, top)
    target = RankingTarget.graded(grades, weight, qid, contest_weight)
    value, gradient = risk.value_and_gradient(scores, target)
    contests = twin.graded(grades, weight, qid)
    expected, slopes = twin.top_risk(loss, TOPS[top], contests, scores, contest_weight)
    assert_allclose(value, float(expected), rtol=1e-10, atol=1e-12)
    assert_allclose(gradient, slopes.astype(float), atol=1e-10 * max(1.0, float(np.abs(slopes).max())))


def test_a_hundred_thousand_contests_are_one_batch():
    rng = np.random.default_rng(0)
    n_queries = 100_000
    qid = np.repeat(np.arange(n_queries), 4)
    grades = np.tile([0, 1, 0, 0], n_queries)
    scores = rng.normal(size=len(qid))
    target = RankingTarget.graded(grades, np.ones(len(qid)), qid)
    table = scores.reshape(n_queries, 4)
    losers = table[:, [0, 2, 3]]
    tops = {
        Maximum(): losers.max(axis=1),
        MeanOfTop(2): np.sort(losers, axis=1)[:, 1:].mean(axis=1),
        SoftTop(2.0): np.log(np.exp(2 * losers).mean(axis=1)) / 2,
        Quantile(0.5): np.median(losers, axis=1),
    }
    for top, expected in tops.items():
        value, gradient = TopRisk(losses.Logistic(), top).value_and_gradient(scores, target)
        assert value == pytest.approx(np.logaddexp(0, expected - table[:, 1]).mean(), rel=1e-10)
        assert abs(gradient.sum()) < 1e-10
    capped, _ = TopRisk(losses.Logistic(), SoftTop(1e6, at_least=2)).value_and_gradient(scores, target)
    assert capped == pytest.approx(np.logaddexp(0, tops[MeanOfTop(2)] - table[:, 1]).mean(), rel=1e-5)


def test_what_a_risk_says_of_itself():
    assert TopRisk(losses.Exponential(), SoftTop(2.0)).log
    assert not TopRisk(losses.Logistic(), SoftTop(2.0)).log
    assert TopRisk(losses.Logistic(), SoftTop(2.0)).smooth
    assert not TopRisk(losses.Logistic(), Maximum()).smooth
    assert not TopRisk(losses.Hinge(), SoftTop(2.0)).smooth
    assert TopRisk(losses.Hinge(), Maximum()).convex
    assert not TopRisk(losses.Hinge(), Quantile(0.1)).convex
    assert TopRisk(losses.Hinge(), Maximum()) == TopRisk(losses.Hinge(), Maximum())


@pytest.mark.parametrize("name", ["bipartite", "graded"])
def test_a_winner_at_the_quantile_of_all_raises_it(name):
    is_winner, weight, scores = (
        np.array([1, 1, 0, 0], dtype=bool),
        np.ones(4),
        np.array([0.0, 2.0, -1.0, 1.0]),
    )
    target = (
        RankingTarget.bipartite(is_winner, weight)
        if name == "bipartite"
        else RankingTarget.graded(is_winner.astype(int), weight, np.zeros(4))
    )
    risk = TopRisk(losses.Hinge(), Quantile(0.25, over="all"))
    value, gradient = risk.value_and_gradient(scores, target)
    assert value == pytest.approx((3 + 1) / 2)
    assert_allclose(gradient, [-0.5, 0.5, 0, 0])
    assert risk.hessian(scores, target) is None
