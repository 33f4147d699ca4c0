"""Bad input gets one sentence: what is wrong, where, and what to do."""

import numpy as np
import pytest

from pushrank import MeanOfTop, Power, PushRanker, Quantile, SoftTop, TopFraction
from pushrank._validation import read_items
from pushrank.exceptions import PushRankError

X = np.arange(8.0).reshape(4, 2)
Y = np.array([0, 1, 0, 1])


def frame():
    import pandas as pd

    return pd.DataFrame({"age": [1.0, 2.0, np.nan, 4.0], "colour": ["red", "blue", "red", "red"]})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"y": ["no"] * 4}, r"y holds one class only \('no', 4 rows\): a ranking needs rows of two classes"),
        ({"y": [0, 1, 2, 1]}, r"Only binary classification is supported.*for grades pass qid"),
        ({"y": None}, "requires y to be passed, but the target y is None"),
        ({"y": [0, 1, 0]}, "X has 4 rows and y has 3"),
        ({"y": [0.0, np.nan, 1.0, 1.0]}, r"Input y contains NaN \(row 1\)"),
        ({"y": ["a", None, "b", "b"]}, r"Input y contains NaN or None \(row 1\)"),
        ({"X": np.empty((0, 2)), "y": []}, r"X has no rows: .*0 sample"),
        ({"X": [], "y": []}, "X has no rows"),
        ({"X": np.array([[1, 2], [3, np.nan], [5, 6], [7, 8.0]])}, r"contains NaN, first in row 1, column 1"),
        (
            {"X": np.array([[1, 2], [3, 4], [np.inf, 6], [7, 8.0]])},
            r"contains infinity, first in row 2, column 0",
        ),
        ({"X": [["1", "b"]] * 4}, r"column 1 of X holds words \(row 0: 'b'\)"),
        (
            {"X": np.array([[1.0, 2.0], [3.0, "x"], [5, 6], [7, 8]], object)},
            r"column 1 of X .*\(row 1: 'x'\)",
        ),
        (
            {"y": np.array(["a", 1, "a", 1], object)},
            r"y mixes words and numbers \('a' in row 0, 1 in row 1\)",
        ),
        ({"sample_weight": ["a"] * 4}, "sample_weight must hold one number per row"),
        ({"qid": [1, np.nan, 1, 1]}, "qid is missing in row 1"),
        ({"qid": ["a", None, "b", "b"]}, "qid is missing in row 1"),
        ({"qid": np.array(["a", 1, "b", "b"], object)}, "qid mixes words and numbers"),
        ({"y": None, "pairs": []}, "pairs needs at least one row of two columns"),
        ({"y": None, "pairs": [["a", "b"]]}, "pairs must hold row numbers"),
        ({"y": None, "pairs": [[0, np.nan]]}, "all finite"),
        ({"sample_weight": [1, -1, 1, 1]}, r"row 1 has -1"),
        ({"sample_weight": [1, np.nan, 1, 1]}, r"row 1 has nan"),
        ({"sample_weight": [0, 0, 0, 0]}, "zero in every row"),
        ({"sample_weight": [1e308] * 4}, "too large or too small to be summed"),
        ({"sample_weight": [1e-320] * 4}, "too large or too small to be summed"),
        ({"sample_weight": [1, 0, 1, 0]}, r"Only rows of one class \(0\) have a positive sample_weight"),
        ({"sample_weight": [1, 1]}, "X has 4 rows and sample_weight has 2"),
        ({"sample_weight": np.ones((4, 2))}, "must be 1D"),
        ({"qid": [1, 2]}, r"qid needs one query id per row \(4\)"),
        ({"pairs": [[0, 1]]}, "pass y=None and no qid"),
        ({"y": None, "pairs": [[0, 9]]}, "row numbers of X, from 0 to 3"),
        ({"y": None, "pairs": [[0.5, 1]]}, "row numbers of X"),
        ({"y": None, "pairs": [[2, 2]]}, "pair 0 sets row 2 above itself"),
        ({"y": None, "pairs": [[0, 1, 2, 3]]}, "two columns"),
        ({"y": None, "pairs": [[0, 1, -1]]}, "negative weight"),
        ({"y": None, "pairs": [[0, 1, 0]]}, "Every pair weighs nothing"),
    ],
)
def test_data(arguments, sentence):
    given = {"X": X, "y": Y, **arguments}
    with pytest.raises(ValueError, match=sentence) as caught:
        PushRanker().fit(**given)
    assert "\n" not in str(caught.value)


def test_columns_are_named():
    with pytest.raises(PushRankError, match=r"'colour' of X holds words \(row 0: 'red'\).*OneHotEncoder"):
        PushRanker().fit(frame(), Y)
    with pytest.raises(PushRankError, match="contains NaN, first in row 2, column 'age'"):
        PushRanker().fit(frame()[["age"]], Y)


def test_dates_are_no_numbers():
    import pandas as pd

    dated = pd.DataFrame({"age": [1.0, 2, 3, 4], "day": pd.date_range("2026-01-01", periods=4)})
    with pytest.raises(PushRankError, match="such as dates"):
        PushRanker().fit(dated, Y)


def test_score_knows_its_classes():
    ranker = PushRanker().fit(X, Y)
    with pytest.raises(PushRankError, match="y holds no, which fit never saw; the classes are 0 and 1"):
        ranker.score(X, ["yes", "no", "yes", "no"])


def test_sparse_places_are_found():
    from scipy import sparse

    holed = X.copy()
    holed[2, 1] = np.inf
    with pytest.raises(PushRankError, match="contains infinity, first in row 2, column 1"):
        PushRanker().fit(sparse.csr_matrix(holed), Y)


def test_a_large_sum_is_no_infinity():
    large = np.full((4, 2), 1e308)
    assert read_items(PushRanker(), large, reset=True) is large


def test_far_rows_are_searched_in_blocks():
    far = np.zeros((20_000, 2))
    far[19_000, 1] = np.nan
    with pytest.raises(PushRankError, match="row 19000, column 1"):
        PushRanker().fit(far, np.arange(20_000) % 2)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"loss": "exponentail"}, r"Unknown loss 'exponentail' \(did you mean 'exponential'\?\)"),
        ({"push": "powr"}, r"Unknown push 'powr' \(did you mean 'power'\?\)"),
        ({"push": "zzzz"}, r"Unknown push 'zzzz'\. Known: identity"),
        ({"push": 4}, r"push must be a name .* or an instance such as Power\(4\); got 4"),
        ({"loss": Power(2)}, r"loss must be a name .* or an instance such as Hinge\(\)"),
        ({"push": Power}, "push must be a name"),
        ({"C": 0}, "C must be a number of more than 0; got 0"),
        ({"C": np.inf}, "C must be a number"),
        ({"C": True}, "C must be a number"),
        ({"tol": -1}, "tol must be a number of at least 0; got -1"),
        ({"l1_ratio": 1.5}, "l1_ratio must be a number of at least 0 and at most 1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1; got 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"penalty": "l3"}, "penalty must be one of 'l2', 'l1', 'elasticnet'; got 'l3'"),
        ({"contest_weight": "rows"}, 'contest_weight must be "pairs" or "equal"'),
        ({"solver": "lbgfs"}, r"'lbgfs'.*lbfgs"),
        ({"solver": "lbfgs", "loss": "hinge"}, "bundle"),
    ],
)
def test_parameters(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        PushRanker(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Power(0.5), "p must be .*at least 1.*got 0.5"),
        (lambda: Power(np.inf), r"for p = inf use PushRanker\(\"exponential\", Maximum\(\)\)"),
        (lambda: Power("two"), "p must be"),
        (lambda: TopFraction(0.0), "share must lie between 0 and 1"),
        (lambda: TopFraction(1.5), "share must lie between 0 and 1"),
        (lambda: MeanOfTop(0), "0"),
        (lambda: SoftTop(0), "p must be"),
        (lambda: Quantile(1.0), "share"),
    ],
)
def test_parts(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_unfitted_and_other_columns():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        PushRanker().rank(X)
    ranker = PushRanker().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        ranker.rank(X[:, :1])
