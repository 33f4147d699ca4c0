"""Spaces: where the scorer lives."""

from pushrank.spaces.base import Scorer, Space
from pushrank.spaces.linear import LinearScorer, LinearSpace

__all__ = ["LinearScorer", "LinearSpace", "Scorer", "Space"]
