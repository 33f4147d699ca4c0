"""Risks: a loss and a push, made into one number."""

from pushrank.risks.base import DualRisk, Risk, ScoreHessian
from pushrank.risks.named import make_risk
from pushrank.risks.push import PushRisk
from pushrank.risks.top import TopRisk

__all__ = ["DualRisk", "PushRisk", "Risk", "ScoreHessian", "TopRisk", "make_risk"]
