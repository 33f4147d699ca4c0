"""The bundle's inner problem: the least point of cuts and a penalty, by an interior point method.

    minimise over w   max_i (offsets_i + slopes_i·w) + l1‖w‖₁ + ½ bend ‖w‖² + tilt·w

Its dual has one share α_i per cut, on the simplex. Any shares on the simplex give a true lower bound, so that
an inexact answer costs iterations and never the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pushrank._typing import Vector

STEPS = 60
"""Interior point steps at most; ordinary inner problems take 8 to 20."""

NEARLY = 0.995
"""The part of the way to the border of the cone that a step may take."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The shares of the cuts (on the simplex exactly, up to rounding) and the point that they lead to."""

    shares: Vector
    parameters: Vector


def least_of_cuts(
    slopes: Vector,
    offsets: Vector,
    *,
    l1: float,
    bend: float,
    tilt: Vector | None = None,
    accuracy: float = 0.0,
) -> Plan:
    """Solve the inner problem to `accuracy` (absolute), or as far as the arithmetic goes.

    Parameters
    ----------
    slopes : ndarray of shape (n_cuts, n_parameters)
        The cuts' slopes.
    offsets : ndarray of shape (n_cuts,)
        The cuts' values at zero.
    l1, bend : float
        The penalty's weights. Without either there need not be a least point.
    tilt : ndarray of shape (n_parameters,), default=None
        A linear term.
    accuracy : float, default=0.0
        The difference of primal and dual values that is small enough.
    """
    if tilt is None:
        tilt = np.zeros(slopes.shape[1])
    # In units of the largest slope and of the range of the offsets every number below is of order one.
    steep = max(float(np.abs(slopes).max()), float(np.abs(tilt).max()), l1) or 1.0
    unit = float(np.ptp(offsets))
    if bend > 0:
        length = float(np.sqrt((((slopes + tilt) / steep) ** 2).sum(axis=1).max()))
        # A unit beyond 1e290 is cut: slopes so steep leave nothing to be found, but must not overflow here.
        with np.errstate(over="ignore"):
            unit = max(unit, float(np.minimum(1e-6 * (np.float64(steep) / bend) * length**2 * steep, 1e290)))
    unit = unit or 1.0
    for _ in range(2):
        scaled = _Scaled(
            slopes / steep,
            (offsets - offsets.max()) / unit,
            l1 / steep,
            bend / steep * (unit / steep),
            tilt / steep,
        )
        with np.errstate(all="ignore"):
            # Beyond the last digit a step may divide by zero: it is seen not to be finite, and not taken.
            shares, parameters = scaled.solve(accuracy / unit)
            plan = Plan(shares, parameters * (unit / steep))
            upper, lower = scaled.upper(parameters), scaled.lower(shares)
        if abs(upper) < 100 or upper - lower <= 1e-9 * abs(upper):
            break
        unit *= abs(upper)
    return plan


@dataclass(frozen=True, eq=False)
class _Scaled:
    """The inner problem in units that make it of order one."""

    slopes: Vector
    offsets: Vector
    l1: float
    bend: float
    tilt: Vector

    def solve(self, accuracy: float) -> tuple[Vector, Vector]:
        """Mehrotra's predictor and corrector; the best of the shares and points met on the way."""
        state = _State.first(self)
        shares, parameters = state.shares / state.shares.sum(), state.w.copy()
        lower, upper = self.lower(shares), self.upper(parameters)
        left, since = np.inf, 0
        for _ in range(STEPS):
            if not state.advance(self):
                break
            now = state.complementarity()
            since = 0 if now < 0.9 * left else since + 1
            left = min(left, now)
            tried = np.maximum(state.shares, 0.0)
            tried /= tried.sum()
            value = self.lower(tried)
            # Pure L1 has no value at shares whose slope exceeds l1 by a rounding: then the last shares serve.
            if value >= lower or (self.bend == 0 and not np.isfinite(lower)):
                lower, shares = value, tried
            elif self.bend == 0:
                shares = tried
            value = self.upper(state.w)
            if value <= upper:
                upper, parameters = value, state.w.copy()
            if upper - lower <= accuracy or left <= 1e-15 * (1.0 + abs(upper)) or since == 5:
                break
        if self.bend > 0:
            # Where the bend is slight, the point that belongs to the shares is exacter than the iterate.
            slope = shares @ self.slopes + self.tilt
            belonging = (np.clip(slope, -self.l1, self.l1) - slope) / self.bend
            if self.upper(belonging) < upper:
                parameters = belonging
        return shares, parameters

    def upper(self, w: Vector) -> float:
        """The objective at a point."""
        smooth = 0.5 * self.bend * float(w @ w) + float(self.tilt @ w)
        return float((self.offsets + self.slopes @ w).max()) + self.l1 * float(np.abs(w).sum()) + smooth

    def lower(self, shares: Vector) -> float:
        """The dual value of shares."""
        beyond = np.maximum(np.abs(shares @ self.slopes + self.tilt) - self.l1, 0.0)
        if self.bend == 0:
            return float(shares @ self.offsets) if float(beyond.max()) <= 1e-12 else -np.inf
        return float(shares @ self.offsets) - float(beyond @ beyond) / (2.0 * self.bend)


@dataclass(eq=False)
class _State:
    """Primal and dual iterates: w (= up − down where there is an l1), the level, slacks; all multipliers."""

    w: Vector
    level: float
    slack: Vector
    shares: Vector
    up: Vector
    down: Vector
    at_up: Vector
    at_down: Vector

    @classmethod
    def first(cls, problem: _Scaled) -> _State:
        """A well-centred start."""
        n_cuts, n_parameters = problem.slopes.shape
        shares = np.full(n_cuts, 1.0 / n_cuts)
        w = np.zeros(n_parameters)
        none = np.zeros(0)
        if problem.l1 == 0:
            w = -(shares @ problem.slopes + problem.tilt) / problem.bend
        values = problem.offsets + problem.slopes @ w
        spread = max(float(np.ptp(values)), 1e-2)
        level = float(values.max()) + spread
        if problem.l1 == 0:
            return cls(w, level, level - values, shares, none, none, none, none)
        ones = np.ones(n_parameters)
        left = max(problem.l1, 1e-3) * ones
        return cls(w, level, level - values, shares, ones, ones.copy(), left, left.copy())

    def complementarity(self) -> float:
        """The mean product of a slack and its multiplier."""
        total = float(self.slack @ self.shares + self.up @ self.at_up + self.down @ self.at_down)
        return total / (len(self.slack) + 2 * len(self.up))

    def advance(self, problem: _Scaled) -> bool:
        """One predictor and corrector step; whether there was one."""
        A, bend = problem.slopes, problem.bend
        if bend == 0 and problem.l1 == 0:
            return False  # A ridge too small for these units holds nothing.
        slope = bend * self.w + problem.tilt + self.shares @ A
        missing_level = self.slack - (self.level - problem.offsets - A @ self.w)
        missing_share = 1.0 - float(self.shares.sum())
        has_l1 = problem.l1 > 0
        if has_l1:
            missing_up = self.at_up - (problem.l1 + slope)
            missing_down = self.at_down - (problem.l1 - slope)
            give_up, give_down = self.up / self.at_up, self.down / self.at_down
            give = (give_up + give_down) / (1.0 + bend * (give_up + give_down))
        else:
            give = np.full(len(self.w), 1.0 / bend)
        matrix = (A * give) @ A.T
        matrix[np.diag_indices_from(matrix)] += self.slack / self.shares
        # Dividing by the root of the diagonal makes cuts of a tiny share harmless to the factor.
        root = np.sqrt(np.diag(matrix))
        matrix /= root[:, None] * root
        matrix[np.diag_indices_from(matrix)] += 1e-14
        if not np.isfinite(matrix).all():
            return False
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return False
        to_level = cho_solve(factor, 1.0 / root, check_finite=False) / root
        centre = self.complementarity()
        if not centre > 0:
            return False

        def direction(cut: Vector, at_up: Vector, at_down: Vector) -> tuple[Vector, ...]:
            """The Newton step to products `cut`, `at_up`, `at_down` more than now."""
            if has_l1:
                moved = at_up / self.at_up - at_down / self.at_down
                moved += give_up * missing_up - give_down * missing_down
                moved /= 1.0 + bend * (give_up + give_down)
            else:
                moved = -slope / bend
            right = cut / self.shares + missing_level + A @ moved
            part = cho_solve(factor, right / root, check_finite=False) / root
            level = (float(part.sum()) - missing_share) / float(to_level.sum())
            shares = part - level * to_level
            pulled = shares @ A
            w = moved - give * pulled
            slack = level - A @ w - missing_level
            if not has_l1:
                none = np.zeros(0)
                return w, np.array([level]), slack, shares, none, none, none, none
            turned = bend * w + pulled
            to_up, to_down = turned - missing_up, -turned - missing_down
            up = (at_up - self.up * to_up) / self.at_up
            down = (at_down - self.down * to_down) / self.at_down
            return w, np.array([level]), slack, shares, up, down, to_up, to_down

        products = (self.slack * self.shares, self.up * self.at_up, self.down * self.at_down)
        ahead = direction(*(-product for product in products))
        length = self._length(ahead)
        reached = self._after(ahead, length).complementarity()
        aim = centre * (reached / centre) ** 3
        _, _, slack, shares, up, down, to_up, to_down = ahead
        step = direction(
            aim - products[0] - slack * shares,
            aim - products[1] - up * to_up,
            aim - products[2] - down * to_down,
        )
        length = NEARLY * self._length(step)
        if not length > 1e-12 or not all(np.isfinite(part).all() for part in step):
            return False
        self.__dict__.update(self._after(step, length).__dict__)
        return True

    def _length(self, step: tuple[Vector, ...]) -> float:
        """How far the positive parts stay positive, at most one."""
        length = 1.0 / NEARLY
        mine = (self.slack, self.shares, self.up, self.down, self.at_up, self.at_down)
        for part, change in zip(mine, step[2:], strict=True):
            falling = change < 0
            if falling.any():
                length = min(length, float((-part[falling] / change[falling]).min()))
        return min(length, 1.0 / NEARLY)

    def _after(self, step: tuple[Vector, ...], length: float) -> _State:
        w, level, slack, shares, up, down, at_up, at_down = step
        return _State(
            self.w + length * w,
            self.level + length * float(level[0]),
            self.slack + length * slack,
            self.shares + length * shares,
            self.up + length * up,
            self.down + length * down,
            self.at_up + length * at_up,
            self.at_down + length * at_down,
        )
