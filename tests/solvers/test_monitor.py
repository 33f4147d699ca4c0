"""The monitor, the keeper of the best, and the ways a run is stopped."""

import signal
import threading

import numpy as np
import pytest

from pushrank.losses import Hinge, Logistic
from pushrank.penalties import L1, L2
from pushrank.prices import Identity
from pushrank.risks import PushRisk, TopRisk
from pushrank.solvers import LBFGS, Best, Bundle, Evaluation, Monitor, Problem, Proximal, Status
from pushrank.spaces import LinearSpace
from pushrank.targets import RankingTarget
from pushrank.tops import Quantile


def problem_of(risk=None, penalty=None):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4))
    target = RankingTarget.bipartite(np.arange(60) % 3 == 0, np.ones(60))
    return Problem(LinearSpace(X), risk or PushRisk(Logistic(), Identity()), target, penalty or L2(1e-3))


SOLVERS = [
    (LBFGS(), problem_of()),
    (Proximal(), problem_of(penalty=L1(1e-3))),
    (Bundle(), problem_of(PushRisk(Hinge(), Identity()))),
]


@pytest.mark.parametrize(("solver", "problem"), SOLVERS, ids=["lbfgs", "proximal", "bundle"])
def test_a_listener_stops_the_run_with_the_best_so_far(solver, problem):
    seen = []

    def listen(row):
        seen.append(row)
        return len(seen) == 3

    with Monitor(1e-12, 100, listen=listen) as monitor:
        result = solver.solve(problem, monitor)
    assert result.status is Status.STOPPED
    assert len(seen) == 3
    assert result.n_iter == 2
    assert result.value == min(row["value"] for row in seen)
    assert result.gap < np.inf


@pytest.mark.parametrize(("solver", "problem"), SOLVERS, ids=["lbfgs", "proximal", "bundle"])
def test_the_first_interrupt_stops_cleanly(solver, problem):
    def listen(row):
        if row["iteration"] == 2:
            signal.raise_signal(signal.SIGINT)
        return False

    before = signal.getsignal(signal.SIGINT)
    with Monitor(1e-12, 100, listen=listen) as monitor:
        result = solver.solve(problem, monitor)
    assert result.status is Status.STOPPED
    assert result.n_iter == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_interrupts():
    def interrupt(times):
        with Monitor(1e-12, 100):
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    interrupt(1)
    with pytest.raises(KeyboardInterrupt):
        interrupt(2)


def test_a_monitor_works_off_the_main_thread():
    results = []

    def work():
        with Monitor(1e-6, 100) as monitor:
            results.append(LBFGS().solve(problem_of(), monitor))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results[0].status is Status.CONVERGED


@pytest.mark.parametrize(("solver", "problem"), SOLVERS, ids=["lbfgs", "proximal", "bundle"])
@pytest.mark.parametrize("max_iter", [0, 1, 4])
def test_iterations_are_counted_and_limited(solver, problem, max_iter):
    with Monitor(0.0, max_iter) as monitor:
        result = solver.solve(problem, monitor)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == max_iter
    assert monitor.history["iteration"].tolist() == list(range(max_iter + 1))
    assert (np.diff(monitor.history["seconds"]) >= 0).all()


def test_verbose_writes_to_standard_error(capsys):
    with Monitor(1e-3, 5, verbose=True) as monitor:
        monitor.report(1.5, 0.25)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "iteration     0  objective 1.5  gap 0.25\n"


def test_a_column_that_a_row_lacks_is_nan():
    with Monitor(1e-3, 5) as monitor:
        monitor.report(1.0, 1.0)
        monitor.report(1.0, 1.0, lower=0.5)
    assert np.isnan(monitor.history["lower"][0])
    assert monitor.history["lower"][1] == 0.5


def evaluation(value, gap):
    none = np.zeros(1)
    return Evaluation(none, none, value, none, value, gap)


def test_the_best_keeps_the_least_value_and_the_greatest_bound():
    best = Best()
    best.offer(evaluation(2.0, 0.5))
    best.offer(evaluation(3.0, 1.1))
    assert best.value == 2.0
    assert best.lower == 1.9
    assert best.gap == pytest.approx(0.1, rel=1e-12)
    best.offer(evaluation(1.95, np.inf))
    assert best.value == 1.95
    assert best.gap == pytest.approx(0.05, rel=1e-12)


def test_among_equal_values_the_better_certificate_is_kept():
    best = Best()
    best.offer(evaluation(2.0, 1e-10))
    better = evaluation(2.0 * (1 + 4e-16), 1e-20)
    best.offer(better)
    assert best.evaluation is better
    # The difference of bounds is zero here, but zero cannot be told from the rounding of the value.
    best.lower = 2.0
    assert best.gap == 1e-20


def test_log_risks_are_judged_absolutely():
    plain = problem_of()
    assert plain.reached(100.0, 0.9, 1e-2)
    assert not plain.reached(1e-9, 1e-4, 1e-2)
    assert plain.reached(1e-9, 1e-5, 1e-2)
    from pushrank.losses import Exponential

    log = problem_of(PushRisk(Exponential(), Identity()))
    assert not log.reached(100.0, 0.9, 1e-2)
    assert log.reached(0.0, 1e-2, 1e-2)


def test_what_is_not_convex_has_no_gap():
    problem = problem_of(TopRisk(Hinge(), Quantile(0.2)))
    assert problem.evaluate(np.ones(4)).gap == np.inf
