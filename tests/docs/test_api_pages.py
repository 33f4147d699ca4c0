"""The pages of the API name all that the packages export."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "api"
ROOMS = ("losses", "prices", "tops", "risks", "penalties", "spaces", "solvers", "metrics", "datasets")


@pytest.fixture(scope="module")
def documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.glob("*.rst"))
    return set(re.findall(r"^\.\. auto\w+:: ([\w.]+)", text, re.MULTILINE))


@pytest.mark.parametrize("room", ROOMS)
def test_every_exported_name_has_an_entry(room, documented):
    names = import_module(f"pushrank.{room}").__all__
    # An alias of dict has no docstring that autodoc could read; its page describes it in words.
    missing = {f"pushrank.{room}.{name}" for name in names if name != "History"} - documented
    assert not missing


def test_every_error_and_warning_has_an_entry(documented):
    kinds = vars(import_module("pushrank.exceptions"))
    names = [name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert {f"pushrank.exceptions.{name}" for name in names} <= documented


def test_every_entry_exists(documented):
    for entry in documented:
        module, _, name = entry.rpartition(".")
        assert hasattr(import_module(module), name), entry
