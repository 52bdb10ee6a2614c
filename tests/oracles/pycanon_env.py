"""pycanon in an environment of its own, made on demand and called as a program.

Its pins exclude ours, so it is never imported here. Only wheels are installed: where there is none for
this Python, or no package index, `Unavailable` says so.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

VERSION = "1.3.6"
FOLDER = Path(__file__).resolve().parents[2] / ".venv-pycanon"
PROGRAM = Path(__file__).with_name("pycanon_answers.py")
PATIENCE = 600  # seconds


class Unavailable(Exception):
    """pycanon cannot be installed here."""


def ask(tables: list[dict[str, list[Any]]]) -> list[dict[str, float]]:
    """What pycanon measures of each table: columns a, b (quasi-identifying), text and number (sensitive)."""
    done = subprocess.run([python(), PROGRAM], input=json.dumps(tables), capture_output=True, text=True,
                          check=True, timeout=PATIENCE)
    return json.loads(done.stdout)


def python() -> Path:
    """The interpreter that has pycanon, installed first if need be, by one process at a time."""
    stamp, interpreter = FOLDER / f"pycanon-{VERSION}-{sys.version_info[1]}", FOLDER / "bin" / "python"
    with open(PROGRAM) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            _run(sys.executable, "-m", "venv", "--clear", FOLDER)
            _run(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                 "--retries", "1", "--timeout", "20", "--only-binary", ":all:", f"pycanon=={VERSION}")
            stamp.touch()
    return interpreter


def _run(*command: str | Path) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        raise Unavailable(f"pycanon {VERSION} cannot be installed: {reason}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"pycanon {VERSION} cannot be installed within {PATIENCE} s") from error


if __name__ == "__main__":
    print(python())
