"""What `pushrank fit` tells at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pushrank._typing import Array
from pushrank.cli.messages import counted, print_facts, print_json, print_table

if TYPE_CHECKING:
    from pushrank import PushRanker
    from pushrank.cli.fit import Order
    from pushrank.cli.preparation import Preparation
    from pushrank.cli.tables import FirstPlaces, Labels


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fit and its measures; `unseen` are those of rows held out, where there was time and room for it."""

    ranker: PushRanker
    preparation: Preparation
    labels: Labels
    weight: Array | None
    n_coefficients: int
    places: FirstPlaces
    training: dict[str, float]
    unseen: dict[str, float] | None
    folds: int

    @property
    def base(self) -> float:
        """The share of positives among all rows: what chance reaches."""
        is_positive = self.labels.is_positive
        positive = is_positive.sum() if self.weight is None else self.weight[is_positive].sum()
        return float(positive / self.places.total)


def report(order: Order, outcome: Outcome) -> None:
    """Print what was fitted and how good it is, as JSON or as tables."""
    if order.as_json:
        print_json(_values(order, outcome))
        return
    print_facts(_facts(order, outcome))
    print()
    unseen = [f"held out, {outcome.folds} folds"] if outcome.unseen else []
    print_table(["", "training", *unseen, "by chance"], _measures(outcome), numbers=(1, 2, 3))


def _values(order: Order, outcome: Outcome) -> dict[str, Any]:
    ranker, labels, preparation = outcome.ranker, outcome.labels, outcome.preparation
    return {
        "model": order.output,
        "rows": labels.n,
        "weight": outcome.places.total,
        "positives": labels.n_positives,
        "positive_label": labels.positive,
        "numbers": preparation.numbers,
        "words": preparation.words,
        "coefficients": outcome.n_coefficients,
        "loss": order.loss,
        "push": _push_name(ranker),
        "C": order.C,
        "objective": ranker.objective_,
        "gap": ranker.duality_gap_,
        "status": ranker.status_,
        "iterations": ranker.n_iter_,
        "effective_losers": ranker.effective_losers_,
        "top": outcome.places.k,
        "training": outcome.training,
        "held_out": None if outcome.unseen is None else {**outcome.unseen, "folds": outcome.folds},
        "by_chance": {"precision_at_k": outcome.base, "average_precision": outcome.base},
    }


def _facts(order: Order, outcome: Outcome) -> list[tuple[str, str]]:
    ranker, labels, preparation = outcome.ranker, outcome.labels, outcome.preparation
    if preparation.n_sparse is not None:
        columns = f"{preparation.n_sparse:,} of an svmlight file"
    else:
        columns = f"{len(preparation.numbers):,} of numbers, {len(preparation.words):,} of words"
    gap = (
        f"at most {ranker.duality_gap_:.1e} above the optimum"
        if ranker.optimality_.kind == "gap"
        else "its distance to the optimum is not known"
    )
    return [
        ("model", order.output),
        (
            "rows",
            f"{labels.n:,}, of which {labels.n_positives:,} positive ({outcome.base:.1%} of the weight)"
            if outcome.weight is not None
            else f"{labels.n:,}, of which {labels.n_positives:,} positive ({outcome.base:.1%})",
        ),
        ("columns", f"{columns}: {counted(outcome.n_coefficients, 'coefficient')}"),
        ("budget", _budget(order, outcome)),
        ("risk", f"{order.loss} loss, push {_push_name(ranker)}, C = {order.C:g}"),
        ("objective", f"{ranker.objective_:.6g}, {gap}"),
        ("ended as", f"{ranker.status_} after {counted(ranker.n_iter_, 'iteration')}"),
    ]


def _measures(outcome: Outcome) -> list[list[str]]:
    columns = [outcome.training, *([outcome.unseen] if outcome.unseen else [])]
    total = outcome.places.total
    places = outcome.places.budget.places(total)
    shown = f"{places:,.1f}".removesuffix(".0") if places >= 1 else f"{places:.2g}"
    return [
        [
            f"positives in the first {shown}",
            *(f"{_amount(places * values['precision_at_k'])}" for values in columns),
            f"{_amount(places * outcome.base)}",
        ],
        [
            "  as a share of them",
            *(f"{values['precision_at_k']:.1%}" for values in columns),
            f"{outcome.base:.1%}",
        ],
        [
            "  of all positives",
            *(f"{values['recall_at_k']:.1%}" for values in columns),
            f"{places / total:.1%}",
        ],
        [
            "average precision",
            *(f"{values['average_precision']:.4f}" for values in columns),
            f"{outcome.base:.4f}",
        ],
    ]


def _push_name(ranker: PushRanker) -> str:
    """The push as Python writes it: a name stands for the part's defaults."""
    from pushrank.risks.named import PUSHES

    push = ranker.push
    return repr(PUSHES[push]() if isinstance(push, str) else push)


def _budget(order: Order, outcome: Outcome) -> str:
    return f"{outcome.places} of the list{'' if order.top is not None else ' (no --top was given)'}"


def _amount(weight: float) -> str:
    """A number of rows, or a weight, which may be small."""
    return f"{weight:.1f}" if weight >= 1 or not weight else f"{weight:.2g}"
