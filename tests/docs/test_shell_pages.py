"""What the pages tell a reader to type into a shell runs as printed, page by page in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands_of(page: Path) -> list[str]:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("pushrank ")]


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if commands_of(page)]


@pytest.fixture
def shell(tmp_path):
    """Runs a line in a fresh folder, `pushrank` being this package; nothing but its name is prepared."""
    program = tmp_path / "bin" / "pushrank"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pushrank "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": path, "PYTHONWARNINGS": "error"}
        return subprocess.run(
            ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )

    return run


def test_the_pages_have_commands():
    assert {page.name for page in PAGES} >= {"README.md", "shell.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_run_as_printed(page, shell):
    for line in commands_of(page):
        done = shell(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert "Traceback" not in done.stderr
