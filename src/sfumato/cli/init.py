"""`sfumato init`: a commented recipe, every role with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import options as o
from sfumato.cli import screen

EXAMPLE = "Example: `sfumato init stays.csv --out stays.yaml`, then read stays.yaml and decide what it asks"


def init(
    table: Annotated[str, typer.Argument(help="A file or a database's address.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE",
                                     help="The recipe to write.")] = "recipe.yaml",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a recipe that stands there.")] = False,
    json: o.Json = False, missing: o.Missing = None, table_name: o.TableName = None,
    delimiter: o.Delimiter = None, quote: o.Quote = None, encoding: o.Encoding = None,
    header: o.Header = None, memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Suggest a role for every column, with its reason, and a hierarchy; write them as a commented recipe."""
    from dataclasses import asdict

    from sfumato.api import draft
    from sfumato.request import spec_text
    from sfumato.table.databases import harmless

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    with screen.watching() as run, run.stages("prepare"):
        suggestions, _ = draft(table, Path(out), missing or (), force, reading)
    if json:
        screen.say_json({"recipe": out, "columns": [asdict(one) for one in suggestions]})
        return
    rows = [(one.column, one.role, spec_text(one.hierarchy) if one.hierarchy else "",
             one.reason.split("; ")[0]) for one in suggestions]
    screen.say(screen.grid(("column", "role", "hierarchy", "reason"), rows), "")
    left: dict[str, list[str]] = {}
    for one in suggestions:
        if one.open:
            left.setdefault(one.open, []).append(one.column)
    if left:
        questions = [(", ".join(columns), question) for question, columns in left.items()]
        screen.say("Left for you to decide:", screen.grid(("columns", "question"), questions), "")
    shown = harmless(table) + (f" --table {table_name}" if table_name else "")
    screen.say(f"Written: {out}. Read it, decide, then run:",
               f"  sfumato anonymize {shown} --recipe {out} --out release")
