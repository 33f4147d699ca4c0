"""Truncated losses against all pairs: ties, knots, signs of weights, and scores of every size."""

import tracemalloc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushrank.exceptions import InvalidParameter
from pushrank.losses import Hinge, SmoothedHinge, SquaredHinge, truncated
from pushrank.losses.truncated import Piece, TruncatedLoss, _ascending
from twins import losses as twins

FAMILY = [
    pytest.param(Hinge(), twins.hinge, 1e300, id="hinge"),
    pytest.param(SquaredHinge(), twins.squared_hinge, 1e150, id="squared_hinge"),
    # Widths that are powers of two keep the second knot exact, so that order 2 agrees on it too.
    *(
        pytest.param(
            SmoothedHinge(width),
            lambda pull, order=0, width=width: twins.smoothed_hinge(pull, order, width),
            1e300,
            id=f"smoothed_hinge-{width}",
        )
        for width in (0.125, 0.25)
    ),
]

ORDINARY = st.floats(-4, 4)
ON_KNOTS = st.sampled_from([-2.0, -1.0, -0.875, -0.75, 0.0, 0.125, 0.25, 0.875, 1.0, 2.0])
TINY = st.sampled_from([5e-324, -5e-324, 1e-300, -1e-20, 1e-9])
FAR = st.sampled_from([1e9, -1e9, 3e15, 3e15 + 0.5, 1e16, 1e16 + 2, -1e16, 7e17])
HUGE = st.sampled_from([1.0, -1.0, 0.5, -0.25, float(np.nextafter(1.0, 2.0))])
"""Shares of the largest score that a loss must bear."""


def scores(largest):
    some = st.one_of(ORDINARY, ON_KNOTS, TINY, FAR, HUGE.map(lambda share: share * largest))
    return st.one_of(
        st.lists(some, min_size=1, max_size=9),
        st.lists(ON_KNOTS, min_size=1, max_size=9),
        st.lists(ORDINARY, min_size=1, max_size=9),
    ).map(np.array)


def weights(n):
    # Products with a Hessian have weights of either sign; absent rows weigh nothing.
    return st.lists(st.one_of(st.just(0.0), st.floats(-1, 1), st.just(1.0)), min_size=n, max_size=n).map(
        np.array
    )


def assert_sums_equal_the_twin(loss, twin, winners, losers, u, v):
    sums = loss.pair_sums(winners, losers)
    steepest = max(1.0, abs(float(loss.value(0.5, 2))), abs(float(loss.value(0.95, 2))))
    z = np.abs(twins.pulls(winners, losers))
    for order in (0, 1, 2):
        terms = np.abs(twin(twins.pulls(winners, losers), order))
        # Near a knot a term is as uncertain as a pull of one is, times the slope: a few roundings of it.
        # 1e-13 leaves room for 450 roundings; 1e-10 is what is asked for.
        scale = 1e-13 * (terms + steepest * np.where(terms > 0, np.minimum(z, 4.0) + 1.0, 1.0))
        for ours, theirs, limit in (
            (sums.at_losers(order, u), twins.at_losers(twin, order, winners, losers, u), np.abs(u) @ scale),
            (sums.at_winners(order, v), twins.at_winners(twin, order, winners, losers, v), scale @ np.abs(v)),
        ):
            assert ours.dtype == np.float64
            assert np.all(np.abs(ours - theirs) <= limit), (order, ours, theirs, limit)


@pytest.mark.parametrize(("loss", "twin", "largest"), FAMILY)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_sums_equal_all_pairs(loss, twin, largest, data):
    winners, losers = data.draw(scores(largest)), data.draw(scores(largest))
    u, v = data.draw(weights(len(winners))), data.draw(weights(len(losers)))
    assert_sums_equal_the_twin(loss, twin, winners, losers, u, v)


@pytest.mark.parametrize(("loss", "twin", "largest"), FAMILY)
@pytest.mark.parametrize(("m", "n"), [(1, 40), (40, 1), (300, 70), (70, 300)])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0])
def test_sums_equal_all_pairs_on_longer_lists(loss, twin, largest, m, n, spread):
    rng = np.random.default_rng(7)
    winners, losers = spread * rng.normal(size=m) + 0.3, spread * rng.normal(size=n)
    winners[m // 2] = 1e9
    assert_sums_equal_the_twin(loss, twin, winners, losers, rng.random(m), rng.random(n))


@pytest.mark.parametrize(("loss", "twin", "largest"), FAMILY)
def test_one_far_score_costs_the_others_no_digit(loss, twin, largest):
    winners = np.array([0.0, -0.1, 0.2, 1e9, -largest, largest])
    losers = np.array([0.3, -0.7, -0.95, 1e9, largest, -largest])
    sums, u = loss.pair_sums(winners, losers), np.array([0.2, 0.3, 0.1, 0.1, 0.0, 0.3])
    expected = twins.at_losers(twin, 0, winners, losers, u)
    # All terms are positive, so a few roundings of each are all that may differ.
    np.testing.assert_allclose(sums.at_losers(0, u), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("loss", "twin", "largest"), FAMILY)
@pytest.mark.parametrize(("m", "n"), [(40, 23), (23, 40), (1, 40)])
@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_sums_go_on_from_block_to_block(monkeypatch, loss, twin, largest, m, n, spread):
    # No border between blocks shows: neither in a moment that is carried over nor in a cell or a window.
    rng = np.random.default_rng(4)
    winners, losers = spread * rng.normal(size=m), np.round(spread * rng.normal(size=n), 1)
    u, v = rng.random(m), rng.random(n)
    whole = loss.pair_sums(winners, losers)
    asked = [(order, whole.at_losers(order, u), whole.at_winners(order, v)) for order in (0, 1, 2)]
    for rows in (1, 3, 7):
        monkeypatch.setattr(truncated, "_ROWS", rows)
        assert_sums_equal_the_twin(loss, twin, winners, losers, u, v)
        sums = loss.pair_sums(winners, losers)
        for order, at_losers, at_winners in asked:
            assert sums.at_losers(order, u).tolist() == at_losers.tolist()
            assert sums.at_winners(order, v).tolist() == at_winners.tolist()


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SmoothedHinge()])
@pytest.mark.parametrize("score", [np.nan, -np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_have_no_sums(loss, score):
    some, spoilt = np.array([0.5, -1.0, 2.0]), np.array([1.0, score, 0.0])
    for winners, losers in ((some, spoilt), (spoilt, some)):
        sums = loss.pair_sums(winners, losers)
        assert np.isnan(sums.at_losers(0, np.ones(len(winners)))).tolist() == [True] * len(losers)
        assert np.isnan(sums.at_winners(1, np.ones(len(losers)))).tolist() == [True] * len(winners)


@pytest.mark.parametrize(
    ("loss", "limit"), [(Hinge(), 6.5), (SquaredHinge(), 7.5), (SmoothedHinge(), 8.0)], ids=repr
)
def test_a_gradient_takes_few_arrays_as_long_as_the_list(loss, limit):
    # In numbers a row. It takes 5.3, 6.2 and 6.8 of them, and took 9 to 15 when sums were not made block by
    # block. More losers than winners is the dearer way.
    rng = np.random.default_rng(6)
    winners, losers, u, v = rng.normal(size=10_000), rng.normal(size=90_000), np.ones(10_000), np.ones(90_000)
    tracemalloc.start()
    try:
        sums = loss.pair_sums(winners, losers)
        # A height and its slope are held while the winners' sums are made, as in a gradient.
        held = sums.at_losers(0, u), sums.at_losers(1, u), sums.at_winners(1, v)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= limit * 8 * (len(held[0]) + len(held[2]))


def test_ties_of_huge_scores_lie_within_the_margin():
    at = np.array([1e300, -1e300, 1e300])
    for loss in (Hinge(), SmoothedHinge()):
        sums = loss.pair_sums(at[:1], at)
        assert sums.at_winners(0, np.array([1.0, 1.0, 1.0])) == pytest.approx(2 * float(loss.value(0.0)))
        assert sums.at_losers(1, np.array([1.0])).tolist() == [1.0, 0.0, 1.0]


def test_slopes_of_both_sides_are_one_subgradient():
    # With scores on a grid of tenths the knot is hit up to rounding everywhere. The slopes seen by winners
    # and by losers are those of one and the same set of pairs, and so have one sum.
    rng = np.random.default_rng(3)
    winners, losers = np.round(rng.normal(size=60), 1), np.round(rng.normal(size=90), 1)
    for swapped in (False, True):
        one, other = (losers, winners) if swapped else (winners, losers)
        sums = Hinge().pair_sums(one, other)
        by_losers, by_winners = sums.at_losers(1, np.ones(len(one))), sums.at_winners(1, np.ones(len(other)))
        assert by_losers.sum() == by_winners.sum()
        active = twins.pulls(one, other) < 1.0
        assert by_losers.tolist() == active.sum(axis=0).tolist()
        assert by_winners.tolist() == active.sum(axis=1).tolist()


def test_many_knots_lost_in_rounding_are_bisected():
    # A score of 1e-20 below its knot: s_k − s_i rounds to the knot itself, though s_i − 1 is below s_k.
    winners, losers = np.full(50, 1.0), np.linspace(1e-22, 1e-18, 80)
    sums = Hinge().pair_sums(winners, losers)
    assert not sums.at_losers(1, np.ones(50)).any()
    assert not sums.at_winners(1, np.ones(80)).any()


@pytest.mark.parametrize(("loss", "twin", "largest"), FAMILY)
def test_any_array_of_numbers_will_do(loss, twin, largest):
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 4))
    table.flags.writeable = False
    winners, losers, u, v = table[:, 0], table[::-2, 1], table[:, 2], table[::-2, 3]
    assert_sums_equal_the_twin(loss, twin, winners, losers, u, v)
    single = table.astype(np.float32)
    assert_sums_equal_the_twin(loss, twin, single[:, 0], single[:, 1], single[:, 2], single[:, 3])
    single.flags.writeable = False
    assert loss.value(single[:, 0]).dtype == np.float64


@settings(max_examples=200, deadline=None, derandomize=True)
@given(values=st.one_of(scores(1e300), st.lists(st.floats(1.0, 1.0 + 1e-14), min_size=1).map(np.array)))
def test_values_are_sorted_to_the_last_bit(values):
    ascending, order = _ascending(values)
    assert ascending.tolist() == np.sort(values).tolist()
    assert values[order].tolist() == ascending.tolist()
    assert sorted(order.tolist()) == list(range(len(values)))


def test_values_that_lie_close_are_sorted_once_more():
    rng = np.random.default_rng(2)
    for values in (1e9 + rng.normal(size=5000), -1.0 - 1e-12 * rng.normal(size=5000)):
        ascending, order = _ascending(values)
        np.testing.assert_array_equal(ascending, np.sort(values))
        np.testing.assert_array_equal(values[order], ascending)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SmoothedHinge()])
def test_answers_do_not_depend_on_what_was_asked_before(loss):
    rng = np.random.default_rng(1)
    winners, losers, u, v = rng.normal(size=30), rng.normal(size=50), rng.random(30), rng.random(30)
    sums = loss.pair_sums(winners, losers)
    asked = [(order, weight) for weight in (u, v, u) for order in (1, 0, 2, 0)]
    for order, weight in asked:
        fresh = loss.pair_sums(winners, losers).at_losers(order, weight)
        assert sums.at_losers(order, weight).tolist() == fresh.tolist()
    u *= 2.0
    assert sums.at_losers(0, u).tolist() == loss.pair_sums(winners, losers).at_losers(0, u).tolist()


def test_neighbours_among_huge_scores_are_told_apart():
    # Divided by a cell's width of 24, some neighbours of this size round to one quotient, yet they lie 2⁹⁴³
    # apart. Ties have a pull of 0, which is in the window of this loss.
    at = 1.75 * 2.0**995 + np.arange(9) * 2.0**943
    sums, weight = SmoothedHinge(width=1.5).pair_sums(at, at), np.linspace(1.0, 2.0, 9)

    def twin(pull, order=0):
        return twins.smoothed_hinge(pull, order, 1.5)

    for order in (0, 1, 2):
        expected = twins.at_losers(twin, order, at, at, weight)
        np.testing.assert_allclose(sums.at_losers(order, weight), expected, rtol=1e-13)
        expected = twins.at_winners(twin, order, at, at, weight)
        np.testing.assert_allclose(sums.at_winners(order, weight), expected, rtol=1e-13)


def test_squares_beyond_a_float64_are_infinite():
    assert SquaredHinge().value(-1e300) == np.inf
    sums = SquaredHinge().pair_sums(np.array([-1e300]), np.array([1e300]))
    assert not np.isfinite(sums.at_losers(0, np.ones(1))).any()
    # Where no winner is under the knot there is nothing to overflow.
    sums = SquaredHinge().pair_sums(np.array([1e300]), np.array([-1e300]))
    assert sums.at_losers(0, np.ones(1)).tolist() == sums.at_winners(1, np.ones(1)).tolist() == [0.0]


@dataclass(frozen=True)
class Stairs(TruncatedLoss):
    """Convex, of three pieces, with a cubic in the middle: all that a new loss writes, but its conjugate."""

    name: ClassVar[str] = "stairs"

    @property
    def pieces(self):
        return Piece(-1.0, (0.0, 0.5)), Piece(0.0, (0.5, 0.5, 0.0, 1.0)), Piece(1.0, (2.0, 3.5, 3.0))

    def conjugate(self, slope):
        raise NotImplementedError


def stairs(pull, order=0):
    z = -pull
    pieces = [
        [0.5 * (z + 1), 0.5 + 0.5 * z + z**3, 2 + 3.5 * (z - 1) + 3 * (z - 1) ** 2],
        [0.5 + 0 * z, 0.5 + 3 * z**2, 3.5 + 6 * (z - 1)],
        [0 * z, 6 * z, 6 + 0 * z],
    ][order]
    total = np.where(z > 1, pieces[2], np.where(z > 0, pieces[1], np.where(z > -1, pieces[0], 0.0)))
    return -total if order == 1 else total


def test_a_new_loss_states_its_pieces_and_nothing_else():
    rng = np.random.default_rng(11)
    winners, losers = 2 * rng.normal(size=60), 2 * rng.normal(size=45)
    pulls = np.linspace(-4, 4, 81)
    for order in (0, 1, 2):
        np.testing.assert_allclose(Stairs().value(pulls, order), stairs(pulls, order), rtol=1e-12, atol=1e-12)
    assert_sums_equal_the_twin(Stairs(), stairs, winners, losers, rng.random(60), rng.random(45))


@pytest.mark.parametrize("width", [0.0, -1.0, 1e-9, np.inf, np.nan])
def test_a_width_out_of_range_is_refused(width):
    with pytest.raises(
        InvalidParameter, match=r"width must lie between 1e-8 and 1e8; got .*Leave it at 0\.1"
    ):
        SmoothedHinge(width=width)
