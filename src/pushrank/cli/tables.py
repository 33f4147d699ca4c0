"""What the commands read of tables: columns named by options, labels, weights, budgets."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushrank._typing import Array
from pushrank.cli.messages import counted, listed, warn
from pushrank.exceptions import InvalidData, InvalidParameter, PushRankError, closest

if TYPE_CHECKING:
    from pushrank.budget import Budget
    from pushrank.datasets import Table


SHOWN_SHARE = 0.05
"""Without --top, here or at the fit, so much of the list is looked at."""


class Top(click.ParamType):  # type: ignore[type-arg]  # Generic only in the newest click.
    """A budget: a count, or a share such as 0.05 or 5%."""

    name = "K|SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from pushrank.metrics import Budget

        text = str(value).strip()
        try:
            k: float = (
                float(text[:-1]) / 100
                if text.endswith("%")
                else int(text)
                if _is_whole(text)
                else float(text)
            )
        except ValueError:
            self.fail(f"{text!r} is neither a count nor a share; give 50, 0.05 or 5%.", param, ctx)
        try:
            Budget(k)
        except InvalidParameter as error:
            self.fail(str(error), param, ctx)
        return k


def open_table(source: str, words: Sequence[str] = ()) -> Table:
    """Read a table; those of `words` that it has are kept as words though they look like numbers."""
    from pushrank.datasets import read_table

    content: bytes | None = None
    if source == "-":
        if sys.stdin is None:
            raise PushRankError("Standard input is closed: name a file as TABLE, or send the table there.")
        given = getattr(sys.stdin, "buffer", sys.stdin).read()
        content = given.encode("utf-8") if isinstance(given, str) else given
    elif not Path(source).exists():
        raise InvalidParameter(f"There is no file {source}; check the name and the folder.")
    elif not Path(source).is_file() and not Path(source).is_dir():
        # A pipe, such as a shell's <(command), gives its bytes once only.
        content = Path(source).read_bytes()

    def read(words: Sequence[str]) -> Table:
        if content is None:
            return read_table(source, words=words)
        stream = io.BytesIO(content)
        stream.name = "standard input" if source == "-" else source
        return read_table(stream, words=words)

    try:
        table = read(words)
    except InvalidData:
        if not words:
            raise
        # Perhaps only a column is missing, of which the command will say more than the reader can.
        table = read(())
        table = read([name for name in words if name in table.columns])
    if table.lines is not None and all(name.isdecimal() for name in table.names):
        warn(
            f"All columns of {table.source} are named by numbers ({listed(table.names)}): is the header "
            "missing? The first line was read as names, not as a row; if it is one, put names above it."
        )
    return table


@dataclass(frozen=True)
class FirstPlaces:
    """The places of a list that are looked at: a share or a count of its rows, or of their weight.

    `k` is the weight of the whole list where that `is_all`; `remark` says so to a person who asked for more.
    """

    k: float
    total: float
    is_all: bool = False
    remark: str = ""

    @classmethod
    def of(cls, asked: float | None, n_rows: int, weight: Array | None, source: str) -> FirstPlaces:
        """Those that were asked for; else `SHOWN_SHARE` of the list, or one place where it has few rows."""
        total = float(n_rows if weight is None else weight.sum())
        k = asked
        if k is None:
            k = SHOWN_SHARE if max(total, n_rows) * SHOWN_SHARE >= 1 else 1
        if 0 < k < 1 or k <= total:  # A share is of any total, however small its weights are.
            return cls(k, total)
        remark = ""
        if asked is not None:
            whole = counted(n_rows, "row") if weight is None else f"total weight {total:g}"
            remark = f"k = {asked} is more than the {whole} of {source}; all are counted."
        return cls(int(total) if total.is_integer() else total, total, True, remark)

    @property
    def budget(self) -> Budget:
        """What the measures take; in a shorter list, in proportion."""
        from pushrank.budget import Budget

        # All of a list is one place of a list of one place.
        return Budget(1, of=1) if self.is_all else Budget(self.k).within(self.total)

    @property
    def is_share(self) -> bool:
        """Whether they are a share of the list."""
        return not self.is_all and self.budget.is_share

    def __str__(self) -> str:
        if self.is_all:
            return "the whole"
        return f"the first {100 * self.k:g}%" if self.is_share else f"the first {self.k:,}"


def require_column(table: Table, name: str, option: str) -> None:
    """Refuse a column that an option names and the table lacks."""
    if name not in table.columns:
        raise InvalidParameter(
            f"{table.source} has no column {name!r}{closest(name, table.names)}, which {option} names; "
            f"it has: {listed(table.names, 12)}."
        )


@dataclass(frozen=True, eq=False)
class Labels:
    """Which rows belong at the top, by which label of how many."""

    is_positive: Array
    positive: str
    others: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.is_positive)

    @property
    def n_positives(self) -> int:
        """The number of rows that belong at the top."""
        return int(self.is_positive.sum())

    def rows(self, index: Array) -> Labels:
        """Some of the rows."""
        return Labels(self.is_positive[index], self.positive, self.others)


def read_labels(table: Table, target: str, positive: str | None) -> Labels:
    """The rows that belong at the top: those labelled `positive`, by default the greater of two labels."""
    import numpy as np

    column = table.column(target)
    missing = column == "" if table.holds_words(target) else np.isnan(column)
    where = f"Column {target!r} of {table.source}"
    if missing.any():
        raise InvalidData(
            f"{where} is empty in {int(missing.sum())} of {len(column)} rows, first in row "
            f"{int(np.argmax(missing)) + 1}; leave out the rows whose answer is not known."
        )
    values, codes = np.unique(column, return_inverse=True)
    names = written_labels(values)
    if len(names) < 2:
        raise InvalidData(
            f"{where} holds one label only ({names[0]!r}, {len(column)} rows): a ranking needs rows of two "
            "classes; check the column."
        )
    if positive is None:
        if len(names) > 2:
            raise InvalidParameter(
                f"{where} holds {len(names)} labels ({listed(names)}): say by --positive which one belongs "
                "at the top; all others go below it."
            )
        positive = names[1]
    chosen = _place(positive, names)
    if chosen is None:
        raise InvalidParameter(
            f"{where} has no label {positive!r}{closest(positive, names)}, which --positive names; it has: "
            f"{listed(names, 12)}."
        )
    others = tuple(name for j, name in enumerate(names) if j != chosen)
    return Labels(codes == chosen, names[chosen], others)


def read_weights(table: Table, name: str | None, option: str = "--weights") -> Array | None:
    """The column of weights, complete; the library judges the numbers."""
    import numpy as np

    if name is None:
        return None
    require_column(table, name, option)
    if table.holds_words(name):
        raise InvalidData(
            f"Column {name!r} of {table.source} holds words; {option} needs a column of numbers."
        )
    weights = table.column(name)
    bad = ~np.isfinite(weights)
    if bad.any():
        raise InvalidData(
            f"Column {name!r} of {table.source} has no finite number in {int(bad.sum())} rows, first in row "
            f"{int(np.argmax(bad)) + 1}; {option} needs one in each row (0 leaves a row out)."
        )
    if (weights < 0).any() or not weights.any():
        what = (
            f"{weights.min():g} in row {int(np.argmin(weights)) + 1}"
            if weights.min() < 0
            else "0 in every row"
        )
        raise InvalidData(
            f"Column {name!r} of {table.source} holds {what}; weights must be 0 or more, not all 0."
        )
    return weights


def written_labels(values: Array) -> list[str]:
    """Labels as a person writes them: 1, not 1.0."""
    return [value if isinstance(value, str) else f"{value:.15g}" for value in values.tolist()]


def _place(wanted: str, names: Sequence[str]) -> int | None:
    if wanted in names:
        return names.index(wanted)
    try:
        number = f"{float(wanted):.15g}"
    except ValueError:
        return None
    return names.index(number) if number in names else None


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdecimal()
