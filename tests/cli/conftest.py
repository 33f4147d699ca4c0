"""A table, a model, and a way to call the program."""

import csv
import random

import pytest
from click.testing import CliRunner

from pushrank.cli import main

HEADER = ("id", "age", "amount", "city", "late")


def _claims(n_rows=60, seed=1):
    draw = random.Random(seed)
    rows = []
    for i in range(n_rows):
        age, amount = draw.randint(18, 80), round(draw.uniform(1, 9), 2)
        city = draw.choice(["Bern", "Pisa", "Rome"])
        late = age / 40 + amount / 4 + (city == "Rome") + draw.gauss(0, 0.4) > 3
        rows.append([f"{i:04d}", "" if i % 20 == 3 else str(age), str(amount), city, "yes" if late else "no"])
    return rows


@pytest.fixture
def claims():
    """Sixty claims, late where age, amount and city say so; three gaps in age, ids with leading zeros."""
    return _claims()


@pytest.fixture
def write_csv():
    def write(path, rows, header=HEADER):
        with open(path, "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])

    return write


@pytest.fixture
def folder(tmp_path, monkeypatch, claims, write_csv):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PUSHRANK_TRACEBACK", raising=False)
    write_csv(tmp_path / "claims.csv", claims)
    return tmp_path


@pytest.fixture
def call(folder):
    """Run `pushrank …` in the folder; the text is split at blanks."""

    def run(line, **kwargs):
        return CliRunner().invoke(main, line.split(), **kwargs)

    return run


@pytest.fixture
def refused(call):
    """Run what must fail: the one sentence it says, nothing on standard output, no traceback."""

    def run(line, code, **kwargs):
        result = call(line, **kwargs)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        errors = [text for text in result.stderr.splitlines() if "error: " in text]
        assert len(errors) == 1, result.stderr
        return errors[0].removeprefix("pushrank: error: ")

    return run


@pytest.fixture
def model(call, folder):
    """A fitted model of the claims, without the held-out check."""
    result = call("fit claims.csv --target late --id id --top 5 --folds 0 -o claims.model")
    assert result.exit_code == 0, result.output
    return folder / "claims.model"
