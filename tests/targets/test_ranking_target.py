"""Contests: who stands against whom, and what each weighs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pushrank._arrays import Segments
from pushrank.targets.ranking import Contest, RankingTarget


def pairs_of(contest):
    """The pairs of all contests with their weights, as (winner, loser): weight."""
    found = {}
    winner_ids, loser_ids = contest.winner_blocks.ids, contest.loser_blocks.ids
    for b in range(contest.winner_blocks.n):
        for i in np.flatnonzero(winner_ids == b):
            for k in np.flatnonzero(loser_ids == b):
                key = int(contest.winner_items[i]), int(contest.loser_items[k])
                weight = float(contest.winner_weight[i] * contest.loser_weight[k])
                found[key] = found.get(key, 0.0) + weight
    return found


columns = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    min_size=2,
    max_size=12,
)


@given(rows=columns)
def test_grades_meet_within_their_query(rows):
    grades, qid, weight = (np.array(column) for column in zip(*rows, strict=True))
    n = len(rows)
    expected = {
        (i, k): weight[i] * weight[k]
        for i in range(n)
        for k in range(n)
        if qid[i] == qid[k] and grades[i] > grades[k] and weight[i] * weight[k] > 0
    }
    target = RankingTarget.graded(grades, weight, qid)
    one_sided = [q for q in set(qid[weight > 0]) if len(set(grades[(qid == q) & (weight > 0)])) == 1]
    if target is None:
        assert not expected
        return
    assert pairs_of(target.contest) == pytest.approx(expected)
    assert target.ignored == len(one_sided)
    assert target.stars is target.contest
    assert target.contest.price_weight.sum() == pytest.approx(1.0)
    assert target.contest.average_weight.sum() == pytest.approx(1.0)
    if len(set(qid)) == len(set(grades)) == 1:
        assert target.ignored == 1


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 5), st.sampled_from([0.5, 1.0, 2.0])),
        min_size=1,
        max_size=12,
    )
)
def test_pairs_are_stars_both_ways(pairs):
    winners, rises, weight = (np.array(column) for column in zip(*pairs, strict=True))
    losers = (winners + rises) % 6
    expected = {}
    for i, k, w in zip(winners.tolist(), losers.tolist(), weight.tolist(), strict=True):
        expected[i, k] = expected.get((i, k), 0.0) + w
    target = RankingTarget.pairs(winners, losers, weight, 6, "equal")
    assert pairs_of(target.contest) == pytest.approx(expected)
    assert pairs_of(target.stars) == pytest.approx(expected)
    assert np.all(target.contest.loser_blocks.lengths == 1)
    assert np.all(target.stars.winner_blocks.lengths == 1)
    assert_allclose(target.contest.share, 1 / target.contest.loser_blocks.n)
    assert_allclose(target.stars.share, 1 / target.stars.winner_blocks.n)


def test_contests_weigh_their_pairs_or_the_same():
    grades, qid, weight = np.array([1, 0, 0, 1, 0]), np.array([0, 0, 0, 1, 1]), np.array([1.0, 2, 1, 1, 1])
    by_pairs = RankingTarget.graded(grades, weight, qid).contest
    assert_allclose(by_pairs.share, [0.75, 0.25])
    assert_allclose(by_pairs.price_weight, [0.5, 0.25, 0.25])
    equal = RankingTarget.graded(grades, weight, qid, "equal").contest
    assert_allclose(equal.share, [0.5, 0.5])
    assert_allclose(equal.average_weight, [0.5, 0.5])
    assert_allclose(equal.price_weight, [1 / 3, 1 / 6, 1 / 2])


def test_no_pair_is_no_target():
    assert RankingTarget.graded(np.array([1, 1, 0]), np.ones(3), np.array([0, 0, 1])) is None
    assert RankingTarget.graded(np.array([1, 0]), np.array([1.0, 0.0]), np.zeros(2)) is None


@pytest.mark.parametrize(("is_winner", "message"), [([1, 1], "needs losers"), ([0, 0], "needs winners")])
def test_one_side_is_no_contest(is_winner, message):
    with pytest.raises(AssertionError, match=message):
        RankingTarget.bipartite(np.array(is_winner), np.ones(2))


def test_rows_of_weight_zero_are_absent():
    target = RankingTarget.bipartite(np.array([1, 1, 0, 0]), np.array([1, 0, 2, 0]))
    assert_array_equal(target.contest.winner_items, [0])
    assert_array_equal(target.contest.loser_items, [2])
    assert target.contest.loser_weight.dtype == np.float64


def test_split_and_join_are_adjoint():
    rng = np.random.default_rng(0)
    atoms = np.arange(4)
    both_sides = Contest(4, atoms, np.ones(4), Segments.one(4), atoms, np.ones(4), Segments.one(4))
    bipartite = RankingTarget.bipartite(np.array([1, 0, 1, 0, 0]), np.array([1.0, 2, 1, 0, 0.5])).contest
    grades = rng.integers(0, 3, 12)
    graded = RankingTarget.graded(grades, np.ones(12), np.arange(12) % 2).contest
    for contest in (both_sides, bipartite, graded):
        items = rng.normal(size=contest.n_items)
        winners, losers = (
            rng.normal(size=len(contest.winner_items)),
            rng.normal(size=len(contest.loser_items)),
        )
        apart = contest.split(items)
        assert items @ contest.join(winners, losers) == pytest.approx(apart[0] @ winners + apart[1] @ losers)


def test_small_contests_are_written_out_and_large_ones_are_not():
    qid = np.repeat([0, 1], [4, 400])
    grades = np.r_[[1, 0, 0, 1], np.tile([0, 1], 200)]
    scores = np.linspace(-1, 1, len(qid))
    sides = RankingTarget.graded(grades, np.ones(len(qid)), qid).contest.sides(scores)
    assert_array_equal(sides.large, [1])
    assert sorted(zip(sides.small.winner.tolist(), sides.small.loser.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    only_large = RankingTarget.graded(grades[4:], np.ones(400), np.repeat([0, 1], 200)).contest.sides(
        scores[4:]
    )
    assert only_large.small is None
    assert_array_equal(only_large.large, [0, 1])


def test_everyone_lies_contest_after_contest():
    grades, qid = np.array([1, 0, 0, 1, 0]), np.array([0, 0, 0, 1, 1])
    items, weight, blocks = RankingTarget.graded(grades, np.arange(1.0, 6), qid).contest.everyone
    assert_array_equal(blocks.starts, [0, 3])
    assert sorted(items[:3]) == [0, 1, 2]
    assert_array_equal(weight, items + 1.0)
    items, weight, blocks = RankingTarget.bipartite(grades, np.arange(1.0, 6)).contest.everyone
    assert blocks.n == 1
    assert_array_equal(weight, items + 1.0)
