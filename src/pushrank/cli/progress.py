"""A progress bar on a terminal, nothing in a pipe."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from pushrank.cli.messages import speaking_through


class Progress:
    """Steps of some work on standard error; one instance is the callback of every fit in it.

    Parameters
    ----------
    n_steps : int
        The fits to come.
    """

    def __init__(self, n_steps: int):
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._speaking = ExitStack()
        console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.completed}/{task.total}", markup=False),
            TextColumn("{task.fields[state]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("fitting", total=n_steps, state="")

    def __enter__(self) -> Self:
        self._speaking.enter_context(speaking_through(self._bar.console))
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        self._speaking.close()

    def step(self, description: str, done: int) -> None:
        """Say what is being done, and how many steps are behind."""
        self._bar.update(self._task, description=description, completed=done, state="")

    def setup(self, estimator: Any, context: Any) -> None:
        """A fit begins."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """A fit has ended."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """An iteration begins."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        """Show how far an iteration has come; never ask for a stop."""
        if metadata and "iteration" in metadata:
            gap = metadata.get("gap", float("inf"))
            known = f", at most {gap:.0e} above the optimum" if gap < float("inf") else ""
            self._bar.update(self._task, state=f"iteration {metadata['iteration']:.0f}{known}")
        return False
