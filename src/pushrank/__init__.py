"""Ranking at the top of the list, for people who can act on only its first few cases.

Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pushrank._version import __version__

_HOME = {
    "PushRanker": "pushrank.estimators",
    "Budget": "pushrank.metrics",
    "Power": "pushrank.prices",
    "Identity": "pushrank.prices",
    "TopFraction": "pushrank.prices",
    "Maximum": "pushrank.tops",
    "MeanOfTop": "pushrank.tops",
    "SoftTop": "pushrank.tops",
    "Quantile": "pushrank.tops",
}
_ROOMS = ("datasets", "exceptions", "losses", "metrics", "prices", "risks", "solvers", "spaces", "tops")

__all__ = [
    "PushRanker",
    "Budget",
    "Identity",
    "Power",
    "TopFraction",
    "Maximum",
    "MeanOfTop",
    "SoftTop",
    "Quantile",
    "datasets",
    "exceptions",
    "losses",
    "metrics",
    "prices",
    "risks",
    "solvers",
    "spaces",
    "tops",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _ROOMS:
        value = import_module(f"pushrank.{name}")
    else:
        raise AttributeError(f"module 'pushrank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
