"""A researcher's parts: each is written here as CONTRIBUTING says, and fitted at once."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from pushrank import PushRanker
from pushrank.losses import Logistic
from pushrank.losses.analytic import AnalyticLoss
from pushrank.prices import Price
from pushrank.solvers import Solver, SolverResult, Status
from pushrank.tops import Maximum, Top


@dataclass(frozen=True)
class SquareRoot(Price):
    """Γ(r) = Σ v √(1 + r²)."""

    name: ClassVar[str] = "square_root"

    def value_and_gradient(self, heights, weight):
        root = np.sqrt(1 + heights**2)
        return float(weight @ root), weight * heights / root


@dataclass(frozen=True)
class Softened(AnalyticLoss):
    """ℓ(z) = (√(z² + 4) − z) / 2."""

    name: ClassVar[str] = "softened"

    def value(self, pull, order=0):
        root = np.sqrt(pull**2 + 4)
        return [(root - pull) / 2, (pull / root - 1) / 2, 2 / root**3][order]


@dataclass(frozen=True)
class MeanScore(Top):
    """t = the weighted mean of all losers."""

    name: ClassVar[str] = "mean_score"

    def value_and_gradient(self, scores, weight, blocks):
        shares = weight / blocks.spread(blocks.sum(weight))
        return blocks.sum(shares * scores), shares


@dataclass(frozen=True)
class SteepestDescent(Solver):
    """Steps of fixed length, to show that a solver needs nothing but a problem and a monitor."""

    name: ClassVar[str] = "steepest-descent"

    def unsupported(self, problem):
        return None if problem.risk.smooth else "The risk has kinks: use 'bundle'."

    def solve(self, problem, monitor, start=None):
        point = problem.evaluate(np.zeros(problem.space.n_parameters))
        while not monitor.report(point.value, point.gap):
            if problem.reached(point.value, point.gap, monitor.tol):
                break
            slope = point.slope + problem.penalty.gradient(point.parameters)
            point = problem.evaluate(point.parameters - 0.2 * slope)
        return SolverResult(
            point.parameters,
            point.value,
            point.gap,
            monitor.n_iter,
            Status.CONVERGED,
        )


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=80) > 0.8).astype(int)


def literal_optimum(loss, gamma, C):
    """The optimum of Γ(all-pairs heights) + ‖w‖²/2C by a general-purpose minimiser."""
    X, y = data()

    def objective(w):
        scores = X @ w
        heights = loss(scores[y == 1][:, None] - scores[y == 0][None, :]).mean(axis=0)
        return gamma(heights) + w @ w / (2 * C)

    return minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).fun


@pytest.mark.parametrize("solver", ["auto", "bundle", SteepestDescent()], ids=str)
def test_a_new_price_fits_at_once(solver):
    X, y = data()
    ranker = PushRanker(Logistic(), SquareRoot(), C=2.0, tol=1e-8, solver=solver).fit(X, y)
    optimum = literal_optimum(lambda z: np.log1p(np.exp(-z)), lambda r: np.mean(np.sqrt(1 + r**2)), 2.0)
    assert ranker.objective_ == pytest.approx(optimum, abs=1e-7)
    assert ranker.duality_gap_ >= ranker.objective_ - optimum - 1e-10
    assert ranker.status_ == "CONVERGED"
    assert ranker.score(X, y) > 0.8


def test_a_new_loss_fits_at_once():
    X, y = data()
    ranker = PushRanker(Softened(), "identity", C=2.0, tol=1e-8).fit(X, y)
    optimum = literal_optimum(lambda z: (np.sqrt(z**2 + 4) - z) / 2, np.mean, 2.0)
    assert ranker.objective_ == pytest.approx(optimum, abs=1e-7)
    assert PushRanker(Softened(), Maximum()).fit(X, y).score(X, y) > 0.8


def test_a_new_top_fits_at_once():
    X, y = data()
    mean = PushRanker(Logistic(), MeanScore(), C=2.0, tol=1e-8).fit(X, y)
    assert mean.status_ == "CONVERGED"

    def objective(w):
        scores = X @ w
        return np.mean(np.log1p(np.exp(scores[y == 0].mean() - scores[y == 1]))) + w @ w / 4

    optimum = minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    assert_allclose(mean.coef_[0], optimum.x, atol=1e-4)
