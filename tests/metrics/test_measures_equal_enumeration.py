"""Every measure against the mean, the least and the greatest value over all orders of equal scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pushrank import metrics
from twins import metrics as twin

# Some argument sets of every measure; k is drawn within the list where it is one.
CASES = [
    ("positives_at_top", {}),
    ("r_infinity", {}),
    ("top_fraction_score", {"share": 0.3}),
    ("top_fraction_score", {"share": 1.0}),
    ("pnorm_height_cost", {"p": 1.0}),
    ("pnorm_height_cost", {"p": 3.5}),
    ("auc", {}),
    ("partial_auc", {"max_fpr": 0.35, "standardize": False}),
    ("partial_auc", {"max_fpr": 0.6}),
    ("partial_auc", {"max_fpr": 1.0, "min_tpr": 0.45, "standardize": False}),
    ("partial_auc", {"max_fpr": 0.7, "min_tpr": 0.3, "standardize": False}),
    ("partial_auc", {"max_fpr": 0.7, "min_tpr": 0.3}),
    ("partial_auc", {"max_fpr": 0.2, "min_tpr": 0.5}),
    ("average_precision", {}),
    ("precision_at_k", {"k": "k"}),
    ("recall_at_k", {"k": "k"}),
    ("lift", {"k": "k"}),
    ("enrichment_factor", {"k": "k"}),
    ("recall_at_precision", {"precision": 0.5}),
    ("recall_at_precision", {"precision": 0.7}),
    ("recall_at_precision", {"precision": 1.0}),
    ("dcg", {}),
    ("dcg", {"k": "k"}),
    ("ndcg", {}),
    ("ndcg", {"k": "k"}),
    ("mrr", {}),
    ("mrr", {"k": "k"}),
    ("rie", {"alpha": 20.0}),
    ("bedroc", {"alpha": 0.5}),
]
IDS = [f"{name}-{'-'.join(f'{key}={value}' for key, value in own.items())}" for name, own in CASES]
# The sums have at most a few dozen terms of order one. The chance area of the standardised twin is a sum of
# 20,000 strips, right to 1e-9.
TOLERANCE = {"rtol": 1e-11, "atol": 1e-13}
ROUGH = {"rtol": 1e-7, "atol": 1e-9}


@st.composite
def lists(draw, max_items=8, max_weight=1):
    """Labels, scores with ties, and weights of a list that holds both classes."""
    n = draw(st.integers(2, max_items))
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < len(y)))
    scores = draw(st.lists(st.integers(0, 3).map(float), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, max_weight), min_size=n, max_size=n))
    return labels, scores, weights


def repeated(values, weights):
    return [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]


def with_k(own, n, draw):
    k = draw(st.integers(1, n))
    return {key: k if value == "k" else value for key, value in own.items()}


def check(name, own, labels, scores, weights):
    public, literal = getattr(metrics, name), getattr(twin, name)
    tolerance = ROUGH if name == "partial_auc" and own.get("standardize", True) else TOLERANCE
    orders = twin.all_orders(repeated(labels, weights), repeated(scores, weights))
    mean, least, greatest = twin.over_orders(lambda order: literal(order, **own), orders)
    small_is_good = name in ("r_infinity", "pnorm_height_cost")
    expected = {
        "expected": mean,
        "worst": greatest if small_is_good else least,
        "best": least if small_is_good else greatest,
    }
    for ties, value in expected.items():
        # Weights of one are weights: both the counting and the weighing code must agree.
        for weight in (weights, None) if max(weights) == 1 else (weights,):
            got = public(labels, scores, sample_weight=weight, ties=ties, **own)
            assert_allclose(got, value, err_msg=ties, **tolerance)


@pytest.mark.filterwarnings("ignore:bedroc")
@pytest.mark.parametrize(("name", "own"), CASES, ids=IDS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(data=st.data())
def test_single_rows(name, own, data):
    labels, scores, weights = data.draw(lists())
    check(name, with_k(own, len(labels), data.draw), labels, scores, weights)


@pytest.mark.filterwarnings("ignore:bedroc")
@pytest.mark.parametrize(("name", "own"), CASES, ids=IDS)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(data=st.data())
def test_whole_weights_are_repeated_rows(name, own, data):
    labels, scores, weights = data.draw(lists(max_items=5, max_weight=3))
    check(name, with_k(own, sum(weights), data.draw), labels, scores, weights)


@pytest.mark.parametrize(
    ("name", "own"), [case for case in CASES if case[0] in ("dcg", "ndcg", "mrr") or "k" in case[1]]
)
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(data=st.data())
def test_gains_and_grades(name, own, weighted, data):
    n = data.draw(st.integers(2, 5))
    grades = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda y: max(y) > 1))
    scores = data.draw(st.lists(st.integers(0, 1).map(float), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.integers(1, 2), min_size=n, max_size=n)) if weighted else [1] * n
    if sum(weights) > 7:
        weights = [1] * n
    own = with_k(own, sum(weights), data.draw)
    orders = list(twin.all_orders_of_gains(repeated(grades, weights), repeated(scores, weights)))
    mean, least, greatest = twin.over_orders(lambda order: getattr(twin, name)(order, **own), orders)
    public, weight = getattr(metrics, name), weights if weighted else None
    given_as = [{"y_true": grades}] if name in ("dcg", "ndcg", "mrr") else []
    if name != "mrr":
        given_as.append({"y_true": [grade > 1 for grade in grades], "gain": grades})
    for rows in given_as:
        for ties, value in (("expected", mean), ("worst", least), ("best", greatest)):
            got = public(**rows, y_score=scores, sample_weight=weight, ties=ties, **own)
            assert_allclose(got, value, err_msg=ties, **TOLERANCE)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(lists(max_items=8), st.floats(0.02, 0.98))
def test_a_share_may_end_within_a_place(rows, share):
    labels, scores, _ = rows
    k = share * len(labels)
    for name in ("precision_at_k", "recall_at_k", "lift", "dcg", "ndcg", "enrichment_factor"):
        literal = getattr(twin, name)
        mean, _, _ = twin.over_orders(lambda order, f=literal: f(order, k), twin.all_orders(labels, scores))
        assert_allclose(getattr(metrics, name)(labels, scores, k=share), mean, rtol=1e-9, err_msg=name)


def test_arrangements_are_all_orders():
    values = twin.over_orders(twin.average_precision, twin.all_orders([1, 1, 0, 0, 1], [1, 1, 1, 1, 0]))
    literal = twin.over_orders(
        twin.average_precision, twin.all_orders_of_gains([1, 1, 0, 0, 1], [1, 1, 1, 1, 0])
    )
    assert_allclose(values, literal)


@pytest.mark.filterwarnings("ignore:bedroc")
@pytest.mark.parametrize("ties", ["expected", "worst", "best", "threshold"])
@pytest.mark.parametrize(("name", "own"), CASES, ids=IDS)
def test_many_lists_are_the_mean_or_total_of_each(name, own, ties):
    draw = np.random.default_rng(3)
    own = {key: 2 if value == "k" else value for key, value in own.items()}
    ids = np.repeat(["x", "a", "m"], [6, 9, 12])[draw.permutation(27)]
    y, scores = draw.integers(0, 2, 27), draw.integers(0, 5, 27).astype(float)
    weight = draw.integers(0, 3, 27) / 2
    public = getattr(metrics, name)
    for weights in (None, weight):
        each = []
        for one in np.unique(ids):
            rows = ids == one
            part = None if weights is None else weights[rows]
            each.append(public(y[rows], scores[rows], sample_weight=part, ties=ties, **own))
        whole = np.sum(each) if name == "positives_at_top" else np.mean(each)
        got = public(y, scores, sample_weight=weights, ties=ties, qid=ids, **own)
        assert_allclose(got, whole, rtol=1e-12)
