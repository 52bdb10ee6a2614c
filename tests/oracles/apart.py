"""A package whose pins exclude ours: in an environment of its own, made on demand and called as a program.

Only wheels are installed: where there is none for this Python, or no package index, `Unavailable` says so.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 600  # seconds
ROOT = Path(__file__).resolve().parents[2]


class Unavailable(Exception):
    """The package cannot be installed here."""


@dataclass(frozen=True)
class Apart:
    """One package at one version, and the program that asks it."""

    package: str
    version: str
    program: Path
    beside: tuple[str, ...] = ()  # what it needs and does not name

    def ask(self, question: Any) -> Any:
        """The program's answer to a question, both as JSON."""
        done = subprocess.run([self.python(), self.program], input=json.dumps(question), capture_output=True,
                              text=True, check=True, timeout=PATIENCE)
        return json.loads(done.stdout)

    def python(self) -> Path:
        """The interpreter that has the package, installed first if need be, by one process at a time."""
        folder = ROOT / f".venv-{self.package}"
        stamp = folder / f"{self.package}-{self.version}-{sys.version_info[1]}"
        interpreter = folder / "bin" / "python"
        with open(self.program) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not stamp.exists():
                self._run(sys.executable, "-m", "venv", "--clear", folder)
                self._run(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                          "--retries", "1", "--timeout", "20", "--only-binary", ":all:",
                          f"{self.package}=={self.version}", *self.beside)
                stamp.touch()
        return interpreter

    def _run(self, *command: str | Path) -> None:
        named = f"{self.package} {self.version}"
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.CalledProcessError as error:
            reason = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
            raise Unavailable(f"{named} cannot be installed: {reason}") from error
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"{named} cannot be installed within {PATIENCE} s") from error
