"""What is written can be read back, and a failure leaves nothing behind."""

import gzip
import io
import os
import stat
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pushrank.datasets import read_table, write, write_table
from pushrank.exceptions import InvalidParameter, MissingExtra

COLUMNS = {
    "id": np.array(["a,1", 'say "x"', "line\nbreak"], dtype=object),
    "place": np.array([1, 2, 3]),
    "score": np.array([0.1, -1e300, np.nan]),
    "whole": np.array([1.0, np.nan, 30.0]),
    "late": np.array([True, False, True]),
}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.txt"])
def test_what_is_written_is_read_back(tmp_path, name):
    path = tmp_path / name
    write_table(path, COLUMNS)
    table = read_table(path)
    assert table.names == tuple(COLUMNS)
    for column, values in COLUMNS.items():
        if column == "id":
            assert table.column(column).tolist() == values.tolist()
        else:
            assert_array_equal(table.column(column), values.astype(float))
    assert os.listdir(tmp_path) == [name]


@given(st.lists(st.floats(width=64), min_size=1, max_size=20))
def test_floats_survive_to_the_last_bit(values):
    column = np.array(values)
    text = write._delimited({"x": column, "y": np.zeros(len(column))}, ",")
    assert_array_equal(read_table(io.StringIO(text)).column("x"), column)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1, max_size=9))
def test_words_survive_whatever_they_hold(words):
    for columns in ({"one": words}, {"\ufeffa;b": words, "x": range(len(words))}):
        text = write._delimited({name: write._one_dimensional(name, c) for name, c in columns.items()}, ",")
        table = read_table(io.StringIO(text), words=list(columns), format="csv")
        assert {name: table.column(name).tolist() for name in columns} == {
            name: [str(cell) for cell in column] for name, column in columns.items()
        }


def test_cells_are_written_plainly(tmp_path):
    write_table(
        tmp_path / "t.csv",
        {
            "place": [1, 2, 3],
            "age": [41.0, np.nan, 7.0],
            "far": [np.inf, -np.inf, 2.5],
            "large": [2.0**60, 1.0, 2.0],
            "word": ["x", None, "z"],
            "flag": [True, False, True],
        },
    )
    assert (tmp_path / "t.csv").read_text() == (
        "place,age,far,large,word,flag\n1,41,inf,1.152921504606847e+18,x,1\n2,,-inf,1.0,,0\n3,7,2.5,2.0,z,1\n"
    )


def test_the_same_table_gives_the_same_compressed_bytes(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(tmp_path / name, COLUMNS)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"id,place,")


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failure):
    path = tmp_path / "list.csv"
    path.write_text("what was there\n")

    def fail(_):
        raise failure

    monkeypatch.setattr(write.os, "fsync", fail)
    with pytest.raises(type(failure)):
        write_table(path, COLUMNS)
    assert path.read_text() == "what was there\n"
    assert os.listdir(tmp_path) == ["list.csv"]


def test_an_absent_folder_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_table(tmp_path / "absent" / "t.csv", COLUMNS)
    with pytest.raises(IsADirectoryError):
        write_table(tmp_path, COLUMNS)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere"
)
def test_a_read_only_folder_is_an_os_error(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write_table(tmp_path / "t.csv", COLUMNS)
    finally:
        tmp_path.chmod(0o700)


def test_an_existing_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("no symbolic links here")
    write_table(link, {"a": [1]})
    assert link.is_symlink()
    assert path.read_text() == "a\n1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_a_device_is_written_to_and_not_replaced():
    write_table("/dev/null", COLUMNS)
    assert not os.path.isfile("/dev/null")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs open descriptors as files")
def test_a_pipe_behind_a_descriptor_is_written_to():
    reading, writing = os.pipe()
    write_table(f"/dev/fd/{writing}", {"a": [1, 2]})
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == b"a\n1\n2\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs open descriptors as links")
def test_what_a_descriptor_appends_to_is_kept(tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as stream:
        (tmp_path / "link").symlink_to(f"/proc/self/fd/{stream.fileno()}")
        for path in (f"/dev/fd/{stream.fileno()}", tmp_path / "link"):
            write_table(path, {"a": [1]})
    assert log.read_text() == "before\na\n1\na\n1\n"
    assert sorted(os.listdir(tmp_path)) == ["link", "log"]


def test_a_link_that_leads_nowhere(tmp_path):
    link, loop = tmp_path / "link.csv", tmp_path / "loop.csv"
    try:
        link.symlink_to(tmp_path / "new.csv")
        loop.symlink_to(loop)
    except OSError:
        pytest.skip("no symbolic links here")
    write_table(link, {"a": [1]})
    assert (tmp_path / "new.csv").read_text() == "a\n1\n"
    assert link.is_symlink()
    write_table(loop, {"a": [1]})
    assert loop.read_text() == "a\n1\n"


def test_a_closed_standard_output_is_an_os_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed"):
        write_table("-", {"a": [1]})


def test_a_dash_is_standard_output(monkeypatch):
    binary = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(binary, encoding="ascii", write_through=True))
    write_table("-", {"é": [1]})
    assert binary.getvalue() == "é\n1\n".encode()
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    write_table("-", {"a": [1]})
    assert text.getvalue() == "a\n1\n"


def test_columns_must_fit_together(tmp_path):
    with pytest.raises(InvalidParameter, match="same number of rows; got: a 1, b 2"):
        write_table(tmp_path / "t.csv", {"a": [1], "b": [1, 2]})
    with pytest.raises(InvalidParameter, match="got: no column"):
        write_table(tmp_path / "t.csv", {})
    with pytest.raises(InvalidParameter, match=r"Column 'a' must have one dimension; got the shape \(1, 2\)"):
        write_table(tmp_path / "t.csv", {"a": [[1, 2]]})
    assert os.listdir(tmp_path) == []


def test_parquet_without_pyarrow_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtra, match=r"^Parquet needs pyarrow: pip install 'pushrank\[parquet\]', or write"
    ):
        write_table(tmp_path / "t.parquet", COLUMNS)


@pytest.mark.parametrize("name", ["t.svm", "t.xlsx", "t.json.gz"])
def test_endings_that_are_not_written_are_refused(tmp_path, name):
    with pytest.raises(InvalidParameter, match=r"written as \.csv, \.tsv or \.parquet, not as"):
        write_table(tmp_path / name, {"a": [1.0]})
    assert not list(tmp_path.iterdir())
