"""Model files: whole, readable, and never trusted."""

import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from pushrank import losses, prices, tops
from pushrank.cli import model_file
from pushrank.cli.model_file import load, save
from pushrank.exceptions import ModelFileError


class Stranger:
    """A type that no model has."""


def rewrite(path, state=None, card=None):
    """The archive with another state or another card."""
    content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        old_card = archive.read("pushrank.json")
        entries = {name: archive.read(name) for name in archive.namelist() if name != "pushrank.json"}
    if state is not None:
        stream = io.BytesIO(skops.io.dumps(state))
    else:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, entry in entries.items():
                archive.writestr(name, entry)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("pushrank.json", old_card if card is None else card)
    path.write_bytes(stream.getvalue())


def test_a_model_survives_the_file(model, folder):
    one = load(str(model))
    save(one, "again.model")
    other = load("again.model")
    np.testing.assert_array_equal(one.ranker.coef_, other.ranker.coef_)
    assert one.ranker.optimality_ == other.ranker.optimality_
    assert one.ranker.get_params() == other.ranker.get_params()
    assert vars(one).keys() == vars(other).keys()
    assert (other.target, other.positive, other.budget, other.id) == ("late", "yes", 5, "id")
    assert one.preparation.features == other.preparation.features == ["age", "amount", "city"]


@pytest.mark.parametrize(
    "part",
    [losses.Hinge(), losses.SmoothedHinge(), prices.Power(4), prices.TopFraction(0.1), tops.SoftTop(3, 2)],
)
def test_parts_are_saved_with_their_ranker(model, part):
    one = load(str(model))
    where = "loss" if isinstance(part, losses.Loss) else "push"
    one.ranker.set_params(**{where: part})
    save(one, str(model))
    assert load(str(model)).ranker.get_params()[where] == part


def test_only_our_own_types_are_trusted():
    assert all(name.startswith("pushrank.") for name in model_file._trusted())


@pytest.mark.parametrize("content", [b"", b"id,age\n1,2\n", b"\x80\x04K\x01."])
def test_not_a_model(refused, folder, content):
    (folder / "x").write_bytes(content)
    assert refused("rank claims.csv --model x", 1).startswith("x is not a model")


def test_a_folder_is_not_a_model(refused, folder):
    (folder / "x").mkdir()
    assert "x cannot be read: Is a directory" in refused("rank claims.csv --model x", 1)


def test_an_archive_that_is_not_a_model(refused, folder):
    skops.io.dump(LogisticRegression(), folder / "x")
    assert "x is an archive but not a model" in refused("rank claims.csv --model x", 1)


def test_a_model_cut_short(refused, model):
    model.write_bytes(model.read_bytes()[:1500])
    assert "damaged or cut short" in refused("rank claims.csv --model claims.model", 1)


def test_bits_that_fell_over(refused, model):
    content = bytearray(model.read_bytes())
    content[200:260] = b"\0" * 60
    model.write_bytes(bytes(content))
    assert "is damaged" in refused("rank claims.csv --model claims.model", 1)


@pytest.mark.parametrize("card", ["", "{}", '{"pushrank": "x.y"}', "[]"])
def test_a_broken_card(refused, model, card):
    rewrite(model, card=card)
    assert "its version cannot be read" in refused("rank claims.csv --model claims.model", 1)


def test_a_newer_major_version(refused, model):
    rewrite(model, card=json.dumps({"pushrank": "2.0.0"}))
    said = refused("rank claims.csv --model claims.model", 1)
    assert "was saved by pushrank 2.0.0; this is " in said
    assert "upgrade with pip install -U pushrank." in said


def test_a_newer_minor_version_loads(call, model):
    rewrite(model, card=json.dumps({"pushrank": "0.99.0"}))
    assert call("rank claims.csv --model claims.model").exit_code == 0


def test_a_strange_type_is_named_and_not_built(refused, model):
    state = {**vars(load(str(model))), "target": Stranger()}
    state["preparation"] = state["preparation"].state()
    rewrite(model, state=state)
    said = refused("rank claims.csv --model claims.model", 1)
    assert "Stranger) and was not opened" in said


@pytest.mark.parametrize("change", [{"ranker": LogisticRegression()}, {"more": 1}, {"preparation": {}}])
def test_another_shape(model, change):
    state = {**vars(load(str(model)))}
    state["preparation"] = state["preparation"].state()
    rewrite(model, state={**state, **change})
    with pytest.raises(ModelFileError, match="is damaged"):
        load(str(model))
