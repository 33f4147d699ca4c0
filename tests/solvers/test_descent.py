"""L-BFGS and the proximal solver: digits, certificates of pure L1, walls, kinks without convexity."""

import numpy as np
import pytest

from pushrank.losses import Exponential, Hinge, Logistic, SquaredHinge
from pushrank.penalties import L1, L2, ElasticNet
from pushrank.prices import Exponential as ExponentialPrice
from pushrank.prices import Identity, Power
from pushrank.risks import PushRisk, TopRisk
from pushrank.solvers import LBFGS, Monitor, Problem, Proximal, Status
from pushrank.spaces import LinearSpace
from pushrank.targets import RankingTarget
from pushrank.tops import Quantile, SoftTop


def overlapping(seed=0, n=80, d=5, shift=1.0, scale=1.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    is_winner = np.arange(n) % 3 == 0
    X[is_winner, 0] += shift
    return LinearSpace(X * scale), RankingTarget.bipartite(is_winner, np.ones(n))


def solved(problem, solver, tol=1e-4, max_iter=2000):
    with Monitor(tol, max_iter) as monitor:
        return solver.solve(problem, monitor), monitor


@pytest.mark.parametrize("risk", [PushRisk(Logistic(), Identity()), TopRisk(SquaredHinge(), SoftTop(4.0))])
def test_lbfgs_reaches_the_last_digits_from_any_start(risk):
    space, target = overlapping()
    problem = Problem(space, risk, target, L2(1.0))
    one, _ = solved(problem, LBFGS(), tol=1e-22)
    with Monitor(1e-22, 2000) as monitor:
        other = LBFGS().solve(problem, monitor, start=np.ones(5))
    # The gap is at least ½·strength·‖w − w*‖², and it is below 1e-22 or as small as the arithmetic holds.
    np.testing.assert_allclose(one.parameters, other.parameters, rtol=0, atol=1e-10)
    assert one.gap < 1e-20


@pytest.mark.parametrize("penalty", [L1(0.1), ElasticNet(0.2, 0.5)])
def test_proximal_reaches_tight_tolerances_and_exact_zeros(penalty):
    space, target = overlapping(d=8)
    problem = Problem(space, PushRisk(Logistic(), Identity()), target, penalty)
    result, _ = solved(problem, Proximal(), tol=1e-12)
    assert result.status is Status.CONVERGED
    assert (result.parameters == 0).any()
    assert (result.parameters != 0).any()


def test_a_tolerance_of_nothing_ends_by_itself():
    space, target = overlapping()
    for penalty, solver in ((L2(0.3), LBFGS()), (ElasticNet(0.3, 0.5), Proximal()), (L1(0.01), Proximal())):
        problem = Problem(space, PushRisk(Exponential(), Power(3)), target, penalty)
        result, monitor = solved(problem, solver, tol=0.0, max_iter=5000)
        assert monitor.n_iter < 3000
        assert result.gap < 1e-10
        assert result.status is Status.PRECISION or result.gap == 0


def test_pure_l1_on_logarithms_is_certified_where_it_has_a_minimum():
    space, target = overlapping()
    problem = Problem(space, PushRisk(Exponential(), Power(2)), target, L1(0.1))
    result, monitor = solved(problem, Proximal(), tol=1e-6)
    assert result.status is Status.CONVERGED
    assert monitor.history["gap"][0] == np.inf


def test_pure_l1_on_separable_logarithms_falls_for_ever():
    space, target = overlapping(shift=50.0)
    problem = Problem(space, PushRisk(Exponential(), Power(2)), target, L1(1e-3))
    result, _ = solved(problem, Proximal())
    assert result.status is Status.UNBOUNDED
    assert result.gap == np.inf
    assert np.isfinite(result.parameters).all()


@pytest.mark.parametrize("penalty", [L2(1e-6), L1(1e-6), ElasticNet(1e-6, 0.5)])
def test_steps_into_overflow_are_shortened(penalty):
    # Heights of e^700 are reached by steps of ordinary length, and the exponential price refuses them.
    space, target = overlapping(scale=1e3, shift=0.2)
    problem = Problem(space, PushRisk(Exponential(), ExponentialPrice()), target, penalty)
    solver = LBFGS() if penalty.smooth else Proximal()
    start, _ = solved(problem, solver, max_iter=3)
    result, _ = solved(problem, solver, max_iter=300)
    assert result.value <= start.value
    assert np.isfinite(result.parameters).all()
    assert problem.attempt(1e9 * np.ones(5)) is None


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Exponential()])
def test_what_is_not_convex_is_lowered_and_never_certified(loss):
    space, target = overlapping()
    for penalty, solver in ((L2(0.1), LBFGS()), (L1(0.01), Proximal()), (ElasticNet(0.1, 0.5), Proximal())):
        problem = Problem(space, TopRisk(loss, Quantile(0.1)), target, penalty)
        assert solver.unsupported(problem) is None
        result, monitor = solved(problem, solver)
        assert result.status in (Status.STALLED, Status.MAX_ITER)
        assert result.gap == np.inf
        assert result.value < monitor.history["value"][0]


def test_kinks_of_a_convex_risk_are_refused():
    space, target = overlapping()
    for penalty, solver in ((L2(0.1), LBFGS()), (L1(0.01), Proximal())):
        problem = Problem(space, PushRisk(Hinge(), Identity()), target, penalty)
        assert "use solver='bundle'" in solver.unsupported(problem)


def test_lbfgs_refuses_a_kinked_penalty():
    space, target = overlapping()
    problem = Problem(space, PushRisk(Logistic(), Identity()), target, L1(1.0))
    assert "which l1 is not" in LBFGS().unsupported(problem)


def test_constant_columns_leave_zero():
    target = RankingTarget.bipartite(np.array([True, False, False]), np.ones(3))
    for penalty, solver in ((L2(1.0), LBFGS()), (L1(1.0), Proximal())):
        problem = Problem(LinearSpace(np.ones((3, 2))), PushRisk(Logistic(), Identity()), target, penalty)
        result, _ = solved(problem, solver, tol=1e-12)
        assert result.status is Status.CONVERGED
        assert (result.parameters == 0).all()
