"""What a solver drives and returns: problems, evaluations, the monitor, results, reasons for stopping."""

from __future__ import annotations

import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType, TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from pushrank._arrays import offset_and_spread
from pushrank._typing import Array, Vector
from pushrank.exceptions import ScoreOverflow
from pushrank.penalties.base import Penalty
from pushrank.risks.base import Risk
from pushrank.spaces.base import Space

T = TypeVar("T")

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""What sums of a risk lose, relative to its value: objectives that differ by less cannot be told apart."""


class Status(Enum):
    """Why a solver stopped; the value is the sentence shown."""

    CONVERGED = "it reached the tolerance"
    MAX_ITER = "it used all its iterations"
    STOPPED = "it was stopped"
    STALLED = "no step lowered the objective any more"
    PRECISION = "the tolerance is below what the arithmetic holds"
    UNBOUNDED = "the objective falls without end"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The objective at some parameters.

    `slope` is the risk's gradient by the parameters, and `risk` its value: together they are a cut, a plane
    that lies below a convex risk everywhere; what rounding may hide is taken off its value. `gap` bounds the
    objective above its optimum (inf: no bound).
    """

    parameters: Vector
    scores: Array
    risk: float
    slope: Vector
    value: float
    gap: float


@dataclass(frozen=True, eq=False)
class Problem(Generic[T]):
    """A risk over a space with a penalty: P(w) = R(scores(w)) + Ω(w)/C."""

    space: Space
    risk: Risk[T]
    target: T
    penalty: Penalty

    def evaluate(self, parameters: Vector, scores: Array | None = None) -> Evaluation:
        """The objective, the risk's gradient and the certificate, in one pass down and one back.

        `scores` saves the pass down where they are known.
        """
        # What does not fit a float64 is inf or NaN here, and a bound of it is none.
        with np.errstate(over="ignore", invalid="ignore"):
            if scores is None:
                scores = self.space.scores(parameters)
            risk, weights = self.risk.value_and_gradient(scores, self.target)
            slope = self.space.pull_back(weights)
            value = risk + self.penalty.value(parameters)
            noise = self._noise(scores, weights)
            risk -= noise
            gap = self._gap(parameters, risk, slope, value, noise) if self.risk.convex else np.inf
        gap = np.inf if np.isnan(gap) else gap
        return Evaluation(parameters, scores, risk, slope, value, gap)

    @staticmethod
    def _noise(scores: Array, weights: Array) -> float:
        """How far the risk may be off because large scores have lost their last digits.

        A loss tells pulls of order one apart, however far from zero the scores of a contest lie; columns with
        an offset make such scores, and no bound may be closer than what was rounded away.
        """
        size, _ = offset_and_spread(scores)
        return 2.0 * ROUNDING * size * float(np.abs(weights).sum()) if size > 1e3 else 0.0

    def _gap(self, parameters: Vector, risk: float, slope: Vector, value: float, noise: float) -> float:
        gap = self.penalty.gap(parameters, slope) + noise
        if self.risk.log:
            return gap
        # Risks that are not logarithms are nowhere negative, so that the zero plane may be mixed in.
        along = float(slope @ parameters)
        lower = self.penalty.certify(slope, risk - along)
        hidden = ROUNDING * (abs(value) + abs(along))
        return min(gap, max(value - lower, 0.0) + hidden)

    def attempt(self, parameters: Vector, scores: Array | None = None) -> Evaluation | None:
        """The evaluation, or None where the risk does not fit a float64: a step there was too long."""
        try:
            evaluation = self.evaluate(parameters, scores)
        except ScoreOverflow:
            return None
        # Scores beyond 1e300 are no longer told apart from infinity; a logarithmic risk is as large as they.
        is_finite = abs(evaluation.value) < 1e300 and np.isfinite(evaluation.slope).all()
        return evaluation if is_finite else None

    def reached(self, value: float, gap: float, tol: float) -> bool:
        """Whether `gap` is within `tol`: absolute for logarithmic risks, relative to abs(P) for others."""
        return bool(np.isfinite(gap)) and gap <= (tol if self.risk.log else tol * max(abs(value), 1e-3))


History = dict[str, Array]
"""Columns of equal length: iteration, value, gap, seconds, and what else a solver reports."""


@dataclass(frozen=True, eq=False)
class SolverResult:
    """The best parameters found, and what is known of them."""

    parameters: Vector
    value: float
    gap: float
    n_iter: int
    status: Status


class Solver(ABC):
    """A way to minimise a `Problem`. It reads nothing but the problem and the monitor."""

    name: ClassVar[str]

    @abstractmethod
    def unsupported(self, problem: Problem[Any]) -> str | None:
        """None, or one sentence on why this solver does not serve and what to use instead."""

    @abstractmethod
    def solve(self, problem: Problem[Any], monitor: Monitor, start: Vector | None = None) -> SolverResult:
        """Minimise from `start` (zero by default) until the monitor says stop."""


class Monitor:
    """The one keeper of history, tolerance, clock, listeners and keyboard.

    As a context it turns the first Ctrl-C into a request to stop: the solver then returns its best
    parameters. A second Ctrl-C interrupts at once.

    Parameters
    ----------
    tol : float
        The tolerance, as `Problem.reached` reads it.
    max_iter : int
        The most iterations a solver may report.
    listen : callable, default=None
        Called with each row of the history as a dict; a true answer stops the solver.
    verbose : bool, default=False
        Whether to write each row to standard error.
    """

    def __init__(
        self,
        tol: float,
        max_iter: int,
        *,
        listen: Callable[[dict[str, float]], bool] | None = None,
        verbose: bool = False,
    ):
        self.tol = tol
        self.max_iter = max_iter
        self.n_iter = 0
        self.stopped = False
        self._listen = listen
        self._verbose = verbose
        self._rows: list[dict[str, float]] = []
        self._began = time.perf_counter()
        self._interrupted = False
        self._handler: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    def report(self, value: float, gap: float, **columns: float) -> bool:
        """Note an iteration. True: return the best parameters now; `stopped`: for someone asked for it."""
        row = {
            "iteration": float(self.n_iter),
            "value": value,
            "gap": gap,
            "seconds": time.perf_counter() - self._began,
            **columns,
        }
        self._rows.append(row)
        if self._verbose:
            sys.stderr.write(f"iteration {self.n_iter:5d}  objective {value:.9g}  gap {gap:.3g}\n")
        asked = bool(self._listen(row)) if self._listen is not None else False
        self.stopped = self.stopped or asked or self._interrupted
        self.n_iter += 1
        return self.stopped or self.n_iter > self.max_iter

    @property
    def history(self) -> History:
        """What was reported, by column; NaN where a row lacks one."""
        names = dict.fromkeys(name for row in self._rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in self._rows]) for name in names}


@dataclass
class Best:
    """The best evaluation seen so far, and the greatest lower bound of the optimum."""

    evaluation: Evaluation | None = None
    lower: float = field(default=-np.inf)

    def offer(self, evaluation: Evaluation) -> None:
        """Keep the evaluation if it is better, and the lower bound that it certifies."""
        if np.isfinite(evaluation.gap):
            self.lower = max(self.lower, evaluation.value - evaluation.gap)
        if self.evaluation is None:
            self.evaluation = evaluation
            return
        # Among values that rounding has made equal, the certificate knows which point is nearer the optimum.
        fall = self.evaluation.value - evaluation.value
        if abs(fall) <= ROUNDING * abs(self.evaluation.value) and np.isfinite(evaluation.gap):
            is_better = evaluation.gap < self.evaluation.gap
        else:
            is_better = fall > 0
        if is_better:
            self.evaluation = evaluation

    @property
    def value(self) -> float:
        """The least objective."""
        assert self.evaluation is not None, "nothing was evaluated yet"
        return self.evaluation.value

    @property
    def gap(self) -> float:
        """The best value minus the best lower bound: inf where nothing is certified."""
        assert self.evaluation is not None, "nothing was evaluated yet"
        # A difference of two values cannot certify what their rounding hides; a gap made of gradients can.
        hidden = ROUNDING * max(abs(self.value), abs(self.lower)) if np.isfinite(self.lower) else 0.0
        return min(self.evaluation.gap, max(self.value - self.lower, 0.0) + hidden)

    def report(self, problem: Problem[Any], monitor: Monitor, **columns: float) -> Status | None:
        """Note an iteration with what a stop would return; a reason to stop now, or None."""
        asked = monitor.report(self.value, self.gap, **columns)
        if problem.reached(self.value, self.gap, monitor.tol):
            return Status.CONVERGED
        if not asked:
            return None
        return Status.STOPPED if monitor.stopped else Status.MAX_ITER

    def exhausted(self) -> Status:
        """Why no step helps any more: PRECISION where the certificate nearly meets the value, or STALLED."""
        return (
            Status.PRECISION
            if np.isfinite(self.value) and self.gap <= 1e-9 * max(abs(self.value), 1e-3)
            else Status.STALLED
        )

    def result(self, monitor: Monitor, status: Status) -> SolverResult:
        """What the solver returns."""
        best = self.evaluation
        assert best is not None, "nothing was evaluated yet"
        return SolverResult(best.parameters, best.value, self.gap, monitor.n_iter - 1, status)
