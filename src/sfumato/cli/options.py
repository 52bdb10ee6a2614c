"""The options that several commands share."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.errors import DestinationError

PROMISE, READING, RUN = "The promise", "How the table is written", "The run"

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
RecipeFile = Annotated[str | None, typer.Option("--recipe", "-r", metavar="FILE", help="The recipe (YAML).")]
Quasi = Annotated[list[str] | None, typer.Option(metavar="A,B", rich_help_panel=PROMISE,
                                                 help="Quasi-identifying columns.")]
Sensitive = Annotated[list[str] | None, typer.Option(metavar="A,B", rich_help_panel=PROMISE,
                                                     help="Sensitive columns.")]
Identifying = Annotated[list[str] | None, typer.Option(metavar="A,B", rich_help_panel=PROMISE,
                                                       help="Columns that identify: no release has them.")]
K = Annotated[int | None, typer.Option("--k", rich_help_panel=PROMISE,
                                       help="k-anonymity: records a class.")]
L = Annotated[float | None, typer.Option("--l", rich_help_panel=PROMISE,
                                         help="l-diversity of the sensitive columns.")]
Kind = Annotated[str | None, typer.Option(metavar="distinct|entropy|recursive", rich_help_panel=PROMISE,
                                          help="The kind of l-diversity.")]
C = Annotated[float | None, typer.Option("--c", rich_help_panel=PROMISE, help="c of recursive l-diversity.")]
T = Annotated[float | None, typer.Option("--t", rich_help_panel=PROMISE,
                                         help="t-closeness of the sensitive columns.")]
Missing = Annotated[list[str] | None, typer.Option(metavar="TEXT", rich_help_panel=READING,
                                                   help="A marker of missing values, such as ?; repeatable.")]
TableName = Annotated[str | None, typer.Option("--table", metavar="NAME", rich_help_panel=READING,
                                               help="The table of a database, the sheet of a workbook.")]
Delimiter = Annotated[str | None, typer.Option(metavar="CHAR", rich_help_panel=READING,
                                               help="What separates fields (else found out).")]
Quote = Annotated[str | None, typer.Option(metavar="CHAR", rich_help_panel=READING,
                                           help="What quotes fields; empty for nothing.")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", rich_help_panel=READING,
                                              help="The encoding, such as cp1252.")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", rich_help_panel=READING,
                                             help="Whether the first line holds names.")]
Memory = Annotated[str | None, typer.Option("--memory", metavar="SIZE", rich_help_panel=RUN,
                                            help="What the engine may take before it spills to disk (2GB).")]
Threads = Annotated[int | None, typer.Option("--threads", rich_help_panel=RUN, help="Threads of the engine.")]


class Format(StrEnum):
    """How a release may be written."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    arrow = "arrow"
    feather = "feather"
    json = "json"
    excel = "excel"


class ReportForm(StrEnum):
    """How a report may be written."""

    html = "html"
    md = "md"
    json = "json"


def names(given: list[str] | None) -> tuple[str, ...]:
    """Columns given as `a,b`, in one option or several; a name with a comma in quotes: `"a, b",c`."""
    return tuple(name.strip() for part in given or () for name in _parts(part) if name.strip())


def _parts(given: str) -> list[str]:
    try:
        return next(csv.reader([given], skipinitialspace=True), [])
    except csv.Error:  # a line break within a name
        return given.split(",")


def report_at(name: str | None) -> Path | None:
    """Where a report is to go: never over a file that does not begin as one, such as the table."""
    if name is None:
        return None
    path = Path(name)
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(300)
        page, text = start.startswith(b"<!doctype html>"), start.startswith(b"# ") and path.suffix == ".md"
        if not (page or text or (start.startswith(b"{") and b'"sfumato":' in start)):
            raise DestinationError(f"{path} exists already, and is no report.",
                                   "Choose another name (--report), or remove the file.")
    return path


def reading(table: str | None, delimiter: str | None, quote: str | None, encoding: str | None,
            header: bool | None, memory: str | None = None, threads: int | None = None) -> dict[str, Any]:
    """How a table is to be opened."""
    return {"table": table, "delimiter": delimiter, "quote": quote, "encoding": encoding, "header": header,
            "memory_limit": memory, "threads": threads}
