"""`pushrank rank`: a table and a model in, a list with reasons out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pushrank.cli.messages import counted, example, listed, note, require_room, writing
from pushrank.cli.tables import Top, open_table, require_column

if TYPE_CHECKING:
    from pushrank._typing import Array
    from pushrank.cli.model_file import Model
    from pushrank.cli.preparation import Cells
    from pushrank.datasets import Table

_ROWS_AT_A_TIME = 10_000
"""Reasons of a wide table are made in blocks, so that they never hold it twice."""


@click.command(
    "rank",
    short_help="Rank the rows of a table by a model, with reasons.",
    epilog=example(
        "pushrank rank new.csv --model wdbc.model --top 30 -o list.csv",
        "pushrank rank - --model wdbc.model < new.csv | head",
    ),
)
@click.argument("table", metavar="TABLE")
@click.option("--model", "model_path", metavar="MODEL", required=True, help="A file that pushrank fit wrote.")
@click.option("--top", type=Top(), help="How many rows to list; by default the --top of the fit, else all.")
@click.option(
    "-o", "--output", metavar="LIST", default="-", help="CSV, or Parquet by its ending; default stdout."
)
@click.option("--id", "id_column", metavar="COLUMN", help="Names the rows; by default the --id of the fit.")
@click.option(
    "--reasons",
    metavar="N",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="How many to give a row.",
)
def command(
    table: str, model_path: str, top: float | None, output: str, id_column: str | None, reasons: int
) -> None:
    """Rank the rows of TABLE, best first.

    The list has the columns place, row (its number in TABLE, the first being 1, or the --id), score, and
    reason_1 to reason_3: the columns that moved the row most, against the average training row. Rows of
    equal score stand in the order of TABLE.
    """
    from pushrank.cli.model_file import load
    from pushrank.datasets import write_table

    require_room(output, table, model_path)
    model = load(model_path)
    named = id_column or model.id
    data = open_table(table, [*model.preparation.words, *([named] if named else [])])
    if id_column:
        require_column(data, id_column, "--id")
    cells = read_cells(model, data)
    X = model.preparation.transform(cells)
    scores = model.ranker.decision_function(X)
    k = top if top is not None else model.budget
    rows = model.ranker.rank(X, top=k)
    if top is not None and top > data.n_rows:
        note(f"--top {top} is more than the {counted(data.n_rows, 'row')} of {data.source}; all are listed.")
    columns: dict[str, Any] = {"place": range(1, len(rows) + 1)}
    if named is not None and named in data.columns:
        columns[_free(named, columns)] = data.words([named])[rows, 0]
    else:
        columns["row"] = rows + 1
    columns[_free("score", columns)] = scores[rows]
    columns.update(reasons_of(model, data, X, rows, reasons))
    with writing(output):
        write_table(output, columns)
    budget = " (the --top of the fit)" if top is None and model.budget is not None else ""
    place = "standard output" if output == "-" else output
    note(f"{len(rows):,} of {counted(data.n_rows, 'row')}{budget} in {place}, best first.")


def read_cells(model: Model, table: Table) -> Cells:
    """The cells that the model needs, after a sentence on whatever is new about the table."""
    cells = model.preparation.read(table)
    expected = {*model.preparation.features, *model.unused, model.target, model.id, model.weights}
    extra = [name for name in table.names if name not in expected]
    if extra and model.preparation.n_sparse is None:
        note(f"not in the model and ignored: {listed(extra)}.")
    for sentence in model.preparation.remarks(cells):
        note(sentence)
    return cells


def reasons_of(model: Model, table: Table, X: Any, rows: Array, n_reasons: int) -> dict[str, list[str]]:
    """The columns that moved each row most, written as `name = cell (+contribution)`, largest first."""
    import numpy as np
    from scipy import sparse

    preparation = model.preparation
    features = preparation.features
    n_reasons = min(n_reasons, len(features))
    if not n_reasons:
        return {}
    average = 0.0
    if preparation.mean is not None:
        average = preparation.by_feature(model.ranker.explain(preparation.mean))
    found: list[list[str]] = [[] for _ in range(n_reasons)]
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        block = rows[start : start + _ROWS_AT_A_TIME]
        parts = preparation.by_feature(model.ranker.explain(X[block]))
        parts = np.asarray(parts.todense() if sparse.issparse(parts) else parts) - average
        order = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :n_reasons]
        cells = {int(j): _cells(table, features[j], block) for j in np.unique(order)}
        for i, chosen in enumerate(order):
            for r, j in enumerate(chosen):
                amount = parts[i, j]
                cell = cells[int(j)]
                shown = features[j] if cell is None else f"{features[j]} = {cell[i]}"
                found[r].append(f"{shown} ({amount:+.3g})" if amount else "")
    return {f"reason_{r + 1}": texts for r, texts in enumerate(found)}


def _cells(table: Table, name: str, rows: Array) -> list[str] | None:
    """The cells of a column as a person reads them; None where the table is an svmlight matrix."""
    if table.sparse is not None:
        return None
    column = table.column(name)[rows]
    if table.holds_words(name):
        return [cell or "missing" for cell in column]
    return ["missing" if cell != cell else f"{cell:.6g}" for cell in column.tolist()]


def _free(name: str, taken: dict[str, Any]) -> str:
    """The name, with a mark where another column of the list has it."""
    return f"{name}_" if name in taken else name
