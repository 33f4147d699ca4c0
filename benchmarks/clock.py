"""How every figure here is taken: the least CPU time of one thread over interleaved repeats, as a ratio."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, beside whom, and what is asked of it."""

    section: str
    what: str
    ours: float
    peer: str
    theirs: float
    target: float | None
    unit: str = "s"
    threads: int = 1

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs


def race(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 7) -> tuple[float, float]:
    """The least CPU seconds of each, taken in turns so that a busy machine hurts both alike."""
    best = [float("inf"), float("inf")]
    ours()
    theirs()
    for _ in range(repeats):
        for place, run in enumerate((ours, theirs)):
            start = time.process_time()
            run()
            best[place] = min(best[place], time.process_time() - start)
    return best[0], best[1]


def cpu_of_command(*arguments: str, repeats: int = 5, env: dict[str, str] | None = None) -> float:
    """The least CPU seconds of a Python process with these arguments, children included."""
    best = float("inf")
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, env={**os.environ, **(env or {})}, stdout=-3)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return best


def peak_megabytes(program: str) -> tuple[float, float]:
    """Run a program that prints two numbers of megabytes: its peak beyond its data, and the data."""
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    beyond, data = answer.stdout.split()[-2:]
    return float(beyond), float(data)
