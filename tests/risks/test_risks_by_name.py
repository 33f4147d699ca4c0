"""Risks from words and from instances."""

from __future__ import annotations

import inspect

import pytest

from pushrank import losses, prices, tops
from pushrank.exceptions import InvalidParameter
from pushrank.risks import PushRisk, TopRisk
from pushrank.risks.named import LOSSES, PUSHES, make_risk


@pytest.mark.parametrize(
    ("room", "base", "named"),
    [(losses, losses.Loss, LOSSES), (prices, prices.Price, PUSHES), (tops, tops.Top, PUSHES)],
)
def test_every_exported_part_has_a_name(room, base, named):
    exported = (getattr(room, name) for name in room.__all__)
    parts = [
        part for part in exported if inspect.isclass(part) and issubclass(part, base) and part is not base
    ]
    assert parts
    for part in parts:
        # Prices and losses may share a name, as both are told apart by where they are given.
        assert isinstance(named[part.name](), part)


def test_words_and_instances_are_the_same():
    assert make_risk("hinge", "maximum") == TopRisk(losses.Hinge(), tops.Maximum())
    assert make_risk("exponential", "exponential") == PushRisk(losses.Exponential(), prices.Exponential())
    assert make_risk(losses.Logistic(), prices.Power(4)) == PushRisk(losses.Logistic(), prices.Power(4))
    assert make_risk("logistic", tops.SoftTop(3.0)) == TopRisk(losses.Logistic(), tops.SoftTop(3.0))


@pytest.mark.parametrize(
    ("loss", "push", "message"),
    [
        ("hinges", "power", r"[Ll]oss.*'hinges'.*hinge"),
        ("hinge", "powr", r"[Pp]ush.*'powr'.*power"),
        (losses.Hinge, "power", "loss must be a name .* or an instance such as"),
        ("hinge", 4, "push must be a name .* or an instance such as .*; got 4"),
        ("hinge", losses.Hinge(), "push must be a name"),
    ],
)
def test_what_is_unknown_gets_one_sentence(loss, push, message):
    with pytest.raises(InvalidParameter, match=message):
        make_risk(loss, push)
