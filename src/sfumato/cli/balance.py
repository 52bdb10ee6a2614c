"""`sfumato balance`: where utility and privacy cross as k grows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen
from sfumato.errors import RequestError

if TYPE_CHECKING:
    from sfumato.recommend.balance import Balance

EXAMPLE = ("Example: `sfumato balance stays.csv --recipe stays.yaml --k 2:30 --method mondrian "
           "--report balance.html`")
MOST_K = 1_000


def balance(
    table: Annotated[str | None, typer.Argument(help="A file or a database's address; else the recipe's.",
                                                show_default=False)] = None,
    recipe: o.RecipeFile = None,
    k: Annotated[str, typer.Option("--k", metavar="FROM:TO[:STEP]|A,B,C", help="The values of k.")] = "2:50",
    utility: Annotated[str | None, typer.Option(
        metavar="MEASURE", help="A measure of utility; else stump.COLUMN of the first sensitive column.",
        show_default=False)] = None,
    privacy: Annotated[str, typer.Option(
        metavar="MEASURE",
        help="A measure of risk, or one of utility for what it hides.")] = "cells_suppressed",
    samples: Annotated[int, typer.Option(min=1, help="Random samples of the table.")] = 20,
    size: Annotated[int | None, typer.Option(min=1, help="Records a sample; else half of the table's.",
                                             show_default=False)] = None,
    report: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write the curves: a page, or .md, .json.")] = None,
    json: o.Json = False, quasi: o.Quasi = None, sensitive: o.Sensitive = None,
    suppression: Annotated[float | None, typer.Option(
        rich_help_panel=o.PROMISE, help="Share of records that may be suppressed.")] = None,
    method: Annotated[str | None, typer.Option(rich_help_panel=o.RUN, help="The method's name.")] = None,
    seed: Annotated[int | None, typer.Option(
        rich_help_panel=o.RUN, help="The seed of all that is random.")] = None,
    jobs: Annotated[int | None, typer.Option(
        min=1, rich_help_panel=o.RUN, help="Processes; else as many as there are cores.",
        show_default=False)] = None,
    missing: o.Missing = None, table_name: o.TableName = None, delimiter: o.Delimiter = None,
    quote: o.Quote = None, encoding: o.Encoding = None, header: o.Header = None,
    memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Run a method at every k on samples of a table, and find where utility falls below privacy."""
    import warnings

    from sfumato import api

    wanted, page = values_of(k), o.report_at(report)
    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    with screen.watching() as run, run.stages("balance"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        found = api.balance(
            table, recipe, k=wanted, utility=utility, privacy=privacy, samples=samples, size=size,
            method={"name": method} if method else None, seed=seed, jobs=jobs,
            quasi=o.names(quasi), sensitive=o.names(sensitive), missing=missing or (),
            suppression=suppression, watch=run.watch, **reading)
    for one in said:
        if one.category is UserWarning:
            screen.note(str(one.message))
    if page is not None:
        write(found.facts, page)
    if json:
        screen.say_json(found.facts)
    else:
        show(found)
        if report is not None:
            screen.say("", f"Written: {report}")


def values_of(text: str) -> list[int]:
    """The values of k that `2:50`, `2:50:4` or `2,5,10` name."""
    try:
        if ":" in text:
            first, last, *steps = (int(part) for part in text.split(":"))
            [step] = steps or [1]
            every = range(first, last + 1, step)
            if not 0 < len(every) <= MOST_K:
                raise ValueError
            return list(every)
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise RequestError(f"The values of k are not clear from {text!r}.",
                           "Say them as 2:50, as 2:50:4 for every fourth, or as 2,5,10,20.") from None


def write(facts: dict[str, Any], path: Path) -> None:
    """The curves in the form that the name asks for, written whole or not at all."""
    from sfumato.report import render
    from sfumato.report.balance import summarize
    from sfumato.table.staging import whole_file

    with whole_file(path) as temporary:
        temporary.write_text(render.in_form_of(path.name, summarize(facts)), encoding="utf-8")


def show(found: Balance) -> None:
    """The answer, and the curves as a table."""
    from sfumato.report.balance import rows, sampling, sentence, setting

    facts = found.facts
    screen.say(sentence(facts), "")
    drawn = [(row["k"], row["utility"], row["privacy"], row["here"]) for row in rows(facts)]
    screen.say(screen.grid(("k", "utility", "privacy", ""), drawn, ("k", "utility", "privacy")), "",
               f"Utility: {facts['utility']['title']}. Privacy: {facts['privacy']['title']}"
               f"{', what is left of it' if facts['privacy']['turned'] else ''}.", setting(facts),
               sampling(facts))
