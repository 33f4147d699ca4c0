"""The budget: a count, a share, or k of a list of N."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from pushrank import metrics
from pushrank.exceptions import InvalidData, InvalidParameter
from pushrank.metrics import Budget


def test_places_and_shares():
    assert Budget(200).places(50) == 200.0
    assert Budget(200).share(1000) == 0.2
    assert Budget(200).share(50) == 1.0
    assert Budget(np.int64(3)).places(10) == 3.0
    assert Budget(0.05).places(30) == 1.5
    assert Budget(20, of=100).places(50) == 10.0
    assert Budget(20, of=100).share(7) == pytest.approx(0.2)


def test_a_count_is_bound_to_a_length():
    assert Budget(20).within(80) == Budget(20, of=80)
    assert Budget(0.1).within(80) == Budget(0.1)
    assert Budget(20, of=100).within(80) == Budget(20, of=100)


def test_it_reads_itself_and_is_frozen():
    budget = Budget(3)
    assert Budget.read(budget) is budget
    assert Budget.read(0.5) == Budget(0.5)
    assert hash(Budget(3)) == hash(budget)
    with pytest.raises(FrozenInstanceError):
        budget.k = 4


def test_words():
    assert str(Budget(3)) == "the first 3"
    assert str(Budget(0.05)) == "the first 5 %"
    assert str(Budget(3, of=200)) == "the first 3 of 200"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((0,), "k must be at least 1, or a share between 0 and 1; got 0"),
        ((-3,), "k must be at least 1"),
        ((0.0,), "A share must lie strictly between 0 and 1, and a count must be an int; got 0.0"),
        ((1.0,), "A share must lie strictly"),
        ((float("nan"),), "A share must lie strictly"),
        ((True,), "k must be a whole number"),
        ((None,), "k must be a whole number"),
        ((0.1, 100), "a share is of any list; leave `of` out"),
        ((10, 9), "`of` must be a finite length of at least k=10; got 9"),
        ((10, float("inf")), "`of` must be a finite length"),
        ((10, "100"), "`of` must be a finite length"),
        ((1, True), "`of` must be a finite length"),
    ],
)
def test_wrong_budgets(given, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        Budget(*given)


@pytest.mark.parametrize(
    "name", ["precision_at_k", "recall_at_k", "lift", "enrichment_factor", "dcg", "ndcg", "mrr"]
)
def test_every_measure_of_a_budget_takes_all_forms(name):
    draw = np.random.default_rng(0)
    y, score = draw.integers(0, 2, 40), draw.integers(0, 20, 40)
    measure = getattr(metrics, name)
    count = measure(y, score, k=4)
    assert measure(y, score, k=0.1) == pytest.approx(count, rel=1e-12)
    assert measure(y, score, k=Budget(4)) == count
    assert measure(y, score, k=Budget(0.1)) == pytest.approx(count, rel=1e-12)
    assert measure(y, score, k=Budget(10, of=100)) == pytest.approx(count, rel=1e-12)
    with pytest.raises(InvalidData, match="more than the list holds"):
        measure(y, score, k=Budget(41))


def test_shares_of_an_enrichment_factor_are_rounded_up():
    y, score = [1, 0, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1]
    assert metrics.enrichment_factor(y, score, k=0.2) == pytest.approx(1.5)
    assert metrics.enrichment_factor(y, score, k=Budget(1, of=4)) == pytest.approx(1.5)
    assert metrics.lift(y, score, k=0.2) == pytest.approx(1 / 1.2 * 3)
    assert metrics.enrichment_factor(y * 5, list(range(30, 0, -1)), k=0.1) == pytest.approx(1.0)
