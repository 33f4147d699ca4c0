"""What rankers fitted on four fifths of the rows achieve on the fifth that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from pushrank._typing import Array
from pushrank.budget import Budget
from pushrank.cli.preparation import Cells, Preparation
from pushrank.estimators import PushRanker
from pushrank.metrics import evaluate


def held_out(
    ranker: PushRanker,
    preparation: Preparation,
    cells: Cells,
    is_positive: Array,
    weight: Array | None,
    budget: Budget,
    folds: int,
    fit: Callable[[PushRanker, Any, Array, Array | None, int], bool],
) -> dict[str, float] | None:
    """Measures of the first places, each fold's list by itself, averaged over the folds.

    A budget counts in a list as long as all the rows, so it shrinks with the list. `fit` fits a ranker, the
    preparation being learnt anew from the fold's training rows, and says whether it was left to the end;
    None where it was not.
    """
    splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(is_positive, is_positive)
    measured = []
    for number, (seen, unseen) in enumerate(splits, start=1):
        seen_weight = None if weight is None else weight[seen]
        prepared = Preparation(preparation.numbers, preparation.words, preparation.n_sparse)
        X = prepared.fit(cells.rows(seen), seen_weight).transform(cells.rows(seen))
        fold_ranker = clone(ranker)
        with warnings.catch_warnings():
            # The fit on all rows has said what there is to say.
            warnings.simplefilter("ignore")
            if not fit(fold_ranker, X, is_positive[seen], seen_weight, number):
                return None
        scores = fold_ranker.decision_function(prepared.transform(cells.rows(unseen)))
        unseen_weight = None if weight is None else weight[unseen]
        measured.append(first_places(is_positive[unseen], scores, unseen_weight, budget))
    return {name: float(np.mean([fold[name] for fold in measured])) for name in measured[0]}


def first_places(is_positive: Array, scores: Array, weight: Array | None, budget: Budget) -> dict[str, float]:
    """The measures that `fit` reports."""
    return evaluate(
        is_positive,
        scores,
        measures=["precision_at_k", "recall_at_k", "average_precision"],
        k=budget,
        sample_weight=weight,
    )
