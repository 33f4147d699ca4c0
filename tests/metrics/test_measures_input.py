"""What measures refuse, in which sentence, and where they are undefined."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

from pushrank import metrics
from pushrank.exceptions import IgnoredContestsWarning, InvalidData, InvalidParameter, PushRankWarning
from pushrank.metrics.registry import MEASURES

Y, SCORE = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({"y_true": []}, "y_true holds no rows"),
        ({"y_score": [1.0, 2.0]}, "y_score has 2 rows but y_true has 4"),
        ({"y_score": [[1.0, 2.0]] * 4}, r"y_score must hold one entry per row; got shape \(4, 2\)"),
        ({"y_score": [1.0, np.nan, 2.0, np.nan]}, "y_score holds NaN in 2 of 4 rows"),
        ({"y_score": list("abcd")}, "y_score must hold real numbers; got entries of type <U1"),
        ({"y_score": np.array([1, 2, None, {}], dtype=object)}, "y_score must hold real numbers; it holds"),
        ({"sample_weight": [1, 1, 1]}, "sample_weight has 3 rows but y_true has 4"),
        ({"sample_weight": [1, -2, 1, 1]}, r"sample_weight is negative in row 1 \(-2\)"),
        ({"sample_weight": [0, 0, 0, 0]}, "sample_weight is zero in every row"),
        ({"sample_weight": [1, np.inf, 1, 1]}, "sample_weight must be finite; row 1 holds inf"),
        ({"lists": [1, 1, 2]}, "lists has 3 rows but y_true has 4"),
        ({"y_true": [0, 1, 2, 1]}, r"y_true must hold two classes; it holds 3 \(0, 1, 2\)"),
        ({"y_true": list("abcd")}, "it holds 4"),
        ({"y_true": [0.0, np.nan, 1.0, 1.0]}, "y_true holds NaN in 1 of 4 rows"),
        ({"y_true": ["no"] * 4}, r"y_true holds one class only \('no', 4 rows\)"),
        ({"y_true": [3, 3, 3, 3]}, r"y_true holds one class only \(3, 4 rows\)"),
        ({"y_true": np.array(["a", None, 1, "b"], dtype=object)}, "y_true mixes words and numbers"),
        ({"y_true": [1, "a", 1, 1]}, "y_true mixes words and numbers, or has gaps"),
        ({"y_true": ("a", np.nan, "a", "a")}, "y_true mixes words and numbers, or has gaps"),
        ({"y_true": [1.0, np.nan, 1.0, 1.0], "pos_label": 1}, "y_true holds NaN in 1 of 4 rows"),
        ({"y_true": [[1], [0, 1], [1], [0]]}, "y_true must hold one entry per row; its entries differ"),
        ({"lists": [1, 1, None, 2]}, "lists holds None in 1 of 4 rows, first in row 2; give every row"),
        ({"lists": [None, "a", "a", None]}, "lists holds None in 2 of 4 rows, first in row 0"),
        ({"lists": ["a", np.nan, "a", "b"]}, "lists holds nan in 1 of 4 rows, first in row 1"),
        ({"qid": [1.0, 1.0, 2.0, np.nan]}, "qid holds nan in 1 of 4 rows, first in row 3"),
        (
            {"qid": np.array(["2020", "NaT", "2020", "2021"], "M8[D]")},
            "qid holds NaT in 1 of 4 rows, first in",
        ),
        ({"qid": pd.Series(["a", pd.NA, "b", "b"], dtype="string")}, "qid holds <NA> in 1 of 4 rows"),
        ({"qid": pd.Series([pd.Timestamp(0), pd.NaT], dtype=object).repeat(2)}, "qid holds NaT in 2 of 4"),
        (
            {"lists": [1, "a", 1, "a"]},
            r"lists mixes kinds of ids \(int, str\); give all rows ids of one kind",
        ),
        ({"pos_label": 7}, "pos_label=7 is not a class of y_true; it holds 0, 1"),
    ],
)
def test_unusable_data(rows, sentence):
    with pytest.raises(InvalidData, match=sentence):
        metrics.auc(**{"y_true": Y, "y_score": SCORE, **rows})


def test_many_classes_are_shown_in_part():
    with pytest.raises(InvalidData, match=r"it holds 7 \(0, 1, 2, 3, 4, …\)"):
        metrics.auc(range(7), range(7))


@pytest.mark.parametrize(
    ("name", "own", "sentence"),
    [
        ("auc", {"ties": "wurst"}, "ties='wurst' is not known. Did you mean 'worst'"),
        ("auc", {"ties": 7}, "ties=7 is not known. Known are 'expected', 'worst'"),
        ("auc", {"lists": [1] * 4, "qid": [1] * 4}, "two names of the same thing"),
        ("partial_auc", {"max_fpr": 0.0}, "max_fpr must be a number above 0 and at most 1; got 0.0"),
        ("partial_auc", {"min_tpr": 1.0}, "min_tpr must be a number of at least 0 and below 1; got 1.0"),
        ("top_fraction_score", {"share": 1.5}, "share must be a number above 0 and at most 1; got 1.5"),
        ("pnorm_height_cost", {"p": np.inf}, "p must be a number of at least 1 and finite .*; got inf"),
        ("recall_at_precision", {"precision": 0}, "precision must be a number above 0"),
        ("threshold_at_precision", {"precision": 0.5, "lists": [1, 1, 2, 2]}, "one cut belongs to one list"),
        ("bedroc", {"alpha": -1}, "alpha must be a number above 0 and finite; got -1"),
        ("partial_auc", {"max_fpr": "a"}, "max_fpr must be a number above 0 and at most 1; got 'a'"),
        ("partial_auc", {"min_tpr": None}, "min_tpr must be a number of at least 0 and below 1; got None"),
        ("top_fraction_score", {"share": [0.1]}, r"share must be a number above .*; got \[0.1\]"),
        ("pnorm_height_cost", {"p": "2"}, "p must be a number of at least 1 and finite .*; got '2'"),
        ("recall_at_precision", {"precision": True}, "precision must be a number above .*; got True"),
        ("rie", {"alpha": 1j}, "alpha must be a number above 0 and finite; got 1j"),
        ("precision_at_k", {"k": 0}, "k must be at least 1"),
        ("precision_at_k", {"k": 1.0}, "A share must lie strictly between 0 and 1"),
        ("precision_at_k", {"k": "ten"}, "k must be a whole number"),
    ],
)
def test_unusable_arguments(name, own, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        getattr(metrics, name)(Y, SCORE, **own)


@pytest.mark.parametrize("name", ["precision_at_k", "dcg", "mrr"])
def test_k_beyond_the_list(name):
    with pytest.raises(InvalidData, match=r"k=5 is more than the list holds \(4\)"):
        getattr(metrics, name)(Y, SCORE, k=5)
    with pytest.raises(InvalidData, match=r"k=5 is more than the longest list holds \(3\)"):
        getattr(metrics, name)(Y, SCORE, k=5, lists=[0, 0, 0, 1])
    assert getattr(metrics, name)([1, 0, 0, 1], SCORE, k=3, lists=[0, 0, 0, 1]) > 0


def test_unknown_and_missing_arguments():
    with pytest.raises(TypeError, match=r"auc\(\) has no argument 'k'\. It has none of its own\."):
        metrics.auc(Y, SCORE, k=3)
    with pytest.raises(TypeError, match=r"precision_at_k\(\) needs the argument k="):
        metrics.precision_at_k(Y, SCORE)
    with pytest.raises(TypeError, match="Did you mean 'max_fpr'"):
        metrics.partial_auc(Y, SCORE, maxfpr=0.2)
    with pytest.raises(TypeError, match="has no argument 'gain'"):
        metrics.auc(Y, SCORE, gain=[1, 2, 3, 4])


def test_halves_are_grades():
    assert metrics.dcg([0, 0.5, 1], [1, 3, 2]) == pytest.approx(0.5 + 1 / np.log2(3))
    with pytest.raises(InvalidData, match="it holds 3"):
        metrics.auc([0, 0.5, 1], [1, 3, 2])


def test_grades_and_gains_out_of_range():
    with pytest.raises(InvalidData, match="Grades must be finite and not negative; y_true holds -2 to 3"):
        metrics.dcg([3, -2, 1, 0], SCORE)
    with pytest.raises(InvalidData, match="gain must be finite; row 2 holds nan"):
        metrics.dcg(Y, SCORE, gain=[1, 2, np.nan, 3])
    with pytest.raises(InvalidData, match=r"the least is -2\. Use dcg"):
        metrics.ndcg(Y, SCORE, gain=[1, -2, 3, 3])
    assert metrics.dcg(Y, SCORE, gain=[0, -2, 0, 0]) < 0


UNDEFINED = {  # Where a measure has a meaning without positives, and without negatives.
    "positives_at_top": (0.0, 3.0),
    "top_fraction_score": (None, None),
    "r_infinity": (None, None),
    "pnorm_height_cost": (None, None),
    "auc": (None, None),
    "partial_auc": (None, None),
    "average_precision": (None, 1.0),
    "precision_at_k": (0.0, 1.0),
    "recall_at_k": (None, 2 / 3),
    "recall_at_precision": (None, 1.0),
    "threshold_at_precision": (np.inf, 1.0),
    "dcg": (0.0, 1 + 1 / np.log2(3)),
    "ndcg": (None, 1.0),
    "mrr": (None, 1.0),
    "lift": (None, 1.0),
    "enrichment_factor": (None, 1.0),
    "bedroc": (None, 1.0),
    "rie": (None, 1.0),
}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("weight", [None, [1.0, 1.0, 1.0]])
@pytest.mark.filterwarnings("ignore:bedroc")
def test_one_class_only(name, side, weight):
    measure, expected = MEASURES[name], UNDEFINED[name][side]
    own = {key: given for key, given in {"k": 2, "precision": 0.5}.items() if key in measure.parameters}
    rows = {"y_true": [bool(side)] * 3, "y_score": [3, 2, 1], "sample_weight": weight, **own}
    if expected is not None:
        assert getattr(metrics, name)(**rows) == pytest.approx(expected)
        return
    with pytest.warns(PushRankWarning, match=f"{name} is undefined and returned as NaN") as seen:
        assert np.isnan(getattr(metrics, name)(**rows))
    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_labels_of_one_class():
    with pytest.warns(PushRankWarning, match="undefined"):
        metrics.auc([-1, -1], [1, 2])
    assert metrics.precision_at_k([1, 1], [1, 2], k=1) == 1.0
    assert metrics.precision_at_k([0.0, 0.0], [1, 2], k=1) == 0.0
    assert metrics.precision_at_k(["a", "a"], [1, 2], k=1, pos_label="a") == 1.0
    assert metrics.precision_at_k(["a", "a"], [1, 2], k=1, pos_label="b") == 0.0
    assert metrics.precision_at_k([False, True], [1, 2], k=1, pos_label=False) == 0.0
    assert metrics.auc([1, 2, 2], [0, 1, 2]) == 1.0
    assert metrics.auc([0, -1, 0], [1, 0, 1]) == 1.0


def test_lists_where_a_measure_is_undefined_weigh_nothing():
    y = [1, 0, 1, 1, 0, 0, 1, 0]
    lists = [0, 0, 1, 1, 2, 2, 3, 3]
    score = [2, 1, 2, 1, 2, 1, 1, 2]
    with pytest.warns(IgnoredContestsWarning, match="auc is undefined in 2 of 4 lists, which weigh") as seen:
        assert metrics.auc(y, score, lists=lists) == 0.5
    assert len(seen) == 1
    with pytest.warns(IgnoredContestsWarning, match="undefined in 2 of 2 lists"):
        assert np.isnan(metrics.auc([1, 1, 0, 0], SCORE, lists=["a", "a", "b", "b"]))
    assert metrics.positives_at_top(y, score, lists=lists) == 3.0
    with pytest.warns(IgnoredContestsWarning, match="pnorm_height_cost"):
        assert metrics.pnorm_height_cost(y, score, lists=lists, root=True) == 0.5
    with pytest.warns(IgnoredContestsWarning, match="mrr is undefined in 1 of 4"):
        metrics.mrr(y, score, lists=lists)


def test_bedroc_says_where_it_loses_its_meaning():
    with pytest.warns(PushRankWarning, match=r"bedroc: alpha · \(share of positives\) is 10") as seen:
        metrics.bedroc(Y, SCORE)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics.bedroc([1] + [0] * 99, range(100))


def test_root_of_the_height_cost_tends_to_r_infinity():
    y, score = [1, 0, 1, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    roots = [metrics.pnorm_height_cost(y, score, p=p, root=True) for p in (1, 2, 8, 64, 1024)]
    assert roots == sorted(roots)
    assert roots[-1] == pytest.approx(metrics.r_infinity(y, score), rel=2e-3)
    heavy = metrics.pnorm_height_cost([1, 0], [1, 1], sample_weight=[1.5, 1], p=1)
    assert heavy == pytest.approx(0.5)


def test_cut_off_that_keeps_the_precision():
    y, score = [0, 1, 1, 0, 1, 0], [9.0, 8.0, 7.0, 7.0, 6.0, 5.0]
    cut = metrics.threshold_at_precision(y, score, precision=0.6)
    assert cut == 6.0
    taken = np.array(score) >= cut
    assert np.mean(np.array(y)[taken]) >= 0.6
    assert metrics.recall_at_precision(y, score, precision=0.6, ties="threshold") == 1.0
    assert metrics.threshold_at_precision(y, score, precision=0.9) == np.inf


def test_gains_are_money():
    y, amount = np.array([1, 0, 1, 0]), np.array([100.0, 900.0, 50.0, 10.0])
    gain = np.where(y == 1, amount, 0.0) - 5.0
    own = {"gain": gain, "k": 2}
    assert metrics.precision_at_k(y, SCORE, **own) == pytest.approx((95 - 5) / 2)
    assert metrics.recall_at_k(y, SCORE, **own) == pytest.approx(90 / 130)
    assert metrics.lift(y, SCORE, **own) == pytest.approx(90 / 130 * 2)
    weighted = metrics.recall_at_k(y, SCORE, sample_weight=[1, 1, 2, 1], **own)
    assert weighted == pytest.approx(90 / 175)
    assert metrics.precision_at_k(y, SCORE, ties="threshold", lists=[0, 0, 1, 1], **own) == pytest.approx(
        32.5
    )
    with pytest.warns(PushRankWarning, match="nothing can be gained"):
        metrics.recall_at_k(y, SCORE, k=2, gain=[-1, -1, -1, -1])


@pytest.mark.parametrize("name", MEASURES)
def test_signature_and_docstring(name):
    public = getattr(metrics, name)
    parameters = inspect.signature(public).parameters
    assert list(parameters)[:7] == [
        "y_true", "y_score", "sample_weight", "ties", "lists", "qid", "pos_label",
    ]  # fmt: skip
    for parameter in list(parameters)[2:]:
        assert parameters[parameter].kind is inspect.Parameter.KEYWORD_ONLY
        # lists and qid share one line.
        assert f"{parameter} :" in public.__doc__ or f"{parameter}, " in public.__doc__
    assert "ranked" not in parameters
    assert inspect.signature(public).return_annotation is float
    assert "{" not in public.__doc__.replace('{"expected"', "").replace("{(x, y)", "")
