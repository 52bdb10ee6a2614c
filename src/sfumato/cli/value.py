"""`sfumato value`: what every level is worth to research, before any search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen

EXAMPLE = "Example: `sfumato value stays.csv --recipe stays.yaml` shows the price of each level"


def value(
    table: Annotated[str | None, typer.Argument(help="A file or a database's address; else the recipe's.",
                                                show_default=False)] = None,
    recipe: o.RecipeFile = None, json: o.Json = False, quasi: o.Quasi = None, missing: o.Missing = None,
    table_name: o.TableName = None, delimiter: o.Delimiter = None, quote: o.Quote = None,
    encoding: o.Encoding = None, header: o.Header = None, memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Show what each level of each quasi-identifier is worth to research, and which rules it breaks."""
    from sfumato import api

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    found = api.value(table, recipe, quasi=o.names(quasi), missing=missing or (), **reading)
    if json:
        screen.say_json(found)
    else:
        show(found)


def show(found: Sequence[Mapping[str, Any]]) -> None:
    """The price list for people: a column's levels from the value itself to *."""
    rows = []
    for column in found:
        ruled = any(one["breaks"] for one in column["levels"])
        rows += [("" if one["level"] else column["column"], str(one["level"]), f"{one['labels']:,}",
                  f"{one['value']:.4f}", f"{one['rules_kept']:.0%}" if ruled else "",
                  "; ".join(one["breaks"])) for one in column["levels"]]
    screen.say(screen.grid(("column", "level", "labels", "value", "rules kept", "breaks"), rows,
                           ("level", "labels", "value", "rules kept")))
    for column in found:
        for level in column["rises_at"]:
            screen.say("", f"{column['column']}: level {level} is worth more than level {level - 1}, so that "
                       "coarser is not always worse; pruning: sound knows that, pruning: paper does not.")
