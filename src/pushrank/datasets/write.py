"""Tables into files: CSV, TSV or Parquet, whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pushrank._typing import Array
from pushrank.datasets.table import written
from pushrank.exceptions import InvalidParameter, MissingExtra

_MOST_LINKS = 40
"""Links that lead to links in longer chains are refused by the system."""

_NEEDS_QUOTES = re.compile('[,;\t"\r\n\ufeff]')


def write_table(path: str | os.PathLike[str], columns: Mapping[str, Array | Sequence[Any]]) -> None:
    """Write columns to a file, in the form that its name's ending says.

    Parameters
    ----------
    path : str or path-like
        ``.parquet`` or ``.pq``: Parquet (needs pyarrow); ``.tsv`` or ``.tab``: tabs between the cells;
        anything else: CSV. A further ``.gz`` compresses text. ``"-"`` is standard output, as CSV.
    columns : mapping of str to array-like of shape (n_rows,)
        The columns in their order. NaN is written as an empty cell, a whole number without a point.

    Raises
    ------
    InvalidParameter
        If there is no column, or two differ in length.
    MissingExtra
        If Parquet is asked for and pyarrow is not installed.
    OSError
        If the file cannot be written. Nothing half-written is left, and a file that was there stays as it
        was. A pipe, a device or an open descriptor (``/dev/stdout``) is written to as it stands.
    """
    arrays = {str(name): _one_dimensional(name, values) for name, values in columns.items()}
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) != 1:
        found = ", ".join(f"{name} {len(values)}" for name, values in arrays.items())
        raise InvalidParameter(f"columns must all have the same number of rows; got: {found or 'no column'}.")
    if os.fspath(path) == "-":
        _to_standard_output(_delimited(arrays, ","))
        return
    destination = Path(path)
    # What is written is complete in memory before a file is touched: an error up to here costs nothing.
    content = _encoded(destination, arrays)
    write_whole(destination, content)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there in full or not at all: under another name first, then renamed.

    Raises
    ------
    OSError
        As writing does; the other name is removed, and what stood at `path` is left as it was.
    """
    if is_written_straight(path):
        # At the end, for what a shell appends to has something in it.
        with path.open("ab") as stream:
            stream.write(content)
        return
    # A link stays a link.
    path = Path(os.path.realpath(path))
    partial = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with partial.open("xb") as stream:
            stream.write(content)
            stream.flush()
            # A full disk may show only now, or not before the rename without it.
            os.fsync(stream.fileno())
        if path.exists():
            partial.chmod(path.stat().st_mode & 0o7777)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def is_written_straight(path: Path) -> bool:
    """Whether a path names a pipe, a device or an open descriptor, which cannot be renamed onto.

    /dev/stdout and the /dev/fd/63 of a shell's ``>(command)`` are links whose ends often are no path at all,
    so that they must be opened as they are.
    """
    if path.exists() and not path.is_file():
        return True
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            break
        folder = Path(os.path.realpath(path.parent))
        if folder.name == "fd" and folder.parts[1] in ("proc", "dev"):
            return True
        path = folder / path.readlink()
    return False


def _one_dimensional(name: object, values: Any) -> Array:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidParameter(f"Column {name!r} must have one dimension; got the shape {array.shape}.")
    return array


def _encoded(path: Path, arrays: Mapping[str, Array]) -> bytes:
    compressed = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("").suffix if compressed else path.suffix).lower()
    if ending in (".parquet", ".pq"):
        return _parquet(arrays)
    if ending in (".svm", ".svmlight", ".libsvm", ".xlsx", ".xls", ".json", ".feather"):
        raise InvalidParameter(f"{path.name}: a table is written as .csv, .tsv or .parquet, not as {ending}.")
    text = _delimited(arrays, "\t" if ending in (".tsv", ".tab") else ",").encode("utf-8")
    # Without the time in it, the same table gives the same bytes.
    return gzip.compress(text, mtime=0) if compressed else text


def _delimited(arrays: Mapping[str, Array], delimiter: str) -> str:
    columns = [[name, *written(values)] for name, values in arrays.items()]
    for column, values in zip(columns, arrays.values(), strict=True):
        column[0] = _quoted(column[0])
        if values.dtype.kind not in "fiub":
            column[1:] = map(_quoted, column[1:])
    if len(columns) == 1:
        # A lone empty cell would be a blank line, which readers skip.
        columns = [[cell or '""' for cell in columns[0]]]
    return "\n".join(map(delimiter.join, zip(*columns, strict=True))) + "\n"


def _quoted(cell: str) -> str:
    # csv.writer leaves a carriage return bare where lines end otherwise, and readers then end the line there.
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _parquet(arrays: Mapping[str, Array]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(
            "Parquet needs pyarrow: pip install 'pushrank[parquet]', or write to a name that ends in .csv."
        ) from error
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({name: pyarrow.array(a) for name, a in arrays.items()}), stream)
    return stream.getvalue()


def _to_standard_output(text: str) -> None:
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(text)
    else:
        # A table is UTF-8 whatever the terminal speaks, and has the same line ends everywhere.
        sys.stdout.flush()
        # Where Python does not buffer (PYTHONUNBUFFERED), a pipe may take a part only, and says how much.
        left = memoryview(text.encode("utf-8"))
        while left:
            left = left[binary.write(left) :]
    sys.stdout.flush()
