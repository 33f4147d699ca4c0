"""What every batch ranker shares: fit, score, rank, explain; `_fit_scorer` is the one override."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank._validation import TrainingData, read_items, read_training_data
from pushrank.estimators._callbacks import CallbackSupportMixin, iteration_listener, with_callbacks
from pushrank.exceptions import ConstantScoreWarning, InvalidData, InvalidParameter, SeparableWarning
from pushrank.metrics import Budget, average_precision, inputs, ndcg
from pushrank.solvers.base import Monitor, Status


class Optimality(NamedTuple):
    """How far from the optimum a fit may be: `kind` is "gap", "stationary" or "none"."""

    kind: str
    value: float
    of: str


class Reason(NamedTuple):
    """What one feature adds to a score, or to the difference of two."""

    feature: str
    contribution: float


class BaseRanker(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A ranker that is a binary classifier whose `classes_[1]` is pushed to the top."""

    _doc_link_module = "pushrank"

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, qid: Any = None, pairs: Any = None
    ) -> Self:
        """Learn to rank the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_items, n_features)
            Finite numbers; float32 stays float32, CSR stays sparse.
        y : array-like of shape (n_items,), default=None
            Two classes, of which the greater (`classes_[1]`) is pushed to the top; to push the other one, fit
            `y == other`. With `qid`, grades: the higher should stand above the lower of the same query. None
            only with `pairs`.
        sample_weight : array-like of shape (n_items,), default=None
            A weight of 2 equals the row written twice; of 0, the row left out.
        qid : array-like of shape (n_items,), default=None
            One id per row of the query (day, batch) that it belongs to, in any order; rows of different
            queries are never compared. A constant makes one list of graded rows.
        pairs : array-like of shape (n_pairs, 2) or (n_pairs, 3), default=None
            Row numbers (above, below) and perhaps a weight for each pair, in place of y.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        data = read_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            qid=qid,
            pairs=pairs,
            contest_weight=getattr(self, "contest_weight", "pairs"),
        )
        context = self._init_callback_context(max_subtasks=self._max_subtasks())
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        self.__dict__.pop("classes_", None)
        if data.classes is not None:
            self.classes_ = data.classes
        self._is_bipartite = data.bipartite
        scores = self._fit_scorer(data, iteration_listener(self, context))
        self.intercept_ = self._intercept_of(scores, data)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise `InvalidParameter` for what `__init__` stored unread."""

    @abstractmethod
    def _max_subtasks(self) -> int | None:
        """The most iterations of a fit, for progress bars."""

    @abstractmethod
    def _fit_scorer(self, data: TrainingData, listen: Any) -> Array:
        """Fit `scorer_` and publish the fitted attributes; return the training scores without intercept."""

    def decision_function(self, X: Any) -> Array:
        """Score the rows of X; higher is nearer the top.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_items, n_features)

        Returns
        -------
        ndarray of shape (n_items,)
            The scores, `intercept_` included: positive where `predict` says `classes_[1]`.
        """
        check_is_fitted(self)
        X = read_items(self, X, reset=False)
        scores: Array = self.scorer_.scores(X)
        scores += scores.dtype.type(self.intercept_)
        return scores

    def predict(self, X: Any) -> Array:
        """Predict a class by the sign of the score.

        The threshold is Corollary 13's of Rudin and Schapire (2009): where the winners' and the losers'
        exponential losses of the training scores are equal. It does not change the ranking.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_items, n_features)

        Returns
        -------
        ndarray of shape (n_items,)
        """
        check_is_fitted(self)
        if not self._is_bipartite:
            raise InvalidParameter(
                f"This {type(self).__name__} was fitted on grades or pairs and has no classes to predict: "
                "use decision_function or rank."
            )
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def rank(self, X: Any, top: Any = None, *, lists: Any = None) -> Array:
        """Row numbers, best first.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_items, n_features)
        top : int, float or Budget, default=None
            How many to return: a count, a share of the rows, or `Budget(k, of=N)`. None returns all.
        lists : array-like of shape (n_items,), default=None
            One id per row (day, batch): then `top` counts in each list, and the lists follow one another in
            the order of their first rows.

        Returns
        -------
        ndarray of int
            Rows of equal score come in the order of their numbers.
        """
        scores = self.decision_function(X)
        if lists is None:
            return best_first(scores, _count(top, len(scores)))
        numbers = _list_numbers(lists, len(scores))
        if numbers is None:
            return best_first(scores, _count(top, len(scores)))
        _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[codes]
        order = np.lexsort((np.arange(len(scores)), -(scores + 0.0), place))
        runs = Segments.of_sorted(place[order])
        counts = np.array([_count(top, int(length)) for length in runs.lengths])
        return order[np.arange(len(order)) - runs.spread(runs.starts) < runs.spread(counts)]

    def explain(self, X: Any) -> Any:
        """What each feature adds to each row's score, exactly.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_items, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_items, n_features)
            Contributions that sum, with `intercept_`, to `decision_function(X)`.
        """
        check_is_fitted(self)
        return self.scorer_.contributions(read_items(self, X, reset=False))

    def why(self, a: Any, b: Any) -> list[Reason]:
        """Why row `a` stands above row `b` (or below it): the difference of their scores, feature by feature.

        Parameters
        ----------
        a, b : {array-like, sparse matrix, dataframe} of shape (n_features,) or (1, n_features)
            Two rows; a row of a frame, such as ``frame.iloc[3]``, keeps the names of its columns.

        Returns
        -------
        list of Reason
            (feature, contribution) with the largest first; they sum to score(a) − score(b).
        """
        check_is_fitted(self)
        is_named = hasattr(self, "feature_names_in_")
        rows = [self.explain(_as_table(row, is_named)) for row in (a, b)]
        one, other = (np.asarray(row.todense() if sparse.issparse(row) else row) for row in rows)
        if len(one) != 1 or len(other) != 1:
            raise InvalidData(f"why compares one row with one row; got {len(one)} and {len(other)} rows.")
        difference = (one - other)[0]
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        order = np.argsort(-np.abs(difference), kind="stable")
        return [Reason(str(names[j]), float(difference[j])) for j in order]

    def score(self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> float:
        """**Average precision** of the ranking of X, not accuracy (NDCG for a ranker of grades).

        A random ranking reaches the share of `classes_[1]` in y: read the score beside that share.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_items, n_features)
        y : array-like of shape (n_items,)
        sample_weight : array-like of shape (n_items,), default=None
        qid : array-like of shape (n_items,), default=None
            Lists to be measured one by one and averaged.

        Returns
        -------
        float
        """
        scores = self.decision_function(X)
        if self._is_bipartite:
            unknown = [label for label in np.unique(np.asarray(y)) if label not in self.classes_]
            if unknown:
                raise InvalidData(
                    f"y holds {unknown[0]!s}, which fit never saw; the classes are "
                    f"{self.classes_[0]!s} and {self.classes_[1]!s}."
                )
            return float(
                average_precision(
                    y, scores, sample_weight=sample_weight, lists=qid, pos_label=self.classes_[1]
                )
            )
        return float(ndcg(y, scores, sample_weight=sample_weight, lists=qid))

    def _intercept_of(self, scores: Array, data: TrainingData) -> float:
        """½ [LSE_u(−s⁺) − LSE_v(s⁻)]: Corollary 13's threshold, weighted."""
        if data.is_winner is None:
            return 0.0
        present = data.weight > 0
        winners, losers = present & data.is_winner, present & ~data.is_winner
        below = _log_sum_exp(-scores[winners], data.weight[winners])
        above = _log_sum_exp(scores[losers], data.weight[losers])
        return 0.5 * (below - above)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def best_first(scores: Array, top: int | None = None) -> Array:
    """Row numbers by falling score, ties by row number, −0.0 as 0.0; only the first `top` where given."""
    scores = scores + 0.0
    if top is None or top >= len(scores) // 4:
        return np.argsort(-scores, kind="stable")[:top]
    border = np.partition(scores, len(scores) - top)[len(scores) - top]
    rows = np.flatnonzero(scores >= border)
    return rows[np.argsort(-scores[rows], kind="stable")][:top]


def warn_about(estimator: Any, status: Status, monitor: Monitor, gap: float, *, constant: bool) -> None:
    """Say in a sentence what the user should know of how a fit ended."""
    name = type(estimator).__name__
    within = ", to within the certified gap" if np.isfinite(gap) else ""
    known = f"at most {gap:.1e} above the optimum" if np.isfinite(gap) else "with nothing certified"
    advice = {
        Status.MAX_ITER: "Raise max_iter, or accept duality_gap_.",
        Status.STOPPED: "The best scorer so far is kept.",
        Status.STALLED: "Centre and scale the columns, lower C, or raise tol."
        if np.isfinite(gap)
        else "No bound is known for this risk: judge it on held-out rows.",
        Status.PRECISION: f"Raise tol; {gap:.1e} is what this problem allows.",
    }
    if status is Status.UNBOUNDED:
        warnings.warn(
            f"{name}: {status.value}, for the data can be separated and penalty {estimator.penalty!r} with "
            f"C={estimator.C:g} does not hold the coefficients back. Lower C, or use penalty='l2'; the best "
            "scorer so far is kept.",
            SeparableWarning,
            stacklevel=4,
        )
    elif status in advice:
        warnings.warn(
            f"{name} stopped after {monitor.n_iter - 1} iterations because {status.value}, {known} "
            f"(tol={monitor.tol:.0e}). {advice[status]}",
            ConvergenceWarning,
            stacklevel=4,
        )
    if constant and status in (Status.MAX_ITER, Status.STOPPED):
        warnings.warn(
            f"{name}: nothing better than a constant score was found yet. Let it run on: raise max_iter.",
            ConstantScoreWarning,
            stacklevel=4,
        )
    elif constant:
        warnings.warn(
            f"{name}: a constant score is as good as what was found{within}: this loss, push and C do not "
            "rank these rows. Use a push that looks at more losers, such as Power(2) or SoftTop(8); where C "
            "is small, raise it or lower tol.",
            ConstantScoreWarning,
            stacklevel=4,
        )


def _shape(values: Any) -> tuple[int, ...]:
    shape = getattr(values, "shape", None)
    return tuple(shape) if shape is not None else np.asarray(values, dtype=object).shape


def _as_table(row: Any, is_named: bool) -> Any:
    """One row as a table of one row; the names of a Series are kept for a ranker that knows names."""
    if len(_shape(row)) != 1:
        return row
    if sparse.issparse(row):
        return row.reshape(1, -1)
    # Only a Series of pandas has an index: it is known by it, so that pandas need not be imported.
    if is_named and hasattr(row, "index") and hasattr(row, "to_frame"):
        return row.to_frame().T
    return [row]


def _list_numbers(lists: Any, n_rows: int) -> Array | None:
    """The number of the list of every row, read as the measures read it; None where there is one list."""
    shape = _shape(lists)
    if shape != (n_rows,):
        raise InvalidData(f"lists needs one id per row ({n_rows}); got shape {shape}.")
    nothing = np.zeros(n_rows)
    return inputs.read_items(nothing == 0, nothing, lists=lists).list_ids


def _count(top: Any, n_rows: int) -> int | None:
    if top is None:
        return n_rows
    return min(n_rows, int(np.ceil(Budget.read(top).places(n_rows) - 1e-9)))


def _log_sum_exp(values: Array, weight: Array) -> float:
    top, _ = Segments.one(len(values)).log_sum_exp(np.asarray(values, dtype=np.float64), weight)
    return float(top[0])
