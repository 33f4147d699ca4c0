"""Tops of the losers, which winners must beat. A new one is one file here and one line below."""

from pushrank.tops.base import Top, TopCurvature
from pushrank.tops.maximum import Maximum
from pushrank.tops.mean_of_top import MeanOfTop
from pushrank.tops.quantile import Quantile
from pushrank.tops.soft_top import SoftTop

__all__ = ["Maximum", "MeanOfTop", "Quantile", "SoftTop", "Top", "TopCurvature"]
