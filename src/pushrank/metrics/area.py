"""The area under the ROC curve, whole or in part."""

from __future__ import annotations

import numpy as np

from pushrank._typing import Array
from pushrank.metrics.inputs import require_number
from pushrank.metrics.ranked import RankedList, ratio
from pushrank.metrics.registry import metric
from pushrank.metrics.ties import area_before


@metric(best="high")
def auc(ranked: RankedList) -> Array:
    """The share of pairs (positive, negative) in which the positive scores higher; a tie counts one half.

    Returns
    -------
    float
        Between 0 and 1; scikit-learn's `roc_auc_score`, which already is the mean over random order.

    Examples
    --------
    >>> auc([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    blocks = ranked.blocks
    below = ranked.negatives[blocks.ids] if ranked.n_lists > 1 else ranked.negatives[0]
    # Where there are many runs, every array counts: one is made, and changed in place.
    wins = blocks.negatives * -0.5
    wins -= blocks.negatives_above
    wins += below
    wins *= blocks.positives
    return _per_pair(ranked, ranked.sum(wins, blocks.ids))


@metric(best="high")
def partial_auc(
    ranked: RankedList, *, max_fpr: float = 0.1, min_tpr: float = 0.0, standardize: bool = True
) -> Array:
    """The area under the left end of the ROC curve, or (two-way) its part above a least recall.

    The area is that of {(x, y): x ≤ max_fpr, min_tpr ≤ y ≤ ROC(x)}; a boundary inside a step, or a run of
    equal scores, cuts it there.

    Parameters
    ----------
    max_fpr : float, default=0.1
        The largest share of negatives looked at, in (0, 1].
    min_tpr : float, default=0.0
        The least share of positives from which the area counts, in [0, 1).
    standardize : bool, default=True
        McClish's form [1]_: ½ (1 + (area − area of chance) / (greatest area − area of chance)), one half for
        a scorer without skill; with ``ties="threshold"`` it is scikit-learn's ``roc_auc_score(max_fpr=…)``.
        False returns the plain area.

    Returns
    -------
    float
        At most 1; the plain area is at most max_fpr · (1 − min_tpr).

    References
    ----------
    .. [1] McClish (1989). Analyzing a portion of the ROC curve. Medical Decision Making.

    Examples
    --------
    >>> round(partial_auc([1, 1, 0, 1, 0], [5, 4, 3, 2, 1], max_fpr=0.5, standardize=False), 4)
    0.3333
    """
    require_number("max_fpr", max_fpr, lambda x: 0 < x <= 1, "a number above 0 and at most 1")
    require_number("min_tpr", min_tpr, lambda x: 0 <= x < 1, "a number of at least 0 and below 1")
    area = area_left(ranked, max_fpr, min_tpr)
    if not standardize:
        return area
    chance = max(max_fpr - min_tpr, 0.0) ** 2 / 2
    greatest = max_fpr * (1 - min_tpr)
    return 0.5 * (1 + (area - chance) / (greatest - chance))


def area_left(ranked: RankedList, max_fpr: float, min_tpr: float = 0.0) -> Array:
    """The area under the ROC curve left of `max_fpr` and above `min_tpr`, per list."""
    blocks = ranked.blocks
    within = (max_fpr * ranked.negatives)[blocks.ids] - blocks.negatives_above
    skipped = np.clip(
        (min_tpr * ranked.positives)[blocks.ids] - blocks.positives_above, 0.0, blocks.positives
    )
    area = (blocks.positives - skipped) * np.maximum(within - blocks.negatives, 0.0)
    within = np.clip(within, 0.0, blocks.negatives)
    tied = (within > 0) & (blocks.positives > skipped)
    cut = tied & ((within < blocks.negatives) | (skipped > 0))
    whole = tied & ~cut
    area[whole] += blocks.positives[whole] * blocks.negatives[whole] / 2
    # The boundaries cut two runs of a list at most.
    runs = np.flatnonzero(cut)
    p, n, s, w = blocks.positives[runs], blocks.negatives[runs], skipped[runs], within[runs]
    if ranked.ties == "threshold":
        area[runs] += p / (2 * n) * np.maximum(w - s * n / p, 0.0) ** 2
    else:
        area[runs] += area_before(p, n, s, w)
    return _per_pair(ranked, ranked.sum(area, blocks.ids))


def _per_pair(ranked: RankedList, area: Array) -> Array:
    return ratio(area, ranked.positives * ranked.negatives)
