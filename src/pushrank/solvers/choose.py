"""Which solver serves which problem."""

from __future__ import annotations

from typing import Any

from pushrank.exceptions import InvalidParameter, closest
from pushrank.solvers.base import Problem, Solver
from pushrank.solvers.bundle import Bundle
from pushrank.solvers.lbfgs import LBFGS
from pushrank.solvers.proximal import Proximal

SOLVERS: tuple[type[Solver], ...] = (LBFGS, Proximal, Bundle)
"""All solvers, in the order in which "auto" asks them."""


def choose(solver: str | Solver, problem: Problem[Any]) -> Solver:
    """The solver of that name, or for "auto" the first that supports the problem.

    Parameters
    ----------
    solver : str or Solver
        ``"auto"``, the name of a solver, or a solver.
    problem : Problem
        What is to be minimised.

    Returns
    -------
    Solver
        One whose `unsupported` has nothing to say against the problem.

    Raises
    ------
    InvalidParameter
        If no solver has that name, or it does not serve: in its own words.
    """
    is_name = isinstance(solver, str)
    if isinstance(solver, Solver):
        candidates = [solver]
    elif is_name and solver == "auto":
        candidates = [kind() for kind in SOLVERS]
    else:
        by_name = {kind.name: kind for kind in SOLVERS}
        if not is_name or solver not in by_name:
            names = ["auto", *by_name]
            known = ", ".join(names)
            raise InvalidParameter(
                f"Unknown solver {solver!r}{closest(str(solver), names)}. Known: {known}, or a Solver."
            )
        candidates = [by_name[solver]()]
    refusals = []
    for candidate in candidates:
        refusal = candidate.unsupported(problem)
        if refusal is None:
            return candidate
        refusals.append(refusal)
    raise InvalidParameter(refusals[-1])
