"""Imports, first calls of compiled kernels, fits, their growth and their memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial

import numpy as np
from clock import Row, cpu_of_command, peak_megabytes, race

from pushrank import PushRanker

FIRST_CALL = (
    "import numpy as np; from pushrank.risks import make_risk; from pushrank.targets import RankingTarget;"
    "n = 200_000; t = RankingTarget.bipartite(np.arange(n) % 10 == 0, np.ones(n)); s = np.linspace(-3, 3, n);"
    "make_risk('logistic', 'power').value_and_gradient(s, t)"
)
MEMORY = """
import resource, warnings, numpy as np
from pushrank import PushRanker
def highest():
    # Of this program alone: ru_maxrss would begin with what its parent held.
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((int({rows}), 50), dtype=np.{dtype})
y = X[:, 0] + rng.standard_normal(len(X), dtype=np.float32) > 1.8
warnings.simplefilter("ignore")
PushRanker({arguments}, max_iter=2).fit(X[:120_000], y[:120_000])  # Loads what is loaded once, kernels too.
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1024
PushRanker({arguments}).fit(X, y)
after = highest()
print((after - before) / 1024, X.nbytes / 2**20)
"""
SPARSE = """
import resource, numpy as np
from scipy import sparse
from pushrank import PushRanker
def highest():
    # Of this program alone: ru_maxrss would begin with what its parent held.
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
rng = np.random.default_rng(0)
X = sparse.random(20_000, 50_000, density=2e-3, format="csr", random_state=rng)
y = np.asarray(X[:, :200].sum(axis=1)).ravel() + 0.2 * rng.standard_normal(20_000) > 0.5
PushRanker(max_iter=2).fit(X[:1000], y[:1000])
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1024
PushRanker({arguments}).fit(X, y)
after = highest()
print((after - before) / 1024, 20_000 * 50_000 * 8 / 2**20)
"""


def rows(scale: float = 1.0) -> Iterator[Row]:
    """Import, first calls, fits."""
    bare = cpu_of_command("-c", "pass")
    ours = cpu_of_command("-c", "import pushrank") - bare
    theirs = cpu_of_command("-c", "import sklearn") - bare
    yield Row("Start", "import pushrank", max(ours, 1e-4), "import sklearn", theirs, 0.3)
    with tempfile.TemporaryDirectory() as folder:
        plain = cpu_of_command(
            "-c",
            "from pushrank._dispatch import without_fast_paths as w; c = w(); c.__enter__();" + FIRST_CALL,
        )
        cold = cpu_of_command("-c", FIRST_CALL, repeats=1, env={"NUMBA_CACHE_DIR": folder}) - plain
        warm = cpu_of_command("-c", FIRST_CALL, env={"NUMBA_CACHE_DIR": folder}) - plain
    yield Row("Start", "first call of the kernels, cold, beyond numpy alone", cold, "one second", 1.0, 2.0)
    yield Row(
        "Start",
        "first call of the kernels, cached, beyond numpy alone",
        max(warm, 1e-4),
        "one second",
        1.0,
        0.6,
    )
    n = int(1e6 * scale)
    X, y = _rows(2 * n)
    for loss, push in (("exponential", "power"), ("logistic", "soft_top"), ("squared_hinge", "power")):
        ranker = PushRanker(loss, push)
        double, single = race(partial(ranker.fit, X, y), partial(ranker.fit, X[:n], y[:n]), repeats=5)
        yield Row("Growth", f"fit {loss} × {push}, {2 * n:,} × 10", double, f"{n:,} × 10", single, 2.3)
    n = int(1e6 * scale)
    for loss in ("exponential", "logistic", "squared_hinge", "smoothed_hinge"):
        for push in ("identity", "power", "exponential", "soft_top"):
            cell = f"'{loss}', '{push}'"
            beyond, data = peak_megabytes(MEMORY.format(rows=n, dtype="float64", arguments=cell))
            yield Row("Memory", f"fit {loss} × {push}, float64, {n:,} × 50", beyond, "X", data, 0.3, "MB")
    beyond, data = peak_megabytes(MEMORY.format(rows=n, dtype="float32", arguments="'exponential', 'power'"))
    yield Row("Memory", f"fit exponential × power, float32, {n:,} × 50", beyond, "X", data, None, "MB")
    beyond, data = peak_megabytes(SPARSE.format(arguments=""))
    yield Row(
        "Memory",
        "fit PushRanker(), CSR 20,000 × 50,000, 0.2 % full",
        beyond,
        "X if it were dense",
        data,
        0.02,
        "MB",
    )


def _rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    return X, X[:, 0] + rng.standard_normal(n) > 1.8
