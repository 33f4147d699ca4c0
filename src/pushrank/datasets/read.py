"""Tables out of files: CSV, TSV, Parquet and svmlight, compressed or not, or from standard input."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from pushrank.datasets.delimited import read_delimited
from pushrank.datasets.table import Table, require_columns
from pushrank.exceptions import InvalidData, InvalidParameter, MissingExtra

Format: TypeAlias = Literal["auto", "csv", "tsv", "parquet", "svmlight"]

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
_KNOWN = ("auto", "csv", "tsv", "parquet", "svmlight")
_SVMLIGHT_LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?$")


def read_table(
    source: Any,
    *,
    target: str | None = None,
    format: Format = "auto",
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    words: Iterable[str] = (),
    n_features: int | None = None,
) -> Table:
    r"""Read a table: CSV, TSV, Parquet or svmlight.

    Parameters
    ----------
    source : str, path-like or file object
        A file, compressed by gzip or not; ``"-"`` is standard input.
    target : str, default=None
        The column that says what is to be brought to the top. Of svmlight files it is always ``"target"``.
    format : {"auto", "csv", "tsv", "parquet", "svmlight"}, default="auto"
        By default the name's ending decides; where it says nothing, the content.
    delimiter : str, default=None
        What parts the cells of a text; by default a tab in a TSV, elsewhere the most frequent of comma, tab
        and semicolon in the first line.
    names : sequence of str, default=None
        The columns' names, for a text without a header.
    words : iterable of str, default=()
        Columns to be kept as words though they look like numbers: identifiers, codes with leading zeros,
        whole numbers beyond 2**53, which a float64 cannot tell apart.
    n_features : int, default=None
        The number of columns of an svmlight matrix, so that two files of one problem get equally many; by
        default the largest index of the file and one.

    Returns
    -------
    Table
        Columns of numbers (float64; an empty cell, ``NA``, ``NaN``, ``null`` or ``?`` is NaN) or of words. An
        svmlight file gives a CSR matrix in `sparse`, whose column numbers are the indices as written: of a
        file that counts from 1, column 0 is empty.

    Raises
    ------
    InvalidData
        If the file is not there, is empty, or is not such a table; one sentence says where and why.
    MissingExtra
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    Text is UTF-8, with or without a byte order mark; lines end as in Unix, Windows or old Macs; blank lines
    are skipped. Where semicolons part the cells, a comma in a number is its decimal point.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.StringIO("id,amount,late\na1,10.5,1\na2,,0\n"), target="late")
    >>> table.n_rows, table.number_names, table.word_names
    (2, ('amount',), ('id',))
    >>> table.column("amount")
    array([10.5,  nan])
    """
    if format not in _KNOWN:
        raise InvalidParameter(f"format must be one of {', '.join(_KNOWN)}; got {format!r}.")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InvalidParameter(
            f"delimiter must be one character other than a quote or a line end; got {delimiter!r}."
        )
    if names is not None and not len(names):
        raise InvalidParameter("names must hold at least one column name; got none.")
    name, content = _content(source)
    content = _decompressed(content, name)
    if not content.strip():
        raise InvalidData(f"{name} is empty; it needs a line of column names and at least one row.")
    kind = _kind(name, content) if format == "auto" else format
    as_words = tuple(words)
    if kind == "parquet":
        return Table.from_frame(_parquet(content, name), target=target, words=as_words, source=name)
    if kind == "svmlight":
        return _svmlight(content, name, target, n_features)
    if kind == "tsv" and delimiter is None:
        delimiter = "\t"
    columns, lines = read_delimited(content, name, delimiter=delimiter, names=names, words=as_words)
    return Table(columns, len(next(iter(columns.values()))), target, name, lines=lines)


def _content(source: Any) -> tuple[str, bytes]:
    """How messages call the source, and all its bytes."""
    if isinstance(source, str) and source == "-":
        return "standard input", _all_of(getattr(sys.stdin, "buffer", sys.stdin), "standard input")
    if isinstance(source, str | os.PathLike):
        path = Path(os.fspath(source))
        name = str(path)
        try:
            return name, path.read_bytes()
        except FileNotFoundError as error:
            raise InvalidData(f"There is no file {name}; check the name and the folder.") from error
        except IsADirectoryError as error:
            raise InvalidData(f"{name} is a folder; give a file in it.") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InvalidData(f"{name} cannot be read: {reason}.") from error
    if not hasattr(source, "read"):
        raise InvalidParameter(
            f"source must be a file name, '-' or a file object; got {type(source).__name__}. "
            f"For a data frame use Table.from_frame."
        )
    given = getattr(source, "name", None)
    name = given if isinstance(given, str) else "the stream"
    return name, _all_of(source, name)


def _all_of(stream: Any, name: str) -> bytes:
    if stream is None:
        raise InvalidData(f"{name} is closed: name a file, or send the table there.")
    try:
        content = stream.read()
    except (OSError, ValueError) as error:
        raise InvalidData(f"{name} cannot be read: {error}.") from error
    # A lone surrogate is no text; passed on as its bytes, it is found where bytes are found not to be UTF-8.
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)


def _decompressed(content: bytes, name: str) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidData(f"{name} is not a whole gzip file ({error}); copy or download it again.") from error


def _kind(name: str, content: bytes) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    path = Path(name)
    ending = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else path.suffix
    if ending.lower() in _FORMATS:
        return _FORMATS[ending.lower()]
    first = next((line for line in content[:65_536].splitlines() if not line.startswith(b"#")), b"")
    return "svmlight" if _SVMLIGHT_LINE.match(first) else "csv"


def _parquet(content: bytes, name: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(
            "Parquet needs pyarrow: pip install 'pushrank[parquet]', or save the table as CSV."
        ) from error
    try:
        return pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError, EOFError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InvalidData(f"{name} is not a Parquet file that can be read: {reason}.") from error


def _svmlight(content: bytes, name: str, target: str | None, n_features: int | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    try:
        # zero_based=True takes indices as written. The guess ("auto") would shift a file without index 0 by
        # one column against its sibling that has it.
        sparse, y, lists = load_svmlight_file(
            io.BytesIO(content), n_features=n_features, query_id=True, zero_based=True
        )
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        reason = str(error).rstrip(".")
        raise InvalidData(f"{name} is not an svmlight file that can be read: {reason}.") from error
    if not len(y):
        raise InvalidData(f"{name} has no rows; an svmlight file has one line a row: target index:value ...")
    columns = {"target": np.asarray(y, dtype=np.float64)}
    if len(lists) not in (0, len(y)):
        raise InvalidData(
            f"{name} has a qid in {len(lists)} of its {len(y)} rows; give all rows one, or none."
        )
    if len(lists):
        columns["qid"] = np.asarray(lists, dtype=np.float64)
    if target is not None:
        require_columns(["target"], [target], name)
    return Table(columns, len(y), "target", name, sparse)
