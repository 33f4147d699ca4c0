"""Segments, and matrices that are a diagonal plus a few vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pushrank._arrays import DiagonalPlusLowRank, Segments

runs = st.lists(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=6), min_size=1, max_size=5)


def batch(lists):
    lengths = np.array([len(values) for values in lists])
    return np.concatenate([np.array(values) for values in lists]), Segments(
        np.cumsum(lengths) - lengths, lengths.sum()
    )


@given(lists=runs)
def test_every_run_is_summed_up_by_itself(lists):
    values, blocks = batch(lists)
    weight = 0.5 + np.arange(len(values)) % 3
    parts = np.split(weight, blocks.starts[1:])
    assert blocks.n == len(lists)
    assert_array_equal(blocks.sum(values), [sum(values) for values in lists])
    assert_array_equal(blocks.max(values), [max(values) for values in lists])
    assert_allclose(
        blocks.dot(values, weight), [np.dot(v, w) for v, w in zip(lists, parts, strict=True)], atol=1e-12
    )
    assert_array_equal(blocks.ids, np.repeat(np.arange(len(lists)), blocks.lengths))
    assert_array_equal(values + 0 * blocks.spread(blocks.sum(values)), values)
    assert_allclose(
        blocks.cumulative(values), np.concatenate([np.cumsum(values) for values in lists]), atol=1e-12
    )
    value, shares = blocks.log_sum_exp(values, weight)
    expected = [np.log(np.sum(w * np.exp(v))) for v, w in zip(lists, parts, strict=True)]
    assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    assert_allclose(blocks.sum(shares), 1.0, rtol=1e-12)
    order = blocks.ascending(values)
    assert_array_equal(blocks.ids[order], blocks.ids)
    assert_array_equal(values[order], np.concatenate([np.sort(values) for values in lists]))
    first = blocks.first(values == blocks.spread(blocks.max(values)))
    assert_array_equal(first, blocks.starts + [np.argmax(values) for values in lists])


@given(lists=runs, part=st.floats(0.01, 1.5))
def test_the_weight_of_the_largest(lists, part):
    values, blocks = batch(lists)
    weight = 0.5 + np.arange(len(values)) % 3
    total = blocks.sum(weight)
    taken = blocks.weight_of_largest(values, weight, part * total)
    assert_allclose(blocks.sum(taken), np.minimum(part, 1.0) * total, rtol=1e-12)
    assert np.all((taken >= 0) & (taken <= weight * (1 + 1e-14)))
    border = blocks.spread(blocks.upper_quantile(values, weight, part * total))
    assert_array_equal(taken[values > border], weight[values > border])
    assert not taken[values < border].any()


@pytest.mark.parametrize("wanted", [1e-3, 40.0, 250.5, 1e9])
def test_selection_finds_what_a_sort_finds(wanted):
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=1000).round(2), rng.exponential(size=1000) ** 3
    order = np.argsort(-values, kind="stable")
    place = np.searchsorted(np.cumsum(weight[order]), min(wanted, weight.sum() * (1 - 1e-12)))
    found = Segments.one(1000).upper_quantile(values, weight, np.array([wanted]))
    assert found == values[order[place]]


def test_weights_that_reach_but_for_rounding_reach():
    values, weight = np.array([3.0, 2.0, 1.0]), np.array([0.1, 0.2, 0.7])
    assert Segments.one(3).upper_quantile(values, weight, np.array([0.30000000000000004]))[0] == 2.0


def test_many_small_runs_keep_their_digits_beside_a_large_one():
    lengths = np.r_[1, np.full(1000, 3)]
    blocks = Segments(np.cumsum(lengths) - lengths, lengths.sum())
    values = np.r_[1e12, np.tile([0.1, 0.2, 0.3], 1000)]
    running = blocks.cumulative(values)[1:].reshape(1000, 3)
    # Without a fresh start in every run, 1e12 would leave four digits of each tenth.
    assert_allclose(running[1:], np.tile([0.1, 0.3, 0.6], (999, 1)), rtol=1e-12)


def test_sorted_ids_make_runs():
    blocks = Segments.of_sorted(np.array([2, 2, 5, 7, 7, 7]))
    assert_array_equal(blocks.starts, [0, 2, 3])
    assert_array_equal(blocks.lengths, [2, 1, 3])


def test_a_diagonal_plus_low_rank_is_its_matrix():
    rng = np.random.default_rng(0)
    diagonal, vectors, coefficients = rng.normal(size=5), rng.normal(size=(2, 5)), np.array([1.0, -2.0])
    matrix = np.diag(diagonal) + vectors.T @ np.diag(coefficients) @ vectors
    direction = rng.normal(size=5)
    assert_allclose(DiagonalPlusLowRank(diagonal, vectors, coefficients).apply(direction), matrix @ direction)
    flat = DiagonalPlusLowRank(diagonal, np.zeros((0, 5)), np.zeros(0))
    assert_allclose(flat.apply(direction), diagonal * direction)
