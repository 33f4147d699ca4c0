"""The highest loser: the Infinite Push's and TopPush's top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._arrays import Segments
from pushrank._typing import Array
from pushrank.tops.base import Top, is_distribution


@dataclass(frozen=True)
class Maximum(Top):
    """t(s) = max s_k. At a tie the gradient lies on the first of the highest losers.

    With the hinge it is the Infinite Push [1]_, with the squared hinge TopPush [2]_.

    References
    ----------
    .. [1] Agarwal (2011). The Infinite Push. SIAM International Conference on Data Mining, §3.
    .. [2] Li, Jin, Zhou (2014). Top Rank Optimization in Linear Time. NeurIPS.

    Examples
    --------
    >>> from pushrank import Maximum, PushRanker
    >>> infinite_push = PushRanker("hinge", Maximum())
    """

    name: ClassVar[str] = "maximum"
    smooth: ClassVar[bool] = False

    def value_and_gradient(self, scores: Array, weight: Array, blocks: Segments) -> tuple[Array, Array]:
        gradient = np.zeros(len(scores))
        highest = blocks.max(scores)
        gradient[blocks.first(scores == blocks.spread(highest))] = 1.0
        return highest, gradient

    def conjugate(self, shares: Array, weight: Array, blocks: Segments) -> Array:
        return np.where(is_distribution(shares, blocks), 0.0, np.inf)
