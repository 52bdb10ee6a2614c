"""pycanon in an environment of its own: its pins exclude ours, so it is never imported here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.oracles.apart import Apart, Unavailable

__all__ = ["PYCANON", "VERSION", "Unavailable", "ask"]
VERSION = "1.3.6"
PYCANON = Apart("pycanon", VERSION, Path(__file__).with_name("pycanon_answers.py"))


def ask(tables: list[dict[str, list[Any]]]) -> list[dict[str, float]]:
    """What pycanon measures of each table: columns a, b (quasi-identifying), text and number (sensitive)."""
    answers: list[dict[str, float]] = PYCANON.ask(tables)
    return answers
