"""Bundles of cuts: the solver of every convex risk, kinked or smooth, with any penalty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from pushrank._typing import Array, Vector
from pushrank.exceptions import InvalidParameter
from pushrank.solvers.base import ROUNDING, Best, Evaluation, Monitor, Problem, Solver, SolverResult, Status
from pushrank.solvers.master import Plan, least_of_cuts
from pushrank.solvers.steps import Anchor

UNUSED = 30
"""A cut that had no share for so many iterations is dropped; the mixture of all cuts stays in its place."""

PATIENCE = 25
"""Iterations in which the gap does not fall by a thousandth before it is taken for as small as it gets."""

FAR = 1e4
"""A point so many times worse than the best is too far: no digit of its steep cut is left here."""


@dataclass(frozen=True)
class Bundle(Solver):
    """The risk is replaced by the greatest of its cuts, whose least point is tried next and adds a cut.

    With the penalty kept as it is this is BMRM (Teo et al. 2010); here every step also searches the line to
    the best point so far and cuts there as well (OCAS; Franc and Sonnenburg 2009). Level stabilisation
    (Lemaréchal et al. 1995) instead projects the best point on a level set of the model. Either way the least
    value of the model bounds the optimum from below.

    Parameters
    ----------
    stabilisation : {"auto", "regulariser", "level"}, default="auto"
        "auto" is "regulariser" where the penalty holds a ridge, and "level" for pure L1.
    """

    stabilisation: Literal["auto", "regulariser", "level"] = "auto"
    name: ClassVar[str] = "bundle"

    def __post_init__(self) -> None:
        if self.stabilisation not in ("auto", "regulariser", "level"):
            raise InvalidParameter(
                f"stabilisation must be 'auto', 'regulariser' or 'level'; got {self.stabilisation!r}."
            )

    def unsupported(self, problem: Problem[Any]) -> str | None:
        if not problem.risk.convex:
            return (
                "bundle needs a convex risk, and this one is not (a Quantile top): use "
                f"solver='{'lbfgs' if problem.penalty.smooth else 'proximal'}', which descends without a "
                "certificate."
            )
        return None

    def solve(self, problem: Problem[Any], monitor: Monitor, start: Vector | None = None) -> SolverResult:
        first = problem.evaluate(np.zeros(problem.space.n_parameters) if start is None else start.copy())
        has_ridge = problem.penalty.l2 > 0
        is_level = self.stabilisation == "level" or (self.stabilisation == "auto" and not has_ridge)
        # Columns too large to be squared make bounds that are none; points that do not fit are not taken.
        with np.errstate(over="ignore", invalid="ignore"):
            return _Run(problem, monitor, first, is_level).run()


@dataclass(eq=False)
class _Cuts:
    """Planes offset + slope·w below the risk."""

    slopes: Vector
    offsets: Vector
    idle: Array
    n: int = 0

    @classmethod
    def none(cls, n_parameters: int) -> _Cuts:
        """Room for the first cuts."""
        return cls(np.zeros((16, n_parameters)), np.zeros(16), np.zeros(16, dtype=np.intp))

    def add(self, slope: Vector, offset: float) -> None:
        """One more plane."""
        if self.n == len(self.offsets):
            self.slopes = np.concatenate([self.slopes, np.zeros_like(self.slopes)])
            self.offsets = np.concatenate([self.offsets, np.zeros_like(self.offsets)])
            self.idle = np.concatenate([self.idle, np.zeros_like(self.idle)])
        self.slopes[self.n], self.offsets[self.n], self.idle[self.n] = slope, offset, 0
        self.n += 1

    @property
    def planes(self) -> tuple[Vector, Vector]:
        """Slopes and offsets."""
        return self.slopes[: self.n], self.offsets[: self.n]

    def mixed(self, shares: Vector) -> tuple[Vector, float]:
        """The mixture of the planes: a plane below the risk as well."""
        slopes, offsets = self.planes
        return shares @ slopes, float(shares @ offsets)

    def prune(self, shares: Vector) -> None:
        """Drop what had no share for long."""
        self.idle[: self.n] = np.where(shares > 1e-8, 0, self.idle[: self.n] + 1)
        kept = np.flatnonzero(self.idle[: self.n] <= UNUSED)
        if len(kept) == self.n:
            return
        slope, offset = self.mixed(shares)
        slopes, offsets = self.planes
        idle = self.idle[kept]
        self.n = len(kept)
        self.slopes[: self.n], self.offsets[: self.n], self.idle[: self.n] = slopes[kept], offsets[kept], idle
        self.add(slope, offset)


@dataclass(eq=False)
class _Run:
    """One minimisation."""

    problem: Problem[Any]
    monitor: Monitor
    first: Evaluation
    is_level: bool
    best: Best = field(default_factory=Best)

    def run(self) -> SolverResult:
        """Cut until there is a reason to stop."""
        problem, best = self.problem, self.best
        self.cuts = _Cuts.none(problem.space.n_parameters)
        self.anchor = Anchor(problem)
        if not problem.risk.log:
            self.anchor.take(np.zeros(problem.space.n_parameters), 0.0, 1.0)
            self.cuts.add(np.zeros(problem.space.n_parameters), 0.0)
        self.weight = 0.0
        self._take(self.first)
        status = self._status(self._bound())
        least_gap, least_value, since, has_changed = best.gap, best.value, 0, False
        while status is None:
            fruitful = self._advance()
            plan = self._bound()
            status = self._status(plan)
            # Until there is a lower bound, progress is a fall of the objective.
            falls = best.value < least_value - 1e-6 * abs(least_value) and not np.isfinite(best.gap)
            since = 0 if best.gap < 0.999 * least_gap or falls else since + 1
            least_gap, least_value = min(least_gap, best.gap), best.value
            if status is None and (not fruitful or since > PATIENCE):
                if has_changed or self.plan is None:
                    status = best.exhausted()
                # A ridge too weak to hold the model's least point, or a level too coarse for the last digits:
                # the other stabilisation may do.
                self.is_level, has_changed, since = not self.is_level, True, 0
        return best.result(self.monitor, status)

    def _take(self, evaluation: Evaluation) -> None:
        """Keep the point if it is the best, and its cut."""
        self.best.offer(evaluation)
        self.cuts.add(evaluation.slope, evaluation.risk - float(evaluation.slope @ evaluation.parameters))

    def _status(self, plan: Plan | None) -> Status | None:
        self.plan = plan
        status = self.best.report(self.problem, self.monitor, lower=self.best.lower)
        here = self.best.evaluation
        if status is None and plan is None and here is not None and self.anchor.falls_for_ever(here):
            return Status.UNBOUNDED
        return status

    def _bound(self) -> Plan | None:
        """The least point of the model, and with it a lower bound of the optimum; None if there is none."""
        penalty = self.problem.penalty
        slopes, offsets = self.cuts.planes
        if penalty.l2 == 0 and self.anchor.slope is None:
            # Is there a mixture of cuts whose slopes are within l1? Then the model has a least value.
            for part in (0.7, 0.97, 0.9999):
                shares = least_of_cuts(slopes, np.zeros(len(offsets)), l1=part * penalty.l1, bend=1.0).shares
                if self.anchor.take(*self.cuts.mixed(shares), 0.5 * (1.0 + part)):
                    break
            else:
                return None
        tol = self.monitor.tol * (1.0 if self.problem.risk.log else max(abs(self.best.value), 1e-3))
        plan = least_of_cuts(slopes, offsets, l1=penalty.l1, bend=penalty.l2, accuracy=0.01 * tol)
        self._note(plan.shares)
        self.cuts.prune(plan.shares)
        return plan

    def _note(self, shares: Vector) -> None:
        """Keep the lower bound that shares of the cuts give."""
        penalty = self.problem.penalty
        slope, offset = self.cuts.mixed(shares)
        lower = offset - penalty.conjugate(-slope) if penalty.l2 > 0 else self.anchor.lower(slope, offset)
        if np.isfinite(lower):
            hidden = ROUNDING * (float(shares @ np.abs(self.cuts.planes[1])) + abs(lower))
            self.best.lower = max(self.best.lower, lower - hidden)

    def _advance(self) -> bool:
        """Evaluate a new point, and one between it and the best; whether it taught the model anything."""
        here = self.best.evaluation
        assert here is not None, "the start was evaluated"
        aim = self.plan.parameters if self.plan is not None and not self.is_level else self._stabilised(here)
        there = self.problem.attempt(aim)
        for _ in range(60):
            if there is not None and there.value <= FAR * max(abs(here.value), 1.0):
                break
            aim = here.parameters + 0.1 * (aim - here.parameters)
            there = self.problem.attempt(aim)
        if there is None:
            return False
        slopes, offsets = self.cuts.planes
        model = float((offsets + slopes @ aim).max())
        rounding = ROUNDING * (abs(there.risk) + float(np.abs(there.slope) @ np.abs(aim)))
        is_new = there.risk > model + rounding or there.value < here.value
        self._take(there)
        between = _between(self.problem, here, there)
        if between is not None:
            self._take(between)
        if self.plan is None:
            self.weight *= 0.5 if self.best.value < here.value else 2.0
        return is_new or self.is_level

    def _stabilised(self, here: Evaluation) -> Vector:
        """The point nearest to the best whose model value is about the level, found by its multiplier."""
        penalty, best = self.problem.penalty, self.best
        slopes, offsets = self.cuts.planes
        if self.weight == 0.0:
            # The weight at which the first step moves the scores by about one.
            reach = float(np.abs(self.problem.space.scores(here.slope)).max(initial=0.0))
            self.weight = self.lightest = max(reach, 1e-300)
            self.lightest *= 1e-12
        self.weight = max(self.weight, self.lightest)
        has_level = np.isfinite(best.lower)
        span = max(best.value - best.lower, 0.0)
        heavy = light = 0.0
        for _ in range(10):
            plan = least_of_cuts(
                slopes,
                offsets,
                l1=penalty.l1,
                bend=penalty.l2 + self.weight,
                tilt=-self.weight * here.parameters,
                accuracy=1e-3 * span if has_level else 0.0,
            )
            if not has_level:
                self.cuts.prune(plan.shares)
                break
            model = float((offsets + slopes @ plan.parameters).max()) + penalty.value(plan.parameters)
            if model > best.lower + 0.5 * span:
                heavy = self.weight
                if heavy <= self.lightest:
                    break
                self.weight = float(np.sqrt(heavy * light)) if light else heavy / 8
            elif model < best.lower + 0.1 * span:
                light = self.weight
                self.weight = float(np.sqrt(heavy * light)) if heavy else light * 8
            else:
                break
        return plan.parameters


def _between(problem: Problem[Any], here: Evaluation, there: Evaluation) -> Evaluation | None:
    """About the least point of the segment from the best point to a new one; None where that is its far end.

    Scores are linear in parameters, so that the search needs the risk alone and no pass over X.
    """
    moved, drift = there.scores - here.scores, there.parameters - here.parameters

    def slope_of(risk_slope: float, parameters: Vector) -> float:
        return risk_slope + float(problem.penalty.gradient(parameters) @ drift)

    low, high = 0.0, 1.0
    falls = slope_of(float(here.slope @ drift), here.parameters)
    rises = slope_of(float(there.slope @ drift), there.parameters)
    if falls >= 0 or rises <= 0:
        return None
    for _ in range(8):
        # The secant, kept off the ends of the bracket: a kink makes it creep.
        part = low + (high - low) * float(np.clip(falls / (falls - rises), 0.1, 0.9))
        parameters = here.parameters + part * drift
        _, weights = problem.risk.value_and_gradient(here.scores + part * moved, problem.target)
        slope = slope_of(float((weights * moved).sum()), parameters)
        if slope < 0:
            low, falls = part, slope
        else:
            high, rises = part, slope
        if high - low < 0.05:
            break
    return problem.attempt(here.parameters + part * drift, here.scores + part * moved)
