"""The command as a process of its own: signals, pipes, terminals, start-up."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import PROGRAM, quiet, start


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A table whose lattice takes long to search."""
    draw = random.Random(3)
    lines = [",".join(f"c{n}" for n in range(14))]
    lines += [",".join(str(draw.randint(0, 40)) for _ in range(14)) for _ in range(3000)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    columns = "".join(f"  c{n}: {{role: quasi, hierarchy: {{interval: [2, 4, 8, 16]}}}}\n" for n in range(14))
    (tmp_path / "wide.yaml").write_text(f"table: wide.csv\ncolumns:\n{columns}criteria:\n"
                                        "  - {k-anonymity: {k: 5}}\nsuppression: 0.1\nseed: 1\n")
    return tmp_path


def test_exit_codes_of_the_process(work: Path) -> None:
    made = start("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report")
    output, errors = made.communicate(timeout=60)
    assert made.returncode == 0 and errors == "" and "\x1b" not in output
    quiet(output)
    for code, said in ((1, ("check", "r", "--k", "200")), (2, ("check", "nowhere")),
                       (3, ("anonymize", "--recipe", "people.yaml", "--out", "x", "--k", "999"))):
        process = start(*said)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == code
        quiet(output + errors)
        assert "\x1b" not in output + errors


def test_a_reader_that_goes_away_changes_no_verdict(work: Path) -> None:
    process = start("measure", "people.csv", "--quasi", "age,town", "--json")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == "" and process.wait(60) == 0
    failing = start("check", "people.csv", "--quasi", "age,town", "--k", "5")
    assert failing.stdout is not None and failing.stderr is not None
    failing.stdout.close()
    assert failing.stderr.read() == "" and failing.wait(60) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_search_leaves_nothing(wide: Path, number: signal.Signals) -> None:
    scratch = wide / "scratch"
    scratch.mkdir()
    process = start("anonymize", "--recipe", wide / "wide.yaml", "--out", wide / "r", "--seconds", "30",
                    env_extra={"TMPDIR": str(scratch)})
    time.sleep(2.5)
    assert process.poll() is None
    process.send_signal(number)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert output == ""
    assert errors == "sfumato: Interrupted. Nothing half-written is left at the destination.\n"
    assert sorted(one.name for one in wide.iterdir()) == ["scratch", "wide.csv", "wide.yaml"]
    assert list(scratch.iterdir()) == []


def test_a_full_disk_leaves_nothing(work: Path) -> None:
    """A limit on the size of files stands for the disk that fills up."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); {PROGRAM}"
    said = ("anonymize", "--recipe", "people.yaml", "--out", "r")
    done = subprocess.run([sys.executable, "-c", limited, *said],
                          env={**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"},
                          capture_output=True, text=True)
    assert done.returncode == 2 and "cannot be written" in done.stderr, done.stderr
    assert sorted(one.name for one in work.iterdir()) == ["people.csv", "people.yaml"]
    quiet(done.stdout + done.stderr)


def on_terminal(*arguments: object, interrupt_after: str = "",
                number: int = signal.SIGINT) -> tuple[int, str]:
    """Run with a terminal; send a signal when the text has been seen."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "src")
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, *map(str, arguments)])
    seen, sent, until = b"", not interrupt_after, time.monotonic() + 60
    with contextlib.suppress(OSError):  # how a terminal ends
        while time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65536)
            if not sent and interrupt_after.encode() in seen:
                os.kill(pid, number)
                sent = True
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


def test_on_a_terminal_ctrl_c_takes_the_best_so_far(wide: Path) -> None:
    code, seen = on_terminal("anonymize", "--recipe", wide / "wide.yaml", "--out", wide / "r", "--no-report",
                             "--seconds", "40", interrupt_after="gap")
    assert code == 0, seen[-2000:]
    assert "visited" in seen and "best found" in seen
    assert sorted(one.name for one in (wide / "r").iterdir()) == ["manifest.json", "release.csv"]


def test_on_a_terminal_terminate_does_not(wide: Path) -> None:
    code, seen = on_terminal("anonymize", "--recipe", wide / "wide.yaml", "--out", wide / "r", "--no-report",
                             "--seconds", "40", interrupt_after="gap", number=signal.SIGTERM)
    assert code == 2 and "Interrupted" in seen
    assert not (wide / "r").exists()


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'ibis', 'duckdb', 'numba', 'pandas', 'pyarrow', 'numpy', 'pydantic', 'jinja2', 'altair'}"
    code = ("import sys; from sfumato.cli.app import app\n"
            "try: app(['--help'], prog_name='sfumato')\n"
            f"except SystemExit: print({heavy} & set(sys.modules), file=sys.stderr)")
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source},
                          capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


def test_help_into_a_reader_that_stops_is_quiet() -> None:
    process = start("anonymize", "--help")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(30)
