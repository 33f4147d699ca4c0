"""L-BFGS: the solver of smooth risks with L2, at any number of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from pushrank._typing import Vector
from pushrank.solvers.base import ROUNDING, Best, Monitor, Problem, Solver, SolverResult, Status
from pushrank.solvers.steps import Memory, descend

PATIENCE = 15
"""Steps of the polish without a better certificate, before it is taken for the last digit."""


@dataclass(frozen=True)
class LBFGS(Solver):
    """scipy's L-BFGS-B, stopped by the certificate, then polished to the last digit by gradients alone.

    A risk that is not convex (a `Quantile` top) is descended as far as it goes; its gap is inf, and it ends
    as STALLED at best.

    Parameters
    ----------
    memory : int, default=10
        The number of steps whose curvature is remembered.
    """

    memory: int = 10
    name: ClassVar[str] = "lbfgs"

    def unsupported(self, problem: Problem[Any]) -> str | None:
        if not problem.penalty.smooth:
            return (
                f"lbfgs needs a smooth penalty, which {problem.penalty.name} is not: use penalty='l2', or "
                "solver='proximal' (smooth risks) or solver='bundle'."
            )
        if problem.risk.convex and not problem.risk.smooth:
            return "lbfgs needs a smooth risk, and this one has kinks: use solver='bundle'."
        return None

    def solve(self, problem: Problem[Any], monitor: Monitor, start: Vector | None = None) -> SolverResult:
        return descend(problem, monitor, start, self.memory, partial(_polish, problem, monitor))


def _polish(problem: Problem[Any], monitor: Monitor, best: Best, memory: Memory) -> Status | None:
    """Quasi-Newton steps judged by the certificate.

    Near the optimum the objective is flat to rounding while parameters are known to half the digits only; the
    gradient still tells points apart.
    """
    here = best.evaluation
    assert here is not None, "the start was evaluated"
    gradient = here.slope + problem.penalty.gradient(here.parameters)
    without = 0
    while memory.pairs and without < PATIENCE:
        step = -memory.times(gradient)
        there = problem.attempt(here.parameters + step)
        if there is None or there.value > best.value + 4 * ROUNDING * abs(best.value):
            # The newest curvature comes from the shortest steps, and may be made of rounding alone.
            memory.pairs.pop()
            continue
        without = 0 if there.gap < 0.9 * best.gap else without + 1
        best.offer(there)
        status = best.report(problem, monitor)
        if status is not None:
            return status
        new = there.slope + problem.penalty.gradient(there.parameters)
        memory.add(step, new - gradient)
        here, gradient = there, new
    return None
