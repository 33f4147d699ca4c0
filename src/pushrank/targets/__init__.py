"""Targets: what the scores should bring about."""

from pushrank.targets.ranking import Contest, RankingTarget

__all__ = ["Contest", "RankingTarget"]
