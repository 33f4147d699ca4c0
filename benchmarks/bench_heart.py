"""One value-and-gradient of every cell at 10⁶ items, as a multiple of one np.argsort of the same length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from clock import Row, race

from pushrank import losses, prices, tops
from pushrank.prices import Price
from pushrank.risks import make_risk
from pushrank.targets import RankingTarget

LOSSES = (
    losses.Exponential(),
    losses.Logistic(),
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.SmoothedHinge(),
)
PRICES = (prices.Identity(), prices.Power(4), prices.TopFraction(0.05), prices.Exponential())
TOPS = (
    tops.Maximum(),
    tops.MeanOfTop(0.01),
    tops.SoftTop(8),
    tops.SoftTop(8, at_least=100),
    tops.Quantile(0.01),
    tops.Quantile(0.01, over="all"),
)


def rows(scale: float = 1.0) -> Iterator[Row]:
    """The cells, then how two of each kind grow from 10⁶ to 2·10⁶ items."""
    from pushrank._dispatch import without_fast_paths

    n = int(1e6 * scale)
    scores, target = _list(n)
    for loss in LOSSES:
        for push in (*PRICES, *TOPS):
            risk = make_risk(loss, push)
            is_slow_family = isinstance(push, Price) and not loss.log
            what = f"{loss.name} × {push!r}"
            if is_slow_family and loss.name == "logistic":
                yield _cell(what + ", with `fast`", risk, scores, target, 3.0)
                with without_fast_paths():
                    yield _cell(what + ", numpy alone", risk, scores, target, 14.0)
            else:
                yield _cell(what, risk, scores, target, 5.0 if is_slow_family else 1.0)
    for loss, push in (
        (LOSSES[0], PRICES[1]),
        (LOSSES[1], PRICES[1]),
        (LOSSES[2], PRICES[2]),
        (LOSSES[2], TOPS[0]),
    ):
        risk = make_risk(loss, push)
        double, twice = _list(2 * n)
        ours, theirs = race(
            lambda r=risk, s=double, t=twice: r.value_and_gradient(s, t),
            lambda r=risk: r.value_and_gradient(scores, target),
        )
        yield Row("Growth", f"{loss.name} × {push!r}, {2 * n:,} items", ours, f"{n:,} items", theirs, 2.3)


def _cell(what: str, risk: Any, scores: Any, target: Any, limit: float) -> Row:
    ours, theirs = race(lambda: risk.value_and_gradient(scores, target), lambda: np.argsort(scores))
    return Row(f"Value and gradient, {len(scores):,} items", what, ours, "np.argsort", theirs, limit)


def _list(n: int) -> tuple[Any, RankingTarget]:
    rng = np.random.default_rng(0)
    is_winner = rng.random(n) < 0.1
    scores = rng.normal(scale=1.5, size=n) + is_winner
    target = RankingTarget.bipartite(is_winner, np.ones(n))
    return scores, target
