"""Risks by name: a loss and a push, each a word or an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pushrank import losses, prices, tops
from pushrank.exceptions import InvalidParameter, closest
from pushrank.risks.push import PushRisk
from pushrank.risks.top import TopRisk

LOSSES: Mapping[str, Callable[[], losses.Loss]] = {
    part.name: part
    for part in (losses.Exponential, losses.Logistic, losses.Hinge, losses.SquaredHinge, losses.SmoothedHinge)
}
PUSHES: Mapping[str, Callable[[], prices.Price | tops.Top]] = {
    part.name: part
    for part in (
        prices.Identity,
        prices.Power,
        prices.TopFraction,
        prices.Exponential,
        tops.Maximum,
        tops.MeanOfTop,
        tops.SoftTop,
        tops.Quantile,
    )
}


def make_risk(loss: Any, push: Any) -> PushRisk | TopRisk:
    """The risk of a loss and a push, each given by name or as an instance.

    Parameters
    ----------
    loss : str or Loss
        A key of `LOSSES`, or an instance.
    push : str, Price or Top
        A key of `PUSHES`, or an instance.

    Returns
    -------
    PushRisk or TopRisk
        A price makes a `PushRisk`, a top a `TopRisk`.

    Raises
    ------
    InvalidParameter
        For an unknown name, with the closest match.

    Examples
    --------
    >>> make_risk("hinge", "maximum")
    TopRisk(loss=Hinge(), top=Maximum())
    """
    made_loss = _made("loss", loss, LOSSES, losses.Loss)
    made_push = _made("push", push, PUSHES, (prices.Price, tops.Top))
    if isinstance(made_push, prices.Price):
        return PushRisk(made_loss, made_push)
    return TopRisk(made_loss, made_push)


def _made(what: str, part: Any, named: Mapping[str, Callable[[], Any]], kinds: Any) -> Any:
    if isinstance(part, str):
        if part not in named:
            raise InvalidParameter(
                f"Unknown {what} {part!r}{closest(part, named)}. Known: {', '.join(named)}."
            )
        return named[part]()
    if isinstance(part, type) or not isinstance(part, kinds):
        raise InvalidParameter(
            f"{what} must be a name ({', '.join(named)}) or an instance such as "
            f"{'Hinge()' if what == 'loss' else 'Power(4)'}; got {part!r}."
        )
    return part
