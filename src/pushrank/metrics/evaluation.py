"""Many measures of one ranked list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pushrank.budget import Budget
from pushrank.exceptions import InvalidData
from pushrank.metrics.inputs import read_items
from pushrank.metrics.ranked import RankedList
from pushrank.metrics.registry import measure_named, warn_of_undefined

AT_THE_TOP = ("positives_at_top", "r_infinity", "average_precision", "auc", "partial_auc", "ndcg")
AT_K = ("precision_at_k", "recall_at_k", "lift")
OF_GRADES = ("ndcg", "dcg", "mrr")


def evaluate(
    y_true: Any,
    y_score: Any,
    *,
    measures: Iterable[str | tuple[str, dict[str, Any]]] | None = None,
    k: float | Budget | None = None,
    sample_weight: Any = None,
    ties: str = "expected",
    lists: Any = None,
    qid: Any = None,
    gain: Any = None,
    pos_label: Any = None,
) -> dict[str, float]:
    """Compute many measures from one sort.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_items,)
        Two classes (or grades, for ndcg, dcg and mrr), and scores.
    measures : iterable of str or (str, dict), default=None
        Names of measures, or pairs of a name and its arguments. By default the usual ones, with those of the
        first k where k is given.
    k : int, float or Budget, default=None
        The budget of the measures that need one (precision_at_k, recall_at_k, lift, enrichment_factor) and
        are given none. The others look at the whole list unless asked as in ``("ndcg", {"k": 10})``.
    sample_weight, ties, lists, qid, gain, pos_label
        As in every measure.

    Returns
    -------
    dict of str to float
        One value per measure, in the order asked for; its own arguments are part of a name, as in
        "partial_auc(max_fpr=0.2)".

    Examples
    --------
    >>> evaluate([1, 0, 1, 0], [4, 3, 2, 1], measures=["auc", ("precision_at_k", {"k": 1})])
    {'auc': 0.75, 'precision_at_k(k=1)': 1.0}
    """
    items = read_items(
        y_true,
        y_score,
        sample_weight=sample_weight,
        lists=lists,
        qid=qid,
        gain=gain,
        pos_label=pos_label,
        grades=True,
    )
    graded = gain is None and items.gain is not None
    if measures is None:
        measures = OF_GRADES if graded else AT_THE_TOP + (() if k is None else AT_K)
    ranked = RankedList(items, ties)
    values: dict[str, float] = {}
    undefined: dict[str, int] = {}
    for entry in measures:
        name, own = (entry, {}) if isinstance(entry, str) else entry
        measure = measure_named(name)
        if graded and not measure.grades:
            raise InvalidData(
                f"{name} needs two classes but y_true holds grades; compare y_true with one grade."
            )
        parameters = dict(own)
        if k is not None and measure.needs_k:
            parameters.setdefault("k", k)
        measure.check(parameters)
        shown = ", ".join(f"{key}={value}" for key, value in own.items())
        label = f"{name}({shown})" if shown else name
        values[label], undefined[label] = measure.value(ranked, parameters)
    warn_of_undefined(undefined, ranked.n_lists, stacklevel=3)
    return values
