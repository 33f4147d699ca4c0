"""The names that users may rely on, and what importing them costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pushrank

HEAVY = {"sklearn", "numba", "pandas", "polars", "pyarrow", "matplotlib", "scipy", "click", "rich", "skops"}


def test_all_names_load():
    for name in pushrank.__all__:
        assert getattr(pushrank, name) is not None


def test_dir_is_all():
    assert dir(pushrank) == sorted(pushrank.__all__)


def test_the_stub_names_what_is_public():
    stub = ast.parse((Path(pushrank.__file__).with_suffix(".pyi")).read_text(encoding="utf-8"))
    named = {
        alias.asname for node in ast.walk(stub) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert named == set(pushrank.__all__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'pushrank' has no attribute 'PushRankr'"):
        pushrank.PushRankr  # noqa: B018


def test_import_loads_nothing_heavy():
    program = "import sys, pushrank; print(*{name.split('.')[0] for name in sys.modules})"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not HEAVY & set(answer.stdout.split())


def test_a_fit_needs_no_compiler_and_no_optional_library():
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('numba', 'pandas', 'polars', 'pyarrow', 'matplotlib'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from pushrank import PushRanker, Power\n"
        "from pushrank.datasets import load_ionosphere\n"
        "X, y = load_ionosphere(return_X_y=True)\n"
        "print(PushRanker('logistic', Power(2)).fit(X, y).score(X, y))\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert float(answer.stdout) > 0.85


@pytest.mark.parametrize(
    "room", ["losses", "prices", "tops", "risks", "solvers", "spaces", "metrics", "datasets"]
)
def test_rooms_export_what_they_hold(room):
    module = getattr(pushrank, room)
    assert module.__all__
    for name in module.__all__:
        assert hasattr(module, name)
