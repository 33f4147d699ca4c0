"""The papers' data sets: counts, forms, and a clear sentence where the data are not to be had."""

import gzip
import sys
import urllib.error
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from numpy.testing import assert_array_equal
from sklearn.utils import Bunch

from pushrank import datasets
from pushrank.datasets import (
    list_datasets,
    load_housing,
    load_ionosphere,
    load_pima,
    load_spambase,
    load_tictactoe,
    load_wdbc,
    shipped_table,
)
from pushrank.exceptions import InvalidData, InvalidParameter, MissingExtra

CARDS = {card.name: card for card in list_datasets()}
FETCH_OPENML = sklearn.datasets.fetch_openml
SHIPPED = [name for name, card in CARDS.items() if card.ships]
HOUSING = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"]
PIMA = ["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age"]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def offline(*args, **kwargs):
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    monkeypatch.delenv("PUSHRANK_DATA", raising=False)


def online(monkeypatch, bunch):
    asked = []

    def fetch(name, *, version, **options):
        asked.append((name, version))
        return bunch

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return asked


def pima_bunch(positives=268):
    data = np.arange(768 * 8, dtype=float).reshape(768, 8)
    target = np.array(["tested_positive"] * positives + ["tested_negative"] * (768 - positives), dtype=object)
    return Bunch(data=data, target=target, feature_names=PIMA, categories={})


def pima_file(folder, n_rows=768, name="pima.csv"):
    header = "pregnancies,glucose,blood_pressure,skin_thickness,insulin,bmi,pedigree,age,target"
    rows = [f"{i},1,2,3,4,5.5,0.5,30,{int(i < 268)}" for i in range(n_rows)]
    path = Path(folder) / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_sets_are_what_their_cards_say(name):
    card = CARDS[name]
    bunch = getattr(datasets, f"load_{name}")()
    assert bunch.target.shape == (card.n_items,)
    assert bunch.target.dtype == np.int64
    assert int(bunch.target.sum()) == card.n_positives
    assert bunch.data.shape == (card.n_items, len(bunch.feature_names))
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert np.isfinite(bunch.data).all()
    assert tuple(bunch.target_names) == card.target_names
    assert bunch.frame is None
    assert bunch.licence == "CC BY 4.0"
    assert bunch.citation in bunch.DESCR
    assert str(card.n_positives) in bunch.DESCR
    table = shipped_table(name)
    assert (table.n_rows, len(table.features)) == (card.n_items, card.n_features)


def test_values_of_the_shipped_sets():
    assert_array_equal(load_wdbc().data[0, :3], [17.99, 10.38, 122.8])
    assert_array_equal(load_ionosphere().data[:, 1], np.zeros(351))
    assert_array_equal(load_spambase().data[0, -3:], [3.756, 61, 278])


def test_wdbc_equals_scikit_learn_with_the_classes_the_other_way_round():
    X, y = load_wdbc(return_X_y=True)
    theirs = sklearn.datasets.load_breast_cancer()
    assert_array_equal(y, 1 - theirs.target)
    assert_array_equal(X, theirs.data)


@pytest.mark.parametrize("name", SHIPPED)
def test_as_frame_gives_pandas_objects(name):
    load = getattr(datasets, f"load_{name}")
    bunch = load(as_frame=True)
    assert list(bunch.frame.columns) == [*bunch.feature_names, "target"]
    X, y = load(return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X, bunch.data)
    pd.testing.assert_series_equal(y, bunch.target)
    assert_array_equal(X.to_numpy(), load().data)


def test_as_frame_without_pandas_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"^as_frame=True needs pandas: pip install pandas\.$"):
        load_wdbc(as_frame=True)


def test_encodings_of_tictactoe_agree():
    words = load_tictactoe(encoding="words")
    ordinal = load_tictactoe(encoding="ordinal")
    onehot = load_tictactoe()
    assert words.data.shape == ordinal.data.shape == (958, 9)
    assert set(np.unique(words.data.astype(str))) == {"b", "o", "x"}
    assert_array_equal(np.array(["o", "x", "b"], dtype=object)[ordinal.data.astype(int)], words.data)
    assert onehot.data.shape == (958, 27)
    assert_array_equal(onehot.data.reshape(958, 9, 3).sum(axis=2), np.ones((958, 9)))
    column = onehot.feature_names.index("middle_right=o")
    assert_array_equal(onehot.data[:, column], words.data[:, 5] == "o")
    # The target is the rule of the game: x holds one of the eight lines.
    boards = words.data.reshape(-1, 3, 3) == "x"
    diagonals = [np.trace(boards[:, :, ::step], axis1=1, axis2=2) == 3 for step in (1, -1)]
    wins = boards.all(axis=1).any(axis=1) | boards.all(axis=2).any(axis=1) | np.any(diagonals, axis=0)
    assert_array_equal(wins, words.target == 1)
    with pytest.raises(InvalidParameter, match="encoding must be 'onehot', 'ordinal' or 'words'; got 'hot'"):
        load_tictactoe(encoding="hot")


def test_only_shipped_sets_have_a_table():
    with pytest.raises(InvalidParameter, match="these do: wdbc, tictactoe, ionosphere, spambase"):
        shipped_table("pima")
    with pytest.raises(InvalidParameter, match="No data set named 'iris' ships"):
        shipped_table("iris")


def test_the_licence_file_names_every_shipped_set():
    text = (Path(datasets.__file__).parent / "data" / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in text
    for name in SHIPPED:
        assert f"`{name}.csv.gz`" in text
        assert CARDS[name].citation.split(". ")[-1].strip().removesuffix(".") in text


@pytest.mark.parametrize("load", [load_pima, load_housing])
def test_without_file_and_network_there_is_one_sentence(load):
    name = load.__name__.removeprefix("load_")
    with pytest.raises(InvalidData) as caught:
        load()
    assert str(caught.value) == (
        f"The {name} data do not ship with pushrank, and OpenML did not give them (URLError); pass path=, "
        f"or set PUSHRANK_DATA to the folder that holds {name}.csv."
    )


def test_scikit_learn_takes_the_question_as_it_is_put(tmp_path, monkeypatch):
    def unplugged(*args, **kwargs):
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", FETCH_OPENML)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unplugged)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)
    with (
        pytest.warns(UserWarning, match="A network error occurred"),
        pytest.raises(InvalidData, match=r"OpenML did not give them \(URLError\)"),
    ):
        load_housing()


def test_pima_comes_from_a_path_or_from_the_folder(tmp_path, monkeypatch):
    path = pima_file(tmp_path)
    bunch = load_pima(path=path)
    assert bunch.data.shape == (768, 8)
    assert int(bunch.target.sum()) == 268
    assert bunch.feature_names[5] == "bmi"
    monkeypatch.setenv("PUSHRANK_DATA", str(tmp_path))
    assert_array_equal(load_pima().data, bunch.data)
    (tmp_path / "pima.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    X, y = load_pima(return_X_y=True, as_frame=True)
    assert_array_equal(X.to_numpy(), bunch.data)
    assert_array_equal(y, bunch.target)


def test_a_folder_without_the_file_falls_through_to_openml(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHRANK_DATA", str(tmp_path))
    asked = online(monkeypatch, pima_bunch())
    bunch = load_pima()
    assert asked == [("diabetes", 1)]
    assert_array_equal(bunch.data, pima_bunch().data)
    assert bunch.feature_names[:3] == ["pregnancies", "glucose", "blood_pressure"]
    assert int(bunch.target.sum()) == 268


def test_other_data_under_the_name_are_refused(tmp_path, monkeypatch):
    with pytest.raises(
        InvalidData, match="is not the pima data: 500 rows, 268 of them with target 1, where 768"
    ):
        load_pima(path=pima_file(tmp_path, 500))
    online(monkeypatch, pima_bunch(positives=200))
    with pytest.raises(
        InvalidData, match="pima as fetched from OpenML is not the pima data: 768 rows, 200 of"
    ):
        load_pima()
    short = tmp_path / "short.csv"
    short.write_text("pregnancies,target\n1,1\n")
    with pytest.raises(InvalidData, match="has no column 'glucose'; it has: pregnancies, target"):
        load_pima(path=short)
    wordy = pima_file(tmp_path)
    wordy.write_text(wordy.read_text().replace("5.5", "much"))
    with pytest.raises(InvalidData, match="a column holds words"):
        load_pima(path=wordy)
    with pytest.raises(InvalidData, match="There is no file"):
        load_pima(path=tmp_path / "absent.csv")


def test_housing_from_openml_decodes_categories(monkeypatch):
    rad_values, chas_values = ["24", "1", "5"], ["0", "1"]
    data = np.tile(np.arange(13.0), (506, 1))
    data[:, HOUSING.index("CHAS")] = np.arange(506) < 35
    data[:, HOUSING.index("RAD")] = np.arange(506) % 3
    price = np.linspace(5, 50, 506)
    asked = online(
        monkeypatch,
        Bunch(
            data=data,
            target=price,
            feature_names=HOUSING,
            categories={"CHAS": chas_values, "RAD": rad_values},
        ),
    )
    bunch = load_housing()
    assert asked == [("boston", 1)]
    assert bunch.data.shape == (506, 13)
    assert int(bunch.target.sum()) == 35
    assert_array_equal(bunch.data[:3, bunch.feature_names.index("rad")], [24, 1, 5])
    assert_array_equal(bunch.data[:, bunch.feature_names.index("medv")], price)
    assert "chas" not in bunch.feature_names


def test_an_answer_of_another_form_is_one_sentence(monkeypatch):
    online(
        monkeypatch, Bunch(data=np.zeros((2, 1)), target=np.zeros(2), feature_names=["A"], categories=None)
    )
    with pytest.raises(InvalidData, match=r"OpenML did not give them \(KeyError\)"):
        load_housing()


@pytest.mark.parametrize("load", [load_pima, load_housing])
def test_the_true_data_where_they_are_at_hand(load):
    name = load.__name__.removeprefix("load_")
    path = Path(__file__).parents[3] / "shared" / "data" / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip(f"{name} does not ship")
    bunch = load(path=path)
    assert bunch.data.shape == (CARDS[name].n_items, CARDS[name].n_features)
    if name == "pima":
        assert int(np.sum(bunch.data[:, bunch.feature_names.index("insulin")] == 0)) == 374
