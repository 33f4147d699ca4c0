"""Weights: zero is absent, fractions continue without a jump; nasty scores; order of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pushrank import metrics
from pushrank.metrics import ties
from pushrank.metrics.registry import MEASURES

ARGUMENTS = {
    "positives_at_top": {},
    "top_fraction_score": {"share": 0.3},
    "r_infinity": {},
    "pnorm_height_cost": {"p": 3.0},
    "auc": {},
    "partial_auc": {"max_fpr": 0.55, "min_tpr": 0.3},
    "average_precision": {},
    "precision_at_k": {"k": 3},
    "recall_at_k": {"k": 3},
    "recall_at_precision": {"precision": 0.47},
    "threshold_at_precision": {"precision": 0.47},
    "dcg": {"k": 3},
    "ndcg": {},
    "mrr": {"k": 4},
    "lift": {"k": 0.4},
    "enrichment_factor": {"k": 0.4},
    "bedroc": {"alpha": 0.3},
    "rie": {},
}
ALL = pytest.mark.parametrize("name", ARGUMENTS)
TIES = pytest.mark.parametrize("ties", ["expected", "worst", "best", "threshold"])
Y = np.array([1, 0, 1, 0, 0, 1, 0, 1])
SCORE = np.array([3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0])


def value(name, y=Y, score=SCORE, **own):
    return getattr(metrics, name)(y, score, **{**ARGUMENTS[name], **own})


def test_every_measure_is_here():
    assert set(ARGUMENTS) == set(MEASURES)


@ALL
@TIES
def test_zero_is_absent_and_order_does_not_matter(name, ties):
    draw = np.random.default_rng(0)
    weight = draw.integers(1, 3, 8) / 2
    plain = value(name, sample_weight=weight, ties=ties)
    y, score = np.append(Y, [0, 1, 0]), np.append(SCORE, [9.0, 2.0, 3.0])
    order = draw.permutation(11)
    padded = np.append(weight, [0.0, 0.0, 0.0])
    got = value(name, y[order], score[order], sample_weight=padded[order], ties=ties)
    assert_allclose(got, plain, rtol=1e-13)


@ALL
@TIES
def test_only_the_order_of_scores_counts(name, ties):
    if name == "threshold_at_precision":
        assert value(name, score=np.exp(SCORE), ties=ties) == np.exp(value(name, ties=ties))
        return
    moved = {1.0: -np.inf, 2.0: -0.0, 3.0: np.inf}
    score = np.array([moved[s] for s in SCORE])
    score[2] = 0.0
    assert value(name, score=score, ties=ties) == value(name, ties=ties)
    tiny = {1.0: -1e300, 2.0: 0.0, 3.0: 5e-324}
    assert value(name, score=[tiny[s] for s in SCORE], ties=ties) == value(name, ties=ties)


# A cut at a precision may jump.
@pytest.mark.parametrize("name", [name for name, own in ARGUMENTS.items() if "precision" not in own])
@pytest.mark.parametrize("ties", ["expected", "worst", "best"])
@pytest.mark.parametrize("repeat", [1, 2])
def test_fractions_continue_whole_weights(name, ties, repeat):
    weight = repeat * np.array([1.0, 2.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0])
    shift = 1e-9 * np.array([1.0, -2.0, 1.0, 1.0, -1.0, 2.0, 1.0, 1.0])
    if name == "enrichment_factor":  # Its shares are rounded up.
        shift -= shift.mean()
    near = value(name, sample_weight=weight + shift, ties=ties)
    # The slope of these measures by a weight is of order one.
    assert_allclose(near, value(name, sample_weight=weight, ties=ties), atol=1e-7)


def test_scale_of_weights_does_not_matter_without_ties_or_places():
    draw = np.random.default_rng(1)
    y, score, weight = draw.integers(0, 2, 50), draw.random(50), draw.random(50)
    for name in ("auc", "partial_auc", "r_infinity", "top_fraction_score", "pnorm_height_cost", "rie"):
        small = value(name, y, score, sample_weight=weight / 1000)
        assert_allclose(small, value(name, y, score, sample_weight=weight), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cells", [8, 1 << 20])
@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("mrr", {}),
        ("mrr", {"k": 2}),
        ("partial_auc", {"max_fpr": 0.3}),
        ("partial_auc", {"max_fpr": 0.7, "min_tpr": 0.4, "standardize": False}),
        ("average_precision", {}),
        ("recall_at_precision", {"precision": 0.55}),
    ],
)
def test_many_lists_of_tied_rows_equal_each_alone(monkeypatch, name, own, cells, weighted):
    # Runs of lists are taken together by their lengths; small cells part them again.
    monkeypatch.setattr(ties, "_CELLS", cells)
    draw = np.random.default_rng(5)
    lists = np.repeat(np.arange(60), draw.integers(2, 14, 60))
    y, score = draw.random(len(lists)) < 0.4, draw.integers(0, 3, len(lists)).astype(float)
    first = np.append(True, lists[1:] != lists[:-1])
    y[first] = True
    y[np.roll(first, -1)] = False
    weight = draw.integers(1, 7, len(lists)) / 2 if weighted else np.ones(len(lists))
    public = getattr(metrics, name)
    each = [
        public(y[rows], score[rows], sample_weight=weight[rows], **own)
        for rows in (lists == one for one in range(60))
    ]
    for ids in (
        lists,
        lists * 10**9,
        (lists - 30).astype(np.int8),
        lists.astype(np.uint64),
        lists.astype(str),
    ):
        got = public(y, score, sample_weight=weight if weighted else None, lists=ids, **own)
        assert_allclose(got, np.mean(each), rtol=1e-12)


def test_ids_that_fill_their_type():
    ids = np.array([-128, 127, -128, 127], dtype=np.int8)
    assert metrics.precision_at_k([1, 0, 0, 1], [2, 2, 1, 1], k=1, lists=ids) == 0.5
    ids = np.array([2**64 - 1, 2**64 - 2] * 2, dtype=np.uint64)
    assert metrics.precision_at_k([1, 0, 0, 1], [2, 2, 1, 1], k=1, lists=ids) == 0.5


def test_half_weights_in_a_run():
    # One run of half a positive and half a negative is one place; a weight below one is one unit.
    half = {"y_true": [1, 0], "y_score": [1.0, 1.0], "sample_weight": [0.5, 0.5]}
    assert metrics.auc(**half) == 0.5
    assert metrics.partial_auc(**half, max_fpr=1.0, standardize=False) == pytest.approx(0.5)
    assert metrics.mrr(**half) == pytest.approx(0.5 + 0.5 / 1.5)
    assert metrics.positives_at_top(**half) == pytest.approx(0.5 / 1.5)
    assert metrics.dcg(**half) == pytest.approx(0.5)
    # The chance of a positive at the place, one half, times its precision: its own half goes on as ψ does.
    limit = metrics.average_precision([1, 0], [1, 1], sample_weight=[0.5, 0.5 + 1e-5])
    assert metrics.average_precision(**half) == pytest.approx(limit, abs=1e-5)
    assert metrics.recall_at_precision(**half, precision=1.0) == pytest.approx(0.5)


def test_the_first_positive_of_a_long_run():
    # Σ over j of P(j negatives first) / (1 + j), with P by its ratio from one j to the next.
    p, n = 40, 30_000
    chance, expected = p / (n + p), 0.0
    for j in range(n + 1):
        expected += chance / (1 + j)
        chance *= (n - j) / (n + p - 1 - j)
    got = metrics.mrr(np.repeat([1, 0], [p, n]), np.zeros(n + p))
    assert got == pytest.approx(expected, rel=1e-10)


def test_a_heavy_row_takes_its_places():
    # Ten million places are summed without an array of them.
    heavy = metrics.dcg([1, 1], [2, 1], sample_weight=[1e7, 1.0])
    places = np.arange(2.0, 1e7 + 3)
    assert_allclose(heavy, np.sum(1 / np.log2(places)), rtol=1e-12)
    assert metrics.dcg([1], [0], sample_weight=[1e15]) > 1e13


@ALL
def test_read_only_strided_and_narrow_arrays(name):
    score = np.repeat(SCORE.astype(np.float32), 2)[::2]
    y = np.repeat(Y.astype(np.int8), 2)[::2]
    score.flags.writeable = False
    assert value(name, y, score) == value(name)
    assert value(name, Y.astype(bool), SCORE.astype(int)) == value(name)
    assert value(name, list(np.where(Y, "yes", "no")), score) == value(name)
    assert value(name, 2.0 * Y - 1, score) == value(name)
    assert value(name, np.where(Y, "a", "b"), score, pos_label="a") == value(name)


def test_a_precision_that_is_reached_before_the_run():
    y, score = [1] * 11 + [0] * 100, [1] * 10 + [0] * 101
    # The last positive is reached in time if at most 11 of its 100 negatives come first.
    got = metrics.recall_at_precision(y, score, precision=0.5)
    assert got == pytest.approx((10 + 12 / 101) / 11, rel=1e-12)


def test_a_long_run_equals_a_walk_through_all_of_it():
    # Chances of standing at a place with so many positives, from the end back, without any short cut.
    y, precision = np.repeat([1, 0], [30, 570]), 0.4
    m, chance, expected = 30, {30: 1.0}, 0.0
    for place in range(600, 0, -1):
        before = dict.fromkeys(range(m + 1), 0.0)
        for count, share in chance.items():
            if share:
                before[count] += share * (place - count) / place
                before[count - 1 if count else 0] += share * count / place
        for count in [c for c in before if place > 1 and c / (place - 1) >= precision]:
            expected += before[count] * count / m
            before[count] = 0.0
        chance = before
    got = metrics.recall_at_precision(y, np.zeros(600), precision=precision)
    assert got == pytest.approx(expected, rel=1e-10)


def test_long_runs_take_a_moment():
    y = np.repeat([1, 0], [2000, 3000])
    score = np.zeros(5000)
    assert metrics.recall_at_precision(y, score, precision=0.45) < 0.02
    assert metrics.recall_at_precision(y, score, precision=0.4) == 1.0
    two_way = metrics.partial_auc(y, score, max_fpr=0.5, min_tpr=0.2, standardize=False)
    # The law of large numbers: near the straight line's ∫ max(x − 0.2, 0) up to 0.5.
    assert two_way == pytest.approx(0.045, abs=2e-4)
