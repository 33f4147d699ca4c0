"""Tables out of files: what is read, and one clear sentence for what cannot be."""

import codecs
import csv
import gzip
import io
import math
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from pushrank.datasets import delimited, read_table
from pushrank.exceptions import InvalidData, InvalidParameter, MissingExtra

PLAIN = b"id,amount,late\na1,10.5,1\nb2,,0\nc3,-3e2,1\n"


def read(text, **options):
    return read_table(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def sentence(text, **options):
    with pytest.raises(InvalidData) as caught:
        read(text, **options)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


def assert_plain(table):
    assert table.names == ("id", "amount", "late")
    assert table.n_rows == 3
    assert table.column("id").tolist() == ["a1", "b2", "c3"]
    assert_array_equal(table.column("amount"), [10.5, np.nan, -300])
    assert table.column("late").dtype == np.float64


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", PLAIN),
        ("t.csv.gz", gzip.compress(PLAIN, mtime=0)),
        ("misnamed.csv", gzip.compress(PLAIN, mtime=0)),
        ("t.tsv", PLAIN.replace(b",", b"\t")),
        ("t.tab.gz", gzip.compress(PLAIN.replace(b",", b"\t"), mtime=0)),
        ("semicolons.csv", PLAIN.replace(b",", b";")),
        ("european.csv", PLAIN.replace(b",", b";").replace(b"10.5", b"10,5")),
        ("noending", PLAIN),
        ("t.txt", PLAIN.replace(b",", b"\t")),
        ("mark.csv", codecs.BOM_UTF8 + PLAIN),
        ("windows.csv", PLAIN.replace(b"\n", b"\r\n")),
        ("oldmac.csv", PLAIN.replace(b"\n", b"\r")),
        ("noend.csv", PLAIN.rstrip()),
        ("blanklines.csv", b"\n" + PLAIN.replace(b"\n", b"\n\n")),
        ("quoted.csv", PLAIN.replace(b"10.5", b'"10.5"').replace(b"a1", b'"a1"')),
        ("spaced.csv", PLAIN.replace(b"10.5", b" 10.5 ").replace(b"id,", b"id ,")),
    ],
)
def test_forms_of_the_same_table(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert_plain(read_table(path))
    assert_plain(read_table(str(path)))
    with path.open("rb") as stream:
        assert_plain(read_table(stream))


def test_standard_input_and_text_streams(monkeypatch):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(PLAIN, mtime=0)), encoding="ascii")
    )
    table = read_table("-")
    assert_plain(table)
    assert table.source == "standard input"
    monkeypatch.setattr(sys, "stdin", io.StringIO(PLAIN.decode()))
    assert_plain(read_table("-"))


def test_quotes_keep_delimiters_and_line_ends():
    table = read('name,"a, b",n\n"Rossi, ""Gino""","two\nlines",1\nplain,x,2\n')
    assert table.names == ("name", "a, b", "n")
    assert table.column("name").tolist() == ['Rossi, "Gino"', "plain"]
    assert table.column("a, b")[0] == "two\nlines"


@pytest.mark.parametrize("missing", sorted(delimited.MISSING))
def test_missing_numbers(missing):
    table = read(f"n,w\n{missing},{missing}\n2,word\n")
    assert_array_equal(table.column("n"), [np.nan, 2.0])
    assert table.column("w").tolist() == [missing, "word"]


def test_codes_stay_words():
    table = read("a,b,c\n1_000,0x1F,True\n2,3,1\n")
    assert table.word_names == ("a", "b", "c")
    exact = read("zip,big\n00123,9007199254740993\n04567,9007199254740992\n", words=["zip", "big"])
    assert exact.column("zip").tolist() == ["00123", "04567"]
    assert exact.column("big").tolist() == ["9007199254740993", "9007199254740992"]
    assert read("big\n9007199254740993\n").column("big")[0] == 2.0**53


def test_numbers_beyond_a_float64():
    assert sentence(f"a,b\n1,{'9' * 400}\n") == (
        f"the stream, column 'b': {'9' * 40}… is beyond what a float64 can hold; correct it, or read "
        "the column as words."
    )
    assert "1e999 is beyond" in sentence("a,b\nNA,x\n?,x\n1e999,x\n")
    assert_array_equal(read("a\ninf\n-Infinity\n").column("a"), [math.inf, -math.inf])
    # A code that happens to read as a number does no harm among words.
    assert read("code\n1e999\nff00\n").column("code").tolist() == ["1e999", "ff00"]


def test_a_word_after_many_numbers_makes_the_column_one_of_words(monkeypatch):
    monkeypatch.setattr(delimited, "_CHUNK", 2)
    table = read("a,b,c\n007,1,x\n2,2,y\n3,3,1\nword,4,2\n1e999,5,3\n6,6,4\n")
    assert table.column("a").tolist() == ["007", "2", "3", "word", "1e999", "6"]
    assert_array_equal(table.column("b"), np.arange(1.0, 7))
    assert table.column("c").tolist() == ["x", "y", "1", "2", "3", "4"]


def test_a_code_beyond_a_float64_does_no_harm_before_a_word_either(monkeypatch):
    monkeypatch.setattr(delimited, "_CHUNK", 1)
    assert read("code\n1e999\nff00\n").column("code").tolist() == ["1e999", "ff00"]


def test_names_for_a_text_without_header():
    table = read("1.5,a\n2.5,b\n", names=["n", "w"])
    assert_array_equal(table.column("n"), [1.5, 2.5])
    assert "holds numbers where the names of the columns should be" in sentence("6,148,33.6\n1,85,26.6\n")
    # Names that repeat are no names: this is a row of counts.
    assert "holds numbers where the names of the columns should be" in sentence("0,1,0\n1,1,0\n")
    assert read("2019,2020\n1,2\n").names == ("2019", "2020")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", "the stream is empty; it needs a line of column names and at least one row."),
        (b" \n\r\n", "the stream is empty; it needs a line of column names and at least one row."),
        (codecs.BOM_UTF8, "the stream is empty; it needs a line of column names and at least one row."),
        (b"a,b\n", "the stream has a header and no rows; it needs at least one row below the names."),
        (
            b"a,b\n1,2\n\n3\n",
            "the stream, line 4: found 1 field where 2 were expected; look for a missing comma, or one that "
            "needs quotes around it.",
        ),
        (
            b'a\tb\n"x\ny"\t2\n1\t2\t3\n',
            "the stream, line 4: found 3 fields where 2 were expected; look for a missing tab, or one that "
            "needs quotes around it.",
        ),
        (b"a,b,a\n1,2,3\n", "the stream has two columns named 'a'; rename one of them."),
        (
            b",a\n0,1\n",
            "the stream, line 1: column 1 of 2 has no name; name it, or leave it out (pandas: "
            "to_csv(index=False)).",
        ),
        (b"a,b\n1,2\n3,\xe9\n", "the stream, line 3: byte 0xe9 is not UTF-8; save the file as UTF-8."),
        (
            "a,b\n1,2\n".encode("utf-16"),
            "the stream, line 1: byte 0xff is not UTF-8; save the file as UTF-8.",
        ),
        (b"a,b\n1,\0\n", "the stream, line 2: a zero byte, which no text has; save the table as text."),
        (b"PK\x03\x04...", "the stream is a ZIP archive or a workbook; unpack it, or save it as CSV."),
        (
            b'a,b\n1,2\n"open,3\n4,5\n',
            "the stream, line 3: the quotes do not close as they should (unexpected end of data); mend them.",
        ),
    ],
)
def test_each_fault_has_its_sentence(text, expected):
    assert sentence(text) == expected


def test_a_missing_column_is_named_with_those_there_are():
    assert sentence(PLAIN, target="age") == "the stream has no column 'age'; it has: id, amount, late."
    assert sentence(PLAIN, words=["age"]) == "the stream has no column 'age'; it has: id, amount, late."
    wide = ",".join(f"c{j}" for j in range(40)) + "\n" + ",".join(["1"] * 40) + "\n"
    assert sentence(wide, target="y").endswith("c10, c11 and 28 more.")


def test_rows_are_found_by_their_lines():
    table = read('a,b\n\n1,2\n3,"x\ny"\n\n\n5,6\n7,8\n')
    assert [table.place(row) for row in range(4)] == ["line 3", "line 4", "line 8", "line 9"]
    assert read("1,2\n3,4\n", names=["a", "b"]).place(1) == "line 2"
    assert read(b"# a comment\n1 1:2\n0 1:1\n").place(1) == "row 2"


@pytest.mark.parametrize("words", [(), ["b"]])
def test_lines_are_counted_once_where_a_column_is_read_again(monkeypatch, words):
    monkeypatch.setattr(delimited, "_CHUNK", 2)
    table = read("a,b\n1,2\n3,4\n\n5,6\n7,x\n", words=words)
    assert table.column("b").tolist() == ["2", "4", "6", "x"]
    assert [table.place(row) for row in (0, 3)] == ["line 2", "line 6"]


@pytest.mark.parametrize(
    ("cell", "comma", "is_number"),
    [
        ("12.5", False, True),
        (" -3e2 ", False, True),
        ("12,5", False, False),
        ("12,5", True, True),
        ("12,5x", True, False),
        ("NA", False, True),
        ("1_000", False, False),
        ("", False, True),
    ],
)
def test_a_cell_is_a_number_where_its_column_is_one(cell, comma, is_number):
    assert delimited.is_number(cell, comma) == is_number
    separator = ";" if comma else ","
    table = read(f'n{separator}w\n"{cell}"{separator}a\n', delimiter=separator)
    assert (table.column("n").dtype == np.float64) == is_number


def test_a_closed_standard_input_is_one_sentence(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(
        InvalidData, match=r"^standard input is closed: name a file, or send the table there\.$"
    ):
        read_table("-")


def test_damaged_gzip():
    whole = gzip.compress(PLAIN, mtime=0)
    for damaged in (whole[:-10], whole[:12] + b"\xff\xff\xff" + whole[15:], b"\x1f\x8bnot gzip at all"):
        assert "is not a whole gzip file" in sentence(damaged)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(
        InvalidData, match=r"There is no file .*nowhere\.csv; check the name and the folder\."
    ):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidData, match=r"is a folder; give a file in it\."):
        read_table(tmp_path)
    with pytest.raises(InvalidData, match="cannot be read"):
        read_table("nul\0byte.csv")
    closed = io.BytesIO(PLAIN)
    closed.close()
    with pytest.raises(InvalidData, match="the stream cannot be read"):
        read_table(closed)


def test_wrong_use_is_told_from_wrong_data():
    with pytest.raises(InvalidParameter, match="source must be a file name, '-' or a file object; got list"):
        read_table([1, 2])
    with pytest.raises(InvalidParameter, match="format must be one of auto, csv"):
        read(PLAIN, format="excel")
    with pytest.raises(InvalidParameter, match="delimiter must be one character"):
        read(PLAIN, delimiter="ab")
    with pytest.raises(InvalidParameter, match="names must hold at least one"):
        read(PLAIN, names=[])
    assert read("a|b\n1|2\n", delimiter="|").names == ("a", "b")
    assert "line 1: found 3 fields where 2" in sentence("a|b|c\n", delimiter="|", names=["a", "b"])
    assert "look for a missing '|'" in sentence("a|b|c\n1|2\n", delimiter="|")


def test_parquet(tmp_path):
    table = pa.table(
        {"id": ["a", "b", None], "n": pa.array([1, None, 3], pa.int32()), "late": [True, False, True]}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    pq.write_table(table, tmp_path / "misnamed")
    for name in ("t.parquet", "misnamed"):
        found = read_table(tmp_path / name, target="late")
        assert found.column("id").tolist() == ["a", "b", ""]
        assert_array_equal(found.column("n"), [1, np.nan, 3])
        assert_array_equal(found.y, [1, 0, 1])
    with pytest.raises(InvalidData, match="has no column 'age'; it has: id, n, late"):
        read_table(tmp_path / "t.parquet", target="age")
    content = (tmp_path / "t.parquet").read_bytes()
    for damaged in (content[:-20], b"PAR1" + bytes(40), b"PAR1", content[:30] + bytes(30) + content[60:]):
        message = sentence(damaged)
        assert message.startswith("the stream")
    assert "is not a Parquet file that can be read" in sentence(b"a,b\n1,2\n", format="parquet")


def test_parquet_without_pyarrow_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtra, match=r"^Parquet needs pyarrow: pip install 'pushrank\[parquet\]', or save"
    ):
        read(b"PAR1")


def test_svmlight_keeps_indices_as_written(tmp_path):
    X = sparse.random(20, 7, density=0.3, random_state=0, format="csr")
    y = np.arange(20) % 2
    path = tmp_path / "t.svmlight"
    dump_svmlight_file(X, y, str(path))
    table = read_table(path, n_features=7)
    assert sparse.issparse(table.matrix())
    # The file holds sixteen digits of each number.
    assert_allclose(table.matrix().toarray(), X.toarray(), rtol=1e-15)
    assert_array_equal(table.y, y)
    assert table.names == ("target",)
    one_based = read(b"# a comment\n1 1:2.5 3:1\n-1 2:1 # said of a row\n")
    assert_array_equal(one_based.sparse.toarray(), [[0, 2.5, 0, 1], [0, 0, 1, 0]])
    lists = read(b"2 qid:1 1:1\n0 qid:1 2:1\n1 qid:7 1:1\n")
    assert lists.features == ("qid",)
    assert_array_equal(lists.column("qid"), [1, 1, 7])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"1 x:2\n", "is not an svmlight file that can be read"),
        (b"1 99999999999999999999:1\n", "is not an svmlight file that can be read"),
        (b"1 qid:1 1:1\n0 2:1\n", "has a qid in 1 of its 2 rows"),
        (b"# nothing\n", "has no rows"),
    ],
)
def test_svmlight_faults(text, part):
    assert part in sentence(text, format="svmlight")


def test_svmlight_has_one_target_and_a_stated_width():
    assert "has no column 'late'; it has: target." in sentence(b"1 1:1\n", target="late")
    assert "n_features was set to 2" in sentence(b"1 5:1\n", n_features=2)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=8), st.sampled_from(",\t;"))
def test_words_come_back_as_a_csv_writer_wrote_them(rows, delimiter):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([["one", "two", "three"], *rows])
    table = read(text.getvalue(), delimiter=delimiter, words=["one", "two", "three"])
    assert [list(row) for row in zip(*table.columns.values(), strict=True)] == rows


FORMATS = st.sampled_from(["auto", "csv", "tsv", "parquet", "svmlight"])


def ends_well(content, **options):
    try:
        table = read_table(io.BytesIO(content), **options)
    except InvalidData as error:
        return "\n" not in str(error)
    return table.n_rows >= 1 and all(len(column) == table.n_rows for column in table.columns.values())


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80), FORMATS)
@example(b"a\n\n\n", "auto")
@example(b"\x1f\x8b", "auto")
@example(codecs.BOM_UTF8 + b'"a\n', "csv")
def test_any_bytes_end_in_a_table_or_a_sentence(content, form):
    assert ends_well(content, format=form)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab1290.e-+_,;\t\"'\r\n :#q?inf\0é\ufeff\u2028", max_size=60), FORMATS)
@example("0\n0:0", "svmlight")
def test_any_text_ends_in_a_table_or_a_sentence(text, form):
    assert ends_well(text.encode(), format=form)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=4), st.booleans())
def test_damaged_files_end_in_a_table_or_a_sentence(at, damage, compressed):
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", "y"] * 9, "b": list(range(18))}), stream)
    whole = gzip.compress(PLAIN, mtime=0) if compressed else stream.getvalue()
    at %= len(whole)
    assert ends_well(whole[:at] + damage + whole[at + len(damage) :])


def test_a_cell_longer_than_a_csv_field_may_be():
    assert "field larger than field limit" in sentence(b"a\n" + b"x" * (csv.field_size_limit() + 1) + b"\n")


def test_a_text_stream_with_half_a_character_is_refused():
    with pytest.raises(InvalidData, match="line 2: byte 0xed is not UTF-8"):
        read_table(io.StringIO("a\n\ud800\n"))
