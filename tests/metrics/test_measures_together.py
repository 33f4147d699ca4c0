"""Many measures of one ranked list, and scikit-learn scorers."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from pushrank import metrics
from pushrank.exceptions import IgnoredContestsWarning, InvalidData, InvalidParameter, PushRankWarning
from pushrank.metrics.registry import MEASURES

NEED_K = ("precision_at_k", "recall_at_k", "lift", "enrichment_factor")
Y, SCORE = [1, 0, 1, 0, 0, 1], [6.0, 5.0, 5.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize("ties", ["expected", "worst", "best", "threshold"])
@pytest.mark.parametrize("weight", [None, [1, 2, 0.5, 1, 1, 1]])
@pytest.mark.parametrize("lists", [None, [0, 0, 0, 1, 1, 1]])
def test_together_they_equal_each_alone(ties, weight, lists):
    entries = [(name, {"alpha": 0.5} if name == "bedroc" else {}) for name in MEASURES]
    entries = [
        (name, {"precision": 0.6} if "precision" in MEASURES[name].parameters else own)
        for name, own in entries
    ]
    entries = [entry for entry in entries if entry[0] != "threshold_at_precision" or lists is None]
    own = {"sample_weight": weight, "ties": ties, "lists": lists}
    together = metrics.evaluate(Y, SCORE, measures=entries, k=2, **own)
    assert len(together) == len(entries)
    for (name, arguments), value in zip(entries, together.values(), strict=True):
        budget = {"k": 2} if name in NEED_K else {}
        assert getattr(metrics, name)(Y, SCORE, **arguments, **budget, **own) == pytest.approx(
            value, rel=1e-12
        )


def test_default_measures():
    assert list(metrics.evaluate(Y, SCORE)) == [
        "positives_at_top", "r_infinity", "average_precision", "auc", "partial_auc", "ndcg",
    ]  # fmt: skip
    assert list(metrics.evaluate(Y, SCORE, k=0.5))[-3:] == ["precision_at_k", "recall_at_k", "lift"]
    assert list(metrics.evaluate([3, 2, 1, 0, 0, 1], SCORE)) == ["ndcg", "dcg", "mrr"]
    labels = metrics.evaluate(Y, SCORE, k=2, measures=["auc", ("lift", {"k": 1})])
    assert labels == {"auc": pytest.approx(metrics.auc(Y, SCORE)), "lift(k=1)": 2.0}


@pytest.mark.parametrize("name", ["ndcg", "dcg", "mrr"])
def test_k_is_for_the_measures_that_need_one(name):
    whole, first = getattr(metrics, name)(Y[1:], SCORE[1:]), getattr(metrics, name)(Y[1:], SCORE[1:], k=1)
    assert first < whole
    values = metrics.evaluate(Y[1:], SCORE[1:], measures=[name, (name, {"k": 1})], k=1)
    assert values == {name: whole, f"{name}(k=1)": first}


def test_gains_reach_the_measures_that_have_them():
    gain = [6, 5, 4, 3, 2, 1]
    values = metrics.evaluate(
        Y, SCORE, gain=gain, k=2, measures=["recall_at_k", "auc", "rie", "dcg", "average_precision"]
    )
    assert values["recall_at_k"] == metrics.recall_at_k(Y, SCORE, gain=gain, k=2)
    assert values["auc"] == metrics.auc(Y, SCORE)
    assert values["rie"] == metrics.rie(Y, SCORE)


def test_what_is_refused_together():
    with pytest.raises(InvalidParameter, match=r"no measure 'acu'\. Did you mean 'auc'"):
        metrics.evaluate(Y, SCORE, measures=["acu"])
    with pytest.raises(InvalidParameter, match=r"no measure 'zzz'\. Known are 'auc'"):
        metrics.evaluate(Y, SCORE, measures=["zzz"])
    with pytest.raises(TypeError, match="needs the argument k="):
        metrics.evaluate(Y, SCORE, measures=["lift"])
    with pytest.raises(InvalidData, match="auc needs two classes but y_true holds grades"):
        metrics.evaluate([3, 2, 1, 0, 0, 1], SCORE, measures=["auc"])


def test_one_warning_for_all():
    with pytest.warns(PushRankWarning, match="auc, mrr are undefined and returned as NaN") as seen:
        values = metrics.evaluate([False] * 3, [1, 2, 3], measures=["auc", "dcg", "mrr"])
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert values["dcg"] == 0.0
    with pytest.warns(IgnoredContestsWarning, match="auc, mrr are undefined in 1 of 2 lists") as seen:
        metrics.evaluate([0, 0, 1, 0], [1, 2, 3, 4], lists=[0, 0, 1, 1], measures=["auc", "mrr"])
    assert len(seen) == 1


def data():
    draw = np.random.default_rng(0)
    X = draw.standard_normal((120, 3))
    return X, np.where(X[:, 0] + draw.standard_normal(120) > 0.5, "yes", "no")


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)])
def test_scorers_serve_decisions_and_probabilities(model):
    X, y = data()
    model = model.fit(X, y)
    scores = (
        model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]
    )
    scorer = metrics.get_scorer("precision_at_k", k=0.1)
    assert scorer(model, X, y) == metrics.precision_at_k(y, scores, k=0.1)
    assert metrics.get_scorer("r_infinity")(model, X, y) == -metrics.r_infinity(y, scores)
    weight = np.arange(120.0)
    assert metrics.get_scorer("auc")(model, X, y, sample_weight=weight) == metrics.auc(
        y, scores, sample_weight=weight
    )
    assert pickle.loads(pickle.dumps(scorer))(model, X, y) == scorer(model, X, y)


def test_scorers_in_cross_validation():
    X, y = data()
    values = cross_val_score(
        LogisticRegression(), X, y, scoring=metrics.get_scorer("average_precision"), cv=3
    )
    assert np.all((values > 0.5) & (values <= 1.0))


def test_names_of_scorers():
    assert set(metrics.scorer_names()) == set(MEASURES) - {"threshold_at_precision"}
    for name in metrics.scorer_names():
        own = {"k": 2} if name in NEED_K else {}
        metrics.get_scorer(name, **own, **({"precision": 0.5} if name == "recall_at_precision" else {}))
    with pytest.raises(InvalidParameter, match="Did you mean 'positives_at_top'"):
        metrics.get_scorer("positive_at_top")
    with pytest.raises(InvalidParameter, match="makes no scorer"):
        metrics.get_scorer("threshold_at_precision")
    with pytest.raises(TypeError, match="needs the argument k="):
        metrics.get_scorer("lift", ties="worst")


def test_the_surface_is_what_it_says():
    assert all(hasattr(metrics, name) for name in metrics.__all__)
    assert set(MEASURES) <= set(metrics.__all__)


def test_import_is_light():
    code = "import sys, pushrank.metrics; print({'sklearn', 'scipy', 'pandas'}.intersection(sys.modules))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "set()"
