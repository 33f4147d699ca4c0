"""The bundle: both stabilisations, its bound, its bookkeeping and what it refuses."""

import numpy as np
import pytest

from pushrank.exceptions import InvalidParameter
from pushrank.losses import Exponential, Hinge, SquaredHinge
from pushrank.penalties import L1, L2, ElasticNet
from pushrank.prices import Identity, TopFraction
from pushrank.risks import PushRisk, TopRisk
from pushrank.solvers import Bundle, Monitor, Problem, Status
from pushrank.spaces import LinearSpace
from pushrank.targets import RankingTarget
from pushrank.tops import Maximum, MeanOfTop, Quantile


def overlapping(seed=0, n=80, d=5, shift=1.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    is_winner = np.arange(n) % 3 == 0
    X[is_winner, 0] += shift
    return LinearSpace(X), RankingTarget.bipartite(is_winner, np.ones(n))


def solved(problem, solver, tol=1e-4, max_iter=500):
    with Monitor(tol, max_iter) as monitor:
        return solver.solve(problem, monitor), monitor


def test_stabilisations_agree():
    space, target = overlapping()
    for penalty in (L2(0.01), L1(0.02), ElasticNet(0.01, 0.7)):
        problem = Problem(space, TopRisk(Hinge(), Maximum()), target, penalty)
        one, _ = solved(problem, Bundle("regulariser"), tol=1e-7)
        other, _ = solved(problem, Bundle("level"), tol=1e-7)
        assert one.status is other.status is Status.CONVERGED
        assert one.value == pytest.approx(other.value, rel=1e-6)


def test_the_history_shows_a_rising_lower_bound_and_a_falling_value():
    space, target = overlapping()
    problem = Problem(space, PushRisk(Hinge(), TopFraction(0.1)), target, L2(0.01))
    result, monitor = solved(problem, Bundle(), tol=1e-6)
    lower, value = monitor.history["lower"], monitor.history["value"]
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(value) <= 1e-12).all()
    assert (lower <= result.value).all()
    assert monitor.history["gap"][-1] == pytest.approx(value[-1] - lower[-1], abs=1e-12)


def test_unused_cuts_are_dropped_without_losing_the_bound():
    space, target = overlapping(n=150, d=12, shift=2.0)
    problem = Problem(space, TopRisk(SquaredHinge(), MeanOfTop(0.2)), target, L2(1e-5))
    result, monitor = solved(problem, Bundle("regulariser"), tol=1e-6, max_iter=1000)
    assert result.n_iter > 40
    assert result.status is Status.CONVERGED
    assert (np.diff(monitor.history["lower"]) >= 0).all()


def test_a_tolerance_below_the_arithmetic_ends_as_precision():
    space, target = overlapping()
    for penalty in (L2(0.1), ElasticNet(0.1, 0.5)):
        problem = Problem(space, TopRisk(Hinge(), Maximum()), target, penalty)
        result, _ = solved(problem, Bundle(), tol=1e-19, max_iter=2000)
        assert result.status is Status.PRECISION
        assert result.gap < 1e-10


def test_pure_l1_on_separable_logarithms_has_no_minimum():
    space, target = overlapping(shift=50.0)
    problem = Problem(space, TopRisk(Exponential(), Maximum()), target, L1(1e-3))
    result, _ = solved(problem, Bundle())
    assert result.status is Status.UNBOUNDED
    assert result.gap == np.inf
    assert np.isfinite(result.value)
    assert np.isfinite(result.parameters).all()


def test_pure_l1_on_logarithms_that_overlap_is_certified():
    space, target = overlapping()
    problem = Problem(space, TopRisk(Exponential(), Maximum()), target, L1(0.05))
    result, monitor = solved(problem, Bundle())
    assert result.status is Status.CONVERGED
    assert monitor.history["gap"][0] == np.inf


def test_an_optimal_zero_is_seen_at_once():
    # Winners among the losers: no direction lifts them all (DESIGN §2.4).
    X = np.array([[-1.0], [1.0], [0.0]])
    target = RankingTarget.bipartite(np.array([False, False, True]), np.ones(3))
    problem = Problem(LinearSpace(X), TopRisk(Hinge(), Maximum()), target, L2(1.0))
    result, _ = solved(problem, Bundle())
    assert result.status is Status.CONVERGED
    assert result.parameters == pytest.approx([0.0], abs=1e-6)
    assert result.value == pytest.approx(1.0)


def test_identical_columns_share_the_weight():
    space, target = overlapping(d=1)
    twice = LinearSpace(np.hstack([space._X, space._X]))
    result, _ = solved(Problem(twice, PushRisk(Hinge(), Identity()), target, L2(0.01)), Bundle(), tol=1e-8)
    assert result.parameters[0] == pytest.approx(result.parameters[1], rel=1e-6)


def test_what_is_not_convex_is_refused():
    space, target = overlapping()
    for penalty, instead in ((L2(1.0), "lbfgs"), (L1(1.0), "proximal")):
        problem = Problem(space, TopRisk(Hinge(), Quantile(0.1)), target, penalty)
        assert f"use solver='{instead}'" in Bundle().unsupported(problem)


def test_an_unknown_stabilisation_is_refused():
    with pytest.raises(InvalidParameter, match="stabilisation must be 'auto', 'regulariser' or 'level'"):
        Bundle("trust")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::pushrank.exceptions.ConstantScoreWarning")
@pytest.mark.parametrize("loss", ["exponential", "hinge", "squared_hinge"])
@pytest.mark.parametrize("size", [1e100, 1e155, 1e250])
def test_columns_too_large_to_square_end_in_a_status(loss, size):
    from pushrank import PushRanker

    X = np.random.default_rng(0).normal(size=(40, 3))
    ranker = PushRanker(loss, "maximum", max_iter=20).fit(X * size, X[:, 0] > 0.8)
    assert ranker.status_ != "CONVERGED"
    assert np.isfinite(ranker.coef_).all()
