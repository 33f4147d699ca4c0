"""Columns out of delimited text (comma, tab, semicolon), without pandas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

import numpy as np

from pushrank._typing import Array
from pushrank.datasets.table import Lines, require_columns, require_distinct
from pushrank.exceptions import InvalidData

MISSING = frozenset(["", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None"])
"""What stands for a missing number. Among words these are words like the others, the empty one aside."""

_DELIMITERS = ",\t;"
_CHUNK = 20_000  # Rows held as strings at a time: a cell of text costs some fifty bytes, a number eight.
_CELL_SHOWN = 40


def read_delimited(
    text: bytes,
    source: str,
    *,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    words: Sequence[str] = (),
) -> tuple[dict[str, Array], Lines]:
    """The columns of a delimited text in UTF-8, with a header unless `names` are given, and their lines.

    A column is one of numbers if each of its cells is a number or stands for a missing one (`MISSING`), else
    one of words. With semicolons between the cells, a comma in a number is its decimal point.
    """
    _require_text(text, source)
    delimiter = delimiter or _likely_delimiter(text)
    as_words: set[int] = set()
    while True:
        lines = Lines()
        columns, late = _one_pass(text, source, delimiter, names, words, as_words, lines)
        if not late:
            return columns, lines
        # The cells that were read as numbers are gone, and "007" is not 7: read again, knowing the words.
        as_words |= late


def _one_pass(
    text: bytes,
    source: str,
    delimiter: str,
    names: Sequence[str] | None,
    words: Sequence[str],
    as_words: set[int],
    lines: Lines,
) -> tuple[dict[str, Array], set[int]]:
    """The columns, and which of them turned out to be of words when some cells had been read as numbers."""
    records = _records(text, source, delimiter)
    if names is None:
        names = _header(records, source)
    require_distinct(names, source)
    require_columns(names, words, source)
    text_columns = as_words | {j for j, name in enumerate(names) if name in set(words)}
    parts: list[list[Array]] = [[] for _ in names]
    one_copy: list[dict[str, str]] = [{} for _ in names]
    late: set[int] = set()
    beyond: dict[int, str] = {}
    for rows in _chunks(records, len(names), source, delimiter, lines):
        for j, cells in enumerate(zip(*rows, strict=True)):
            if j not in text_columns:
                numbers = _numbers(cells, delimiter == ";")
                if numbers is not None:
                    if np.isinf(numbers).any():
                        beyond.update((j, cell) for cell in cells if _is_beyond(cell))
                    parts[j].append(numbers)
                    continue
                text_columns.add(j)
                if parts[j]:
                    late.add(j)
            if j not in late:
                same = one_copy[j]
                column = np.empty(len(cells), dtype=object)
                column[:] = [same.setdefault(cell, cell) for cell in cells]
                parts[j].append(column)
    if not any(parts):
        raise InvalidData(f"{source} has a header and no rows; it needs at least one row below the names.")
    for j, cell in beyond.items():
        if j not in text_columns:
            shown = cell if len(cell) <= _CELL_SHOWN else cell[:_CELL_SHOWN] + "…"
            raise InvalidData(
                f"{source}, column {names[j]!r}: {shown} is beyond what a float64 can hold; "
                f"correct it, or read the column as words."
            )
    if late:
        return {}, late
    return {name: np.concatenate(part) for name, part in zip(names, parts, strict=True)}, late


def _require_text(text: bytes, source: str) -> None:
    if text.startswith(b"PK\x03\x04"):
        raise InvalidData(f"{source} is a ZIP archive or a workbook; unpack it, or save it as CSV.")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise InvalidData(
            f"{source}, line {line}: byte 0x{text[error.start]:02x} is not UTF-8; save the file as UTF-8."
        ) from error
    at = text.find(b"\0")
    if at >= 0:
        line = text.count(b"\n", 0, at) + 1
        raise InvalidData(f"{source}, line {line}: a zero byte, which no text has; save the table as text.")


def _likely_delimiter(text: bytes) -> str:
    first = text.lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0].decode("utf-8")
    bare = re.sub(r'"[^"]*"', "", first)
    # max() keeps the first of equals, so a header of one column falls to the comma.
    return max(_DELIMITERS, key=bare.count)


def _records(text: bytes, source: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The number of the line on which each record starts, and its cells; blank lines are skipped."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8-sig", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InvalidData(
            f"{source}, line {line}: the quotes do not close as they should ({error}); mend them."
        ) from error


def _header(records: Iterator[tuple[int, list[str]]], source: str) -> list[str]:
    first = next(records, None)
    if first is None:
        raise InvalidData(f"{source} is empty; it needs a line of column names and at least one row.")
    line, names = first
    names = [name.strip() for name in names]
    for position, name in enumerate(names, start=1):
        if not name:
            raise InvalidData(
                f"{source}, line {line}: column {position} of {len(names)} has no name; name it, or "
                f"leave it out (pandas: to_csv(index=False))."
            )
    # Different whole numbers do name columns (years, the default of pandas); a measured value never does.
    numbers = _numbers(names, False)
    may_be_names = all(name.isdecimal() for name in names) and len(set(names)) == len(names)
    if numbers is not None and np.isfinite(numbers).all() and not may_be_names:
        raise InvalidData(
            f"{source}, line {line} holds numbers where the names of the columns should be; "
            f"add a line of names (in Python, names= gives them)."
        )
    return names


def _chunks(
    records: Iterator[tuple[int, list[str]]], n_columns: int, source: str, delimiter: str, lines: Lines
) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for line, cells in records:
        if len(cells) != n_columns:
            mark = {"\t": "tab", ",": "comma", ";": "semicolon"}.get(delimiter, repr(delimiter))
            raise InvalidData(
                f"{source}, line {line}: found {_counted(len(cells))} where {n_columns} were expected; "
                f"look for a missing {mark}, or one that needs quotes around it."
            )
        rows.append(cells)
        lines.add(line)
        if len(rows) == _CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


def _counted(n: int) -> str:
    return f"{n} field" if n == 1 else f"{n} fields"


def is_number(cell: str, decimal_comma: bool = False) -> bool:
    """Whether a cell is a number to the reader of tables, or stands for a missing one."""
    if "_" in cell:
        return False
    try:
        float(cell.replace(",", ".") if decimal_comma else cell)
    except ValueError:
        return cell.strip() in MISSING
    return True


def _numbers(cells: Sequence[str], decimal_comma: bool) -> Array | None:
    """The cells as float64, or None if one of them is a word."""
    if decimal_comma:
        cells = [cell.replace(",", ".") for cell in cells]
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        try:
            numbers = np.fromiter(
                ("nan" if cell.strip() in MISSING else cell for cell in cells), np.dtype(object), len(cells)
            ).astype(np.float64)
        except ValueError:
            return None
    # Python reads 1_000 as a number; in a table it is a code.
    return None if "_" in "".join(cells) else numbers


def _is_beyond(cell: str) -> bool:
    """Whether a cell, one of numbers, is a finite number that became infinite."""
    return not any(letter in cell.lower() for letter in "?nu") and bool(
        np.isinf(float(cell.replace(",", ".")))
    )
