"""Losses: convex, decreasing prices of a pull, with their sums over all pairs without the pairs.

A new loss is one file: an analytic one writes its values, a piecewise polynomial one states its pieces.
"""

from pushrank.losses.base import Loss
from pushrank.losses.exponential import Exponential
from pushrank.losses.hinge import Hinge
from pushrank.losses.logistic import Logistic
from pushrank.losses.smoothed_hinge import SmoothedHinge
from pushrank.losses.squared_hinge import SquaredHinge

__all__ = ["Loss", "Exponential", "Logistic", "Hinge", "SquaredHinge", "SmoothedHinge"]
