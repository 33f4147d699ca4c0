"""What a table is here: named columns of numbers or words, and perhaps a sparse matrix of features."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from pushrank._typing import Array
from pushrank.exceptions import InvalidData

_NAMES_SHOWN = 12


class Lines:
    """On which line of a text each row starts; rows that follow one another line by line cost nothing."""

    def __init__(self) -> None:
        self._n_rows = 0
        self._rows: list[int] = []
        self._ahead: list[int] = []

    def add(self, line: int) -> None:
        """The line of the next row."""
        ahead = line - self._n_rows
        if not self._ahead or ahead != self._ahead[-1]:
            self._rows.append(self._n_rows)
            self._ahead.append(ahead)
        self._n_rows += 1

    def of(self, row: int) -> int:
        """The line, from 1, of a row, from 0."""
        return row + self._ahead[bisect_right(self._rows, row) - 1]


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length, each of numbers or of words.

    Attributes
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
        The columns in their order. Numbers are float64, a missing one NaN; words are ``str`` in an object
        array, a missing one the empty string.
    n_rows : int
        The number of rows, at least one.
    target : str or None
        The column that says what is to be brought to the top, where it was named.
    source : str
        Where the table came from, as messages call it.
    sparse : scipy.sparse.csr_matrix of shape (n_rows, n_indices) or None
        The features of an svmlight file, one column per index written there; `columns` then holds ``target``
        and, where the file has them, ``qid``.
    lines : Lines or None
        On which lines of a delimited text the rows start.

    Examples
    --------
    >>> table = Table({"age": np.array([41.0, 23.0]), "city": np.array(["Bern", "Pisa"], dtype=object)}, 2)
    >>> table.number_names, table.word_names
    (('age',), ('city',))
    >>> table.matrix(["age"])
    array([[41.],
           [23.]])
    """

    columns: Mapping[str, Array] = field(repr=False)
    n_rows: int
    target: str | None = None
    source: str = "the table"
    sparse: Any = field(default=None, repr=False)
    lines: Lines | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        if self.target is not None:
            self.column(self.target)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, the target's among them."""
        return tuple(self.columns)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of all columns but the target."""
        return tuple(name for name in self.columns if name != self.target)

    @property
    def number_names(self) -> tuple[str, ...]:
        """The features that hold numbers."""
        return tuple(name for name in self.features if not self.holds_words(name))

    @property
    def word_names(self) -> tuple[str, ...]:
        """The features that hold words."""
        return tuple(name for name in self.features if self.holds_words(name))

    def column(self, name: str) -> Array:
        """One column by its name.

        Raises
        ------
        InvalidData
            If there is no such column; the message lists those there are.
        """
        require_columns(self.columns, [name], self.source)
        return self.columns[name]

    def holds_words(self, name: str) -> bool:
        """Whether a column holds words, not numbers."""
        return bool(self.column(name).dtype == object)

    def place(self, row: int) -> str:
        """How messages call a row, counted from 0: by its line in a text, by its number from 1 elsewhere."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines.of(row)}"

    @property
    def y(self) -> Array:
        """The values of the target column."""
        if self.target is None:
            raise InvalidData(f"No column of {self.source} was named as the target; name one with target=.")
        return self.columns[self.target]

    def matrix(self, names: Iterable[str] | None = None) -> Any:
        """Columns of numbers side by side.

        Parameters
        ----------
        names : iterable of str, default=None
            The columns wanted; by default all features: of a sparse table, its sparse matrix.

        Returns
        -------
        ndarray of shape (n_rows, n_names), float64, or scipy.sparse.csr_matrix

        Raises
        ------
        InvalidData
            If a column is not there, or holds words: those are never left out in silence.
        """
        if names is None and self.sparse is not None:
            return self.sparse
        wanted = list(self.features if names is None else names)
        words = [name for name in wanted if self.holds_words(name)]
        if words:
            raise InvalidData(
                f"Columns of {self.source} hold words, which have no place in a matrix of numbers: "
                f"{_listed(words)}. Encode them (one-hot), or name only columns of numbers."
            )
        return self._beside(wanted, np.float64)

    def words(self, names: Iterable[str] | None = None) -> Array:
        """Columns side by side as words, ready to be one-hot encoded.

        Parameters
        ----------
        names : iterable of str, default=None
            The columns wanted; by default all features that hold words. Numbers are written out.

        Returns
        -------
        ndarray of shape (n_rows, n_names) of str, dtype object
        """
        wanted = list(self.word_names if names is None else names)
        cells = self._beside(wanted, object)
        for j, name in enumerate(wanted):
            if not self.holds_words(name):
                cells[:, j] = written(self.columns[name])
        return cells

    def _beside(self, names: Sequence[str], dtype: Any) -> Array:
        # Fortran order: every column is written, and later scaled or binned, in one run of memory.
        cells = np.empty((self.n_rows, len(names)), dtype=dtype, order="F")
        for j, name in enumerate(names):
            cells[:, j] = self.column(name)
        return cells

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        target: str | None = None,
        words: Iterable[str] = (),
        source: str = "the data frame",
    ) -> Table:
        """A table of the columns of a data frame of any library that narwhals knows.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, ... data frame
            Numbers and truth values become numbers. Strings, categories, dates and times become words. A
            column of lists, structures or bytes is refused.
        target : str, default=None
            The column that says what is to be brought to the top.
        words : iterable of str, default=()
            Columns to be kept as words though they hold numbers.
        source : str, default="the data frame"
            How messages call the frame.

        Returns
        -------
        Table

        Raises
        ------
        InvalidData
            If it is no data frame, has no rows, names a column twice, or holds what is neither number nor
            word.
        """
        import narwhals as nw

        try:
            data: Any = nw.from_native(frame)
            if isinstance(data, nw.LazyFrame):
                data = data.collect()
            names = [str(name) for name in data.columns]
            series = list(data.iter_columns())
        except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
            raise InvalidData(f"{source} cannot be read as a data frame: {_first_line(error)}") from error
        require_distinct(names, source)
        if not names or not len(data):
            raise InvalidData(f"{source} has no rows or no columns; a table needs at least one of each.")
        as_words = frozenset(words)
        require_columns(names, [*as_words, *([] if target is None else [target])], source)
        columns = {
            name: _frame_column(column, name in as_words, f"{source}, column {name!r}")
            for name, column in zip(names, series, strict=True)
        }
        return cls(columns, len(data), target, source)


def require_columns(names: Iterable[str], wanted: Iterable[str], source: str) -> None:
    """Raise one sentence if a wanted column is not among the names."""
    there = list(names)
    for name in wanted:
        if name not in there:
            raise InvalidData(f"{source} has no column {name!r}; it has: {_listed(there)}.")


def require_distinct(names: Sequence[str], source: str) -> None:
    """Raise one sentence if two columns share a name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidData(f"{source} has two columns named {name!r}; rename one of them.")
        seen.add(name)


def written(column: Array) -> list[str]:
    """The cells of a column as a file holds them: whole numbers without a point, missing as empty."""
    values = np.asarray(column)
    if values.dtype == object or values.dtype.kind in "US":
        return ["" if value is None else str(value) for value in values.tolist()]
    if values.dtype.kind != "f":
        return [str(int(value)) for value in values.tolist()]
    finite = np.isfinite(values)
    # Beyond 2**53 a float64 is whole by force, and its digits would pretend to a precision that it lacks.
    whole = np.all(values[finite] == np.floor(values[finite])) and np.all(np.abs(values[finite]) < 2**53)
    filled = np.where(finite, values, 0.0)
    cells = list(map(str if whole else repr, (filled.astype(np.int64) if whole else filled).tolist()))
    for i in np.flatnonzero(~finite):
        cells[i] = "" if np.isnan(values[i]) else repr(float(values[i]))
    return cells


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    hidden = len(names) - _NAMES_SHOWN
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") + "." if lines else type(error).__name__ + "."


def _frame_column(series: Any, as_words: bool, where: str) -> Array:
    import narwhals as nw

    dtype = series.dtype
    if as_words or dtype in (nw.String, nw.Categorical, nw.Enum) or dtype.is_temporal():
        return _object_array([_word(value) for value in series.to_list()])
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values = [None if _is_missing(value) else value for value in series.to_list()]
    present = [value for value in values if value is not None]
    if all(isinstance(value, int | float | np.number | np.bool_) for value in present):
        return np.array([np.nan if value is None else float(value) for value in values])
    if all(isinstance(value, str) for value in present):
        return _object_array([value or "" for value in values])
    kinds = sorted({type(value).__name__ for value in present})
    raise InvalidData(
        f"{where} holds neither numbers nor words alone ({_listed(kinds)}); convert it to one or the other."
    )


def _is_missing(value: object) -> bool:
    # pandas.NA is neither equal nor unequal to itself; its name is the one sign that needs no import of
    # pandas.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or _is_nan(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def _word(value: object) -> str:
    return "" if _is_missing(value) else str(value)


def _object_array(values: Sequence[object]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
