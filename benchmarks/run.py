"""Run every benchmark, print the ratios as they come, and write benchmarks/RESULTS.md.

python benchmarks/run.py [heart] [house] [metrics] [--scale 0.01]
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import importlib
import platform
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from clock import Row  # noqa: E402  (the threads must be set before numpy is loaded)

PARTS = ("heart", "metrics", "house")


def main(arguments: list[str] | None = None) -> None:
    """Measure the parts asked for; only a full run at scale 1 rewrites the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of rows")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md")
    options = parser.parse_args(arguments)
    measured: list[Row] = []
    for part in options.parts or PARTS:
        for row in importlib.import_module(f"bench_{part}").rows(options.scale):
            measured.append(row)
            verdict = "" if row.target is None or row.ratio <= row.target else "  ABOVE TARGET"
            target = "" if row.target is None else f" (target {row.target:g})"
            print(f"{row.section}: {row.what}: {row.ratio:.3g} × {row.peer}{target}{verdict}", flush=True)
    if not options.parts and options.scale == 1.0:
        temporary = options.output.with_suffix(".tmp")
        temporary.write_text(table(measured), encoding="utf-8")
        temporary.replace(options.output)
        print(f"wrote {options.output}")


def table(measured: list[Row]) -> str:
    """The rows as Markdown, a table a section."""
    import numpy
    import scipy
    import sklearn

    lines = [
        "# Measured",
        "",
        "Written by `make bench`. Each line is a ratio within one run: the least CPU time of interleaved",
        "repeats, all libraries held to the named number of threads. Shared machines vary by a tenth.",
        "",
        f"Python {platform.python_version()}, numpy {numpy.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, {platform.machine()}, {os.cpu_count()} cores.",
    ]
    for section in dict.fromkeys(row.section for row in measured):
        lines += ["", f"## {section}", "", "| what | ours | beside | theirs | ratio | asked | threads |"]
        lines.append("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
        for row in (row for row in measured if row.section == section):
            digits = ".1f" if row.unit == "MB" else ".4f"
            asked = "" if row.target is None else f"≤ {row.target:g}"
            missed = "" if row.target is None or row.ratio <= row.target else " **missed**"
            lines.append(
                f"| {row.what} | {row.ours:{digits}} {row.unit} | {row.peer} "
                f"| {row.theirs:{digits}} {row.unit} | {row.ratio:.3g} | {asked}{missed} | {row.threads} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
