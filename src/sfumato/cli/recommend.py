"""`sfumato recommend`: the best xk-anonymity approach to a table, before anything is changed."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen
from sfumato.errors import DestinationError, RequestError

if TYPE_CHECKING:
    from sfumato.recommend.advice import Advice

EXAMPLE = ("Example: `sfumato recommend stays.csv --quasi age,sex,postcode --sensitive diagnosis "
           "--diversity 2 -k 5`, then `sfumato anonymize stays.csv --recipe xk.yaml --out release`. In a "
           "terminal, with a table alone, it asks")
MARK = "# Recommended by sfumato"  # the first words of a recipe that may be overwritten
MOST_ROWS, MOST_BARS, WIDE = 12, 24, 36


class Prefer(StrEnum):
    """What a recommendation may prefer."""

    original = "original"
    precision = "precision"


def recommend(
    table: Annotated[str, typer.Argument(help="A file or a database's address.")],
    quasi: o.Quasi = None, sensitive: o.Sensitive = None,
    diversity: Annotated[str | None, typer.Option(
        metavar="D|A=2,B=3", rich_help_panel=o.PROMISE,
        help="Different values that every pair must have of each sensitive column.")] = None,
    k: Annotated[int, typer.Option("--k", "-k", rich_help_panel=o.PROMISE, help="Records a pair.")] = 5,
    sensitive_suppression: Annotated[bool, typer.Option(
        "--sensitive-suppression", rich_help_panel=o.PROMISE,
        help="Suppress the sensitive cells of a pair that is not diverse, not its records.")] = False,
    prefer: Annotated[Prefer | None, typer.Option(help="What counts twice.")] = None,
    min_precision: Annotated[float | None, typer.Option(
        metavar="PERCENT", help="Take no approach below this precision.")] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The recipe to write.")] = "xk.yaml",
    force: Annotated[bool, typer.Option("--force", help="Overwrite whatever stands there.")] = False,
    report: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write the curve over xk: a page, or .md, .json.")] = None,
    json: o.Json = False, identifying: o.Identifying = None,
    missing: o.Missing = None, table_name: o.TableName = None, delimiter: o.Delimiter = None,
    quote: o.Quote = None, encoding: o.Encoding = None, header: o.Header = None,
    memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Compare all levels of xk-anonymity on a table, recommend one, and write the recipe for it."""
    from sfumato import api
    from sfumato.cli.recommend_questions import asked

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    said: dict[str, Any] = {
        "quasi": o.names(quasi), "sensitive": o.names(sensitive), "k": k, "diversity": wanted(diversity),
        "sensitive_suppression": sensitive_suppression, "prefer": prefer.value if prefer else None,
        "min_precision": min_precision, "identifying": o.names(identifying), "missing": tuple(missing or ())}
    require_free(Path(out), force)
    page = o.report_at(report)
    if not quasi and not json and sys.stdin.isatty() and sys.stdout.isatty():
        said = asked(table, said, reading)
    with screen.watching() as run, run.stages("prepare"):
        found = api.recommend(table, **said, name=named(table, out), **reading)
    write(found, Path(out))
    if page is not None:
        draw(found, table, page)
    if json:
        screen.say_json({**found.as_dict(), "recipe": out})
    else:
        show(found, table, out, report)


def wanted(diversity: str | None) -> int | dict[str, int] | None:
    """One number for all sensitive columns, or `column=number` for each."""
    if diversity is None:
        return None
    try:
        if "=" not in diversity:
            return int(diversity)
        parts = (part.rsplit("=", 1) for part in diversity.split(","))
        return {name.strip(): int(number) for name, number in parts}
    except ValueError:
        raise RequestError(f"The diversity is not clear from {diversity!r}.",
                           "Say a whole number, or one for each column: --diversity grade=3,ward=2") from None


def named(table: str, out: str) -> str:
    """How the recipe names the table."""
    from sfumato.api import _name

    return _name(table, Path(out))


def require_free(out: Path, force: bool) -> None:
    """Refuse to overwrite what this command did not write."""
    if out.exists() and not force:
        with out.open("rb") as file:
            if file.read(len(MARK)) != MARK.encode():
                raise DestinationError(f"{out} exists already, and is no recommended recipe.",
                                       "Choose another name (--out), or overwrite it with --force.")


def write(found: Advice, out: Path) -> None:
    """The recipe with what was predicted, written whole or not at all."""
    from json import dumps

    from sfumato.table.staging import whole_file

    best, told = found.recommendation.best, found.recommendation
    low, high = told.precision_range
    elected = dumps(found.recipe.named("quasi")[-1], ensure_ascii=False)  # on one line, as YAML reads it
    lines = [f"{MARK}: xk-anonymity at {best.label} (Brown 2019).",
             f"# Precision {low} to {high} %, at most {told.maximum_loss} % of the data lost; certain are "
             f"{best.proven_range[0]:.2f} to {best.proven_range[1]:.2f} % and {best.proven_loss:.2f} %.",
             "# To bring records of small pairs back, elect a quasi-identifier in the method, for example",
             f"#   suppress_cells: [{elected}]   and, where it has a hierarchy, generalize: {{{elected}: 1}}",
             ""]
    with whole_file(out) as path:
        path.write_text("\n".join(lines) + found.recipe.to_yaml(), encoding="utf-8")


def draw(found: Advice, table: str, path: Path) -> None:
    """The curve as a page."""
    from sfumato.report import render
    from sfumato.report.xk import summarize
    from sfumato.table.databases import harmless
    from sfumato.table.staging import whole_file
    from sfumato.version import __version__

    told = found.recommendation
    facts = {"sfumato": __version__, "table": harmless(table), "records": found.records, "pairs": found.pairs,
             "why": told.why, "recommended": list(told.recommended), "levels": found.curve, "best": told.best,
             "quasi": list(found.recipe.named("quasi")), "ranked": [one.xk for one in told.approaches]}
    with whole_file(path) as temporary:
        temporary.write_text(render.in_form_of(path.name, summarize(facts)), encoding="utf-8")


def show(found: Advice, table: str, out: str, report: str | None) -> None:
    """Approaches, reasons and predictions for people."""
    from sfumato.table.databases import harmless

    told, best = found.recommendation, found.recommendation.best
    headings = ("approach", "xk", "suppressed", "added", "original", "total", "precision", "difference",
                "score")
    rows = [(one.label, str(one.xk), *(f"{getattr(one, name):,}" for name in headings[2:6]),
             f"{one.precision:.2f} %", f"{one.difference:,}", str(one.score))
            for one in told.approaches[:MOST_ROWS]]
    screen.say(f"{found.records:,} records in {found.pairs:,} pairs. Approaches, best first:",
               screen.grid(headings, rows, headings[1:]))
    if len(told.approaches) > MOST_ROWS:
        screen.say(f"… and {len(told.approaches) - MOST_ROWS:,} more.")
    low, high = told.precision_range
    labels = {one.xk: one.label for one in told.approaches}
    chosen = " or ".join(labels[xk] for xk in told.recommended)
    certain = f"{best.proven_range[0]:.2f} to {best.proven_range[1]:.2f} %"
    screen.say("", curve(found), "", f"Recommended: {chosen}. {told.why}", "", screen.grid(("", "", ""), [
        ("", "predicted", "certain"),
        ("Precision", f"{low} to {high} %", certain),
        ("Greatest data loss", f"{told.maximum_loss} %", f"{best.proven_loss:.2f} %")]))
    for flag in told.flags:
        screen.say(f"Note: {flag}.")
    if found.left:
        screen.say("", f"Not named, and so released as they are: {', '.join(found.left)}. "
                       "Columns that identify: --identifying")
    written = [out, *([report] if report else [])]
    screen.say("", f"Written: {', '.join(written)}. To carry it out:",
               f"  sfumato anonymize {harmless(table)} --recipe {out} --out release")


def curve(found: Advice) -> Any:
    """Every level as bars of original and false records; of very many, some at even distances."""
    levels = found.curve
    step = -(-len(levels) // MOST_BARS)
    shown = [one for n, one in enumerate(levels)
             if n % step == 0 or one is levels[-1] or one.xk in found.recommendation.recommended]
    most = max((one.total for one in levels), default=1) or 1
    rows = []
    for one in shown:
        original = round(WIDE * one.original / most)
        false = round(WIDE * one.total / most) - original
        mark = "◂" if one.xk == found.recommendation.recommended[0] else ""
        rows.append((one.label, "█" * original + "░" * false, f"{one.precision:.2f} %", mark))
    return screen.grid(("xk", "█ original  ░ false records", "precision", ""), rows, ("precision",))
