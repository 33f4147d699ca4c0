"""The benchmarks run; what they measure is no test's business."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("part", ["heart", "metrics"])
def test_a_small_run(part):
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), part, "--scale", "0.001"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    assert answer.stdout.count("× np.argsort") >= 10


def test_the_table_marks_what_was_missed():
    program = (
        "import sys; sys.path.insert(0, 'benchmarks'); import run; from clock import Row\n"
        "print(run.table([Row('Speed', 'a', 2.0, 'b', 1.0, 1.5), Row('Speed', 'c', 1.0, 'b', 1.0, None)]))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert "| a | 2.0000 s | b | 1.0000 s | 2 | ≤ 1.5 **missed** | 1 |" in answer.stdout
    assert "| c | 1.0000 s | b | 1.0000 s | 1 |  | 1 |" in answer.stdout
