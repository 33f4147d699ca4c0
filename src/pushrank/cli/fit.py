"""`pushrank fit`: a table in, a model out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from pushrank.cli.messages import (
    counted,
    example,
    listed,
    note,
    require_room,
    require_standard_output,
)
from pushrank.cli.tables import FirstPlaces, Top, open_table, read_labels, read_weights, require_column
from pushrank.exceptions import InvalidParameter

if TYPE_CHECKING:
    from pushrank import PushRanker
    from pushrank._typing import Array
    from pushrank.cli.tables import Labels
    from pushrank.datasets import Table


@dataclass(frozen=True)
class Order:
    """What the options of `pushrank fit` ask for."""

    table: str
    target: str | None
    positive: str | None
    top: float | None
    output: str
    loss: str
    push: str
    power: float | None
    C: float
    tol: float
    max_iter: int
    weights: str | None
    drop: tuple[str, ...]
    words: tuple[str, ...]
    id_column: str | None
    folds: int
    as_json: bool


@click.command(
    "fit",
    short_help="Learn from a table; write a model.",
    epilog=example(
        "pushrank datasets wdbc -o wdbc.csv",
        "pushrank fit wdbc.csv --target target --top 30 -o wdbc.model",
    ),
)
@click.argument("table", metavar="TABLE")
@click.option("--target", metavar="COLUMN", help="The column that says which rows belong at the top.")
@click.option("--positive", metavar="LABEL", help="The label in it that does; by default the greater of two.")
@click.option("--top", type=Top(), help="How many cases can be acted on: 50, 0.05 or 5%.")
@click.option("-o", "--output", metavar="MODEL", required=True, help="The file to write the model to.")
@click.option("--loss", default="exponential", show_default=True, help="The loss of a pull.")
@click.option("--push", default="power", show_default=True, help="A price or a top: what makes the top dear.")
@click.option("-p", "--power", metavar="P", type=float, help="p of --push power (default 2) or soft_top (8).")
@click.option("--C", "C", type=float, default=1.0, show_default=True, help="Inverse strength of the penalty.")
@click.option("--tol", metavar="GAP", type=float, default=1e-4, show_default=True, help="When to stop.")
@click.option(
    "--max-iter", metavar="N", type=int, default=1000, show_default=True, help="The most iterations."
)
@click.option("--weights", metavar="COLUMN", help="A weight of 2 equals the row written twice.")
@click.option("--drop", metavar="COLUMN", multiple=True, help="Do not learn from this column; repeatable.")
@click.option(
    "--words", metavar="COLUMN", multiple=True, help="Its numbers are codes, not amounts; repeatable."
)
@click.option("--id", "id_column", metavar="COLUMN", help="Names the rows; kept out of the model.")
@click.option(
    "--folds",
    metavar="N",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Of the held-out check; 0 skips it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(**options: Any) -> None:
    """Learn from TABLE to rank: the rows whose target is positive belong at the top.

    Columns of words become one column of 0 and 1 per word. Gaps in numbers are filled by the median and
    marked by a column of their own; numbers are brought to mean 0 and standard deviation 1, so that the
    penalty treats them alike. The model keeps all this and does the same to every table it ranks.

    Losses: exponential, logistic, hinge, squared_hinge, smoothed_hinge. Pushes: identity, power,
    top_fraction, exponential (prices), maximum, mean_of_top, soft_top, quantile (tops).

    Ctrl-C ends the fit and saves the best model so far, with a warning; a second Ctrl-C saves nothing.
    """
    fit(Order(**options))


def fit(order: Order) -> None:
    """Read, fit, save, report."""
    part = make_push(order)
    if order.output == "-":
        raise InvalidParameter("A model cannot go to standard output: name a file after -o.")
    if order.folds == 1:
        raise InvalidParameter("--folds must be at least 2, or 0 to skip the held-out check; got 1.")
    require_standard_output()
    require_room(order.output, order.table)
    table = open_table(order.table, [*order.words, *([order.id_column] if order.id_column else [])])
    target = _target(table, order.target)
    left_out = _left_out(table, target, order)
    labels = read_labels(table, target, order.positive)
    weight = read_weights(table, order.weights)
    _say_labels(target, labels, order)
    _fit_and_report(order, table, target, labels, weight, left_out, part)


def make_push(order: Order) -> Any:
    """The push with its p; unknown names are refused before the table is read."""
    from pushrank.prices import Power
    from pushrank.risks import make_risk
    from pushrank.tops import SoftTop

    make_risk(order.loss, order.push)
    if order.power is None:
        return order.push
    if order.push not in ("power", "soft_top"):
        raise InvalidParameter(f"--power belongs to --push power or soft_top; --push {order.push} has no p.")
    if order.power == float("inf"):
        # The library's sentence names its classes, which nobody can type here.
        loss = "exponential" if order.push == "power" else order.loss
        raise InvalidParameter(f"-p must be finite; for its limit give --loss {loss} --push maximum.")
    return Power(order.power) if order.push == "power" else SoftTop(order.power)


def _target(table: Table, name: str | None) -> str:
    if name is None:
        if table.sparse is not None:
            return "target"
        raise InvalidParameter(
            f"--target must name the column that says which rows belong at the top; {table.source} has: "
            f"{listed(table.names, 12)}."
        )
    require_column(table, name, "--target")
    return name


def _left_out(table: Table, target: str, order: Order) -> list[str]:
    """The columns that the ranker does not read, the options' names checked."""
    named = [("--drop", name) for name in order.drop] + [("--words", name) for name in order.words]
    named += [("--id", order.id_column)] if order.id_column else []
    named += [("--weights", order.weights)] if order.weights else []
    for option, name in named:
        require_column(table, name, option)
        if name == target:
            raise InvalidParameter(f"{option} {name} names the target; it can be only one of the two.")
    return [target, *dict.fromkeys(name for option, name in named if option != "--words")]


def _say_labels(target: str, labels: Labels, order: Order) -> None:
    share = f"{labels.n_positives:,} of {counted(labels.n, 'row')}, {labels.n_positives / labels.n:.1%}"
    others = "all others" if len(labels.others) > 1 else labels.others[0]
    turn = f" (--positive {others} turns that round)" if order.positive is None else ""
    note(f"{target} = {labels.positive} belongs at the top: {share}; {others} below it{turn}.")


def _fit_and_report(
    order: Order,
    table: Table,
    target: str,
    labels: Labels,
    weight: Array | None,
    left_out: list[str],
    part: Any,
) -> None:
    from pushrank import PushRanker
    from pushrank.cli.fit_report import Outcome, report
    from pushrank.cli.held_out import first_places, held_out
    from pushrank.cli.model_file import Model, save
    from pushrank.cli.preparation import plan
    from pushrank.cli.progress import Progress

    preparation, said = plan(table, left_out, order.words)
    if table.sparse is not None and "qid" in table.columns:
        said.append("qid is not used: all rows are ranked as one list.")
    for sentence in said:
        note(sentence)
    cells = preparation.read(table)
    if weight is not None and not weight.all():
        present = weight > 0
        cells, labels, weight = cells.rows(present), labels.rows(present), weight[present]
        note(f"{counted(table.n_rows - labels.n, 'row')} of weight 0 left out.")
    places = FirstPlaces.of(order.top, labels.n, weight, table.source)
    if places.remark:
        note(places.remark)
    X = preparation.fit(cells, weight).transform(cells)
    preparation.remember_mean(X, weight)
    ranker = PushRanker(order.loss, part, C=order.C, tol=order.tol, max_iter=order.max_iter)
    folds, skipped = _folds(order.folds, labels)
    unseen = None
    with Progress(1 + folds) as progress:

        def fit_one(one: PushRanker, X: Any, is_positive: Array, weight: Array | None, fold: int) -> bool:
            progress.step("fitting" if fold == 0 else f"held-out fold {fold}", fold)
            one.set_callbacks(progress).fit(X, is_positive.astype(int), sample_weight=weight)
            # A model in a file needs no callbacks, which belong to this terminal.
            one.set_callbacks()
            return bool(one.status_ != "STOPPED")

        is_whole = fit_one(ranker, X, labels.is_positive, weight, 0)
        model = Model(
            ranker=ranker,
            preparation=preparation,
            target=target,
            positive=labels.positive,
            budget=order.top,
            id=order.id_column,
            weights=order.weights,
            unused=[name for name in table.names if name not in preparation.features],
            n_rows=table.n_rows,
        )
        save(model, order.output)
        training = first_places(labels.is_positive, ranker.decision_function(X), weight, places.budget)
        if folds and is_whole:
            try:
                unseen = held_out(
                    ranker, preparation, cells, labels.is_positive, weight, places.budget, folds, fit_one
                )
            except KeyboardInterrupt:
                unseen = None
    if not is_whole:
        skipped = "the fit was stopped by the keyboard"
    elif folds and unseen is None:
        skipped = "it was stopped by the keyboard; the model was saved before"
    if skipped:
        note(f"no held-out check: {skipped}.")
    report(
        order, Outcome(ranker, preparation, labels, weight, int(X.shape[1]), places, training, unseen, folds)
    )


def _folds(wanted: int, labels: Labels) -> tuple[int, str]:
    """How many folds the classes allow, and why none where fewer than wanted."""
    smaller = min(labels.n_positives, labels.n - labels.n_positives)
    if wanted and smaller < wanted:
        return 0, f"the smaller class has {counted(smaller, 'row')}, fewer than the {wanted} folds"
    return wanted, ""
