"""Steps that solvers share: descent by scipy's L-BFGS-B, its memory, and the certificate of pure L1."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from pushrank._typing import Vector
from pushrank.penalties.elastic_net import L1
from pushrank.solvers.base import ROUNDING, Best, Evaluation, Monitor, Problem, SolverResult, Status
from pushrank.solvers.master import least_of_cuts

_WITHOUT_END = {"ftol": 0.0, "gtol": 0.0, "maxiter": 10**9, "maxfun": 10**9, "maxls": 30}
"""scipy's own reasons to stop, silenced: the monitor and the certificate decide."""


@dataclass
class Memory:
    """The inverse curvature as the last steps showed it: the two-loop recursion of L-BFGS."""

    size: int
    pairs: deque[tuple[Vector, Vector]] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = deque(maxlen=self.size)

    def add(self, step: Vector, change: Vector) -> None:
        """Learn that `step` changed the gradient by `change`."""
        if float(step @ change) > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.pairs.append((step, change))

    def times(self, gradient: Vector) -> Vector:
        """The inverse curvature times the gradient."""
        result = gradient.copy()
        parts = []
        for step, change in reversed(self.pairs):
            part = float(step @ result) / float(step @ change)
            parts.append(part)
            result -= part * change
        if self.pairs:
            step, change = self.pairs[-1]
            result *= float(step @ change) / float(change @ change)
        for (step, change), part in zip(self.pairs, reversed(parts), strict=True):
            result += (part - float(change @ result) / float(step @ change)) * step
        return result


@dataclass
class Anchor:
    """What certifies pure L1 on a logarithmic risk: a plane below the risk whose slope is well within l1.

    The plane at w bounds P only if no slope exceeds l1, which holds at the optimum alone. Mixed with the
    anchor, just so much that no slope exceeds l1, it bounds P everywhere. Where there is no anchor the
    objective may have no minimum.
    """

    problem: Problem[Any]
    slope: Vector | None = None
    offset: float = 0.0
    calls: int = 0

    @staticmethod
    def needed(problem: Problem[Any]) -> bool:
        """Whether nothing else certifies: other risks have zero for an anchor, a ridge bounds by itself."""
        return problem.risk.convex and problem.risk.log and problem.penalty.l2 == 0

    def lower(self, slope: Vector, offset: float) -> float:
        """The bound of min P from the plane offset + slope·w; -inf without an anchor."""
        l1 = self.problem.penalty.l1
        size = np.abs(slope)
        beyond = size > l1
        if not beyond.any():
            return offset
        if self.slope is None:
            return -np.inf
        toward = size - np.sign(slope) * self.slope
        # A share more than is needed by some roundings: a bound must not hang on the last bit of a slope.
        share = min(1.0, float(((size[beyond] - l1) / toward[beyond]).max()) + ROUNDING)
        return (1.0 - share) * offset + share * self.offset

    def certify(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with the gap that the anchor affords; now and then, a search for an anchor."""
        self.calls += 1
        if self.slope is None and self.calls >= 4 and self.calls & (self.calls - 1) == 0:
            # Ever nearer to the penalty itself: on separable data much weaker ones hold nothing back.
            self._seek(evaluation, 1.0 - 1.2 / self.calls)
        along = float(evaluation.slope @ evaluation.parameters)
        lower = self.lower(evaluation.slope, evaluation.risk - along)
        if not np.isfinite(lower):
            return evaluation
        hidden = ROUNDING * (abs(evaluation.value) + abs(along) + abs(self.offset))
        return replace(evaluation, gap=min(evaluation.gap, max(evaluation.value - lower, 0.0) + hidden))

    def take(self, slope: Vector, offset: float, part: float) -> bool:
        """Use the plane as the anchor if its slope is within that part of l1; whether it is."""
        is_within = float(np.abs(slope).max(initial=0.0)) <= part * self.problem.penalty.l1
        if is_within:
            self.slope, self.offset = slope, offset
        return is_within

    def _seek(self, evaluation: Evaluation, part: float) -> None:
        """Descend under that part of the penalty, towards whose optimum the slopes come within it."""
        easier = replace(self.problem, penalty=L1(part * self.problem.penalty.l1))
        best = Best()
        best.offer(easier.evaluate(evaluation.parameters, evaluation.scores))

        def is_found(row: dict[str, float]) -> bool:
            here = best.evaluation
            assert here is not None, "the start was evaluated"
            offset = here.risk - float(here.slope @ here.parameters)
            return self.take(here.slope, offset, 0.5 * (1.0 + part))

        Descent(easier, Monitor(0.0, 10 * self.calls, listen=is_found), best).run(10)

    def falls_for_ever(self, evaluation: Evaluation) -> bool:
        """Whether the objective still falls far out on the ray through the parameters."""
        reach = float(np.abs(evaluation.scores).max(initial=0.0))
        if self.slope is not None or reach == 0:
            return False
        near, far = (self._on_ray(evaluation, length / reach) for length in (1e6, 1e12))
        rise = self.problem.penalty.value(evaluation.parameters) * 1e12 / reach
        return near < evaluation.value and far < near - 1e-9 * rise

    def _on_ray(self, evaluation: Evaluation, times: float) -> float:
        risk, _ = self.problem.risk.value_and_gradient(times * evaluation.scores, self.problem.target)
        return risk + self.problem.penalty.value(times * evaluation.parameters)


def beside_kinks(problem: Problem[Any], best: Best) -> Evaluation | None:
    """A lower point than the best where its own slope shows none: gradient sampling (Burke et al. 2005).

    At ties, such as the zero start, one slope of a risk that is not convex says little; the shortest mixture
    of slopes nearby is a direction in which all of them fall.
    """
    here = best.evaluation
    assert here is not None, "the start was evaluated"
    random = np.random.default_rng(0)
    n = len(here.parameters)

    def moved(direction: Vector, reach: float) -> Evaluation | None:
        length = float(np.abs(problem.space.scores(direction)).max(initial=0.0))
        return problem.attempt(here.parameters + (reach / length) * direction) if length > 0 else None

    for reach in (1.0, 0.1, 0.01, 0.001):
        nearby = [moved(random.standard_normal(n), reach) for _ in range(min(n + 1, 20))]
        slopes = [there.slope + problem.penalty.gradient(there.parameters) for there in nearby if there]
        if not slopes:
            return None
        shortest = least_of_cuts(np.array(slopes), np.zeros(len(slopes)), l1=0.0, bend=1.0).parameters
        nearby += [moved(shortest, reach * part) for part in (4.0, 1.0, 0.25)]
        lowest = min((there for there in nearby if there), key=lambda there: there.value)
        if lowest.value < here.value - 1e-9 * abs(here.value):
            return lowest
    return None


@dataclass
class Descent:
    """One run of scipy's L-BFGS-B from the best point; its first step moves scores by about one.

    A penalty with a kink at zero is split: w = up − down, both nowhere negative, where it is smooth.
    """

    problem: Problem[Any]
    monitor: Monitor
    best: Best
    anchor: Anchor | None = None
    status: Status | None = None

    def run(self, size: int) -> Memory:
        """Descend until a reason to stop is found, or scipy finds no lower point."""
        assert self.best.evaluation is not None, "the start was evaluated"
        penalty = self.problem.penalty
        here = self.best.evaluation
        # The shortest subgradient at a zero coefficient: what the kink of the penalty leaves of the slope.
        steep = here.slope + penalty.gradient(here.parameters)
        at_kink = here.parameters == 0
        steep[at_kink] -= np.clip(steep[at_kink], -penalty.l1, penalty.l1)
        length = float(np.linalg.norm(steep))
        reach = float(np.abs(self.problem.space.scores(steep)).max(initial=0.0))
        # scipy forgets its memory where a line search fails, just when it is wanted for the last digits.
        memory = self._memory = Memory(size)
        if length == 0 or not np.isfinite(length * reach):
            return memory
        # scipy's first step has length one; along the gradient a ridge alone allows 1/l2 of it.
        self._scale = length / max(reach, penalty.l2, 1e-300)
        self._here, self._last = here, here
        scaled = here.parameters / self._scale
        if self._is_split:
            scaled = np.concatenate([np.maximum(scaled, 0.0), np.maximum(-scaled, 0.0)])
        minimize(
            self._value_and_gradient,
            scaled,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0.0, np.inf) if self._is_split else None,
            callback=self._on_step,
            options={"maxcor": size} | _WITHOUT_END,
        )
        return memory

    @property
    def _is_split(self) -> bool:
        return self.problem.penalty.l1 > 0

    def _value_and_gradient(self, scaled: Vector) -> tuple[float, Vector]:
        parameters = scaled * self._scale
        overlap = 0.0
        if self._is_split:
            up, down = parameters.reshape(2, -1)
            parameters, overlap = up - down, float(np.minimum(up, down).sum())
        evaluation = self.problem.attempt(parameters)
        if evaluation is None:
            return self._wall(parameters)
        self._last = evaluation
        # Where up and down overlap, the split costs what the penalty of their difference does not.
        value = evaluation.value + 2 * self.problem.penalty.l1 * overlap
        return value, self._scale * self._gradient(evaluation)

    def _wall(self, parameters: Vector) -> tuple[float, Vector]:
        """A moderate rise where the risk overflows, so that interpolation shortens the step in measure."""
        slope = self._here.slope + self.problem.penalty.gradient(self._here.parameters)
        rise = 10 * abs(float(slope @ (parameters - self._here.parameters)))
        return self._here.value + rise, -self._scale * self._gradient(self._here)

    def _gradient(self, evaluation: Evaluation) -> Vector:
        l1 = self.problem.penalty.l1
        bent = evaluation.slope + self.problem.penalty.l2 * evaluation.parameters
        return np.concatenate([l1 + bent, l1 - bent]) if self._is_split else bent

    def _on_step(self, intermediate_result: OptimizeResult) -> None:
        before, self._here = self._here, self._last
        if not self._is_split:
            step = self._here.parameters - before.parameters
            self._memory.add(step, self._gradient(self._here) - self._gradient(before))
        certified = self._here if self.anchor is None else self.anchor.certify(self._here)
        self.best.offer(certified)
        self.status = self.best.report(self.problem, self.monitor)
        if self.status is None and self.anchor is not None and self.anchor.falls_for_ever(self._here):
            self.status = Status.UNBOUNDED
        if self.status is not None:
            raise StopIteration


def descend(
    problem: Problem[Any],
    monitor: Monitor,
    start: Vector | None,
    size: int,
    polish: Callable[[Best, Memory], Status | None],
    anchor: Anchor | None = None,
) -> SolverResult:
    """Descents from the best point, each followed by a polish, until there is a reason to stop.

    A line search fails at rounding level, or where kinks or a wall misled it: a fresh start helps.
    """
    best = Best()
    best.offer(problem.evaluate(np.zeros(problem.space.n_parameters) if start is None else start.copy()))
    status = best.report(problem, monitor)
    while status is None:
        before = best.value
        descent = Descent(problem, monitor, best, anchor)
        memory = descent.run(size)
        status = descent.status
        if status is None and problem.risk.convex:
            status = polish(best, memory)
        if status is None and not problem.risk.convex:
            lower = beside_kinks(problem, best)
            if lower is not None:
                best.offer(lower)
                status = best.report(problem, monitor)
        if status is None and not before - best.value > 1e-10 * abs(before):
            status = best.exhausted()
    return best.result(monitor, status)
