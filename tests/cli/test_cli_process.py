"""The program as a process: exit codes, pipes, terminals, start."""

import os
import subprocess
import sys

import pytest

from pushrank import __version__

PROGRAM = [sys.executable, "-m", "pushrank"]


def run(*arguments, **kwargs):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **kwargs.pop("env", {})}
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=60, **kwargs
    )


def shell(command, folder, stdin=None):
    """A line for sh, in which pushrank is this package."""
    prepared = f'pushrank() {{ "{sys.executable}" -m pushrank "$@"; }}; pushrank {command}'
    return subprocess.run(
        ["sh", "-c", prepared], cwd=folder, input=stdin, capture_output=True, text=True, timeout=60
    )


def test_version_and_help_start_without_scikit_learn():
    code = (
        "import sys\nfrom pushrank.cli import main\n"
        "for line in (['--version'], ['--help'], ['fit', '--help']):\n"
        "    main(line, standalone_mode=False)\n"
        "assert not {'sklearn', 'scipy', 'pandas', 'skops', 'rich'} & set(sys.modules), sys.modules"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"pushrank {__version__}\n")


def test_exit_codes_reach_the_shell(folder):
    assert run("datasets").returncode == 0
    assert run("datasets", "nix").returncode == 2
    assert run("fit", "claims.csv", "--target", "late", "-o", "no/m").returncode == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_seen_enough(unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        [*PROGRAM, "datasets", "spambase"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as p:
        assert p.stdout.read(10) == b"word_freq_"
        p.stdout.close()
        said = p.stderr.read().decode()
        assert p.wait(60) == 1
    assert "Traceback" not in said
    assert "Exception" not in said


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_slow_reader_gets_all(folder, unbuffered):
    # Without a buffer a pipe takes 64 KiB at a time, and Python does not ask again by itself.
    text = run("datasets", "wdbc", env={"PYTHONUNBUFFERED": unbuffered}).stdout
    assert text.count("\n") == 570


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["datasets", "wdbc"], ["datasets"]])
def test_a_full_standard_output(arguments):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert result.returncode == 1
    assert "Standard output cannot be written: No space left on device" in result.stderr
    assert "Exception" not in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("evaluate - --target late --score amount <&-", "Standard input is closed: name a file as TABLE"),
        ("evaluate claims.csv --target late --score amount >&-", "Standard output is closed: send it to"),
        ("fit claims.csv --target late -o m >&-", "Standard output is closed: send it to"),
        ("datasets >&-", "Standard output is closed: send it to"),
        ("datasets wdbc >&-", "Standard output is closed: send it to"),
    ],
)
def test_closed_streams_are_one_sentence(folder, command, sentence):
    result = shell(command, folder)
    assert result.returncode == 1
    assert result.stderr.count("error: ") == 1
    assert sentence in result.stderr
    assert not (folder / "m").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
def test_closed_streams_that_are_not_needed(folder):
    assert shell("datasets wdbc -o wdbc.csv <&- >&-", folder).returncode == 0
    assert (folder / "wdbc.csv").exists()
    quiet = shell("datasets wdbc 2>&-", folder)
    assert quiet.returncode == 0
    assert quiet.stdout.count("\n") == 570


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs standard output as a file")
def test_standard_output_by_its_name(folder):
    result = shell("datasets wdbc -o /dev/stdout | head -n 2", folder)
    assert result.stdout.count("\n") == 2
    shell("datasets wdbc -o /dev/stdout >> log; pushrank datasets wdbc -o /dev/stdout >> log", folder)
    assert (folder / "log").read_text().count("\n") == 2 * 570


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs open descriptors as files")
def test_a_table_from_a_pipe_with_a_name(folder):
    # To say which column is missing, the table is read twice, and a pipe gives its bytes once.
    result = shell("fit /dev/fd/0 --target late --id nr -o m", folder, stdin="late,x\nyes,1\nno,2\n")
    assert result.returncode == 2
    assert "/dev/fd/0 has no column 'nr', which --id names; it has: late, x." in result.stderr


def test_colour_on_a_terminal_alone(folder):
    plain = run("datasets", "nix").stderr
    assert "\x1b" not in plain
    assert "\n" not in plain.strip()
    coloured = run("datasets", "nix", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).stderr
    assert "\x1b[1;31merror: " in coloured
    without = run(
        "datasets", "nix", env={"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}
    ).stderr
    assert "31m" not in without


def test_a_terminal_of_eighty_columns_and_a_pipe(folder):
    narrow = run("datasets", env={"COLUMNS": "80"}).stdout
    assert max(map(len, narrow.splitlines())) <= 80
    piped = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    wide = subprocess.run(
        [*PROGRAM, "datasets"], capture_output=True, text=True, env=piped, timeout=60
    ).stdout
    assert len(wide.splitlines()) == 8


def test_a_progress_bar_on_a_terminal_only(folder):
    fit = [
        "fit",
        "claims.csv",
        "--target",
        "late",
        "--id",
        "id",
        "--max-iter",
        "2",
        "--tol",
        "1e-9",
        "-o",
        "m",
    ]
    piped = run(*fit)
    assert piped.returncode == 0, piped.stderr
    assert "iteration 1" not in piped.stderr
    shown = run(*fit, env={"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "80"})
    assert "0/6" in shown.stderr or "6/6" in shown.stderr
    assert "warning: " in shown.stderr


def test_letters_that_the_terminal_lacks(folder, write_csv, claims):
    write_csv(folder / "c.csv", claims, ["id", "Größe", "amount", "city", "late"])
    result = run(
        "fit",
        "c.csv",
        "--target",
        "late",
        "--id",
        "id",
        "--folds",
        "0",
        "-o",
        "m",
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert result.returncode == 0, result.stderr
