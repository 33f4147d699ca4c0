"""Penalties of the parameters."""

from pushrank.penalties.base import Penalty
from pushrank.penalties.elastic_net import L1, L2, ElasticNet

__all__ = ["ElasticNet", "L1", "L2", "Penalty"]
