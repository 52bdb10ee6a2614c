"""`sfumato hierarchy`: build, show and check the levels of a column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen
from sfumato.errors import RequestError

if TYPE_CHECKING:
    from sfumato.hierarchy.core import Hierarchy

BUILD = ("Example: `sfumato hierarchy build stays.csv age --interval 5,10,20 --out age.csv`. Without a form, "
         "one is suggested; without --out, it is only shown")
SHOW = "Example: `sfumato hierarchy show age.csv`"
CHECK = ("Example: `sfumato hierarchy check age.csv stays.csv age`. "
         "Exit codes: 0 it fits · 2 it does not, and why")
FORM = "The form (one of them)"

app = typer.Typer(no_args_is_help=True, help="Build, show and check hierarchies of a column's values.",
                  epilog=BUILD)
TableArgument = Annotated[str, typer.Argument(help="A file or a database's address.")]
ColumnArgument = Annotated[str, typer.Argument(help="The column.")]
Most = Annotated[int, typer.Option(min=1, help="Members of a family that are shown.")]


def form(text: str) -> Any:
    """An option that names a form of hierarchy."""
    return typer.Option(rich_help_panel=FORM, help=text)


@app.command("build", epilog=BUILD)
def build(
    table: TableArgument, column: ColumnArgument,
    interval: Annotated[str | None, form("Widths of the levels, 5,10,20; one width is doubled.")] = None,
    quantiles: Annotated[str | None, form("How many groups of about as many records.")] = None,
    bounds: Annotated[str | None, form("Bounds of a level, 18,65; levels apart by a semicolon.")] = None,
    growing: Annotated[str | None, form("Width of the first interval; the next are wider.")] = None,
    prefix: Annotated[str | None, form("Characters that are masked from the end.")] = None,
    suffix: Annotated[str | None, form("Characters that are masked from the start.")] = None,
    dates: Annotated[str | None, form("Levels of dates: day,month,quarter,year,decade.")] = None,
    date_format: Annotated[str | None, form("How dates are written, such as %d.%m.%Y.")] = None,
    tree: Annotated[str | None, form("A YAML tree of meanings.")] = None,
    frequency: Annotated[str | None, form("Levels that fold rare values together.")] = None,
    suppress: Annotated[bool, form("Only the value itself and *.")] = False,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="FILE",
                                            help="A .csv or .yaml to write.")] = None,
    most: Most = 6, json: o.Json = False, missing: o.Missing = None, table_name: o.TableName = None,
    delimiter: o.Delimiter = None, quote: o.Quote = None, encoding: o.Encoding = None,
    header: o.Header = None,
) -> None:
    """Build a hierarchy from a column's values."""
    from sfumato.hierarchy.spec import build as built
    from sfumato.request import spec_text
    from sfumato.table import open_table

    numbers = {"interval": interval, "quantiles": quantiles, "growing": growing, "prefix": prefix,
               "suffix": suffix, "frequency": frequency}
    said: dict[str, Any] = {name: parsed(text) for name, text in numbers.items() if text is not None}
    if bounds is not None:
        levels = [several(part) for part in bounds.split(";")]
        said["bounds"] = levels[0] if len(levels) == 1 else levels
    said |= {"dates": [step.strip() for step in dates.split(",")]} if dates else {}
    said |= {"format": date_format} if date_format else {}
    said |= {"tree": tree} if tree else {}
    said |= {"suppress": None} if suppress else {}
    with open_table(table, **o.reading(table_name, delimiter, quote, encoding, header)) as opened:
        spec = said or suggested(opened, column, missing or ())
        values, records = column_of(opened, column, missing or ())
    hierarchy = built(column, spec, values, records, Path())
    if out is not None:
        write(hierarchy, Path(out))
    if json:
        screen.say_json(facts(hierarchy) | {"spec": spec, "written": out})
        return
    draw(hierarchy, most)
    screen.say("", f"In a recipe: {{role: quasi, hierarchy: {out or spec_text(spec)}}}")


@app.command("show", epilog=SHOW)
def show(file: Annotated[str, typer.Argument(help="A hierarchy's .csv or .yaml.")], most: Most = 6,
         json: o.Json = False) -> None:
    """Show a hierarchy's file as a tree."""
    from sfumato.hierarchy.files import read

    hierarchy = read(Path(file), Path(file).stem)
    if json:
        screen.say_json(facts(hierarchy))
    else:
        draw(hierarchy, most)


@app.command("check", epilog=CHECK)
def check(
    file: Annotated[str, typer.Argument(help="A hierarchy's .csv or .yaml.")],
    table: Annotated[str | None, typer.Argument(help="A file or a database's address: are all values of "
                                                "its column there?", show_default=False)] = None,
    column: Annotated[str | None, typer.Argument(help="The column.", show_default=False)] = None,
    json: o.Json = False, missing: o.Missing = None, table_name: o.TableName = None,
    delimiter: o.Delimiter = None, quote: o.Quote = None, encoding: o.Encoding = None,
    header: o.Header = None,
) -> None:
    """Check that a hierarchy is nested and has one root and, with a table, covers a column's values."""
    from sfumato.hierarchy.files import read
    from sfumato.hierarchy.spec import build as built
    from sfumato.table import open_table

    if table is None:
        hierarchy = read(Path(file), Path(file).stem)
        if json:
            screen.say_json({"fits": True, **facts(hierarchy)})
        else:
            screen.say(f"{file} is nested and has one root: {hierarchy.n_values:,} values, "
                       f"{hierarchy.n_levels} levels.")
        return
    if column is None:
        raise RequestError("No column of the table is named.", f"Name it after the table: {table} COLUMN")
    form = "tree" if Path(file).suffix.lower() in (".yaml", ".yml") else "csv"
    with open_table(table, **o.reading(table_name, delimiter, quote, encoding, header)) as opened:
        values, records = column_of(opened, column, missing or ())
    hierarchy = built(column, {form: file}, values, records, Path())
    if json:
        screen.say_json({"fits": True, "values_met": len(values), **facts(hierarchy)})
    else:
        screen.say(f"{file} fits: {len(values):,} values of column {column!r}, {hierarchy.n_values:,} in the "
                   f"hierarchy, {hierarchy.n_levels} levels.")


def column_of(opened: Any, column: str, missing: Any) -> tuple[Any, list[int]]:
    """A column's distinct values and the records of each."""
    from sfumato.judge import counted_values
    from sfumato.table import require_columns

    require_columns(opened, (column,))
    return counted_values(opened.table, column, missing)


def suggested(opened: Any, column: str, missing: Any) -> Any:
    """A form that fits the column's values."""
    from sfumato.request import suggested_spec
    from sfumato.table import require_columns

    require_columns(opened, (column,))
    return suggested_spec(opened.table, column, missing)


def parsed(text: str) -> Any:
    """One number, or several."""
    found = several(text)
    return found[0] if len(found) == 1 else found


def several(text: str) -> list[float]:
    """Numbers with commas between."""
    try:
        return [float(part) if any(c in part for c in ".eE") else int(part) for part in text.split(",")]
    except ValueError:
        raise RequestError(f"{text!r} is not a list of numbers.", "Write them like 5,10,20.") from None


def write(hierarchy: Hierarchy, path: Path) -> None:
    """Write it as CSV or YAML, whole or not at all."""
    from sfumato.hierarchy.files import TREES, write_csv, write_yaml
    from sfumato.table.staging import whole_file

    with whole_file(path) as temporary:
        (write_yaml if path.suffix.lower() in TREES else write_csv)(hierarchy, temporary)


def facts(hierarchy: Hierarchy) -> dict[str, Any]:
    """A hierarchy for programs."""
    return {"column": hierarchy.column, "values": hierarchy.n_values,
            "levels": [len(labels) for labels in hierarchy.labels], "paths": hierarchy.paths}


def draw(hierarchy: Hierarchy, most: int) -> None:
    """A hierarchy for people."""
    from sfumato.hierarchy.show import outline, summary

    screen.say(*summary(hierarchy), "", *outline(hierarchy, most))
