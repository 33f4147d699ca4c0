"""`pushrank datasets`: the sets that ship, so that a newcomer has a table."""

from __future__ import annotations

from dataclasses import asdict

import click

from pushrank.cli.messages import (
    example,
    note,
    print_json,
    print_table,
    require_room,
    require_standard_output,
    writing,
)
from pushrank.exceptions import InvalidParameter, closest


@click.command(
    "datasets",
    short_help="List the shipped data sets, or write one as a table.",
    epilog=example(
        "pushrank datasets",
        "pushrank datasets wdbc -o wdbc.csv",
    ),
)
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="CSV, or Parquet by its ending; default stdout."
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(name: str | None, output: str, as_json: bool) -> None:
    """List the data sets that are known, or write the one called NAME as a table.

    The column to be ranked by is called target; 1 belongs at the top.
    """
    if name is not None:
        if as_json:
            raise InvalidParameter(
                "--json lists the sets; a set itself is written as a table: leave --json out."
            )
        _write(name, output)
        return
    if output != "-":
        raise InvalidParameter("-o needs the name of a set to write: pushrank datasets NAME -o FILE.")
    _list(as_json)


def _list(as_json: bool) -> None:
    from pushrank.datasets import list_datasets

    require_standard_output()
    cards = list_datasets()
    if as_json:
        print_json({"datasets": [asdict(card) for card in cards]})
        return
    header = ["name", "rows", "columns", "positives", "ships", "a ranking of"]
    rows = [
        [
            card.name,
            f"{card.n_items:,}",
            f"{card.n_features:,}",
            f"{card.n_positives:,}",
            "yes" if card.ships else "no",
            card.task,
        ]
        for card in cards
    ]
    print_table(header, rows, numbers=(1, 2, 3))
    note("write one as a table with pushrank datasets NAME -o FILE.")


def _write(name: str, output: str) -> None:
    from pushrank.datasets import list_datasets, shipped_table, write_table

    cards = {card.name: card for card in list_datasets()}
    ships = [card.name for card in cards.values() if card.ships]
    if name not in cards:
        raise InvalidParameter(
            f"There is no data set {name!r}{closest(name, ships)}; there are: {', '.join(ships)}."
        )
    if name not in ships:
        raise InvalidParameter(
            f"{name} is not ours to pass on: pushrank.datasets.load_{name} reads your copy of it. "
            f"These ship: {', '.join(ships)}."
        )
    require_room(output)
    with writing(output):
        write_table(output, shipped_table(name).columns)
    card = cards[name]
    note(
        f"{name}: {card.n_items:,} rows, {card.n_features} columns and target (1 = {card.target_names[1]}, "
        f"{card.n_positives:,} rows). {card.note}"
    )
    note(f"cite: {card.citation} Licence: {card.licence}.")
