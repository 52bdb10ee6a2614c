"""`sfumato rules`: combinations that make no sense, as far as the table can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import options as o
from sfumato.cli import screen

if TYPE_CHECKING:
    from sfumato.slices.suggest import Absent

EXAMPLE = "Example: `sfumato rules stays.csv --recipe stays.yaml` lists pairs of values that nobody has"


def rules(
    table: Annotated[str | None, typer.Argument(help="A file or a database's address; else the recipe's.",
                                                show_default=False)] = None,
    recipe: o.RecipeFile = None,
    least: Annotated[float, typer.Option(min=0, help="Records that should be expected to have it.")] = 5.0,
    json: o.Json = False, quasi: o.Quasi = None, missing: o.Missing = None, table_name: o.TableName = None,
    delimiter: o.Delimiter = None, quote: o.Quote = None, encoding: o.Encoding = None,
    header: o.Header = None, memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """List pairs of values that no record has though many should: rules for the method ul to choose from."""
    from sfumato import api

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    found = api.rules(table, recipe, least=least, quasi=o.names(quasi), missing=missing or (), **reading)
    if json:
        screen.say_json([{"rule": one.rule, "expected": one.expected} for one in found])
    else:
        show(found)


def show(found: Sequence[Absent]) -> None:
    """The pairs, and how a recipe writes them."""
    from sfumato.request import spec_text

    if not found:
        screen.say("Every pair of values that could be expected does occur.")
        return
    rows = [(" × ".join(one.columns), " × ".join(one.values), f"{one.expected:,.1f}") for one in found]
    headings = ("columns", "never together", "records expected")
    screen.say(screen.grid(headings, rows, headings[2:]), "",
               "What of these makes no sense goes into the recipe's method:", "  rules:",
               *(f"    - {spec_text(one.rule)}" for one in found))
