"""`pushrank evaluate`: how good a ranking is, measured on rows whose labels are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pushrank.cli.messages import counted, example, note, print_json, print_table, require_standard_output
from pushrank.cli.tables import (
    FirstPlaces,
    Labels,
    Top,
    open_table,
    read_labels,
    read_weights,
    require_column,
)
from pushrank.exceptions import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from pushrank._typing import Array
    from pushrank.budget import Budget
    from pushrank.datasets import Table

_WORDS = {
    "positives_at_top": "positives above every negative, a count",
    "r_infinity": "share of positives below the highest negative",
    "precision_at_k": "share of the first k that is positive",
    "recall_at_k": "share of the positives in the first k",
    "lift": "precision_at_k over what chance reaches",
    "average_precision": "mean precision over the positives",
    "auc": "share of pairs in the right order",
    "partial_auc": "the same, left end of the ROC curve",
    "ndcg": "discounted gain over the best possible",
}
_COUNTS = ("positives_at_top",)


@click.command(
    "evaluate",
    short_help="Measure a ranking by known labels.",
    epilog=example(
        "pushrank evaluate test.csv --target target --model wdbc.model --top 30",
        "pushrank evaluate test.csv --target target --score risk --json",
    ),
)
@click.argument("table", metavar="TABLE")
@click.option("--target", metavar="COLUMN", help="The column of the labels; by default the model's.")
@click.option(
    "--positive", metavar="LABEL", help="The label that belongs at the top; by default the model's."
)
@click.option("--model", "model_path", metavar="MODEL", help="A file that pushrank fit wrote.")
@click.option("--score", metavar="COLUMN", help="In place of a model: a column of scores, higher is better.")
@click.option("--top", type=Top(), help="How many cases can be acted on: 50, 0.05 or 5%.")
@click.option("--weights", metavar="COLUMN", help="A weight of 2 equals the row written twice.")
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
def command(
    table: str,
    target: str | None,
    positive: str | None,
    model_path: str | None,
    score: str | None,
    top: float | None,
    weights: str | None,
    as_json: bool,
) -> None:
    """Measure a ranking of TABLE: by a model, or by a column of scores that it has already.

    Rows of equal score count by their chance of coming first.
    """
    if (model_path is None) == (score is None):
        raise InvalidParameter("evaluate needs either --model MODEL or --score COLUMN, and not both.")
    require_standard_output()
    model = None
    if model_path is not None:
        from pushrank.cli.model_file import load

        model = load(model_path)
    data = open_table(table, model.preparation.words if model else ())
    if target is None:
        target = model.target if model else "target" if data.sparse is not None else None
    if target is None:
        raise InvalidParameter("--target must name the column of the labels.")
    require_column(data, target, "--target" if model is None else "--target (or the model)")
    # The model's label goes with the model's target alone: another column has labels of its own.
    if model is not None and positive is None and target == model.target:
        positive = model.positive
    labels = read_labels(data, target, positive)
    weight = read_weights(data, weights)
    if model is not None:
        from pushrank.cli.rank import read_cells

        scores: Array = model.ranker.decision_function(model.preparation.transform(read_cells(model, data)))
    else:
        scores = _scores(data, str(score))
    k = top if top is not None else model.budget if model is not None else None
    places = FirstPlaces.of(k, labels.n, weight, data.source)
    if k is None:
        note(f"no --top: {places} of the list is looked at.")
    if places.remark:
        note(places.remark)
    values = _measured(labels.is_positive, scores, weight, places.budget)
    _show(values, labels, data, target, places, as_json)


def _scores(table: Table, name: str) -> Any:
    import numpy as np

    require_column(table, name, "--score")
    if table.holds_words(name):
        raise InvalidData(
            f"Column {name!r} of {table.source} holds words; --score needs a column of numbers."
        )
    scores = table.column(name)
    gaps = np.isnan(scores)
    if gaps.any():
        raise InvalidData(
            f"Column {name!r} of {table.source} is empty in {counted(int(gaps.sum()), 'row')}, first in row "
            f"{int(np.argmax(gaps)) + 1}; every row needs a score to have a place."
        )
    return scores


def _measured(is_positive: Array, scores: Array, weight: Array | None, budget: Budget) -> dict[str, float]:
    from pushrank.metrics import evaluate

    return evaluate(is_positive, scores, k=budget, sample_weight=weight)


def _show(
    values: dict[str, float],
    labels: Labels,
    table: Table,
    target: str,
    places: FirstPlaces,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                "table": table.source,
                "rows": labels.n,
                "weight": places.total,
                "positives": labels.n_positives,
                "positive_label": labels.positive,
                "top": places.k,
                "measures": values,
            }
        )
        return
    note(
        f"{target} = {labels.positive} belongs at the top: {labels.n_positives:,} of "
        f"{counted(labels.n, 'row')}, {labels.n_positives / labels.n:.1%}; k is "
        f"{places} of the list."
    )
    rows = [
        [name, f"{value:.1f}" if name in _COUNTS else f"{value:.4f}", _WORDS.get(name.split("(")[0], "")]
        for name, value in values.items()
    ]
    print_table(["measure", "value", "what it is"], rows, numbers=(1,))
