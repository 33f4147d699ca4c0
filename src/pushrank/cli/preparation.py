"""From named columns to a matrix: gaps filled, numbers standardised, words one-hot; and back to the names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from pushrank._typing import Array
from pushrank.cli.messages import counted, listed
from pushrank.datasets.delimited import MISSING, is_number
from pushrank.exceptions import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from pushrank.datasets import Table

_DENSE_SHARE = 0.25
"""Above this share of cells that are not zero a dense matrix is the smaller and the faster one."""


_TYPING_ERRORS = 0.1
"""Up to this share of cells that are no numbers, a column is taken for one of numbers with mistakes in it."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The features of some rows as they were read: numbers with gaps, words, or an svmlight matrix."""

    numbers: Array
    words: Array
    sparse: Any = None

    def rows(self, index: Array) -> Cells:
        """Some of the rows."""
        return Cells(
            self.numbers[index], self.words[index], None if self.sparse is None else self.sparse[index]
        )


@dataclass(eq=False)
class Preparation:
    """How the cells of a table become a matrix; made on the training rows and saved with the model.

    Numbers: gaps filled by the median, then mean 0 and standard deviation 1, so that the penalty treats all
    columns alike; a further column of 0 and 1 marks the gaps of every column that had some. Words: a column
    of 0 and 1 for each word met in training. svmlight: divided by the largest magnitude, so zeros stay zeros.
    """

    numbers: list[str]
    words: list[str]
    n_sparse: int | None = None
    gaps: list[int] | None = None
    medians: Any = None
    scaler: Any = None
    encoder: Any = None
    mean: Any = None

    def fit(self, cells: Cells, weight: Array | None = None) -> Self:
        """Learn medians, means, scales and words."""
        if self.n_sparse is not None:
            self.scaler = MaxAbsScaler().fit(cells.sparse)
            return self
        if self.numbers:
            self.gaps = [int(j) for j in np.flatnonzero(np.isnan(cells.numbers).any(axis=0))]
            self.medians = np.array([_median(cells.numbers[:, j], weight) for j in range(len(self.numbers))])
            self.scaler = StandardScaler().fit(self._filled(cells.numbers), sample_weight=weight)
        if self.words:
            self.encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=True).fit(cells.words)
        return self

    def transform(self, cells: Cells) -> Any:
        """The matrix, dense or CSR, whichever is smaller."""
        if self.n_sparse is not None:
            return sparse.csr_matrix(self.scaler.transform(_of_width(cells.sparse, self.n_sparse)))
        parts = []
        if self.numbers:
            parts.append(self.scaler.transform(self._filled(cells.numbers)))
            if self.gaps:
                parts.append(np.isnan(cells.numbers[:, self.gaps]).astype(np.float64))
        if self.words:
            parts.append(self.encoder.transform(cells.words))
        filled = sum(part.nnz if sparse.issparse(part) else part.size for part in parts)
        width = sum(part.shape[1] for part in parts)
        if filled >= _DENSE_SHARE * width * len(cells.numbers):
            return np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])
        return sparse.csr_matrix(sparse.hstack(parts, format="csr"))

    def _filled(self, numbers: Array) -> Array:
        return np.where(np.isnan(numbers), self.medians, numbers)

    def remember_mean(self, X: Any, weight: Array | None = None) -> None:
        """Keep the average training row, with which reasons compare."""
        if self.n_sparse is not None:
            return
        mean = X.mean(axis=0) if weight is None else (weight / weight.sum()) @ X
        self.mean = np.asarray(mean, dtype=np.float64).reshape(1, -1)

    @property
    def features(self) -> list[str]:
        """The table's columns, in the order of `owners`."""
        if self.n_sparse is not None:
            return [str(j) for j in range(self.n_sparse)]
        return [*self.numbers, *self.words]

    @property
    def owners(self) -> Array:
        """For each column of the matrix the column of the table that it comes from."""
        if self.n_sparse is not None:
            return np.arange(self.n_sparse)
        words = [] if self.encoder is None else [len(known) for known in self.encoder.categories_]
        places = [*range(len(self.numbers)), *(self.gaps or [])]
        spread = np.repeat(np.arange(len(words)) + len(self.numbers), words)
        return np.concatenate([np.array(places, dtype=np.intp), spread.astype(np.intp)])

    def by_feature(self, contributions: Any) -> Any:
        """Contributions of the matrix's columns, added up to those of the table's columns."""
        owners = self.owners
        gather = sparse.csr_matrix(
            (np.ones(len(owners)), (np.arange(len(owners)), owners)), shape=(len(owners), len(self.features))
        )
        return contributions @ gather

    def read(self, table: Table) -> Cells:
        """The cells of a table that this preparation needs, by name."""
        if self.n_sparse is not None:
            if table.sparse is None:
                raise InvalidData(
                    f"The model was fitted on an svmlight file, whose columns have no names; {table.source} "
                    "is none: give it as svmlight."
                )
            _require_finite_entries(table)
            return Cells(_none(table), _none(table), table.sparse)
        if table.sparse is not None:
            raise InvalidData(
                f"{table.source} is an svmlight file; the model was fitted on named columns "
                f"({listed(self.features)}): give a table that has them."
            )
        missing = [name for name in self.features if name not in table.columns]
        if missing:
            raise InvalidData(
                f"{table.source} lacks {counted(len(missing), 'column')} that the model needs: "
                f"{listed(missing, 12)}."
            )
        for name in self.numbers:
            _require_numbers(table, name)
        return Cells(table.matrix(self.numbers), table.words(self.words))

    def remarks(self, cells: Cells) -> list[str]:
        """What happens to new rows that the training rows did not foresee, and to gaps."""
        if self.n_sparse is not None:
            wide = cells.sparse.shape[1] - self.n_sparse
            known = f"(highest {self.n_sparse - 1})"
            return [f"Indices above those met in training {known} are ignored."] if wide > 0 else []
        said = gap_remarks(self.numbers, cells.numbers)
        for j, name in enumerate(self.words):
            unseen = ~np.isin(cells.words[:, j], self.encoder.categories_[j])
            if unseen.any():
                example = str(cells.words[np.argmax(unseen), j])
                said.append(
                    f"column {name}: {counted(int(unseen.sum()), 'word')} never met in training (first "
                    f"{example!r}) count as none of the known words."
                )
        return said

    def state(self) -> dict[str, Any]:
        """What a model file holds of it."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


def plan(
    table: Table, left_out: Sequence[str], as_words: Sequence[str] = ()
) -> tuple[Preparation, list[str]]:
    """The preparation that a table's columns call for, and what to say of it.

    Columns in `as_words` are words by a person's will, however many of their cells are numbers.
    """
    if table.sparse is not None:
        return Preparation([], [], table.sparse.shape[1]), []
    numbers, words, empty, constant, said = [], [], [], [], []
    for name in table.names:
        if name in left_out:
            continue
        column = table.column(name)
        if table.holds_words(name):
            if name not in as_words:
                _require_words(table, name)
            words.append(name)
            n_words = len(set(column.tolist()))
            if n_words == 1:
                constant.append(name)
            elif n_words > max(20, table.n_rows // 2):
                said.append(
                    f"column {name} holds {n_words:,} different words in {table.n_rows:,} rows, each with a "
                    f"coefficient of its own: if it is a name or an id, leave it out by --drop {name}."
                )
            continue
        if np.isnan(column).all():
            empty.append(name)
            continue
        _require_numbers(table, name)
        numbers.append(name)
        if np.nanmin(column) == np.nanmax(column) and not np.isnan(column).any():
            constant.append(name)
    if empty:
        said.append(f"empty in every row and left out: {listed(empty)}.")
    if constant:
        said.append(f"the same in every row, so no help to a ranking: {listed(constant)}.")
    if not numbers and not words:
        raise InvalidParameter(f"{table.source} has no column left to learn from; drop fewer of them.")
    said += gap_remarks(numbers, table.matrix(numbers))
    if words:
        said.append(f"words become columns of 0 and 1, one for each word: {listed(words)}.")
    return Preparation(numbers, words), said


def gap_remarks(names: Sequence[str], numbers: Array) -> list[str]:
    """Which columns have gaps, and how many are filled."""
    gaps = np.isnan(numbers).sum(axis=0) if names else np.zeros(0)
    return [
        f"column {names[j]}: {counted(int(gaps[j]), 'missing value')} filled by the training median."
        for j in np.flatnonzero(gaps).tolist()
    ]


def _require_numbers(table: Table, name: str) -> None:
    column = table.column(name)
    if table.holds_words(name):
        # Where semicolons part the cells, a comma is a decimal point; elsewhere it may be passed over here.
        row = next((i for i, cell in enumerate(column) if not is_number(cell, True)), 0)
        raise InvalidData(
            f"Column {name!r} of {table.source} holds words (first {str(column[row])!r} in row {row + 1}); "
            "the model was fitted on numbers there."
        )
    infinite = np.isinf(column)
    if infinite.any():
        raise InvalidData(
            f"Column {name!r} of {table.source} holds infinity in {counted(int(infinite.sum()), 'row')}, "
            f"first in row {int(np.argmax(infinite)) + 1}; correct it, or empty the cell."
        )


def _require_words(table: Table, name: str) -> None:
    """Refuse a column of numbers that one typing error has made into a column of words."""
    column = table.column(name)
    cells, first, counts = np.unique(column.astype(str), return_index=True, return_counts=True)
    known = np.array([cell.strip() not in MISSING for cell in cells.tolist()])
    # With decimal commas first: a cell that is no number then is none without them.
    for comma in (True, False):
        is_word = known & ~np.array([is_number(cell, comma) for cell in cells.tolist()])
        n_words = int(counts[is_word].sum())
        if n_words and n_words <= _TYPING_ERRORS * counts[known].sum():
            row = int(first[is_word].min())
            raise InvalidData(
                f"Column {name!r} of {table.source} holds numbers but for {counted(n_words, 'cell')}, first "
                f"{str(column[row])!r} in {table.place(row)}: mend it, or give --words {name} to take the "
                "column as words."
            )


def _require_finite_entries(table: Table) -> None:
    """Refuse an svmlight matrix that holds nan or infinity."""
    entries = table.sparse
    wrong = ~np.isfinite(entries.data)
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    row = int(np.searchsorted(entries.indptr, first, side="right"))
    raise InvalidData(
        f"{table.source} holds {entries.data[first]:g} in row {row}, column {entries.indices[first]}, first "
        f"of {counted(int(wrong.sum()), 'cell')} without a finite number; correct it, or leave the cell out."
    )


def _median(column: Array, weight: Array | None) -> float:
    """The median of what is known, a row of weight 2 counting as two rows."""
    known = ~np.isnan(column)
    column, weight = column[known], None if weight is None else weight[known]
    if not len(column):
        # A fold may hold nothing but gaps of a column: any number will do, for the column then says nothing.
        return 0.0
    if weight is None:
        return float(np.median(column))
    order = np.argsort(column)
    column, up_to = column[order], np.cumsum(weight[order])
    # Where the lower half ends exactly between two rows, the mean of both.
    low, high = (np.searchsorted(up_to, up_to[-1] / 2, side=side) for side in ("left", "right"))
    return float((column[low] + column[high]) / 2)


def _none(table: Table) -> Array:
    return np.empty((table.n_rows, 0))


def _of_width(X: Any, width: int) -> Any:
    """The first columns of a sparse matrix; columns that it lacks are zero."""
    if X.shape[1] >= width:
        return X[:, :width]
    return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
