"""What every exported loss promises: run over all of them, so that a new one is tested by existing code."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pushrank.losses as package
from pushrank._arrays import Segments
from pushrank.losses import Loss
from pushrank.losses.base import PairList, Sides
from pushrank.losses.blocks import sums_of_blocks
from pushrank.risks import make_risk
from twins import losses as twins

LOSSES = [
    exported()
    for exported in map(package.__dict__.get, package.__all__)
    if isinstance(exported, type) and issubclass(exported, Loss) and exported is not Loss
]
CASES = [pytest.param(loss, twins.BY_NAME[loss.name], id=loss.name) for loss in LOSSES]
PULLS = st.floats(-30, 30)

every_loss = pytest.mark.parametrize(("loss", "twin"), CASES)
quick = settings(max_examples=100, deadline=None, derandomize=True)


def draw(seed=0, m=37, n=53):
    rng = np.random.default_rng(seed)
    winners, losers = rng.normal(size=m) + 0.5, rng.normal(size=n)
    weight = rng.random(m)
    return rng, winners, losers, weight / weight.sum()


def one_contest(winners, losers, weight):
    return Sides(winners, losers, weight, Segments.one(len(winners)), Segments.one(len(losers)))


def test_all_five_are_exported():
    assert {loss.name for loss in LOSSES} == set(twins.BY_NAME)


@every_loss
def test_it_is_a_frozen_value(loss, twin):
    assert loss == type(loss)() == make_risk(loss.name, "identity").loss == pickle.loads(pickle.dumps(loss))
    assert hash(loss) == hash(type(loss)())
    for attribute in [*(field.name for field in fields(loss)), "anything"]:
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(loss, attribute, 1.0)


@every_loss
@quick
@given(a=PULLS, b=PULLS, share=st.floats(0, 1))
def test_it_is_convex_and_decreasing(loss, twin, a, b, share):
    low, high = sorted((a, b))
    values = loss.value(np.array([low, high, share * low + (1 - share) * high]))
    # Rounding of a pull, times the slope, is what the inequalities may miss by.
    slack = 1e-12 * (1.0 + abs(values[0]))
    assert values[0] >= values[1]
    assert values[2] <= share * values[0] + (1 - share) * values[1] + slack
    assert values.min() >= 0


@every_loss
@quick
@given(a=PULLS, b=PULLS)
def test_its_slope_supports_it(loss, twin, a, b):
    (here, there), slope = loss.value(np.array([a, b])), loss.value(np.array([a]), 1)[0]
    assert slope <= 0
    assert there >= here + slope * (b - a) - 1e-12 * (1.0 + here + there - slope * abs(b - a))


@every_loss
@quick
@given(pull=st.floats(-8, 8))
def test_its_derivatives_are_its_twins_and_finite_differences(loss, twin, pull):
    step = 1e-5
    assume(all(abs(pull - kink) > 2 * step for kink in twins.KINKS[loss.name]))
    around = np.array([pull - step, pull + step])
    for order in (0, 1, 2):
        np.testing.assert_allclose(
            loss.value(np.array([pull]), order), twin(pull, order), rtol=1e-12, atol=1e-15
        )
    for order in (1, 2):
        low, high = loss.value(around, order - 1)
        # A central difference errs by step² and by rounding over step: 1e-10 and 1e-11 of the values here.
        scale = float(np.abs(loss.value(around, order - 1)).max()) + 1.0
        assert abs((high - low) / (2 * step) - loss.value(np.array([pull]), order)[0]) < 1e-9 * scale


@every_loss
@quick
@given(pull=PULLS, other=PULLS)
def test_its_conjugate_meets_it_where_its_slope_says(loss, twin, pull, other):
    slope, value = loss.value(np.array([pull]), 1), loss.value(np.array([pull]))
    conjugate = loss.conjugate(slope)
    scale = 1.0 + np.abs(value) + np.abs(slope * pull)
    assert np.abs(conjugate - (slope * pull - value)) <= 1e-12 * scale
    there = loss.value(np.array([other]))
    assert slope * other - there <= conjugate + 1e-12 * (scale + there + np.abs(slope * other))


@every_loss
def test_its_conjugate_is_the_supremum(loss, twin):
    pulls = np.linspace(-60, 60, 240_001)
    slopes = np.linspace(-0.98, -0.02, 25)
    best = np.max(slopes[:, None] * pulls - twin(pulls)[None, :], axis=1)
    # The grid misses the supremum by at most ℓ″ · spacing² / 8, which is below 1e-6 for ℓ″ up to 10.
    np.testing.assert_allclose(loss.conjugate(slopes), best, rtol=0, atol=1e-6)
    assert loss.conjugate(np.array([0.5])).tolist() == [np.inf]
    assert loss.conjugate(np.array([0.0]))[0] == pytest.approx(0.0, abs=1e-15)
    bounded = twin(-1e2, 1) > -1.5
    assert (loss.conjugate(np.array([-1.5]))[0] == np.inf) == bounded


@every_loss
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "n"), [(37, 53), (1, 20), (20, 1), (60, 30)])
def test_its_pair_sums_are_its_twins(loss, twin, seed, m, n):
    rng, winners, losers, weight = draw(seed, m, n)
    losers[0] = winners[0]
    sums, signed, back = loss.pair_sums(winners, losers), rng.normal(size=m), rng.normal(size=n)
    for order in (0, 1, 2):
        for u in (weight, signed):
            # Sums may cancel where weights are signed, so their size is that of the sum of sizes.
            scale = twins.at_losers(twin, order, winners, losers, np.abs(u)).max()
            expected = twins.at_losers(twin, order, winners, losers, u)
            np.testing.assert_allclose(sums.at_losers(order, u), expected, rtol=1e-11, atol=1e-12 * scale)
        scale = twins.at_winners(twin, order, winners, losers, np.abs(back)).max()
        expected = twins.at_winners(twin, order, winners, losers, back)
        np.testing.assert_allclose(sums.at_winners(order, back), expected, rtol=1e-11, atol=1e-12 * scale)


def twin_values(loss, twin, winners, losers, weight):
    return (
        twins.log_heights(winners, losers, weight)
        if loss.log
        else twins.heights(twin, winners, losers, weight)
    )


def twin_pull_back(loss, twin, winners, losers, weight, back):
    if loss.log:
        return twins.log_pull_back(winners, losers, weight, back)
    return twins.pull_back(twin, winners, losers, weight, back)


@every_loss
def test_its_heights_and_their_slopes_are_its_twins(loss, twin):
    rng, winners, losers, weight = draw()
    heights = loss.heights(one_contest(winners, losers, weight))
    assert heights.log == loss.log
    np.testing.assert_allclose(heights.centred + heights.offset, heights.values, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(heights.values, twin_values(loss, twin, winners, losers, weight), rtol=1e-11)
    back = rng.normal(size=len(losers))
    expected = twin_pull_back(loss, twin, winners, losers, weight, back)
    for ours, theirs in zip(heights.pull_back(back), expected, strict=True):
        np.testing.assert_allclose(np.broadcast_to(ours, theirs.shape), theirs, rtol=1e-11, atol=1e-13)


@every_loss
def test_its_heights_move_and_bend_as_finite_differences(loss, twin):
    rng, winners, losers, weight = draw(4)
    heights = loss.heights(one_contest(winners, losers, weight))
    along, across = rng.normal(size=len(winners)), rng.normal(size=len(losers))
    back, step = rng.random(len(losers)), 1e-6
    ahead = (winners + step * along, losers + step * across, weight)
    behind = (winners - step * along, losers - step * across, weight)
    moved = (twin_values(loss, twin, *ahead) - twin_values(loss, twin, *behind)) / (2 * step)
    # A difference of numbers of size one over 2e-6 rounds at 1e-10, and errs by step²; this draw, which is
    # fixed, has no pair within a step of a kink.
    np.testing.assert_allclose(heights.push_forward(along, across), moved, rtol=1e-6, atol=1e-8)
    forward = float(back @ heights.push_forward(along, across))
    by_winners, by_losers = heights.pull_back(back)
    assert forward == pytest.approx(float(by_winners @ along + by_losers @ across), rel=1e-10)
    if not loss.smooth:
        return
    bent = [
        (high - low) / (2 * step)
        for high, low in zip(
            twin_pull_back(loss, twin, *ahead, back), twin_pull_back(loss, twin, *behind, back), strict=True
        )
    ]
    for ours, theirs in zip(heights.bend(back, along, across), bent, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@every_loss
def test_its_average_is_that_of_its_values(loss, twin):
    rng, pulls, _, weight = draw(2)
    value, slopes = loss.average(pulls, weight)
    mean = weight @ twin(pulls)
    assert value == pytest.approx(np.log(mean) if loss.log else mean, rel=1e-12)
    expected = weight * twin(pulls, 1) / (mean if loss.log else 1.0)
    np.testing.assert_allclose(slopes, expected, rtol=1e-11)
    direction, step = rng.normal(size=len(pulls)), 1e-6
    if loss.smooth:
        ahead, behind = (loss.average(pulls + t * direction, weight)[1] for t in (step, -step))
        bent = loss.average_curvature(pulls, weight).apply(direction)
        np.testing.assert_allclose(bent, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)
    # Fenchel: the conjugate at the slopes is slopes·pulls − value.
    assert loss.average_conjugate(slopes, weight) == pytest.approx(slopes @ pulls - value, rel=1e-10)
    assert loss.average_conjugate(-slopes, weight) == np.inf


@every_loss
def test_its_average_against_a_top_is_that_of_the_pulls_from_it(loss, twin):
    _, winners, tops, weight = draw(3, m=12, n=3)
    blocks = Segments(np.array([0, 2, 7]), 12)
    pulls = winners - np.repeat(tops, [2, 5, 5])
    (value, slopes), (expected, by_pull) = (
        loss.average_against(winners, tops, weight, blocks),
        loss.average(pulls, weight),
    )
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(slopes, by_pull, rtol=1e-11)


@every_loss
def test_sums_of_a_batch_are_those_of_its_contests(loss, twin):
    rng = np.random.default_rng(9)
    winner_ids, loser_ids = np.repeat([0, 1, 2], [3, 40, 2]), np.repeat([0, 1, 2], [2, 50, 4])
    winners, losers = rng.normal(size=len(winner_ids)), rng.normal(size=len(loser_ids))
    u, v = rng.random(len(winners)), rng.random(len(losers))
    listed = [
        (i, k)
        for i in range(len(winners))
        for k in range(len(losers))
        if winner_ids[i] == loser_ids[k] and winner_ids[i] != 1
    ]
    pairs = PairList(*np.array(listed).T, n_winners=len(winners), n_losers=len(losers))
    blocks = Segments.of_sorted(winner_ids), Segments.of_sorted(loser_ids)
    sums = sums_of_blocks(loss, Sides(winners, losers, u, *blocks, small=pairs, large=np.array([1])))
    only_large = sums_of_blocks(loss, Sides(winners, losers, u, *blocks, large=np.arange(3)))
    for order in (0, 1, 2):
        for c in range(3):
            ours, theirs = winner_ids == c, loser_ids == c
            at_losers = twins.at_losers(twin, order, winners[ours], losers[theirs], u[ours])
            at_winners = twins.at_winners(twin, order, winners[ours], losers[theirs], v[theirs])
            for batch in (sums, only_large):
                np.testing.assert_allclose(
                    batch.at_losers(order, u)[theirs], at_losers, rtol=1e-11, atol=1e-12
                )
                np.testing.assert_allclose(
                    batch.at_winners(order, v)[ours], at_winners, rtol=1e-11, atol=1e-12
                )
