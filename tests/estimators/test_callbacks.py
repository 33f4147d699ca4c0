"""Callbacks, Ctrl-C and progress: long work can be watched and stopped."""

import os
import signal
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from pushrank import Maximum, PushRanker
from pushrank.estimators import _callback_shim as shim
from pushrank.solvers import Monitor


def data(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 1).astype(int)


class Recorder:
    """Notes every hook; stops after `stop_after` iterations, by an answer or by an exception."""

    def __init__(self, stop_after=10**9, by="answer"):
        self.stop_after = stop_after
        self.by = by
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.calls.append(f"end {context.task_name}")
        if context.task_name != "iteration":
            return False
        assert {"iteration", "value", "gap", "seconds"} <= set(metadata)
        if metadata["iteration"] + 1 < self.stop_after:
            return False
        if self.by == "exception":
            raise StopIteration
        return True

    def teardown(self, estimator, context):
        self.calls.append("teardown")


def test_every_iteration_is_a_task():
    X, y = data()
    recorder = Recorder()
    ranker = PushRanker(tol=1e-8).set_callbacks(recorder).fit(X, y)
    n = len(ranker.history_["value"])
    assert recorder.calls == [
        "setup",
        "begin fit",
        *["begin iteration", "end iteration"] * n,
        "end fit",
        "teardown",
    ]


@pytest.mark.parametrize("by", ["answer", "exception"])
@pytest.mark.parametrize("solver", ["lbfgs", "proximal", "bundle"])
def test_a_callback_stops_a_fit(solver, by):
    X, y = data()
    ranker = PushRanker("logistic", "soft_top", solver=solver, tol=1e-12).set_callbacks(Recorder(2, by))
    with pytest.warns(ConvergenceWarning, match="it was stopped.*best scorer so far"):
        ranker.fit(X, y)
    assert ranker.status_ == "STOPPED"
    assert len(ranker.history_["value"]) == 2
    assert ranker.score(X, y) > 0.5


def test_no_callbacks_again():
    X, y = data()
    recorder = Recorder()
    PushRanker().set_callbacks(recorder).set_callbacks().fit(X, y)
    assert recorder.calls == []
    with pytest.raises(TypeError, match="FitCallback"):
        PushRanker().set_callbacks(Recorder)


def test_ctrl_c_keeps_the_best_so_far():
    X, y = data()

    class Interrupt(Recorder):
        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if context.task_name == "iteration" and metadata["iteration"] == 9:
                os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    ranker = PushRanker("hinge", Maximum(), C=100, tol=1e-12).set_callbacks(Interrupt())
    with pytest.warns(ConvergenceWarning, match="it was stopped"):
        ranker.fit(X, y)
    assert ranker.status_ == "STOPPED"
    assert ranker.score(X, y) > 0.5
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_interrupts_at_once():
    def press_twice():
        with Monitor(1e-4, 10):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        press_twice()


def test_a_fit_works_off_the_main_thread():
    X, y = data()
    ranker = PushRanker()
    thread = threading.Thread(target=ranker.fit, args=(X, y))
    thread.start()
    thread.join()
    assert ranker.status_ == "CONVERGED"


class Shimmed(shim.CallbackSupportMixin, BaseEstimator):
    """An estimator of three iterations on the mixin for older versions of scikit-learn."""

    @shim.with_callbacks
    def fit(self, X):
        context = self._init_callback_context(max_subtasks=3)
        context.call_on_fit_task_begin(estimator=self, X=X)
        for iteration in range(3):
            row = {"iteration": iteration, "value": 0.0, "gap": 0.0, "seconds": 0.0}
            task = context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(estimator=self, metadata=row)
            if task.call_on_fit_task_end(estimator=self, metadata=row):
                break
        context.call_on_fit_task_end(estimator=self, X=X)
        return self


def test_the_shim_keeps_the_protocol():
    recorder = Recorder(stop_after=2)
    Shimmed().set_callbacks(recorder).fit(np.zeros((2, 1)))
    middle = ["begin iteration", "end iteration"] * 2
    assert recorder.calls == ["setup", "begin fit", *middle, "end fit", "teardown"]
    untouched = Recorder()
    Shimmed().set_callbacks(untouched).set_callbacks().fit(None)
    assert untouched.calls == []
    with pytest.raises(TypeError, match="FitCallback"):
        Shimmed().set_callbacks(Recorder)


def test_the_shim_tears_down_after_an_error():
    class Broken(Recorder):
        def on_fit_task_begin(self, estimator, context):
            raise RuntimeError("broken")

    broken = Broken()
    with pytest.raises(RuntimeError, match="broken"):
        Shimmed().set_callbacks(broken).fit(None)
    assert broken.calls == ["setup", "teardown"]
