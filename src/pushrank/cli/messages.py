"""What the program says: sentences on standard error, tables and JSON on standard output, exit codes."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pushrank.exceptions import InvalidParameter, PushRankError, closest

DONE, FAILED, WRONG_USE = 0, 1, 2

_live: list[Any] = []

_WIDTH_OF_A_PIPE = 200
"""A pipe has no width; in so much of it no table of ours breaks its cells."""

TRACEBACK_VARIABLE = "PUSHRANK_TRACEBACK"
"""Set to 1, this environment variable lets an unexpected error through, for those who mend the program."""


class Program(click.Group):
    """The group of all commands; it turns every error into one sentence and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        with _plain_warnings():
            code = self._run(args, prog_name or "pushrank", complete_var, extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def _run(
        self, args: Sequence[str] | None, prog_name: str, complete_var: str | None, extra: dict[str, Any]
    ) -> int:
        try:
            # Names of columns need not be in the terminal's alphabet: a question mark is better than a stop.
            if hasattr(sys.stdout, "reconfigure"):
                sys.stdout.reconfigure(errors="replace")
            answer = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            if sys.stdout is not None:
                sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get(TRACEBACK_VARIABLE) == "1":
                raise
            return _end(error)
        return answer if isinstance(answer, int) else DONE

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            commands = self.list_commands(ctx)
            raise click.UsageError(
                f"There is no command {name!r}{closest(name, commands)}; there are: {', '.join(commands)}.",
                ctx,
            )
        return super().resolve_command(ctx, args)


def example(*lines: str) -> str:
    """Commands to copy, as the end of a help page; the mark keeps their lines from being joined."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def note(sentence: str) -> None:
    """Say on standard error what is good to know."""
    _say("", "", sentence)


def warn(sentence: str) -> None:
    """Say on standard error what is better not overlooked."""
    _say("warning: ", "bold yellow", sentence)


@contextmanager
def speaking_through(console: Any) -> Iterator[None]:
    """Let messages go through a console that is drawing a progress bar, which then moves out of their way."""
    _live.append(console)
    try:
        yield
    finally:
        _live.pop()


def print_json(values: dict[str, Any]) -> None:
    """Print values on standard output as JSON; NaN and infinity, which JSON has not, become null."""
    print(json.dumps(_jsonable(values), indent=2, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> None:
    """Print rows under a header on standard output; columns in `numbers` stand right, long cells wrap."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for j, name in enumerate(header):
        right = j in numbers
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    _print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and what belongs to them on standard output, in two columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in facts:
        table.add_row(Text(name), Text(fact))
    _print(table)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn an OSError of a block that writes `path` into one sentence."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        place = "Standard output" if path == "-" else path
        kept = "; the file that was there is as it was" if path != "-" and Path(path).is_file() else ""
        raise PushRankError(f"{place} cannot be written: {reason(error)}{kept}.") from error


def require_room(path: str, *not_over: str) -> None:
    """Refuse an output before any work is done: no folder for it, a folder itself, or one of the inputs."""
    from pushrank.datasets.write import is_written_straight

    if path == "-":
        require_standard_output()
        return
    out = Path(path)
    if out.is_dir():
        raise InvalidParameter(f"{path} is a folder: name a file in it after -o.")
    if not out.parent.is_dir():
        raise PushRankError(f"{path} cannot be written: there is no folder {out.parent}; make it first.")
    # A pipe or a device in place of a file is written without a second name beside it.
    if not is_written_straight(out) and not os.access(os.path.dirname(os.path.realpath(out)), os.W_OK):
        raise PushRankError(f"{path} cannot be written: the folder {out.parent} is read-only for you.")
    for source in not_over:
        if out.exists() and Path(source).exists() and out.samefile(source):
            raise InvalidParameter(f"-o {path} would overwrite the input: give the output another name.")


def require_standard_output() -> None:
    """Refuse to work for a standard output that is closed (``>&-``), before any work is done."""
    if sys.stdout is None:
        raise PushRankError("Standard output is closed: send it to a file, or to /dev/null if unwanted.")


def reason(error: OSError) -> str:
    """Why the system refused, in its words, as the end of a sentence."""
    return (error.strerror or str(error)).rstrip(".")


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str], shown: int = 6) -> str:
    """Names in a row, the later ones of many as a count."""
    rest = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {rest} more" if rest > 0 else "")


def _end(error: BaseException) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and error.errno == errno.EPIPE):
        # Whoever read has seen enough; at the end Python would try to write the rest once more.
        _close_standard_output()
        return FAILED
    if isinstance(error, KeyboardInterrupt | click.Abort):
        _fail("Stopped by the keyboard; no file is half-written.")
        return FAILED
    if isinstance(error, click.ClickException):
        _fail(error.format_message())
        context = getattr(error, "ctx", None)
        if context is not None:
            _say("", "", f"See {context.command_path} --help.", named=False)
        return WRONG_USE if isinstance(error, click.UsageError) else FAILED
    if isinstance(error, PushRankError):
        _fail(str(error))
        return WRONG_USE if isinstance(error, InvalidParameter) else FAILED
    if isinstance(error, MemoryError):
        _fail("There is not enough memory for this table; take fewer rows or columns.")
        return FAILED
    if isinstance(error, OSError):
        known = isinstance(error.filename, str)
        place = (
            f"{error.filename} cannot be read or written" if known else "Standard output cannot be written"
        )
        _fail(f"{place}: {reason(error)}.")
        _close_standard_output()
        return FAILED
    first = (str(error).splitlines() or [""])[0]
    _fail(
        f"Unexpected {type(error).__name__}: {first} This is a fault of pushrank; please report it "
        f"({TRACEBACK_VARIABLE}=1 shows where it happened)."
    )
    return FAILED


def _fail(sentence: str) -> None:
    _say("error: ", "bold red", sentence)


def _say(kind: str, style: str, sentence: str, *, named: bool = True) -> None:
    from rich.text import Text

    console = _live[-1] if _live else _console(stderr=True)
    text = Text()
    if named:
        text.append("pushrank: ", style="dim")
    text.append(kind, style=style)
    text.append(sentence)
    # On a terminal lines break between words; in a file each message is one line, for grep.
    try:
        console.print(text, soft_wrap=not console.is_terminal)
    except OSError:
        # Nobody can be told when standard error itself is gone.
        return


def _print(table: Any) -> None:
    """Print a table without the blanks that fill its lines."""
    console = _console(stderr=False)
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _console(*, stderr: bool) -> Any:
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_A_PIPE
    return console


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show what libraries warn of as sentences, each once; what concerns programmers alone stays unsaid."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sentence = " ".join(str(message).split())
        if sentence not in said:
            said.add(sentence)
            warn(sentence)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield


def _close_standard_output() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        try:
            number = sys.stdout.fileno()
        except (OSError, ValueError):
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
