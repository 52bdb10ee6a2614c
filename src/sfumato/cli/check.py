"""`sfumato check`: does a release keep its promise? Answered by exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.verify import Verdict

EXAMPLE = ("Examples: `sfumato check release --recipe stays.yaml` · "
           "`sfumato check release.csv --quasi age,sex --k 5 --sensitive diagnosis --l 2`. "
           "Exit codes: 0 holds · 1 does not hold · 2 wrong request or input")


def check(
    release: Annotated[str, typer.Argument(help="A release's file, or the folder that a run wrote.")],
    recipe: o.RecipeFile = None, json: o.Json = False,
    quasi: o.Quasi = None, sensitive: o.Sensitive = None, identifying: o.Identifying = None,
    k: o.K = None, l: o.L = None, kind: o.Kind = None, c: o.C = None, t: o.T = None,  # noqa: E741
    missing: o.Missing = None, table_name: o.TableName = None, delimiter: o.Delimiter = None,
    quote: o.Quote = None, encoding: o.Encoding = None, header: o.Header = None,
    memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Recount a release and judge it, criterion by criterion; no private table is needed."""
    from sfumato import api

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    verdict = api.check(release, recipe, quasi=o.names(quasi), sensitive=o.names(sensitive),
                        identifying=o.names(identifying), k=k, l=l, kind=kind, c=c, t=t,
                        missing=missing or (), **reading)
    if json:
        screen.say_json(facts(verdict))
    else:
        show(verdict)
    raise typer.Exit(0 if verdict.holds else 1)


def facts(verdict: Verdict) -> dict[str, Any]:
    """The verdict for programs."""
    return {**verdict.as_dict(), "records": verdict.records, "classes": verdict.classes,
            "suppressed": verdict.suppressed, "added": verdict.added, "notes": list(verdict.notes)}


def show(verdict: Verdict) -> None:
    """The verdict for people."""
    from sfumato.report.figures import percent, several

    false = f", {verdict.added:,} of them false," if verdict.added else ""
    starred = f", {verdict.suppressed:,} suppressed ({percent(verdict.suppressed / verdict.records)})"
    screen.say("The promise holds." if verdict.holds else "The promise does NOT hold.", "",
               findings(verdict.as_dict()["criteria"], verdict.unit), "",
               f"{several(verdict.records, 'record')}{false} in {several(verdict.classes, *verdict.unit)}"
               f"{starred if verdict.suppressed else ''}.", *verdict.notes)


def findings(found: Sequence[Mapping[str, Any]], unit: tuple[str, str] = ("class", "classes")) -> Table:
    """What was found, one line a criterion."""
    from sfumato.report.figures import number

    rows = [("holds" if one["holds"] else "FAILS", one["name"], one["promise"], number(one["worst"]),
             number(one["threshold"]), f"{one['failing']:,}") for one in found]
    worst, failing = f"worst {unit[0]}", f"{unit[1]} that fail"
    return screen.grid(("", "criterion", "promise", worst, "bound", failing), rows, (worst, "bound", failing))
