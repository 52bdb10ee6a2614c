"""What the adaptable model asks one by one (Figure 1), with the suggested roles as defaults."""

from __future__ import annotations

from typing import Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen
from sfumato.errors import TableError


def asked(table: str, said: dict[str, Any], reading: dict[str, Any]) -> dict[str, Any]:
    """The questions of the dissertation, each with what the table suggests or was said already."""
    from sfumato import api

    suggested = api.suggest(table, missing=said["missing"], **reading)
    known = [one.column for one in suggested]
    roles = {role: [one.column for one in suggested if one.role == role]
             for role in ("quasi", "sensitive", "identifying")}
    screen.say(f"Columns: {', '.join(known)}", "")
    said["identifying"] = columns("Columns that identify, to be left out", roles["identifying"], known)
    said["quasi"] = columns("Quasi-identifiers, the most important first", roles["quasi"], known)
    said["k"] = typer.prompt("k: records that every pair must have", default=said["k"], type=int)
    said["sensitive"] = columns("Sensitive columns", roles["sensitive"], known)
    if said["sensitive"]:
        said["diversity"] = {name: typer.prompt(f"Different values of {name} that every pair must have",
                                                default=2, type=int) for name in said["sensitive"]}
        said["sensitive_suppression"] = typer.confirm(
            "Suppress only the sensitive cells of pairs that are not diverse, and keep their records?",
            default=said["sensitive_suppression"])
    least = typer.prompt("Least precision in percent (0: any)", default=said["min_precision"] or 0.0,
                         type=float)
    said["min_precision"] = least or None
    answer = typer.prompt("Prefer original records or precision? (none, original, precision)",
                          default=said["prefer"] or "none")
    said["prefer"] = None if answer == "none" else answer
    screen.say("")
    return said


def columns(question: str, suggested: list[str], known: list[str]) -> tuple[str, ...]:
    """Column names, comma by comma; asked again where one is not in the table."""
    shown = ",".join(f'"{name}"' if "," in name else name for name in suggested)
    while True:
        answer = typer.prompt(f"{question} (- for none)", default=shown or "-")
        names = () if answer.strip() == "-" else o.names([answer])
        unknown = [name for name in names if name not in known]
        if not unknown:
            return names
        screen.refuse(*_parts(TableError.missing_columns(unknown, known)))


def _parts(fault: TableError) -> tuple[str, str]:
    return fault.message, "Correct the name."
