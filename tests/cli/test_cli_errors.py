"""Bad input: one sentence on standard error, 2 for wrong use and 1 for failure, nothing half-written."""

import errno
from pathlib import Path

import pytest

import pushrank.datasets
import pushrank.datasets.write
from pushrank import PushRanker
from pushrank.cli.messages import require_room, require_standard_output
from pushrank.cli.tables import open_table
from pushrank.exceptions import PushRankError

FIT = "fit claims.csv --target late --id id --folds 0 -o m"

WRONG_USE = {
    "no target": ("fit claims.csv -o m", "--target must name the column"),
    "target is not there": (
        "fit claims.csv --target lat -o m",
        "claims.csv has no column 'lat' (did you mean 'late'?), which --target names; "
        "it has: id, age, amount, city, late.",
    ),
    "id is not there": (
        "fit claims.csv --target late --id nr -o m",
        "no column 'nr', which --id names",
    ),
    "drop is not there": (f"{FIT} --drop aeg", "no column 'aeg' (did you mean 'age'?), which --drop names"),
    "weights are not there": (f"{FIT} --weights w", "no column 'w', which --weights names"),
    "words are not there": (f"{FIT} --words ctiy", "(did you mean 'city'?), which --words names"),
    "target twice": (f"{FIT} --drop late", "--drop late names the target"),
    "nothing left": (
        "fit claims.csv --target late --drop id --drop age --drop amount --drop city -o m",
        "no column left to learn from",
    ),
    "k is 0": (f"{FIT} --top 0", "k must be at least 1, or a share between 0 and 1; got 0."),
    "k is negative": (f"{FIT} --top -3", "got -3."),
    "share is 1.0": (f"{FIT} --top 1.0", "A share must lie strictly between 0 and 1"),
    "share is 100%": (f"{FIT} --top 100%", "A share must lie strictly between 0 and 1"),
    "k is a word": (f"{FIT} --top many", "'many' is neither a count nor a share; give 50, 0.05 or 5%."),
    "k is not a number": (f"{FIT} --top nan", "A share must lie"),
    "unknown loss": (f"{FIT} --loss logistik", "Unknown loss 'logistik' (did you mean 'logistic'?)"),
    "unknown push": (f"{FIT} --push powr", "Unknown push 'powr' (did you mean 'power'?)"),
    "p below 1": (f"{FIT} -p 0.5", "p must be a number of at least 1; got 0.5."),
    "p is infinite": (
        f"{FIT} -p inf",
        "-p must be finite; for its limit give --loss exponential --push maximum.",
    ),
    "p of a soft top is infinite": (
        f"{FIT} --loss hinge --push soft_top -p inf",
        "-p must be finite; for its limit give --loss hinge --push maximum.",
    ),
    "p without a power": (f"{FIT} --push maximum -p 2", "--push maximum has no p"),
    "C is 0": (f"{FIT} --C 0", "C must be a number of more than 0; got 0.0."),
    "one fold": (f"{FIT} --folds 1".replace("--folds 0 ", ""), "--folds must be at least 2, or 0"),
    "unknown label": (f"{FIT} --positive yess", "no label 'yess' (did you mean 'yes'?), which --positive"),
    "unknown number": (f"{FIT} --positive 3", "no label '3', which --positive names; it has: no, yes."),
    "three labels": (
        "fit claims.csv --target city -o m",
        "holds 3 labels (Bern, Pisa, Rome): say by --positive which one belongs at the top",
    ),
    "model to standard output": (f"{FIT}x -o -", "A model cannot go to standard output"),
    "output is the input": ("fit claims.csv --target late -o ./claims.csv", "would overwrite the input"),
    "output is a folder": ("fit claims.csv --target late -o .", ". is a folder: name a file in it"),
    "no such table": ("fit nix.csv --target late -o m", "There is no file nix.csv; check the name"),
    "no output": ("fit claims.csv --target late", "Missing option '-o'"),
    "unknown option": (f"{FIT} --tpo 3", "No such option"),
    "unknown command": ("ftt claims.csv", "There is no command 'ftt' (did you mean 'fit'?)"),
    "no such model": ("rank claims.csv --model nix", "There is no file nix; `pushrank fit` makes"),
    "rank without a model": ("rank claims.csv", "Missing option '--model'"),
    "model and score": ("evaluate claims.csv --model m --score amount", "either --model MODEL or --score"),
    "neither model nor score": ("evaluate claims.csv --target late", "either --model MODEL or --score"),
    "score without target": ("evaluate claims.csv --score amount", "--target must name the column"),
    "score is not there": (
        "evaluate claims.csv --target late --score amountt",
        "(did you mean 'amount'?), which --score names",
    ),
    "unknown set": ("datasets wbdc", "no data set 'wbdc' (did you mean 'wdbc'?)"),
    "set that does not ship": ("datasets pima", "pima is not ours to pass on"),
    "set as JSON": ("datasets wdbc --json", "leave --json out"),
    "list into a file": ("datasets -o x", "-o needs the name of a set"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use(refused, folder, case):
    line, sentence = WRONG_USE[case]
    before = sorted(folder.iterdir())
    assert sentence in refused(line, 2)
    assert sorted(folder.iterdir()) == before


BROKEN = {
    "empty": ("", "is empty"),
    "header only": ("late,x\n", "has a header and no rows"),
    "ragged": ("late,x\nyes,1\nno\n", "line 3: found 1 field where 2 were expected"),
    "one class": ("late,x\nno,1\nno,2\n", "holds one label only ('no', 2 rows)"),
    "gap in the target": ("late,x\nyes,1\n,2\nno,3\n", "is empty in 1 of 3 rows, first in row 2"),
    "gap in a target of numbers": ("late,x\n1,1\n0,2\n,3\n", "is empty in 1 of 3 rows, first in row 3"),
    "infinity": ("late,x\nyes,inf\nno,2\n", "holds infinity in 1 row, first in row 1"),
    "not text": (b"late,x\n\xff,1\n", "is not UTF-8"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_tables(refused, folder, case):
    content, sentence = BROKEN[case]
    path = folder / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "m").write_text("what was there")
    said = refused("fit t.csv --target late -o m", 1)
    assert sentence in said
    assert "t.csv" in said
    assert (folder / "m").read_text() == "what was there"


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (["1", "-2"], "holds -2 in row 2; weights must be 0 or more"),
        (["0", "0"], "holds 0 in every row; weights must be 0 or more, not all 0"),
        (["1", ""], "has no finite number in 1 rows, first in row 2"),
        (["1", "heavy"], "holds words; --weights needs a column of numbers"),
    ],
)
def test_broken_weights(refused, folder, weights, sentence):
    (folder / "t.csv").write_text(f"late,x,w\nyes,1,{weights[0]}\nno,2,{weights[1]}\n")
    assert sentence in refused("fit t.csv --target late --weights w -o m", 1)


def test_a_broken_table_with_an_id_is_as_broken(refused, folder):
    (folder / "t.csv").write_text("late,id\nyes,1\nno\n")
    assert "line 3" in refused("fit t.csv --target late --id id -o m", 1)
    assert "line 3" in refused("fit - --target late --id id -o m", 1, input="late,id\nyes,1\nno\n")
    assert "no column 'nr'" in refused("fit - --target late --id nr -o m", 2, input="late,x\nyes,1\nno,2\n")


@pytest.mark.parametrize(
    ("column", "sentence"),
    [("", "is empty in 1 row, first in row 2; every row needs a score"), ("high", "holds words; --score")],
)
def test_broken_scores(refused, folder, column, sentence):
    (folder / "t.csv").write_text(f"late,s\nyes,1\nno,{column}\n")
    assert sentence in refused("evaluate t.csv --target late --score s", 1)


@pytest.mark.parametrize(
    ("delimiter", "numbers", "typo"),
    [(",", ["1.5", "-2e3"], "12.5x"), (";", ["1,5", "7"], "12,5x"), (",", ["1", "2"], "1 000")],
)
def test_a_typing_error_does_not_make_words_of_numbers(call, refused, folder, delimiter, numbers, typo):
    lines = [f"late{delimiter}x{delimiter}note", ""]
    for i in range(20):
        late, note = "yes" if i % 3 else "no", "seen" if i == 1 else ""
        lines.append(delimiter.join([late, typo if i == 4 else numbers[i % 2], note]))
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    assert refused("fit t.csv --target late -o m", 1) == (
        f"Column 'x' of t.csv holds numbers but for 1 cell, first '{typo}' in line 7: mend it, or give "
        "--words x to take the column as words."
    )
    # A column that is empty but for some words is one of words.
    taken = call("fit t.csv --target late --words x --folds 0 -o m")
    assert taken.exit_code == 0
    assert "one for each word: x, note." in taken.stderr


def test_thousands_parted_by_commas_are_found(refused, folder):
    rows = ["yes,900\n", "no,800\n"] * 10 + ['no,"1,000"\n']
    (folder / "t.csv").write_text("late,x\n" + "".join(rows))
    assert "first '1,000' in line 22" in refused("fit t.csv --target late -o m", 1)


def test_a_column_with_many_words_among_numbers_is_one_of_words(call, folder):
    rows = [f"{'yes' if i % 2 else 'no'},{'V22' if i % 5 == 0 else i}\n" for i in range(40)]
    (folder / "t.csv").write_text("late,x\n" + "".join(rows))
    result = call("fit t.csv --target late --folds 0 -o m")
    assert result.exit_code == 0
    assert "leave it out by --drop x" in result.stderr


@pytest.mark.parametrize("entry", ["inf", "-inf", "nan"])
def test_svmlight_without_finite_numbers(call, refused, folder, entry):
    (folder / "good.svm").write_text("1 1:1 2:3\n0 1:2\n1 1:5\n0 1:1\n")
    (folder / "t.svm").write_text(f"# said of all\n1 1:1 2:3\n0 1:2 4:{entry}\n1 4:{entry}\n0 1:1\n")
    assert call("fit good.svm -o m --folds 0").exit_code == 0
    for line in ("fit t.svm -o x", "rank t.svm --model m", "evaluate t.svm --model m"):
        said = refused(line, 1)
        assert f"t.svm holds {entry} in row 2, column 4, first of 2 cells without a finite number" in said


def test_closed_standard_streams(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", None)
        with pytest.raises(PushRankError, match="Standard input is closed: name a file as TABLE"):
            open_table("-")
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", None)
        with pytest.raises(PushRankError, match="Standard output is closed: send it to a file"):
            require_standard_output()
        require_room("list.csv")


def test_a_table_that_does_not_fit_the_model(refused, model, folder):
    (folder / "t.csv").write_text("amount,city\n1,Bern\n")
    assert refused("rank t.csv --model claims.model", 1).endswith(
        "t.csv lacks 1 column that the model needs: age."
    )
    (folder / "t.csv").write_text("amount,city,age\n1,Bern,2\n2,Bern,old\n")
    said = refused("rank t.csv --model claims.model", 1)
    assert "Column 'age' of t.csv holds words (first 'old' in row 2)" in said
    (folder / "t.csv").write_text("amount,city,age\n1,Bern,inf\n")
    assert "holds infinity" in refused("rank t.csv --model claims.model", 1)
    (folder / "t.svm").write_text("1 1:1 2:3\n0 1:2\n")
    assert "is an svmlight file" in refused("rank t.svm --model claims.model", 1)
    assert "no column 'nr', which --id names" in refused("rank claims.csv --model claims.model --id nr", 2)
    assert "no column 'lte'" in refused("evaluate claims.csv --model claims.model --target lte", 2)


def test_a_table_that_does_not_fit_an_svmlight_model(call, refused, folder):
    (folder / "t.svm").write_text("1 1:1 2:3\n0 1:2\n1 1:5\n0 1:1\n")
    assert call("fit t.svm -o m --folds 0").exit_code == 0
    assert "give it as svmlight" in refused("rank claims.csv --model m", 1)


def test_places_that_cannot_be_written(refused, model, folder, monkeypatch):
    assert "there is no folder nowhere; make it first" in refused(
        "fit claims.csv --target late -o nowhere/m", 1
    )
    assert "there is no folder claims.csv" in refused(
        "rank claims.csv --model claims.model -o claims.csv/list.csv", 1
    )
    # A superuser may write everywhere, so the system's answer is put on.
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "m cannot be written: the folder . is read-only for you." in refused(FIT, 1)


@pytest.mark.parametrize("line", [FIT, "rank claims.csv --model claims.model -o m", "datasets wdbc -o m"])
def test_a_full_disk_leaves_what_was_there(refused, model, folder, monkeypatch, line):
    def full(self, target):
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    (folder / "m").write_text("what was there")
    before = sorted(folder.iterdir())
    monkeypatch.setattr(Path, "replace", full)
    said = refused(line, 1)
    assert said == "m cannot be written: No space left on device; the file that was there is as it was."
    assert sorted(folder.iterdir()) == before
    assert (folder / "m").read_text() == "what was there"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "There is not enough memory for this table"),
        (ZeroDivisionError("by zero"), "Unexpected ZeroDivisionError: by zero This is a fault of pushrank"),
        (
            OSError(errno.EIO, "Input/output error", "/dev/x"),
            "/dev/x cannot be read or written: Input/output",
        ),
    ],
)
def test_no_traceback_ever(refused, folder, monkeypatch, error, sentence):
    def fails(self, X, y, **kwargs):
        raise error

    monkeypatch.setattr(PushRanker, "fit", fails)
    assert sentence in refused(FIT, 1)
    assert not (folder / "m").exists()


def test_a_traceback_on_demand(call, folder, monkeypatch):
    monkeypatch.setenv("PUSHRANK_TRACEBACK", "1")
    assert isinstance(call("fit nix.csv -o m").exception, pushrank.exceptions.InvalidParameter)


def test_help_of_every_command_has_an_example(call):
    alone = call("")
    assert alone.exit_code == 0
    assert alone.stdout == call("--help").stdout
    for name in ("fit", "rank", "evaluate", "datasets"):
        page = call(f"{name} --help")
        assert page.exit_code == 0
        assert f"Example:\n    pushrank {'datasets' if name == 'fit' else name}" in page.stdout
        assert max(map(len, page.stdout.splitlines())) <= 80
    assert "\n  fit       Learn from a table; write a model.\n" in alone.stdout


def test_wrong_options_point_to_the_help(call):
    assert call("fit --tpo").stderr.endswith("See pushrank fit --help.\n")


def test_without_standalone_mode_the_code_is_returned(folder):
    from pushrank.cli import main

    assert main(["datasets", "nix"], standalone_mode=False) == 2
    assert main(["datasets"], standalone_mode=False) == 0
