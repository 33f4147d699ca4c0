"""PushRanker as a user meets it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pushrank import Budget, Identity, Maximum, MeanOfTop, Power, PushRanker, Quantile, SoftTop, TopFraction
from pushrank.datasets import load_ionosphere
from pushrank.exceptions import (
    ConstantScoreWarning,
    IgnoredContestsWarning,
    InvalidData,
    InvalidParameter,
    SeparableWarning,
)
from pushrank.losses import SmoothedHinge
from pushrank.metrics import average_precision, ndcg
from pushrank.prices import Exponential
from pushrank.risks import make_risk
from pushrank.targets import RankingTarget

LOSSES = ["exponential", "logistic", "hinge", "squared_hinge", "smoothed_hinge"]
PUSHES = [
    Identity(),
    Power(4),
    TopFraction(0.2),
    Exponential(),
    Maximum(),
    MeanOfTop(3),
    SoftTop(8),
    SoftTop(8, at_least=4),
]


def two_classes(n=120, d=4, noise=1.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n) > 1.0
    return X, np.where(y, "yes", "no")


@pytest.mark.parametrize("push", PUSHES, ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_convex_cell_is_certified(loss, push):
    X, y = two_classes(noise=0.3)  # Clear enough that no push collapses.
    ranker = PushRanker(loss, push, C=1.0, tol=1e-3).fit(X, y)
    assert ranker.status_ == "CONVERGED"
    log = loss == "exponential" and push != Exponential()
    assert ranker.duality_gap_ <= 1e-3 * (1 if log else max(abs(ranker.objective_), 1e-3))
    assert ranker.optimality_ == ("gap", ranker.duality_gap_, "objective_")
    assert ranker.score(X, y) > 0.6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_a_quantile_fits_but_certifies_nothing(loss):
    X, y = two_classes(noise=0.3)
    ranker = PushRanker(loss, Quantile(0.1)).fit(X, y)
    assert ranker.duality_gap_ == np.inf
    assert ranker.optimality_.kind == "none"
    assert ranker.status_ != "CONVERGED"
    assert ranker.score(X, y) > 0.6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::pushrank.exceptions.ConstantScoreWarning")
@pytest.mark.parametrize("over", ["losers", "all"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_quantile_starts_from_its_convex_relative(loss, over):
    # From zero, where its slope misleads, nothing is found on this set.
    X, y = load_ionosphere(return_X_y=True)
    ranker = PushRanker(loss, Quantile(0.05, over=over), C=10).fit(X, y)
    target = RankingTarget.bipartite(y == 1, np.ones(len(y)))
    at_zero, _ = make_risk(loss, Quantile(0.05, over=over)).value_and_gradient(np.zeros(len(y)), target)
    assert ranker.objective_ <= at_zero
    if over == "losers":
        assert ranker.objective_ < at_zero - 0.02
        assert ranker.score(X, y) > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("push", [Identity(), Maximum(), MeanOfTop(3)], ids=repr)
@pytest.mark.parametrize("loss", ["exponential", "squared_hinge"])
@pytest.mark.parametrize("offset", [1e6, 2.0**30, 2.0**40])
def test_certificates_hold_for_columns_far_from_zero(loss, push, offset):
    X, y = two_classes(noise=0.3)
    far = X + offset
    centred = far - offset  # Exact: what the ranker could see of the columns.
    ranker = PushRanker(loss, push, tol=1e-10).fit(far, y)
    target = RankingTarget.bipartite(y == "yes", np.ones(len(y)))
    w = ranker.coef_[0]
    value = make_risk(loss, push).value_and_gradient(centred @ w, target)[0] + w @ w / 2
    optimum = PushRanker(loss, push, tol=1e-10).fit(centred, y)
    assert ranker.duality_gap_ >= value - optimum.objective_ - 1e-12


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("push", [Identity(), Maximum()], ids=repr)
def test_certificates_hold_for_queries_with_offsets_of_their_own(push):
    rng = np.random.default_rng(2)
    qid = np.repeat([0, 1, 2], 20)
    near = rng.normal(size=(60, 2))
    grades = (near[:, 0] + rng.normal(size=60) > 0).astype(int)
    near[:, 1] = np.round(near[:, 1] * 16) / 16
    far = near.copy()
    far[:, 1] += qid * 1e9  # Exact, and the same within every query.
    one, other = (PushRanker("hinge", push, C=10, tol=1e-8).fit(X, grades, qid=qid) for X in (far, near))
    assert one.duality_gap_ >= one.objective_ - other.objective_ - 1e-12


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e153])
def test_weights_may_be_of_any_size(size):
    X, y = two_classes()
    for penalty in ("l2", "l1"):
        one, other = (
            PushRanker("logistic", C=10, penalty=penalty, tol=1e-10).fit(X, y, sample_weight=weight)
            for weight in (None, np.full(len(y), size))
        )
        assert_allclose(one.coef_, other.coef_, atol=1e-5)


def test_scores_are_coefficients_and_intercept():
    X, y = two_classes()
    ranker = PushRanker().fit(X, y)
    assert_allclose(ranker.decision_function(X), X @ ranker.coef_[0] + ranker.intercept_, rtol=1e-13)
    assert_array_equal(ranker.predict(X), ranker.classes_[(ranker.decision_function(X) > 0).astype(int)])


def test_the_intercept_balances_the_classes():
    # Corollary 13 of Rudin and Schapire: winners' and losers' exponential losses of the shifted scores agree.
    X, y = two_classes()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    ranker = PushRanker().fit(X, y, sample_weight=weight)
    scores, winner = ranker.decision_function(X), y == "yes"
    above = (weight * np.exp(-scores))[winner].sum()
    below = (weight * np.exp(scores))[~winner].sum()
    assert above == pytest.approx(below, rel=1e-12)


def test_rank_breaks_ties_by_row_number():
    X = np.array([[1.0], [0.0], [-0.0], [1.0], [2.0]])
    ranker = PushRanker().fit(X, [0, 0, 0, 1, 1])
    ranker.coef_[:] = 1.0
    ranker.scorer_.coef[:] = 1.0
    ranker.intercept_ = 0.0
    assert_array_equal(ranker.rank(X), [4, 0, 3, 1, 2])
    assert_array_equal(ranker.rank(X, top=2), [4, 0])
    many = np.tile(X, (20, 1))
    assert_array_equal(ranker.rank(many, top=7), ranker.rank(many)[:7])


@pytest.mark.parametrize(
    ("top", "count"), [(3, 3), (0.05, 6), (Budget(10, of=240), 5), (1000, 120), (None, 120)]
)
def test_rank_takes_a_budget(top, count):
    X, y = two_classes()
    ranker = PushRanker().fit(X, y)
    assert_array_equal(ranker.rank(X, top=top), ranker.rank(X)[:count])


def test_rank_in_lists():
    X, y = two_classes()
    ranker = PushRanker().fit(X, y)
    days = np.arange(len(X)) % 3 + 10
    chosen = ranker.rank(X, top=2, lists=days)
    expected = np.concatenate(
        [np.flatnonzero(days == day)[ranker.rank(X[days == day])[:2]] for day in (10, 11, 12)]
    )
    assert_array_equal(chosen, expected)
    assert_array_equal(ranker.rank(X, top=2, lists=np.zeros(len(X))), ranker.rank(X, top=2))
    with pytest.raises(ValueError, match="lists needs one id per row"):
        ranker.rank(X, lists=[1, 2])


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ([None, "a", "b", "a"], "lists holds None in 1 of 4 rows, first in row 0; give every row the id"),
        (["a", np.nan, "b", "a"], "lists holds nan in 1 of 4 rows, first in row 1"),
        (np.array([1.0, 1.0, np.nan, np.nan]), "lists holds nan in 2 of 4 rows, first in row 2"),
        ([1, "a", 1, "a"], r"lists mixes kinds of ids \(int, str\); give all rows ids of one kind"),
        (np.array([1, "a", 1, "a"], object), r"lists mixes kinds of ids \(int, str\)"),
        ([[1], [1, 2], [1], [2]], "lists must hold one entry per row; its entries differ in length"),
        ([[1], [1], [2], [2]], r"lists needs one id per row \(4\); got shape \(4, 1\)"),
        ("a", r"lists needs one id per row \(4\); got shape \(\)"),
    ],
)
def test_every_row_has_the_id_of_its_list(lists, sentence):
    X = np.arange(8.0).reshape(4, 2)
    ranker = PushRanker().fit(X, [0, 1, 0, 1])
    with pytest.raises(InvalidData, match=sentence):
        ranker.rank(X, top=1, lists=lists)


def test_lists_may_be_words_in_any_order():
    X = np.arange(8.0).reshape(4, 2)
    ranker = PushRanker().fit(X, [0, 1, 0, 1])
    assert_array_equal(ranker.rank(X, top=1, lists=["b", "a", "b", "a"]), [2, 3])
    assert_array_equal(ranker.rank(X, top=1, lists=("a", "a", "a", "a")), [3])


def test_explain_and_why_are_exact():
    import pandas as pd

    X, y = two_classes()
    frame = pd.DataFrame(X, columns=["age", "dose", "weight", "noise"])
    ranker = PushRanker().fit(frame, y)
    scores = ranker.decision_function(frame)
    assert_allclose(ranker.explain(frame).sum(axis=1) + ranker.intercept_, scores, rtol=1e-12)
    reasons = ranker.why(frame.iloc[[3]], frame.iloc[[5]])
    assert sum(reason.contribution for reason in reasons) == pytest.approx(scores[3] - scores[5], rel=1e-12)
    assert {reason.feature for reason in reasons} == set(frame.columns)
    sizes = [abs(reason.contribution) for reason in reasons]
    assert sizes == sorted(sizes, reverse=True)
    plain = PushRanker().fit(X, y)
    assert plain.why(X[3], X[5])[0].feature.startswith("x")
    with pytest.raises(ValueError, match="one row with one row"):
        plain.why(X[:2], X[5])


def test_why_takes_a_row_as_every_library_gives_it():
    import pandas as pd
    import polars as pl

    X, y = two_classes()
    names = ["age", "dose", "weight", "noise"]
    frame = pd.DataFrame(X, columns=names)
    table = pl.DataFrame(X, schema=names)
    named, plain = PushRanker().fit(frame, y), PushRanker().fit(X, y)
    expected = plain.why(X[3], X[5])
    given = [
        (plain, [X[3].tolist()], [X[5].tolist()]),
        (plain, X[3].tolist(), tuple(X[5])),
        (plain, sparse.csr_array(X)[3], sparse.csr_array(X)[[5]]),
        (plain, frame.iloc[3], frame.iloc[5]),
        (named, frame.iloc[3], frame.iloc[[5]]),
        (named, table[3:4], table[5:6]),
        (plain, table.row(3), table.row(5)),
    ]
    for ranker, a, b in given:
        reasons = ranker.why(a, b)
        assert_allclose([part.contribution for part in reasons], [part.contribution for part in expected])
    assert [part.feature for part in named.why(frame.iloc[3], frame.iloc[5])] == [
        names[int(part.feature[1:])] for part in expected
    ]
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        named.why(frame.iloc[3][names[::-1]], frame.iloc[5])


@pytest.mark.parametrize("solver", [[1], {}, np.array(["auto", "lbfgs"]), None], ids=repr)
def test_a_solver_is_a_name_or_a_solver(solver):
    X, y = two_classes()
    with pytest.raises(
        InvalidParameter, match=r"Unknown solver .*\. Known: auto, lbfgs, proximal, bundle, or a"
    ):
        PushRanker(solver=solver).fit(X, y)


@pytest.mark.parametrize("width", ["a", True, None, 1j])
def test_the_width_of_a_smoothed_hinge_is_a_number(width):
    with pytest.raises(
        InvalidParameter, match=r"width must lie between 1e-8 and 1e8; got .*or use Hinge\(\)"
    ):
        SmoothedHinge(width)


def test_sparse_stays_sparse_and_equals_dense():
    X, y = two_classes()
    X[np.abs(X) < 0.5] = 0.0
    dense = PushRanker(tol=1e-12).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix):
        ranker = PushRanker(tol=1e-12).fit(kind(X), y)
        assert_allclose(ranker.coef_, dense.coef_, rtol=1e-8)
        assert sparse.issparse(ranker.explain(kind(X)))
        assert_allclose(ranker.explain(kind(X)).toarray(), dense.explain(X), rtol=1e-8)
    first, second = sparse.csr_matrix(X)[3], sparse.csr_matrix(X)[5]
    assert ranker.why(first, second)[0].feature == dense.why(X[3], X[5])[0].feature


def test_float32_in_float32_out():
    X, y = two_classes()
    ranker = PushRanker().fit(X.astype(np.float32), y)
    assert ranker.decision_function(X.astype(np.float32)).dtype == np.float32
    assert ranker.decision_function(X).dtype == np.float64
    # float32 rows are summed in float64, so only their own rounding tells the two fits apart.
    assert_allclose(ranker.coef_, PushRanker().fit(X, y).coef_, rtol=1e-4)


def test_score_is_average_precision():
    X, y = two_classes()
    ranker = PushRanker().fit(X, y)
    assert ranker.score(X, y) == average_precision(y, ranker.decision_function(X), pos_label="yes")


def test_grades_and_queries():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    grades = np.digitize(X[:, 0] + 0.5 * rng.normal(size=150), [0.0, 1.0])
    qid = rng.integers(0, 12, 150)
    ranker = PushRanker(C=10).fit(X, grades, qid=qid)
    assert_array_equal(ranker.classes_, [0, 1, 2])
    assert ranker.intercept_ == 0
    assert ranker.score(X, grades, qid=qid) == ndcg(grades, ranker.decision_function(X), lists=qid)
    assert ranker.score(X, grades, qid=qid) > 0.85
    with pytest.raises(ValueError, match="has no classes to predict: use decision_function or rank"):
        ranker.predict(X)


def test_one_list_of_grades_needs_a_constant_qid():
    X = np.arange(6.0)[:, None]
    ranker = PushRanker().fit(X, [0, 1, 2, 3, 4, 5], qid=0)
    assert ranker.coef_[0, 0] > 0
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*for grades pass qid"):
        PushRanker().fit(X, [0, 1, 2, 3, 4, 5])


def test_queries_that_hold_one_grade_are_counted():
    X = np.arange(6.0)[:, None]
    with pytest.warns(IgnoredContestsWarning, match="2 queries hold one grade only"):
        PushRanker().fit(X, [0, 1, 1, 1, 0, 0], qid=[1, 1, 2, 2, 3, 3])
    with pytest.raises(ValueError, match="No query has two rows of different grades"):
        PushRanker().fit(X, [0, 0, 1, 1, 2, 2], qid=[1, 1, 2, 2, 3, 3])


def test_pairs_stand_in_for_y():
    X, y = two_classes(40)
    winners, losers = np.flatnonzero(y == "yes"), np.flatnonzero(y == "no")
    pairs = np.array([(i, k) for i in winners for k in losers])
    for loss, push in (("logistic", Identity()), ("logistic", SoftTop(4)), ("squared_hinge", Power(3))):
        from_pairs = PushRanker(loss, push, tol=1e-12).fit(X, pairs=pairs)
        from_classes = PushRanker(loss, push, tol=1e-12).fit(X, y)
        assert_allclose(from_pairs.coef_, from_classes.coef_, rtol=1e-6)
    assert not hasattr(from_pairs, "classes_")
    with pytest.raises(ValueError, match="no classes to predict"):
        from_pairs.predict(X)


def test_a_refit_forgets_the_last_fit():
    X, y = two_classes()
    ranker = PushRanker().fit(X, y)
    ranker.fit(X, pairs=[[0, 1]])
    assert not hasattr(ranker, "classes_")


@pytest.mark.parametrize(
    ("loss", "push"), [("exponential", Power(2)), ("logistic", SoftTop(8)), ("hinge", MeanOfTop(3))]
)
def test_weights_are_repetitions_and_zero_is_absence(loss, push):
    X, y = two_classes(60, noise=0.3)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    # hinge × MeanOfTop is solved by cuts, so its coefficients are known to √(2·C·gap) only.
    tol, atol = (1e-9, 3e-4) if loss == "hinge" else (1e-14, 1e-6)
    weighted = PushRanker(loss, push, tol=tol).fit(X, y, sample_weight=weight)
    repeated = PushRanker(loss, push, tol=tol).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.coef_, repeated.coef_, atol=atol)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    assert weighted.effective_losers_ == pytest.approx(repeated.effective_losers_, rel=1e-3)


def test_row_order_does_not_matter():
    X, y = two_classes()
    order = np.random.default_rng(3).permutation(len(y))
    one, other = (
        PushRanker("squared_hinge", Power(4), tol=1e-14).fit(X[rows], y[rows])
        for rows in (slice(None), order)
    )
    assert_allclose(one.coef_, other.coef_, rtol=1e-6)


def test_effective_losers_falls_as_p_grows():
    X, y = two_classes()
    shares = [PushRanker("exponential", Power(p)).fit(X, y).effective_losers_ for p in (1, 4, 16)]
    assert 1 >= shares[0] > shares[1] > shares[2] > 0


def test_raw_risk_is_the_papers_objective():
    X, y = two_classes()
    ranker = PushRanker("exponential", Power(3)).fit(X, y)
    scores = X @ ranker.coef_[0]
    pulls = scores[y == "yes"][:, None] - scores[y == "no"][None, :]
    assert ranker.raw_risk_ == pytest.approx(np.mean(np.mean(np.exp(-pulls), axis=0) ** 3), rel=1e-12)


def test_clone_pickle_grid_search_and_pipeline():
    X, y = two_classes()
    ranker = PushRanker("logistic", SoftTop(8), C=3.0)
    assert clone(ranker).get_params() == ranker.get_params()
    fitted = clone(ranker).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), fitted.decision_function(X))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PushRanker()), {"pushranker__push": [Power(1), Power(4)]}
    )
    assert 0.5 < search.fit(X, y).best_score_ <= 1


def test_same_bits_twice():
    X, y = two_classes()
    one, other = (PushRanker("logistic", Power(4)).fit(X, y) for _ in range(2))
    assert one.coef_.tobytes() == other.coef_.tobytes()


def test_history_and_verbose(capsys):
    X, y = two_classes()
    ranker = PushRanker(verbose=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(ranker.history_["gap"])
    assert lines[0].startswith("iteration     0  objective ")
    assert set(ranker.history_) >= {"iteration", "value", "gap", "seconds"}
    assert np.all(np.diff(ranker.history_["seconds"]) >= 0)


def test_too_few_iterations_are_said():
    X, y = two_classes()
    with pytest.warns(
        ConvergenceWarning, match=r"used all its iterations, at most .* above the optimum.*Raise max_iter"
    ):
        ranker = PushRanker(max_iter=1, tol=1e-12).fit(X, y)
    assert ranker.status_ == "MAX_ITER"
    assert np.isfinite(ranker.duality_gap_)


def test_a_constant_score_is_said():
    X = np.ones((10, 2))
    with pytest.warns(ConstantScoreWarning, match="a constant score is as good"):
        ranker = PushRanker().fit(X, [0] * 7 + [1] * 3)
    assert_array_equal(ranker.predict(X), np.zeros(10))  # The majority.


def test_collapse_is_said():
    # The winners' mean lies among the losers, so the Infinite Push has nothing to say.
    X = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    with pytest.warns(ConstantScoreWarning):
        PushRanker("hinge", Maximum()).fit(X, [1, 1, 0, 0])


def test_a_risk_without_minimum_is_said():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(SeparableWarning, match="falls without end"):
        ranker = PushRanker("exponential", "power", penalty="l1", C=100.0).fit(X, [0, 0, 1, 1])
    assert ranker.status_ == "UNBOUNDED"
    assert np.isfinite(ranker.decision_function(X)).all()
    assert ranker.score(X, [0, 0, 1, 1]) == 1.0
