"""The command `pushrank`: fit, rank and evaluate tables from the shell."""

from __future__ import annotations

import click

from pushrank._version import __version__
from pushrank.cli import datasets, evaluate, fit, rank
from pushrank.cli.messages import Program, example

__all__ = ["main"]


@click.group(
    "pushrank",
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=example(
        "pushrank datasets wdbc -o wdbc.csv",
        "pushrank fit wdbc.csv --target target --top 30 -o wdbc.model",
        "pushrank rank wdbc.csv --model wdbc.model -o list.csv",
        "pushrank evaluate wdbc.csv --target target --model wdbc.model",
    )
    + "\n\nExit codes: 0 done, 1 failed, 2 wrong use.",
)
@click.version_option(__version__, "-V", "--version", message="pushrank %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Rank the top of a list, for those who can act on only its first few cases.

    A TABLE is CSV, TSV, Parquet or svmlight, compressed by gzip or not; "-" is standard input.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for module in (fit, rank, evaluate, datasets):
    main.add_command(module.command)
