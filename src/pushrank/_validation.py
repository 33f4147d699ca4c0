"""The only reader of user input: X, y, weights, queries and pairs become arrays, classes and a target."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from pushrank._typing import Array
from pushrank.exceptions import IgnoredContestsWarning, InvalidData, InvalidParameter
from pushrank.targets.ranking import ContestWeight, RankingTarget


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a fit reads: X as numbers, the target, and what `predict` needs of y.

    `classes` holds the two classes of a bipartite target, the grades of a graded one, and is None for pairs.
    """

    X: Any
    target: RankingTarget
    classes: Array | None
    bipartite: bool
    is_winner: Array | None
    weight: Array


def read_training_data(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    qid: Any = None,
    pairs: Any = None,
    contest_weight: ContestWeight = "pairs",
) -> TrainingData:
    """Everything `fit` was given, checked; sets `n_features_in_` and `feature_names_in_` on the estimator."""
    if contest_weight not in ("pairs", "equal"):
        raise InvalidParameter(f'contest_weight must be "pairs" or "equal"; got {contest_weight!r}.')
    if pairs is not None:
        if y is not None or qid is not None:
            raise InvalidParameter(
                "pairs already say who stands above whom: pass y=None and no qid with them."
            )
        X = read_items(estimator, X, reset=True)
        weight = _read_weight(sample_weight, X.shape[0])
        target = _read_pairs(pairs, weight, contest_weight)
        return TrainingData(X, target, None, False, None, weight)
    if y is None:
        _read_target_column(estimator, y, 0)
    X = read_items(estimator, X, reset=True)
    y = _read_target_column(estimator, y, X.shape[0])
    weight = _read_weight(sample_weight, X.shape[0])
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if qid is None:
        check_classification_targets(y)
        if kind != "binary":
            raise InvalidData(
                f"Only binary classification is supported. The type of the target is {kind}. y has "
                f"{len(np.unique(y))} classes: for grades pass qid (a constant for one list), or keep two."
            )
    classes, codes = np.unique(y, return_inverse=True)
    present = np.bincount(codes, weights=weight > 0, minlength=len(classes)) > 0
    if qid is None or len(classes) <= 2:
        _require_two_classes(classes, present, len(y))
    if qid is None:
        target = RankingTarget.bipartite(codes == 1, weight)
        return TrainingData(X, target, classes, True, codes == 1, weight)
    graded = RankingTarget.graded(codes, weight, _read_qid(qid, X.shape[0]), contest_weight)
    if graded is None:
        raise InvalidData(
            "No query has two rows of different grades, so there is nothing to rank. Check qid: rows of one "
            "query share its value."
        )
    if graded.ignored:
        warnings.warn(
            f"{graded.ignored} queries hold one grade only: they have no pair and weigh nothing.",
            IgnoredContestsWarning,
            stacklevel=4,
        )
    is_binary = len(classes) == 2
    return TrainingData(X, graded, classes, is_binary, codes == 1 if is_binary else None, weight)


def read_items(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a float64 or float32 array or CSR matrix of finite numbers, with the columns that fit saw."""
    shape = getattr(X, "shape", None)
    if (shape[:1] == (0,) and len(shape) == 2) if shape is not None else (isinstance(X, list) and not X):
        raise InvalidData("X has no rows: Found array with 0 sample(s). Check how the rows were selected.")
    try:
        numbers = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
        )
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        raise InvalidData(_words_in(X, str(error))) from None
    except np.exceptions.DTypePromotionError:
        raise InvalidData(
            "X holds columns, such as dates, that are no numbers: turn them into numbers, or leave them out."
        ) from None
    _require_finite(estimator, numbers)
    return numbers


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of some words."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidParameter(f"{name} must be one of {listed}; got {value!r}.")


def require_number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float = np.inf
) -> None:
    """A finite number in its range; a whole number is one too, a truth value is none."""
    is_number = (
        isinstance(value, Real) and not isinstance(value, bool | np.bool_) and np.isfinite(float(value))
    )
    wanted = f"more than {above:g}" if above is not None else f"at least {least:g}"
    if np.isfinite(most):
        wanted += f" and at most {most:g}"
    inside = is_number and (value > above if above is not None else value >= least) and value <= most
    if not inside:
        raise InvalidParameter(f"{name} must be a number of {wanted}; got {value!r}.")


def require_whole(name: str, value: Any, *, least: int) -> None:
    """A whole number of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InvalidParameter(f"{name} must be a whole number of at least {least}; got {value!r}.")


def _read_target_column(estimator: Any, y: Any, n_rows: int) -> Array:
    if y is None:
        raise InvalidData(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: one label a row."
        )
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise InvalidData(f"X has {n_rows} rows and y has {len(y)}: they must be as many.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        what = "NaN" if np.isnan(y[row]) else "infinity"
        raise InvalidData(f"Input y contains {what} (row {row}): drop the rows without a label.")
    if y.dtype.kind == "O":
        missing = _missing(y)
        if len(missing):
            raise InvalidData(
                f"Input y contains NaN or None (row {missing[0]}): drop the rows without a label."
            )
        is_word = np.array([isinstance(label, str) for label in y])
        if is_word.any() and not is_word.all():
            other = int(np.flatnonzero(is_word != is_word[0])[0])
            raise InvalidData(
                f"y mixes words and numbers ({_word(y[0])} in row 0, {_word(y[other])} in row {other})."
            )
    return y


def _missing(labels: Array) -> Array:
    """The places of None and NaN in an array of objects."""
    return np.array(
        [place for place, label in enumerate(np.ravel(labels)) if label is None or label != label]
    )


def _require_two_classes(classes: Array, present: Array, rows: int) -> None:
    if present.sum() >= 2:
        return
    if len(classes) >= 2:
        kept = classes[present]
        raise InvalidData(
            f"Only rows of one class ({_word(kept[0])}) have a positive sample_weight: a ranking needs "
            "rows of two classes. Check the weights."
        )
    raise InvalidData(
        f"y holds one class only ({_word(classes[0])}, {rows} rows): a ranking needs rows of two classes. "
        "Check the label column."
    )


def _read_weight(sample_weight: Any, n_rows: int) -> Array:
    if sample_weight is None:
        return np.broadcast_to(np.float64(1.0), n_rows)  # No memory for what is the same everywhere.
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData("sample_weight must hold one number per row; it holds something else.") from None
    if weight.ndim != 1:
        raise InvalidData(f"Sample weights must be 1D array or scalar; got {weight.ndim} dimensions.")
    if len(weight) != n_rows:
        raise InvalidData(f"X has {n_rows} rows and sample_weight has {len(weight)}: they must be as many.")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        raise InvalidData(
            f"sample_weight must be finite and not negative; row {wrong[0]} has {weight[wrong[0]]:g}. "
            "Use 0 to leave a row out."
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total) or np.any((weight > 0) & (weight < 1e-300)):
        raise InvalidData(
            "sample_weight is too large or too small to be summed: divide it by its largest value."
        )
    if not weight.any():
        raise InvalidData("sample_weight is zero in every row: at least one row of each class needs weight.")
    return weight


def _read_qid(qid: Any, n_rows: int) -> Array:
    ids = np.asarray(qid)
    missing = np.flatnonzero(ids != ids) if ids.dtype.kind != "O" else _missing(ids)
    if len(missing):
        raise InvalidData(f"qid is missing in row {missing[0]}: drop the row, or give it a query.")
    if ids.ndim == 0:
        ids = np.full(n_rows, ids)
    if ids.ndim != 1 or len(ids) != n_rows:
        raise InvalidData(
            f"qid needs one query id per row ({n_rows}); got shape {ids.shape}. Group sizes will not do."
        )
    try:
        _, codes = np.unique(ids, return_inverse=True)
    except TypeError:
        raise InvalidData("qid mixes words and numbers: use one kind.") from None
    return codes


def _read_pairs(pairs: Any, weight: Array, contest_weight: ContestWeight) -> RankingTarget:
    n_rows = len(weight)
    try:
        table = np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData("pairs must hold row numbers of X; it holds something else.") from None
    if table.ndim != 2 or len(table) == 0 or table.shape[1] not in (2, 3) or not np.isfinite(table).all():
        raise InvalidData(
            "pairs needs at least one row of two columns (the row of X to stand above, the row below) and "
            f"perhaps a weight, all finite; got shape {table.shape}."
        )
    rows = table[:, :2]
    if np.any(rows != np.floor(rows)) or rows.min() < 0 or rows.max() >= n_rows:
        raise InvalidData(f"pairs must hold row numbers of X, from 0 to {n_rows - 1}.")
    winners, losers = rows.astype(np.intp).T
    own = np.flatnonzero(winners == losers)
    if len(own):
        raise InvalidData(f"pairs: pair {own[0]} sets row {winners[own[0]]} above itself; leave it out.")
    pair_weight = weight[winners] * weight[losers]
    if table.shape[1] == 3:
        if table[:, 2].min() < 0:
            raise InvalidData("pairs: a pair has a negative weight; swap its rows instead.")
        pair_weight = pair_weight * table[:, 2]
    kept = pair_weight > 0
    if not kept.any():
        raise InvalidData("Every pair weighs nothing: at least one pair needs weight.")
    return RankingTarget.pairs(winners[kept], losers[kept], pair_weight[kept], n_rows, contest_weight)


def _require_finite(estimator: Any, X: Any) -> None:
    place = _first_not_finite(X)
    if place is None:
        return
    row, column = place
    what = "NaN" if np.isnan(X[row, column]) else "infinity"
    names = getattr(estimator, "feature_names_in_", None)
    where = f"column {column}" if names is None else f"column {str(names[column])!r}"
    raise InvalidData(
        f"Input X contains {what}, first in row {row}, {where}: {type(estimator).__name__} takes finite "
        "numbers only; fill in or drop what is missing, for example with SimpleImputer."
    )


def _first_not_finite(X: Any) -> tuple[int, int] | None:
    """The place of the first NaN or infinity, without a mask as large as X where all is well."""
    values = X.data if sparse.issparse(X) else X
    # The sum of finite numbers may overflow, so a sum that is not finite only asks for a closer look.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return None
    if sparse.issparse(X):
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong) == 0:
            return None
        return int(np.searchsorted(X.indptr, wrong[0], side="right")) - 1, int(X.indices[wrong[0]])
    for start in range(0, X.shape[0], 8192):
        places = np.argwhere(~np.isfinite(X[start : start + 8192]))
        if len(places):
            return start + int(places[0][0]), int(places[0][1])
    return None


def _words_in(X: Any, error: str) -> str:
    """The sentence about the first cell that is no number."""
    names = getattr(X, "columns", None)
    columns = [X[name] for name in names] if names is not None else np.asarray(X, dtype=object).T
    for place, column in enumerate(columns):
        for row, value in enumerate(np.asarray(column, dtype=object)):
            if isinstance(value, str) and not _is_number(value):
                where = f"column {place if names is None else repr(str(names[place]))} of X"
                return (
                    f"could not convert string to float: {where} holds words (row {row}: {value!r}). Turn "
                    "them into numbers, for example with OneHotEncoder."
                )
    return f"{error}: turn words into numbers, for example with OneHotEncoder."


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _word(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
