"""Proximal descent: the solver of smooth risks with L1 or the elastic net."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pushrank._typing import Vector
from pushrank.solvers.base import Best, Evaluation, Monitor, Problem, Solver, SolverResult, Status
from pushrank.solvers.steps import Anchor, Memory, descend

PATIENCE = 100
"""Proximal steps without a better certificate, before it is taken for the last digit."""


@dataclass(frozen=True)
class Proximal(Solver):
    """Quasi-Newton steps on w = up − down, both nowhere negative; then accelerated proximal steps.

    The first are scipy's L-BFGS-B, which stops where rounding hides the decrease of the objective; the second
    (Beck and Teboulle 2009, FISTA, with restarts) are judged by the certificate and reach the last digits. A
    risk that is not convex is descended as far as it goes; its gap is inf, and it ends as STALLED at best.

    Parameters
    ----------
    memory : int, default=10
        The number of steps whose curvature is remembered.
    """

    memory: int = 10
    name: ClassVar[str] = "proximal"

    def unsupported(self, problem: Problem[Any]) -> str | None:
        if problem.risk.convex and not problem.risk.smooth:
            return "proximal needs a smooth risk, and this one has kinks: use solver='bundle'."
        return None

    def solve(self, problem: Problem[Any], monitor: Monitor, start: Vector | None = None) -> SolverResult:
        anchor = Anchor(problem) if Anchor.needed(problem) else None

        def polish(best: Best, _: Memory) -> Status | None:
            return _polish(problem, monitor, best, anchor)

        return descend(problem, monitor, start, self.memory, polish, anchor)


def _polish(problem: Problem[Any], monitor: Monitor, best: Best, anchor: Anchor | None) -> Status | None:
    """Accelerated proximal steps judged by slopes and the certificate: values tell nothing apart here."""
    here = best.evaluation
    assert here is not None, "the start was evaluated"
    length = float(np.linalg.norm(here.slope))
    if length == 0:
        return None
    # No risk of degree one bends more along the scores than about one: a first guess of the slope's change.
    bend = (float(np.abs(problem.space.scores(here.slope)).max()) / length) ** 2
    momentum, without, ahead = 1.0, 0, here
    while without < PATIENCE:
        stepped = _step(problem, ahead, bend)
        if stepped is None:
            return None
        there, bend = stepped
        if anchor is not None:
            there = anchor.certify(there)
        without = 0 if there.gap < 0.9 * best.gap else without + 1
        best.offer(there)
        status = best.report(problem, monitor)
        if status is not None:
            return status
        moved = there.parameters - here.parameters
        if float((ahead.parameters - there.parameters) @ moved) > 0:
            momentum = 1.0
        following = 0.5 + np.sqrt(0.25 + momentum**2)
        beyond = (momentum - 1.0) / following
        here, momentum, ahead = there, following, there
        if beyond > 0:
            leap = problem.attempt(there.parameters + beyond * moved)
            ahead = there if leap is None else leap
        bend *= 0.9
    return None


def _step(problem: Problem[Any], ahead: Evaluation, bend: float) -> tuple[Evaluation, float] | None:
    """The proximal step, as long as the change of the slope allows; None where that is no step."""
    for _ in range(60):
        there = problem.attempt(problem.penalty.prox(ahead.parameters - ahead.slope / bend, 1.0 / bend))
        if there is not None:
            moved = there.parameters - ahead.parameters
            if float((there.slope - ahead.slope) @ moved) <= bend * float(moved @ moved):
                return there, bend
        bend *= 2.0
    return None
