"""Measures of the top of a ranked list: weights, ties, lists and gains, each by one sort or less.

Every measure is ``measure(y_true, y_score, *, sample_weight=None, ties="expected", lists=None, qid=None,
pos_label=None, …)``. A row of weight w takes w places, and `k` counts places.
"""

from pushrank.budget import Budget
from pushrank.metrics.area import auc, partial_auc
from pushrank.metrics.early import bedroc, rie
from pushrank.metrics.evaluation import evaluate
from pushrank.metrics.gain import dcg, mrr, ndcg
from pushrank.metrics.precision import (
    average_precision,
    enrichment_factor,
    lift,
    precision_at_k,
    recall_at_k,
    recall_at_precision,
    threshold_at_precision,
)
from pushrank.metrics.ranked import RankedList
from pushrank.metrics.scorers import get_scorer, scorer_names
from pushrank.metrics.top import pnorm_height_cost, positives_at_top, r_infinity, top_fraction_score

__all__ = [
    "positives_at_top",
    "top_fraction_score",
    "r_infinity",
    "pnorm_height_cost",
    "auc",
    "partial_auc",
    "average_precision",
    "precision_at_k",
    "recall_at_k",
    "recall_at_precision",
    "threshold_at_precision",
    "dcg",
    "ndcg",
    "mrr",
    "lift",
    "enrichment_factor",
    "bedroc",
    "rie",
    "evaluate",
    "get_scorer",
    "scorer_names",
    "Budget",
    "RankedList",
]
