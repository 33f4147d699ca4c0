"""Prices of the losers' heights. A new one is one file here and one line below."""

from pushrank.prices.base import Price
from pushrank.prices.exponential import Exponential
from pushrank.prices.identity import Identity
from pushrank.prices.power import Power
from pushrank.prices.top_fraction import TopFraction

__all__ = ["Exponential", "Identity", "Power", "Price", "TopFraction"]
