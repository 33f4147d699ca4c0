"""Every fast path equals the body it stands in for, on the inputs it was registered with."""

import importlib
import pkgutil

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pushrank
from pushrank._dispatch import every_portable, portable, without_fast_paths

for module in pkgutil.walk_packages(pushrank.__path__, "pushrank."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

PATHS = [(function, path) for function in every_portable() for path in function.fast_paths]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("function", "path"), PATHS, ids=lambda part: getattr(part, "__name__", ""))
def test_fast_path_equals_the_body(function, path, seed):
    arguments = path.examples(np.random.default_rng(seed))
    if not path.when(*arguments):
        pytest.skip("What this path needs is not installed.")
    # Sums in another order, of up to 1e5 terms: other orders of summing agree to 1e-10, kernels to 1e-12.
    fast, slow = path.run(*arguments), function.slow(*arguments)
    assert_allclose(fast, slow, rtol=1e-12, atol=1e-12 * np.max(np.abs(slow)))


def test_there_are_fast_paths_to_test():
    assert len(PATHS) >= 2


@pytest.fixture
def doubled(monkeypatch):
    monkeypatch.setattr("pushrank._dispatch._portables", [])

    @portable
    def doubled(number):
        """Twice the number."""
        return "body", 2 * number

    @doubled.fast(when=lambda number: number > 10, examples=lambda rng: (11,))
    def shifted(number):
        return "fast", number << 1

    return doubled


def test_the_first_path_whose_condition_holds_runs(doubled):
    assert doubled(3) == ("body", 6)
    assert doubled(30) == ("fast", 60)
    assert doubled.__doc__ == "Twice the number."
    assert [path.run(11) for path in every_portable()[0].fast_paths] == [("fast", 22)]


def test_fast_paths_can_be_switched_off(doubled):
    with without_fast_paths():
        assert doubled(30) == ("body", 60)
    assert doubled(30) == ("fast", 60)
