"""Every convex cell as a cone program over all pairs, for clarabel through cvxpy: the optimum, independently.

A cell is compiled once for its shape and weights; data and strengths are parameters. Logarithmic risks are
written without logarithms: the least τ at which the risk of the loss e^(−z − τ) is at most one.
"""

import cvxpy as cp
import numpy as np

SMOOTHED_WIDTH = 0.1


class ConeTwin:
    """The optimum of loss × push with l1‖w‖₁ + l2/2 ‖w‖², for winners (m, d) and losers (n, d).

    `push` is ("identity",), ("power", p), ("top_fraction", share), ("exponential",), ("maximum",),
    ("mean_of_top", K) or ("soft_top", p); `u` and `v` are the weights.
    """

    def __init__(self, loss, push, u, v, d):
        self.u, self.v = np.asarray(u, float) / np.sum(u), np.asarray(v, float) / np.sum(v)
        self.total = float(np.sum(v))
        self.m, self.n = len(u), len(v)
        self.w = cp.Variable(d)
        self.winners, self.losers = cp.Parameter((self.m, d)), cp.Parameter((self.n, d))
        self.l1, self.l2 = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
        self.constraints = []
        is_log = loss == "exponential" and push[0] != "exponential"
        tau = cp.Variable() if is_log else 0.0
        kind = push[0]
        is_top = kind in ("maximum", "mean_of_top", "soft_top")
        risk = self._against_top(loss, push, tau) if is_top else self._price(loss, push, tau)
        if is_log:
            self.constraints.append(risk <= 1)
            risk = tau
        penalty = self.l1 * cp.norm1(self.w) + self.l2 * 0.5 * cp.sum_squares(self.w)
        self.program = cp.Problem(cp.Minimize(risk + penalty), self.constraints)

    def _loss(self, loss, pulls, tau):
        if loss == "exponential":
            return cp.exp(-pulls - tau)
        if loss == "logistic":
            return cp.logistic(-pulls)
        if loss == "hinge":
            return cp.pos(1 - pulls)
        if loss == "squared_hinge":
            return cp.square(cp.pos(1 - pulls))
        return cp.huber(cp.pos(1 - pulls), SMOOTHED_WIDTH) / (2 * SMOOTHED_WIDTH)

    def _price(self, loss, push, tau):
        winners, losers = self.winners @ self.w, self.losers @ self.w
        heights = cp.hstack([self.u @ self._loss(loss, winners - losers[k], tau) for k in range(self.n)])
        if push[0] == "identity":
            return self.v @ heights
        if push[0] == "power":
            return cp.pnorm(cp.multiply(self.v ** (1 / push[1]), heights), push[1])
        if push[0] == "top_fraction":
            return self._mean_of_largest(heights, push[1])
        return cp.log_sum_exp(heights + np.log(self.v))

    def _against_top(self, loss, push, tau):
        losers = self.losers @ self.w
        top = cp.Variable()
        if push[0] == "maximum":
            self.constraints.append(top >= losers)
        elif push[0] == "mean_of_top":
            self.constraints.append(top >= self._mean_of_largest(losers, min(push[1] / self.total, 1.0)))
        else:
            self.constraints.append(top >= cp.log_sum_exp(push[1] * losers + np.log(self.v)) / push[1])
        return self.u @ self._loss(loss, self.winners @ self.w - top, tau)

    def _mean_of_largest(self, values, share):
        border = cp.Variable()
        return border + self.v @ cp.pos(values - border) / share

    def optimum(self, winners, losers, l1, l2):
        """The least objective; -inf where it has none, NaN where clarabel does not know."""
        self.winners.value, self.losers.value, self.l1.value, self.l2.value = winners, losers, l1, l2
        for accuracy in (1e-9, 1e-8):
            try:
                self.program.solve(
                    solver=cp.CLARABEL, tol_gap_abs=accuracy, tol_gap_rel=accuracy, tol_feas=accuracy
                )
            except cp.error.SolverError:
                continue
            if self.program.status == cp.OPTIMAL:
                return float(self.program.value)
            if self.program.status == cp.UNBOUNDED:
                return -np.inf
        return np.nan
