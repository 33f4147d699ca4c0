"""Measures as multiples of one np.argsort of the same scores: one list, a tenth of it positive."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from clock import Row, race

from pushrank import metrics

MEASURES: dict[str, dict[str, Any]] = {
    "positives_at_top": {},
    "top_fraction_score": {},
    "r_infinity": {},
    "pnorm_height_cost": {"p": 4.0},
    "auc": {},
    "partial_auc": {},
    "average_precision": {},
    "precision_at_k": {"k": 0.001},
    "recall_at_k": {"k": 0.001},
    "recall_at_precision": {"precision": 0.5},
    "threshold_at_precision": {"precision": 0.5},
    "dcg": {},
    "ndcg": {},
    "mrr": {},
    "lift": {"k": 0.05},
    "enrichment_factor": {"k": 0.01},
    "bedroc": {"alpha": 1.0},
    "rie": {},
}


def rows(scale: float = 1.0) -> Iterator[Row]:
    """AUC with average precision at 10⁷ scores, then every measure at 2·10⁶, without weights and with."""
    score, y, _ = _draw(int(1e7 * scale))
    both = ["auc", "average_precision"]
    ours, theirs = race(lambda: metrics.evaluate(y, score, measures=both), lambda: np.argsort(score))
    section = f"Measures, {len(y):,} scores"
    yield Row(section, "auc and average_precision", ours, "np.argsort", theirs, 0.6)
    score, y, weight = _draw(int(2e6 * scale))
    section = f"Measures, {len(y):,} scores"
    for weights, words, limit in ((None, "", 1.5), (weight, ", weighted", 2.5)):
        for name, own in MEASURES.items():
            measure = partial(getattr(metrics, name), y, score, sample_weight=weights, **own)
            ours, theirs = race(measure, lambda: np.argsort(score))
            yield Row(section, name + words, ours, "np.argsort", theirs, limit)


def _draw(n: int) -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(0)
    positive = draw.random(n) < 0.1
    return draw.normal(size=n) + positive, positive.astype(np.int64), draw.random(n) + 0.5
