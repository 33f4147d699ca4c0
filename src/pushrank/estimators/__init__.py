"""Estimators in scikit-learn's grammar."""

from pushrank.estimators._base import Optimality, Reason
from pushrank.estimators.push import PushRanker

__all__ = ["Optimality", "PushRanker", "Reason"]
