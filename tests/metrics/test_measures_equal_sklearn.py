"""The threshold rule against scikit-learn, and the rule itself where scikit-learn has no such measure."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from pushrank import metrics


def rows(seed, n=60, levels=15):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, n)
    y[:2] = 0, 1
    return y, draw.integers(0, levels, n) / 3 + 0.3 * y, draw.random(n) * draw.integers(0, 2, n) + 0.01


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_and_average_precision(seed, weighted):
    y, score, weight = rows(seed, levels=(4, 15, 1000)[seed % 3])
    own = {"sample_weight": weight} if weighted else {}
    threshold = {**own, "ties": "threshold"}
    assert_allclose(metrics.auc(y, score, **threshold), sk.roc_auc_score(y, score, **own), rtol=1e-12)
    assert_allclose(metrics.auc(y, score, **own), sk.roc_auc_score(y, score, **own), rtol=1e-12)
    for max_fpr in (0.01, 0.1, 0.35, 1.0):
        theirs = sk.roc_auc_score(y, score, max_fpr=max_fpr, **own)
        if max_fpr == 1.0:  # scikit-learn returns the plain area there, without McClish's correction.
            theirs = 0.5 * (1 + (theirs - 0.5) / 0.5)
        assert_allclose(metrics.partial_auc(y, score, max_fpr=max_fpr, **threshold), theirs, rtol=1e-12)
    theirs = sk.average_precision_score(y, score, **own)
    assert_allclose(metrics.average_precision(y, score, **threshold), theirs, rtol=1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [None, 5])
def test_ndcg_averages_ties_as_scikit_learn_does(seed, k):
    draw = np.random.default_rng(seed)
    for y in (draw.integers(0, 5, 40), draw.integers(0, 2, 40)):
        score = draw.integers(0, 9, 40).astype(float)
        for ties in ("expected", "threshold"):
            assert_allclose(
                metrics.ndcg(y, score, k=k, ties=ties), sk.ndcg_score([y], [score], k=k), rtol=1e-12
            )
        assert_allclose(metrics.dcg(y, score, k=k), sk.dcg_score([y], [score], k=k), rtol=1e-12)


def test_two_way_area_under_straight_lines():
    y, score, _ = rows(3)
    fpr, tpr, _ = sk.roc_curve(y, score, drop_intermediate=False)
    x = np.linspace(0, 0.6, 400_001)
    height = np.maximum(np.interp(x, fpr, tpr) - 0.4, 0.0)
    area = metrics.partial_auc(y, score, max_fpr=0.6, min_tpr=0.4, standardize=False, ties="threshold")
    assert_allclose(area, np.trapezoid(height, x), atol=1e-6)  # The strips are 1.5e-6 wide.


def test_a_threshold_takes_equal_scores_whole():
    y = [1, 0, 1, 0, 0, 1]
    score = [3, 2, 2, 1, 1, 0]
    whole = {"ties": "threshold"}
    for weight in (None, np.ones(6)):
        own = {**whole, "sample_weight": weight}
        assert metrics.positives_at_top(y, score, **own) == 1.0
        assert metrics.r_infinity(y, score, **own) == pytest.approx(2 / 3)
        assert metrics.precision_at_k(y, score, k=2, **own) == pytest.approx(2 / 3)
        assert metrics.recall_at_k(y, score, k=2, **own) == pytest.approx(2 / 3)
        assert metrics.precision_at_k(y, score, k=4, **own) == pytest.approx(2 / 5)
        assert metrics.lift(y, score, k=4, **own) == pytest.approx(0.8)
        assert metrics.mrr(y[1:], score[1:], ties="threshold") == 0.5
        assert metrics.pnorm_height_cost(y, score, p=1, **own) == pytest.approx(1 - metrics.auc(y, score))
        assert metrics.recall_at_precision(y, score, precision=0.6, **own) == pytest.approx(2 / 3)
        assert metrics.rie(y, score, alpha=2.0, **own) == pytest.approx(
            sum(math.exp(-2 * place / 6) for place in (1, 3, 6))
            / sum(math.exp(-r / 3) for r in range(1, 7))
            * 2
        )


def test_a_constant_score_gives_the_base_rate():
    y = np.repeat([1, 0], [30, 70])
    score = np.zeros(100)
    assert metrics.auc(y, score) == 0.5
    assert metrics.precision_at_k(y, score, k=7) == pytest.approx(0.3)
    assert metrics.lift(y, score, k=0.1) == pytest.approx(1.0)
    assert metrics.rie(y, score) == pytest.approx(1.0)
    assert metrics.partial_auc(y, score, max_fpr=0.5, ties="threshold") == pytest.approx(0.5)


def test_exact_in_long_lists():
    # A run far down the list, where sums of reciprocals and discounts are differences of large numbers.
    n = 300_000
    y = np.zeros(n)
    y[-7:-2] = 1
    score = np.arange(n, 0, -1.0)
    score[-9:] = 1.0
    chances = np.full(9, 5 / 9)
    places = np.arange(n - 8, n + 1)
    assert_allclose(metrics.dcg(y, score), np.sum(chances / np.log2(1 + places)), rtol=1e-13)
    found = 1 + np.arange(9) * (4 / 8)
    assert_allclose(metrics.average_precision(y, score), np.sum(chances * found / places) / 5, rtol=1e-10)
    assert_allclose(
        metrics.dcg(np.ones(n), np.zeros(n)), np.sum(1 / np.log2(np.arange(2.0, n + 2))), rtol=1e-12
    )
    harmonic = math.fsum(1 / np.arange(1, n + 1))
    first = np.arange(n) == 0
    assert_allclose(metrics.average_precision(first, np.zeros(n)), harmonic / n, rtol=1e-13)
