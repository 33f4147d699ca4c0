"""PushRanker: every loss against every price and top, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from pushrank._typing import Array, Vector
from pushrank._validation import TrainingData, require_choice, require_number, require_whole
from pushrank.estimators._base import BaseRanker, Optimality, warn_about
from pushrank.penalties import L1, L2, ElasticNet, Penalty
from pushrank.risks import PushRisk, TopRisk, make_risk
from pushrank.solvers import Monitor, Problem, Status, choose
from pushrank.spaces import LinearSpace, Space
from pushrank.targets import RankingTarget


class PushRanker(BaseRanker):
    """Rank the top of the list with a linear scorer, by any loss and any push, and certify the optimum.

    Minimises R(Xw) + Ω(w)/C, where R is a price on the losers' heights (`PushRisk`) or a loss against the
    losers' top (`TopRisk`). The default is the P-Norm Push [1]_ with p = 2; ``PushRanker("hinge",
    Maximum())`` is the Infinite Push [2]_, ``PushRanker("hinge", Identity())`` RankSVM.

    Parameters
    ----------
    loss : str or Loss, default="exponential"
        "exponential", "logistic", "hinge", "squared_hinge", "smoothed_hinge", or an instance.
    push : str, Price or Top, default="power"
        A price ("identity", "power", "top_fraction", "exponential"), a top ("maximum", "mean_of_top",
        "soft_top", "quantile"), or an instance such as ``Power(4)``; a name stands for the part's defaults,
        "power" for ``Power(2)``.
    C : float, default=1.0
        Inverse strength of the penalty, 1/λ of the papers: the same for every number of rows.
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
    l1_ratio : float, default=0.5
        The share of ‖w‖₁ in the elastic net.
    contest_weight : {"pairs", "equal"}, default="pairs"
        With queries or grades: whether a contest weighs as many as its pairs, or one.
    solver : str or Solver, default="auto"
        "lbfgs", "proximal", "bundle", or the first of them that serves.
    tol : float, default=1e-4
        Stop when the certified gap is at most tol · max(abs(P), 1e-3) (at most tol for logarithmic risks).
    max_iter : int, default=1000
    verbose : bool, default=False
        Write a line per iteration to standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : float
        Makes `predict` the sign of the score; it does not change the ranking.
    classes_ : ndarray
        `classes_[1]` is pushed to the top (grades, after a fit with `qid` and more than two of them).
    optimality_ : Optimality
        (kind, value, of): how far the objective may be above its optimum.
    duality_gap_ : float
        An upper bound of objective − optimum; inf where nothing is certified.
    objective_ : float
        R + Ω/C at the fitted scorer.
    raw_risk_ : float
        Γ of the heights, the papers' F_p up to n·m^p; for prices only.
    effective_losers_ : float
        The share of losers that carries the push: the perplexity of their weights.
    history_ : dict of ndarray
        iteration, value, gap, seconds, and what else the solver reports.
    n_iter_ : int
    status_ : str
        CONVERGED, MAX_ITER, STOPPED, STALLED, PRECISION or UNBOUNDED.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] Rudin (2006). Ranking with a P-Norm Push. COLT, §4.
    .. [2] Agarwal (2011). The Infinite Push. SIAM International Conference on Data Mining, §3.

    Examples
    --------
    >>> from pushrank import PushRanker
    >>> from pushrank.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> ranker = PushRanker(C=10).fit(X, y)
    >>> bool(ranker.duality_gap_ <= 1e-4)
    True
    >>> ranker.rank(X, top=5).shape
    (5,)
    """

    def __init__(
        self,
        loss: Any = "exponential",
        push: Any = "power",
        *,
        C: float = 1.0,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        contest_weight: str = "pairs",
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: bool = False,
    ):
        self.loss = loss
        self.push = push
        self.C = C
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.contest_weight = contest_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_parameters(self) -> None:
        require_number("C", self.C, above=0)
        require_number("tol", self.tol, least=0)
        require_number("l1_ratio", self.l1_ratio, least=0, most=1)
        require_whole("max_iter", self.max_iter, least=1)
        require_choice("penalty", self.penalty, ("l2", "l1", "elasticnet"))
        make_risk(self.loss, self.push)

    def _max_subtasks(self) -> int:
        return self.max_iter + 1

    def _penalty(self) -> Penalty:
        strength = 1.0 / self.C
        if self.penalty == "l2":
            return L2(strength)
        return L1(strength) if self.penalty == "l1" else ElasticNet(strength, self.l1_ratio)

    def _fit_scorer(self, data: TrainingData, listen: Any) -> Array:
        space = LinearSpace(data.X)
        risk = make_risk(self.loss, self.push)
        problem = Problem(space, risk, data.target, self._penalty())
        solver = choose(self.solver, problem)
        zero_value = risk.value_and_gradient(np.zeros(space.n_items), data.target)[0]
        with Monitor(self.tol, self.max_iter, listen=listen, verbose=self.verbose) as monitor:
            start = self._start(space, risk, data.target)
            result = solver.solve(problem, monitor, start)
            if start is not None and result.value > zero_value and not monitor.stopped:
                result = solver.solve(problem, monitor)
        scores = space.scores(result.parameters)
        _, weights = risk.value_and_gradient(scores, data.target)
        self.scorer_ = space.scorer(result.parameters)
        self.coef_ = result.parameters[None, :]
        self.objective_ = result.value
        self.duality_gap_ = result.gap
        kind = "gap" if np.isfinite(result.gap) else "none"
        self.optimality_ = Optimality(kind, result.gap, "objective_")
        self.history_ = monitor.history
        self.n_iter_ = max(result.n_iter, 1)
        self.status_ = result.status.name
        self.effective_losers_ = effective_losers(weights, data.weight, data.target.contest.loser_items)
        if isinstance(risk, PushRisk):
            self.raw_risk_ = risk.raw(scores, data.target)
        # Of a fit that was cut short the gap says nothing yet.
        hidden = result.gap if result.status in (Status.CONVERGED, Status.PRECISION) else 0.0
        constant = zero_value <= result.value + hidden
        warn_about(self, result.status, monitor, result.gap, constant=constant)
        return scores

    def _start(self, space: Space, risk: PushRisk | TopRisk, target: RankingTarget) -> Vector | None:
        """Where a risk that is not convex is descended from: the optimum of its convex relative."""
        relative = risk.top.convex_above() if isinstance(risk, TopRisk) else None
        if relative is None:
            return None
        easier = Problem(space, TopRisk(risk.loss, relative), target, self._penalty())
        return choose("auto", easier).solve(easier, Monitor(1e-3, self.max_iter)).parameters

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scorer_")


def effective_losers(weights: Array, sample_weight: Array, loser_items: Array) -> float:
    """The share of the losers that carries the push: the perplexity of their weights V over their number.

    With sample weights v it is exp(−KL(V ‖ v)), so that a weight of two counts as two rows; 1 means that all
    losers push alike, 1/n that one does. NaN where nothing is pushed.
    """
    losers = np.zeros(len(weights), dtype=bool)
    losers[loser_items] = True
    pushed = np.maximum(weights[losers], 0.0)  # Of grades, one that is pulled more than pushed counts as 0.
    total = float(pushed.sum())
    if total <= 0:
        return np.nan
    shares = pushed / total
    base = sample_weight[losers] / sample_weight[losers].sum()
    carrying = shares > 0
    return float(np.exp(-(shares[carrying] @ np.log(shares[carrying] / base[carrying]))))
