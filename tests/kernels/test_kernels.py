"""The numba room: the same answers compiled, plain and absent, wherever the cache may or may not lie."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pushrank import _kernels
from pushrank._dispatch import without_fast_paths
from pushrank._kernels import cells, kernel
from pushrank.losses.analytic import WORTH_A_KERNEL
from pushrank.losses.logistic import Logistic

EVALUATION = """
import sys
import numpy as np
{before}
from pushrank.losses.logistic import Logistic
assert "numba" not in sys.modules or sys.modules["numba"] is None
{then}
rng = np.random.default_rng(5)
sums = Logistic().pair_sums(rng.normal(size=20_000), rng.normal(size=100_000))
heights = sums.at_losers(0, np.full(20_000, 1 / 20_000))
slopes = sums.at_winners(1, np.ones(100_000))
print(repr(float(heights.sum())), repr(float(slopes.sum())), sys.modules.get("numba") is not None)
"""


def evaluate_in_a_new_process(before="", then="", **environment):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", EVALUATION.format(before=before, then=then)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    heights, slopes, compiled = result.stdout.split()
    return np.array([float(heights), float(slopes)]), compiled == "True"


def evaluate_here():
    rng = np.random.default_rng(5)
    sums = Logistic().pair_sums(rng.normal(size=20_000), rng.normal(size=100_000))
    heights = sums.at_losers(0, np.full(20_000, 1 / 20_000))
    return np.array([heights.sum(), sums.at_winners(1, np.ones(100_000)).sum()])


@pytest.fixture(scope="module")
def expected():
    with without_fast_paths():
        return evaluate_here()


def test_compiled_equals_the_numpy_bodies(expected):
    pytest.importorskip("numba")
    assert WORTH_A_KERNEL <= 120_000
    assert_allclose(evaluate_here(), expected, rtol=1e-12)


def test_a_cache_folder_that_cannot_be_written_does_not_matter(expected):
    pytest.importorskip("numba")
    # A folder below a file can be made by nobody, root included.
    found, compiled = evaluate_in_a_new_process(NUMBA_CACHE_DIR="/dev/null/cache")
    assert compiled
    assert_allclose(found, expected, rtol=1e-12)


def test_no_folder_at_all_does_not_matter(expected):
    caching = pytest.importorskip("numba.core.caching")
    places = next(name for name in dir(caching) if hasattr(getattr(caching, name), "_locator_classes"))
    # As on a machine where neither the sources' folder nor the user's can be written.
    nowhere = f"import numba.core.caching as caching; caching.{places}._locator_classes = []"
    found, compiled = evaluate_in_a_new_process(then=nowhere)
    assert compiled
    assert_allclose(found, expected, rtol=1e-12)


def test_without_numba_the_bodies_run(expected):
    found, compiled = evaluate_in_a_new_process(before='sys.modules["numba"] = None')
    assert not compiled
    assert_allclose(found, expected, rtol=1e-12)


def test_the_switch_in_the_environment(expected):
    found, compiled = evaluate_in_a_new_process(PUSHRANK_FAST_PATHS="0")
    assert not compiled
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("n_cells", [1, 7, 600])
def test_plain_kernels_equal_sums_written_out(n_cells):
    rng = np.random.default_rng(n_cells)
    n = 1_500
    cell, place, weight = rng.integers(0, n_cells, n), rng.uniform(-1, 1, n), rng.uniform(size=n)
    polynomials = np.cos(np.arange(cells.NODES) * np.arccos(place)[:, None])
    totals = np.zeros((n_cells, cells.NODES))
    np.add.at(totals, cell, weight[:, None] * polynomials)
    assert_allclose(cells.moments.plain(cell, place, weight, n_cells), totals, rtol=1e-11, atol=1e-11)
    coefficients = rng.normal(size=(2, n_cells, cells.NODES))
    values = np.einsum("ij,sij->si", polynomials, coefficients[:, cell])
    assert_allclose(cells.evaluate.plain(cell, place, coefficients), values, rtol=1e-11, atol=1e-11)


def test_a_cache_that_fails_is_done_without(monkeypatch):
    tried = []

    def compile_without_cache_only(plain, *, keep):
        tried.append(keep)
        if keep:
            raise RuntimeError("cannot cache function: no locator available")
        return plain

    monkeypatch.setattr(_kernels, "_compile", compile_without_cache_only)

    @kernel
    def twice(number):
        return 2 * number

    assert twice(4) == 8
    assert twice(5) == 10
    assert tried == [True, False]
