"""`sfumato attack`: what releases tell somebody who knows people's quasi-identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen

if TYPE_CHECKING:
    from sfumato.attack.composition import Composition

EXAMPLE = ("Example: `sfumato attack --release spring --release autumn --known people.csv`. Exit codes: 0 "
           "nobody's value is certain, or likelier than 1/l · 1 somebody's is · 2 wrong request or input")


def attack(
    release: Annotated[list[str], typer.Option(
        metavar="RELEASE", help="A release's file, or the folder that a run wrote; repeatable.")],
    known: Annotated[str, typer.Option(
        metavar="TABLE", help="People by what is known of them. If it has the sensitive column, too, that "
        "only scores what was learned.")],
    recipe: o.RecipeFile = None,
    quasi: Annotated[list[str] | None, typer.Option(
        metavar="A,B", rich_help_panel=o.PROMISE,
        help="What is known of people (else the recipe's quasi-identifiers, or every column that the "
        "releases have).")] = None,
    sensitive: Annotated[str | None, typer.Option(
        metavar="COLUMN", rich_help_panel=o.PROMISE, help="The sensitive column to be learned.")] = None,
    l: Annotated[float | None, typer.Option(  # noqa: E741
        "--l", rich_help_panel=o.PROMISE, help="Nobody's value should be likelier than 1/l (else as the "
        "releases promise).")] = None,
    json: o.Json = False, missing: o.Missing = None, table_name: o.TableName = None,
    delimiter: o.Delimiter = None, quote: o.Quote = None, encoding: o.Encoding = None,
    header: o.Header = None, memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Intersect what releases with overlapping people say of each person (composition attack)."""
    from sfumato import api

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    with screen.watching() as run, run.stages("attack"):
        found = api.attack(release, known=known, recipe=recipe, quasi=o.names(quasi), sensitive=sensitive,
                           l=l, missing=missing or (), **reading)
    if json:
        screen.say_json(facts(found))
    else:
        show(found)
    raise typer.Exit(0 if found.holds else 1)


def facts(found: Composition) -> dict[str, Any]:
    """The outcome for programs."""
    from dataclasses import asdict

    from sfumato.attack.composition import DEFINITIONS

    every = asdict(found)
    for name in ("rate_certain", "rate_likelier"):
        share = getattr(found, name)
        every[name] = None if share is None else {"rate": share.rate, "low": share.low, "high": share.high}
    return {"holds": found.holds, **every, "definitions": DEFINITIONS}


def show(found: Composition) -> None:
    """The outcome for people."""
    from sfumato.report.figures import number, several

    several_of_them = len(found.releases) > 1
    screen.say(f"{several(found.people, 'person', 'people')} looked for in "
               f"{several(len(found.releases), 'release')}; {found.found_in_all:,} found in all of them.", "")
    rows = [(f"Values possible, release {n} alone", number(mean), "")
            for n, mean in enumerate(found.values_alone, 1)]
    if several_of_them:
        rows.append(("Values possible, together", number(found.values), ""))
    rows.append(("A single value left", f"{found.certain:,}", _within(found.rate_certain)))
    if several_of_them:
        rows.append(("  of these, by one release alone", f"{found.certain_alone:,}", ""))
    if found.likelier is not None and found.bound is not None:
        rows.append((f"A value likelier than {number(found.bound)}", f"{found.likelier:,}",
                     _within(found.rate_likelier)))
        if several_of_them:
            rows.append(("  of these, by one release alone", f"{found.likelier_alone:,}", ""))
    if found.contradicted:
        rows.append(("Releases contradict each other", f"{found.contradicted:,}", ""))
    if found.exact is not None:
        rows += [("Single value, and right", f"{found.exact:,}", ""),
                 ("Single value, but wrong", f"{found.wrong:,}", ""),
                 ("Mean probability of the true value", number(found.own_value), ""),
                 ("True value guessed", number(found.guessed), ""),
                 ("Disclosure risk ratio, people told", f"{number(found.drr_certain)} %", ""),
                 ("Disclosure risk ratio, matches", f"{number(found.drr_matches)} %", "")]
    figures = ("people or value", "95 % interval")
    screen.say(screen.grid(("", *figures), rows, figures), "", "What each number means: --json")


def _within(share: Any) -> str:
    from sfumato.report.figures import percent

    return "" if share is None else f"{percent(share.low)} to {percent(share.high)}"
