"""Every exported top: its twin, its gradient, what it declares, many contests at once."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pushrank import tops
from pushrank._arrays import Segments
from pushrank.budget import Budget
from pushrank.exceptions import InvalidParameter
from pushrank.tops import Maximum, MeanOfTop, Quantile, SoftTop
from twins import risks as twin

TOPS = [
    (Maximum(), ("maximum",)),
    (MeanOfTop(1), ("mean_of_top", 1)),
    (MeanOfTop(2), ("mean_of_top", 2)),
    (MeanOfTop(3), ("mean_of_top", 3)),
    (MeanOfTop(0.3), ("mean_of_top", 0.3)),
    (SoftTop(0.01), ("soft_top", 0.01, None)),
    (SoftTop(2.0), ("soft_top", 2, None)),
    (SoftTop(64.0), ("soft_top", 64, None)),
    (SoftTop(2.0, at_least=1), ("soft_top", 2, 1)),
    (SoftTop(0.5, at_least=2), ("soft_top", 0.5, 2)),
    (SoftTop(64.0, at_least=4), ("soft_top", 64, 4)),
    (Quantile(0.3), ("quantile", 0.3, "losers")),
    (Quantile(0.75), ("quantile", 0.75, "losers")),
]
any_top = st.sampled_from([top for top, _ in TOPS])
SPECS = {top: spec[:2] if spec[0] == "quantile" else spec for top, spec in TOPS}
alone = pytest.mark.parametrize("top", [top for top, _ in TOPS], ids=str)

scores_and_weights = st.lists(
    st.tuples(
        st.one_of(st.integers(-3, 3).map(float), st.floats(-20, 20, allow_subnormal=False)),
        st.sampled_from([0.5, 1.0, 2.0, 1 / 3]),
    ),
    min_size=1,
    max_size=12,
).map(lambda rows: tuple(np.array(rows).T.copy()))


def one(top, scores, weight):
    value, gradient = top.value_and_gradient(scores, weight, Segments.one(len(scores)))
    assert value.shape == (1,)
    return float(value[0]), gradient


def test_every_exported_top_is_tested():
    exported = {getattr(tops, name) for name in tops.__all__} - {tops.Top, tops.TopCurvature}
    untested = {part.__name__ for part in exported - {type(top) for top, _ in TOPS}}
    assert not untested, (
        f"{sorted(untested)}: add an instance and its twin's parameters to TOPS in this file, and the "
        "formula to top_value in tests/twins/risks.py."
    )


@alone
@given(problem=scores_and_weights)
def test_value_and_gradient_equal_the_twin(top, problem):
    scores, weight = problem
    value, gradient = one(top, scores, weight)
    expected, shares = twin.top_value(SPECS[top], scores, weight)
    # With p = 0.01 the logarithm of a mean near one is divided by p; 64 multiplies what scores of 20 round.
    assert_allclose(value, float(expected), rtol=1e-12, atol=1e-12)
    assert_allclose(gradient, shares.astype(float), atol=1e-12)


@alone
@given(problem=scores_and_weights, other=scores_and_weights)
def test_it_keeps_what_it_declares(top, problem, other):
    scores, weight = problem
    value, gradient = one(top, scores, weight)
    moved = scores + np.resize(other[0], len(scores))
    moved_value, _ = one(top, moved, weight)
    slack = 1e-10
    assert gradient.sum() == pytest.approx(1.0, abs=1e-12)
    assert one(top, scores + 0.75, weight)[0] == pytest.approx(value + 0.75, abs=slack)
    if top.convex:
        assert moved_value >= value + gradient @ (moved - scores) - slack
        assert one(top, (scores + moved) / 2, weight)[0] <= (value + moved_value) / 2 + slack
    if top.monotone:
        assert np.all(gradient >= 0)
        assert one(top, np.maximum(scores, moved), weight)[0] >= value - slack
    if top.smooth:
        # A gradient of curvature p ≤ 64 moves by at most 64·2e-8 in the sum of its shares.
        nudged = one(top, scores + 1e-8 * np.sign(moved), weight)[1]
        assert np.abs(nudged - gradient).sum() <= 64 * 2e-8 * 2 + slack


@given(top=any_top, problem=scores_and_weights)
def test_the_conjugate_is_met_at_the_gradient(top, problem):
    scores, weight = problem
    blocks = Segments.one(len(scores))
    value, gradient = one(top, scores, weight)
    conjugate = top.conjugate(gradient, weight, blocks)
    if not top.convex:
        assert conjugate is None
        return
    assert gradient @ scores - conjugate[0] == pytest.approx(value, abs=1e-9)
    assert top.conjugate(gradient * 1.01, weight, blocks)[0] == np.inf
    assert (
        top.conjugate(
            np.append(gradient, -0.5) + 0.5 / (len(scores) + 1),
            np.append(weight, 1.0),
            Segments.one(len(scores) + 1),
        )[0]
        == np.inf
    )


@pytest.mark.parametrize("top", [MeanOfTop(2), MeanOfTop(0.5), SoftTop(2.0, at_least=2)], ids=str)
def test_shares_beyond_their_caps_have_no_conjugate(top):
    weight = np.ones(4)
    assert top.conjugate(np.array([0.5, 0.5, 0, 0]), weight, Segments.one(4))[0] < np.inf
    assert top.conjugate(np.array([0.51, 0.49, 0, 0]), weight, Segments.one(4))[0] == np.inf


@alone
def test_repeated_rows_are_weights(top):
    scores, times = np.array([0.0, 1.0, 1.0, 2.0, -1.0]), np.array([2, 1, 3, 1, 4])
    value, gradient = one(top, scores, times.astype(float))
    rows = np.repeat(np.arange(5), times)
    repeated, parts = one(top, scores[rows], np.ones(len(rows)))
    assert repeated == pytest.approx(value, rel=1e-13)
    assert_allclose(np.bincount(rows, parts), gradient, atol=1e-13)


@given(top=any_top, contests=st.lists(scores_and_weights, min_size=2, max_size=5))
def test_contests_do_not_see_each_other(top, contests):
    scores = np.concatenate([scores for scores, _ in contests])
    weight = np.concatenate([weight for _, weight in contests])
    lengths = np.array([len(scores) for scores, _ in contests])
    blocks = Segments(np.cumsum(lengths) - lengths, len(scores))
    values, gradient = top.value_and_gradient(scores, weight, blocks)
    apart = [one(top, *contest) for contest in contests]
    assert_allclose(values, [value for value, _ in apart], rtol=1e-12, atol=1e-12)
    assert_allclose(gradient, np.concatenate([slopes for _, slopes in apart]), atol=1e-12)
    if top.convex:
        together = top.conjugate(gradient, weight, blocks)
        single = [
            top.conjugate(slopes, w, Segments.one(len(w)))[0]
            for (_, slopes), (_, w) in zip(apart, contests, strict=True)
        ]
        assert_allclose(together, single, atol=1e-9)


@alone
@pytest.mark.parametrize("far", [1e9, -1e9, 1e300, -1e300])
def test_far_scores_cost_no_digits(top, far):
    scores, weight = np.array([0.25, far, -0.5, 1.0, 1.0, far]), np.array([1.0, 1, 2, 1, 1, 0.5])
    value, gradient = one(top, scores, weight)
    expected, shares = twin.top_value(SPECS[top], scores, weight)
    assert_allclose(value, float(expected), rtol=1e-12)
    assert_allclose(gradient, shares.astype(float), atol=1e-12)


@pytest.mark.parametrize("at_least", [None, 1, 2])
@pytest.mark.parametrize("p", [1e6, 1e12])
def test_a_huge_p_is_the_maximum_or_the_mean_of_the_top(p, at_least):
    scores, weight = np.array([1e300, -1e300, 0.0, 1.0]), np.ones(4)
    value, gradient = one(SoftTop(p, at_least=at_least), scores, weight)
    expected, shares = one(MeanOfTop(at_least or 1), scores, weight)
    assert value == pytest.approx(expected, rel=1e-12)
    assert_allclose(gradient, shares, atol=1e-12)


def test_caps_that_are_reached_but_for_rounding_leave_no_more_than_that():
    # Eight thirds and halves weigh 4 − 4e-16: what they leave of K = 4 goes to a loser of weight e^{−128}.
    scores = np.array([0.0, 0, 0, 0, 0, -2, 0, 0, 0])
    weight = np.array([0.5, 0.5, 1, 1 / 3, 1 / 3, 0.5, 0.5, 0.5, 1 / 3])
    value, gradient = one(SoftTop(64.0, at_least=4), scores, weight)
    assert value == pytest.approx(-np.log(4.5 / 4) / 64, abs=1e-14)
    assert_allclose(gradient, np.where(scores < 0, 0, weight / 4), atol=1e-15)


def test_a_tiny_p_is_the_mean():
    scores, weight = np.array([1.0, 2.0, 4.5, -1.0]), np.array([1.0, 2.0, 1.0, 0.5])
    value, gradient = one(SoftTop(1e-12), scores, weight)
    assert value == pytest.approx(np.average(scores, weights=weight), rel=1e-11)
    assert_allclose(gradient, weight / weight.sum(), rtol=1e-11)


def test_caps_below_the_weight_of_a_contest_give_its_mean():
    scores, weight = np.array([1.0, 2.0, 4.5]), np.array([1.0, 2.0, 1.0])
    for top in (SoftTop(8.0, at_least=50), MeanOfTop(50)):
        value, gradient = one(top, scores, weight)
        assert value == pytest.approx(np.average(scores, weights=weight), rel=1e-14)
        assert_allclose(gradient, weight / weight.sum(), rtol=1e-14)


@pytest.mark.parametrize("n", [1000, 3001])
@pytest.mark.parametrize("weights", ["equal", "unequal", "heavy top", "heavy bottom", "ties"])
def test_long_lists_are_selected_as_short_ones_are_sorted(n, weights):
    rng = np.random.default_rng(n)
    scores = rng.normal(size=n)
    weight = {
        "equal": np.full(n, 0.3),
        "unequal": rng.uniform(0.1, 3, n),
        "heavy top": np.exp(2 * scores),
        "heavy bottom": np.exp(-2 * scores),
        "ties": rng.integers(1, 4, n).astype(float),
    }[weights]
    if weights == "ties":
        scores = scores.round(1)
    for top, spec in SPECS.items():
        expected, shares = twin.top_value(spec, scores, weight)
        value, gradient = one(top, scores, weight)
        assert_allclose(value, float(expected), rtol=1e-10)
        assert_allclose(gradient, shares.astype(float), atol=1e-12)


@pytest.mark.parametrize(
    "top", [SoftTop(2.0), SoftTop(64.0), SoftTop(2.0, at_least=3), SoftTop(1.0, at_least=99)]
)
def test_curvature_is_a_difference_of_gradients(top):
    rng = np.random.default_rng(2)
    lengths = np.array([4, 1, 6])
    scores, weight = rng.normal(size=11), rng.choice([0.5, 1.0, 2.0], 11)
    blocks = Segments(np.cumsum(lengths) - lengths, 11)
    curvature = top.curvature(scores, weight, blocks)
    step = 1e-6
    for direction in np.eye(11):
        ahead = top.value_and_gradient(scores + step * direction, weight, blocks)[1]
        behind = top.value_and_gradient(scores - step * direction, weight, blocks)[1]
        assert_allclose(curvature.apply(direction), (ahead - behind) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("top", [Maximum(), MeanOfTop(), Quantile()])
def test_kinked_tops_have_no_curvature(top):
    assert not top.smooth
    assert top.curvature(np.zeros(2), np.ones(2), Segments.one(2)) is None


def test_a_budget_counts_losers():
    scores, weight = np.array([3.0, 1.0, 2.0, 0.0]), np.ones(4)
    for make in (MeanOfTop, lambda k: SoftTop(4.0, at_least=k)):
        two = one(make(2), scores, weight)
        for budget in (Budget(2), 0.5, Budget(0.5), Budget(1, of=2), Budget(500, of=1000)):
            for part, same in zip(one(make(budget), scores, weight), two, strict=True):
                assert_allclose(part, same, rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SoftTop(0),
            r"p must be a finite number above 0; got 0\. .* use Maximum\(\)\.",
        ),
        (lambda: SoftTop(np.inf), "p must be a finite number above 0; got inf"),
        (lambda: SoftTop(np.nan), "p must be a finite number above 0; got nan"),
        (lambda: SoftTop("2"), "p must be a finite number above 0; got '2'"),
        (lambda: SoftTop(True), "p must be a finite number above 0; got True"),
        (lambda: SoftTop(2.0, at_least=1.5), r"A share must lie strictly between 0 and 1.* got 1\.5"),
        (lambda: SoftTop(2.0, at_least=True), "k must be a whole number, a share .* or a Budget; got True"),
        (lambda: MeanOfTop(0), "k must be at least 1, or a share between 0 and 1; got 0"),
        (lambda: MeanOfTop(1.5), "a count must be an int; got 1.5"),
        (lambda: MeanOfTop(-0.5), "got -0.5"),
        (lambda: MeanOfTop(np.inf), "got inf"),
        (lambda: MeanOfTop(True), "got True"),
        (lambda: MeanOfTop("5%"), "got '5%'"),
        (lambda: Quantile(0), r"share must lie between 0 and 1, both excluded; got 0\. .*Maximum\(\)"),
        (lambda: Quantile(1.0), "share must lie between 0 and 1"),
        (lambda: Quantile(True), "both excluded; got True"),
        (lambda: Quantile(0.1, over="winners"), r"""over must be "losers" or "all"; got 'winners'\."""),
    ],
)
def test_bad_parameters_get_one_sentence(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()


@alone
def test_tops_are_values(top):
    assert pickle.loads(pickle.dumps(top)) == top
    assert dataclasses.replace(top) == top
    assert hash(dataclasses.replace(top)) == hash(top)
    assert type(top)().name == top.name
    assert top.over == "losers"
    assert Quantile(0.1, over="all").over == "all"
