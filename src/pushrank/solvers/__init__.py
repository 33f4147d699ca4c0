"""Solvers, and what they drive and return. A new one is one file here and one line in `choose`."""

from pushrank.solvers.base import (
    Best,
    Evaluation,
    History,
    Monitor,
    Problem,
    Solver,
    SolverResult,
    Status,
)
from pushrank.solvers.bundle import Bundle
from pushrank.solvers.choose import choose
from pushrank.solvers.lbfgs import LBFGS
from pushrank.solvers.proximal import Proximal

__all__ = [
    "LBFGS",
    "Best",
    "Bundle",
    "Evaluation",
    "History",
    "Monitor",
    "Problem",
    "Proximal",
    "Solver",
    "SolverResult",
    "Status",
    "choose",
]
