"""What the measures are given, read once: two classes or grades, scores, weights, lists and gains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np

from pushrank._typing import Array
from pushrank.exceptions import InvalidData, InvalidParameter

TIES = ("expected", "worst", "best", "threshold")


@dataclass(frozen=True, eq=False)
class Items:
    """The rows to be measured, without those of zero weight."""

    score: Array
    positive: Array
    """Which rows should stand on top."""
    weight: Array | None
    """None where every row counts once."""
    list_ids: Array | None
    """The number of the list of every row; None where there is one list."""
    n_lists: int
    gain: Array | None
    """What each row brings where that is not 1 for a positive and 0 for the others."""


def closest(name: object, known: Any) -> str:
    """A hint for a wrong name: the closest known one, or all of them."""
    near = get_close_matches(str(name), list(known), n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(map(repr, known))}."


def require_number(name: str, value: Any, holds: Callable[[Any], bool], rule: str) -> None:
    """Refuse an argument that is no number, or one out of its range, which `rule` puts into words."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not holds(value):
        raise InvalidParameter(f"{name} must be {rule}; got {value!r}.")


def read_items(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    lists: Any = None,
    qid: Any = None,
    gain: Any = None,
    pos_label: Any = None,
    grades: bool = False,
) -> Items:
    """Check and convert what a measure was given; `grades` says that y may hold more than two values."""
    y = _column(y_true, "y_true")
    if len(y) == 0:
        raise InvalidData("y_true holds no rows: there is nothing to measure.")
    score = _numbers(y_score, "y_score", len(y))
    if np.isnan(score.min()):
        raise InvalidData(f"y_score holds NaN in {np.isnan(score).sum()} of {len(y)} rows: NaN has no place.")
    if lists is not None and qid is not None:
        raise InvalidParameter("lists and qid are two names of the same thing; give one of them.")
    ids, name = (qid, "qid") if lists is None else (lists, "lists")
    if ids is not None:
        ids = _complete(_column(ids, name, len(y)), name)
    if gain is not None:
        gain = _finite(_numbers(gain, "gain", len(y)), "gain")
    weight = None
    if sample_weight is not None:
        weight = _finite(_numbers(sample_weight, "sample_weight", len(y)), "sample_weight")
        lowest = weight.min()
        if lowest < 0:
            row = int(np.argmin(weight))
            raise InvalidData(f"sample_weight is negative in row {row} ({lowest:g}); weights are counts.")
        if weight.max() == 0:
            raise InvalidData("sample_weight is zero in every row: there is nothing to measure.")
        if lowest == 0:
            present = weight > 0
            y, score, weight = y[present], score[present], weight[present]
            ids = None if ids is None else ids[present]
            gain = None if gain is None else gain[present]
    positive, graded = _classes(y, pos_label, grades)
    n_lists = 1
    if ids is not None:
        ids, n_lists = _numbered(ids, name)
    return Items(
        score, positive, weight, ids if n_lists > 1 else None, n_lists, graded if gain is None else gain
    )


def _column(values: Any, name: str, n: int | None = None) -> Array:
    try:
        column = np.asarray(values)
    except ValueError:
        raise InvalidData(f"{name} must hold one entry per row; its entries differ in length.") from None
    if column.dtype.kind == "U" and not isinstance(values, np.ndarray) and column.ndim == 1:
        # Of a list that holds words numpy writes out everything else, a gap too, as a word.
        entries = list(values)
        if not all(isinstance(entry, str) for entry in entries):
            column = np.empty(len(entries), dtype=object)
            column[:] = entries
    if column.ndim != 1:
        raise InvalidData(f"{name} must hold one entry per row; got shape {column.shape}.")
    if n is not None and len(column) != n:
        raise InvalidData(f"{name} has {len(column)} rows but y_true has {n}; give one entry per row.")
    return column


def _complete(ids: Array, name: str) -> Array:
    """The ids, none of them missing: a gap says not which list the row belongs to."""
    if ids.dtype.kind in "fc":
        missing = np.isnan(ids)
    elif ids.dtype.kind in "mM":
        missing = np.isnat(ids)
    elif ids.dtype.kind == "O":
        missing = np.array([_is_missing(entry) for entry in ids.tolist()], dtype=bool)
    else:
        return ids
    if missing.any():
        row = int(np.argmax(missing))
        raise InvalidData(
            f"{name} holds {ids[row]} in {missing.sum()} of {len(ids)} rows, first in row {row}; give every "
            "row the id of its list, or drop these rows."
        )
    return ids


def _is_missing(entry: object) -> bool:
    # The gaps of pandas are known by their names, so that it need not be imported.
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float | np.floating) and bool(np.isnan(entry))


def _numbered(ids: Array, name: str) -> tuple[Array, int]:
    """The number of the list of every row, and how many lists there are."""
    if ids.dtype.kind in "iu":
        low, high = int(ids.min()), int(ids.max())
        if high - low < 4 * len(ids) + 1024 and high <= np.iinfo(np.intp).max:
            # Whole numbers close to each other are counted instead of sorted.
            ids = ids.astype(np.intp) - low
            present = np.bincount(ids) > 0
            return (np.cumsum(present) - 1)[ids], int(np.count_nonzero(present))
    try:
        names, numbers = np.unique(ids, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(entry).__name__ for entry in ids.tolist()}))
        raise InvalidData(f"{name} mixes kinds of ids ({kinds}); give all rows ids of one kind.") from None
    return numbers, len(names)


def _numbers(values: Any, name: str, n: int) -> Array:
    column = _column(values, name, n)
    if column.dtype.kind not in "biufO":
        raise InvalidData(f"{name} must hold real numbers; got entries of type {column.dtype}.")
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"{name} must hold real numbers; it holds entries that are not.") from None


def _finite(column: Array, name: str) -> Array:
    finite = np.isfinite(column)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidData(f"{name} must be finite; row {row} holds {column[row]}.")
    return column


def _classes(y: Array, pos_label: Any, grades: bool) -> tuple[Array, Array | None]:
    """Which rows are positive, and their grades where y holds more than two classes told by 0, 1 or −1, 1."""
    if y.dtype.kind == "b" and pos_label is None:
        return y, None
    high = y.max() if y.dtype.kind in "iuf" else 0
    if np.isnan(high):
        raise InvalidData(f"y_true holds NaN in {np.isnan(y).sum()} of {len(y)} rows; drop these rows.")
    if y.dtype.kind in "iuf" and pos_label is None:
        low = y.min()
        positive = y == high
        if high in (-1, 0, 1) and low in (-1, 0, 1):
            if low == high:
                return (positive, None) if high == 1 else (~positive, None)
            # Counting costs less than finding the distinct values of a long column.
            if np.count_nonzero(positive) + np.count_nonzero(y == low) == len(y):
                return positive, None
        if grades:
            if low < 0 or np.isinf(high):
                raise InvalidData(f"Grades must be finite and not negative; y_true holds {low} to {high}.")
            return y > 0, y.astype(np.float64)
    try:
        labels = np.unique(y)
    except TypeError:
        raise InvalidData(
            "y_true mixes words and numbers, or has gaps; give one kind of label per row."
        ) from None
    shown = ", ".join(repr(label) for label in labels[:5].tolist()) + (", …" if len(labels) > 5 else "")
    if len(labels) > 2:
        raise InvalidData(
            f"y_true must hold two classes; it holds {len(labels)} ({shown}). Compare it with one of them."
        )
    if pos_label is None:
        if len(labels) == 1:
            raise InvalidData(
                f"y_true holds one class only ({shown}, {len(y)} rows): say by pos_label which is positive."
            )
        return y == labels[1], None
    if len(labels) == 2 and not np.any(labels == pos_label):
        raise InvalidData(f"pos_label={pos_label!r} is not a class of y_true; it holds {shown}.")
    return np.asarray(y == pos_label), None
