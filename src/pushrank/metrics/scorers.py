"""scikit-learn scorers of the measures."""

from __future__ import annotations

from typing import Any

from pushrank.exceptions import InvalidParameter
from pushrank.metrics.registry import MEASURES, PUBLIC, measure_named


def scorer_names() -> list[str]:
    """The measures that `get_scorer` knows."""
    return [name for name, measure in MEASURES.items() if measure.best != "neither"]


def get_scorer(name: str, **fixed: Any) -> Any:
    """A scikit-learn scorer of a measure.

    Parameters
    ----------
    name : str
        The name of a measure, such as "positives_at_top".
    **fixed
        Arguments of the measure, such as ``k=0.05``; rows' own arguments (`sample_weight`, `qid`) come with
        the data, by metadata routing.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, greater is better: measures that are to be small change their sign.

    Examples
    --------
    >>> scorer = get_scorer("precision_at_k", k=10)
    """
    measure = measure_named(name)
    if measure.best == "neither":
        raise InvalidParameter(f"{name} is neither to be great nor to be small, so that it makes no scorer.")
    from sklearn.metrics import make_scorer

    measure.check({key: value for key, value in fixed.items() if key not in ROW_ARGUMENTS})
    return make_scorer(
        PUBLIC[name],
        response_method=("decision_function", "predict_proba"),
        greater_is_better=measure.best == "high",
        **fixed,
    )


ROW_ARGUMENTS = ("sample_weight", "ties", "lists", "qid", "pos_label", "gain")
"""Arguments that every measure shares."""
