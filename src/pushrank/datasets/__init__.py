"""Data to rank: the papers' sets, made-up problems with a known best ranking, and tables from files."""

from pushrank.datasets.generator import make_ranking
from pushrank.datasets.loaders import (
    DatasetCard,
    list_datasets,
    load_housing,
    load_ionosphere,
    load_pima,
    load_spambase,
    load_tictactoe,
    load_wdbc,
    shipped_table,
)
from pushrank.datasets.read import read_table
from pushrank.datasets.table import Table
from pushrank.datasets.write import write_table

__all__ = [
    "load_wdbc",
    "load_tictactoe",
    "load_ionosphere",
    "load_spambase",
    "load_pima",
    "load_housing",
    "list_datasets",
    "shipped_table",
    "DatasetCard",
    "make_ranking",
    "read_table",
    "write_table",
    "Table",
]
