"""What a table offers, and tables out of data frames of several libraries."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from pushrank.datasets import Table
from pushrank.exceptions import InvalidData

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy polars": pl.LazyFrame, "pyarrow": pa.table}


def table():
    return Table(
        {
            "age": np.array([41.0, np.nan]),
            "city": np.array(["Bern", "Pisa"], dtype=object),
            "late": np.array([1.0, 0.0]),
        },
        2,
        target="late",
        source="sales.csv",
    )


def test_the_views_of_a_table():
    assert table().names == ("age", "city", "late")
    assert table().features == ("age", "city")
    assert table().number_names == ("age",)
    assert table().word_names == ("city",)
    assert_array_equal(table().y, [1, 0])
    assert_array_equal(table().matrix(["late", "age"]), [[1, 41], [0, np.nan]])
    assert table().matrix([]).shape == (2, 0)
    assert table().words().tolist() == [["Bern"], ["Pisa"]]
    assert table().words(["age", "city"]).tolist() == [["41", "Bern"], ["", "Pisa"]]


def test_words_are_never_left_out_of_a_matrix_in_silence():
    with pytest.raises(InvalidData, match=r"Columns of sales\.csv hold words.*: city\. Encode them"):
        table().matrix()


def test_what_is_not_there_is_said():
    with pytest.raises(InvalidData) as caught:
        table().column("price")
    assert str(caught.value) == "sales.csv has no column 'price'; it has: age, city, late."
    with pytest.raises(InvalidData, match="the table has no column 'y'"):
        Table({"a": np.zeros(1)}, 1, target="y")
    with pytest.raises(InvalidData, match="No column of the table was named as the target"):
        _ = Table({"a": np.zeros(1)}, 1).y


def test_a_table_cannot_be_changed_from_outside():
    columns = {"a": np.zeros(1)}
    made = Table(columns, 1)
    columns["b"] = np.zeros(1)
    assert made.names == ("a",)
    with pytest.raises(TypeError):
        made.columns["c"] = np.zeros(1)


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_all_libraries_give_the_same_table(library):
    frame = FRAMES[library](
        {
            "id": ["a", "b", None],
            "n": [1.5, None, 3.0],
            "k": [1, 2, 3],
            "late": [True, False, True],
            "day": [datetime.datetime(2024, 1, day) for day in (1, 2, 3)],
        }
    )
    made = Table.from_frame(frame, target="late", words=["k"])
    assert made.n_rows == 3
    assert made.source == "the data frame"
    assert made.column("id").tolist() == ["a", "b", ""]
    assert_array_equal(made.column("n"), [1.5, np.nan, 3])
    assert made.column("n").dtype == np.float64
    assert made.column("k").tolist() == ["1", "2", "3"]
    assert_array_equal(made.y, [1, 0, 1])
    assert made.column("day")[0].startswith("2024-01-01")


def test_special_columns_of_pandas():
    frame = pd.DataFrame(
        {
            0: pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "kind": pd.Categorical(["x", None, "y"]),
            "string": pd.array(["x", None, "y"], dtype="string"),
            "objects": np.array([1, None, 2.5], dtype=object),
            "texts": np.array(["x", None, np.nan], dtype=object),
        }
    )
    made = Table.from_frame(frame)
    assert made.names[0] == "0"
    assert_array_equal(made.column("0"), [1, np.nan, 3])
    assert_array_equal(made.column("flag"), [1, np.nan, 0])
    assert made.column("kind").tolist() == ["x", "", "y"]
    assert made.column("string").tolist() == ["x", "", "y"]
    assert_array_equal(made.column("objects"), [1, np.nan, 2.5])
    assert made.column("texts").tolist() == ["x", "", ""]


def test_special_columns_of_polars():
    frame = pl.DataFrame(
        {
            "exact": [decimal.Decimal("1.5"), None],
            "nothing": [None, None],
            "kind": pl.Series(["x", None], dtype=pl.Categorical),
            "objects": pl.Series(["x", None], dtype=pl.Object),
            "small": pl.Series([1, None], dtype=pl.UInt8),
        }
    )
    made = Table.from_frame(frame)
    assert_array_equal(made.column("exact"), [1.5, np.nan])
    assert_array_equal(made.column("nothing"), [np.nan, np.nan])
    assert made.column("kind").tolist() == ["x", ""]
    assert made.column("objects").tolist() == ["x", ""]
    assert_array_equal(made.column("small"), [1, np.nan])


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        (pd.DataFrame({"a": [[1], [2]]}), "column 'a' holds neither numbers nor words alone"),
        (pl.DataFrame({"a": [[1], [2]]}), "column 'a' holds neither numbers nor words alone"),
        (pl.DataFrame({"a": [b"x"]}), r"neither numbers nor words alone \(bytes\)"),
        (pd.DataFrame({"a": np.array([1, "x"], dtype=object)}), r"\(int, str\)"),
        (pd.DataFrame({"a": []}), "has no rows or no columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the data frame"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "has two columns named '1'"),
        (np.zeros((2, 2)), "cannot be read as a data frame"),
        (pd.Series([1]), "cannot be read as a data frame"),
    ],
)
def test_what_is_no_table_is_refused(frame, part):
    with pytest.raises(InvalidData, match=part):
        Table.from_frame(frame)
