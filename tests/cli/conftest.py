"""A small private table with marked secrets, recipes for it, and two ways to run a command."""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sfumato.cli.app import app

SECRET = "s3cr3t"
RECIPE = """\
table: people.csv
columns:
  name: {role: identifying}
  age: {role: quasi, hierarchy: {interval: [5, 10, 20]}}
  town: {role: quasi, hierarchy: suppress}
  illness: {role: sensitive}
criteria:
  - {k-anonymity: {k: 5}}
  - {l-diversity: {column: illness, l: 2, kind: distinct}}
suppression: 0.05
seed: 7
"""
PROGRAM = "import sys; from sfumato.cli import main; sys.argv[0] = 'sfumato'; main()"
LOADED = PROGRAM.replace("main()", "print(flush=True); main()")  # an empty line once main can be called


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table and its recipe, where the command runs."""
    draw = random.Random(1)
    rows = [[f"{SECRET}-{n}", draw.randint(18, 80), draw.choice("ABC"), f"{SECRET}{draw.randint(1, 4)}",
             n % 7] for n in range(300)]
    with open(tmp_path / "people.csv", "w", newline="") as file:
        csv.writer(file).writerows([["name", "age", "town", "illness", "visits"], *rows])
    (tmp_path / "people.yaml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command in this process."""

    def ran(*arguments: object, shows_frequent_values: bool = False) -> Result:
        answer = CliRunner().invoke(app, [str(one) for one in arguments], prog_name="sfumato")
        quiet(answer.output.replace(f'"{SECRET}', "") if shows_frequent_values else answer.output)
        return answer

    return ran


def quiet(text: str) -> None:
    """Nothing private, and no traceback."""
    assert SECRET not in text
    assert "Traceback" not in text


def start(*arguments: object, env_extra: Mapping[str, str] | None = None,
          program: str = PROGRAM) -> subprocess.Popen[str]:
    """Start a command as a process of its own."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, **(env_extra or {})}
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment)
