"""`sfumato anonymize`: from a private table to a proven release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen
from sfumato.errors import RequestError

EXAMPLE = ("Example: `sfumato anonymize stays.csv --recipe stays.yaml --out release` writes "
           "release/release.csv, release/manifest.json and release/report.html")


def anonymize(
    table: Annotated[str | None, typer.Argument(help="A file or a database's address; else the recipe's.",
                                                show_default=False)] = None,
    recipe: o.RecipeFile = None,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="DIR",
                                            help="The folder to write.")] = None,
    format: Annotated[o.Format, typer.Option(help="How the release is written.")] = o.Format.csv,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write a report.")] = True,
    report_as: Annotated[o.ReportForm, typer.Option(help="The report's form.")] = o.ReportForm.html,
    json: o.Json = False,
    quasi: o.Quasi = None, sensitive: o.Sensitive = None, identifying: o.Identifying = None,
    k: o.K = None, l: o.L = None, kind: o.Kind = None, c: o.C = None, t: o.T = None,  # noqa: E741
    suppression: Annotated[float | None, typer.Option(
        rich_help_panel=o.PROMISE, help="Share of records that may be suppressed.")] = None,
    method: Annotated[str | None, typer.Option(rich_help_panel=o.RUN, help="The method's name.")] = None,
    cost: Annotated[str | None, typer.Option(
        rich_help_panel=o.RUN, help="What is minimized: ncp, loss, aecs …")] = None,
    seconds: Annotated[float | None, typer.Option(
        min=0, rich_help_panel=o.RUN, help="Take the best found after this long, with its bound.")] = None,
    seed: Annotated[int | None, typer.Option(
        rich_help_panel=o.RUN, help="The seed of all that is random.")] = None,
    to: Annotated[str | None, typer.Option(metavar="DATABASE", rich_help_panel=o.RUN,
                                           help="Write the release into this database too.")] = None,
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", rich_help_panel=o.RUN,
                                             help="The table's name in that database.")] = None,
    replace: Annotated[bool, typer.Option("--replace", rich_help_panel=o.RUN,
                                          help="Replace a table of that name.")] = False,
    keep_steps: Annotated[bool, typer.Option(
        "--keep-steps", rich_help_panel=o.RUN,
        help="Keep the table and its pairs after each step, in the folder private (method xk).")] = False,
    missing: o.Missing = None, table_name: o.TableName = None, delimiter: o.Delimiter = None,
    quote: o.Quote = None, encoding: o.Encoding = None, header: o.Header = None,
    memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Find the release that keeps the promise and the most of the picture; write, prove and report it."""
    from sfumato import pipeline
    from sfumato.request import requested, table_of

    if not out:
        raise RequestError("No folder for the release is named.", "Name one: --out DIR")
    chosen = {key: value for key, value in (("name", method), ("cost", cost)) if value is not None}
    asked = requested(recipe, quasi=o.names(quasi), sensitive=o.names(sensitive), k=k, l=l, kind=kind, c=c,
                      t=t, identifying=o.names(identifying), missing=missing or (), suppression=suppression,
                      seed=seed, method={"name": "optimal", **chosen} if chosen else None)
    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    target = target_of(to, name, replace)
    source: Any = table if table is not None else table_of(asked)
    with screen.watching() as run:
        if recipe is None:
            source, asked = without_recipe(run, source, asked, o.names(quasi), reading)
        result = pipeline.anonymize(source, asked, Path(out), format=format.value, target=target,
                                    report=report and report_as.value, watch=run.watch,
                                    interruptible=run.interruptible, seconds=seconds, stages=run.stages,
                                    keep_steps=keep_steps, **reading)
    if json:
        screen.say_json(result.manifest)
    else:
        show(result.manifest, Path(result.release), f"report.{report_as.value}" if report else None, target)
        warn_of(result.private, Path(result.release).parent / "private")


def without_recipe(run: Any, source: Any, asked: Any, quasi: Any, reading: dict[str, Any]) -> tuple[Any, Any]:
    """The opened table, and the request with the hierarchies that would be suggested for it, each told."""
    from sfumato.request import completed
    from sfumato.table import open_table

    with run.stages("read"):
        opened = open_table(source, **reading)
    with run.stages("prepare"):
        asked, notes = completed(opened, asked, quasi)
    for one in notes:
        screen.note(one)
    return opened, asked


def warn_of(private: Any, folder: Path) -> None:
    """Say what is for the publisher's eyes alone, if there is anything."""
    if private:
        what = " says which records are false" if "added" in private else " has every step"
        screen.say("", f"Not to be handed on: {folder}{what}.")


def target_of(to: str | None, name: str | None, replace: bool) -> Any:
    """The database's table to write too, if one is named."""
    from sfumato.pipeline import Target

    if (to is None) != (name is None):
        raise RequestError("A database's table needs both --to DATABASE and --as NAME.", "Name both.")
    return None if to is None or name is None else Target(to, name, replace)


def show(facts: dict[str, Any], release: Path, report: str | None, target: Any) -> None:
    """The run in a dozen lines."""
    from sfumato.cli.check import findings
    from sfumato.cli.measure import survival
    from sfumato.report.figures import number, percent, several
    from sfumato.table.databases import harmless

    records, search, cost = facts["records"], facts["search"], facts["cost"]
    groups = facts.get("column_groups")
    unit = ("bucket", "buckets") if groups else ("class", "classes")
    screen.say("The promise holds, counted again from the written release:",
               findings(facts["verdict"]["criteria"], unit), "")
    if facts["levels"]:
        columns = facts["columns"]
        rows = [(name, f"{level} of {columns[name]['levels'] - 1}", described(level, columns[name]["levels"]))
                for name, level in facts["levels"].items()]
        screen.say(screen.grid(("column", "level", ""), rows, ("level",)), "")
    if found := facts.get("samarati"):
        screen.say(screen.grid(*solutions_of(found, list(facts["levels"]))), "")
    if research := facts.get("research"):
        screen.say(screen.grid(*successes_of(research, list(facts["levels"]))), "")
    if rounds := facts.get("rounds"):
        screen.say(screen.grid(*rounds_of(rounds)), "")
    if cells := facts.get("cells"):
        screen.say(screen.grid(*rates_of(cells)), "")
    if budget := facts.get("drawn", {}).get("budget"):
        screen.say(screen.grid(*spending(budget)), "")
    if patterns := facts.get("patterns"):
        screen.say(*survival(patterns), "")
    kept = f"{records['kept']:,} of {records['received']:,} kept in {several(facts['classes'], *unit)}"
    share = percent(records["suppressed"] / records["received"])
    false = f"; {records['added']:,} false records added" if records["added"] else ""
    lines = [("Records", f"{kept}, {records['suppressed']:,} suppressed ({share}){false}")]
    if drawn := facts.get("drawn"):
        from sfumato.verify_drawn import unseen

        lines = [("Rows", f"{records['kept']:,} drawn from {records['received']:,} records, with "
                          f"{several(facts['classes'], 'combination')} of labels")]
        lines += [("", one) for one in unseen(drawn)]
    lines += [("Permuted apart", " | ".join(", ".join(group) for group in groups))] if groups else []
    lines += details(facts)
    if cost:
        lines.append(("Cost", f"{cost['name']} {number(cost['score'])}{proof(search)}"))
    written = ["manifest.json", *([report] if report else [])]
    lines += [("Written", str(release)), *(("", str(release.parent / one)) for one in written)]
    lines += [("", f"table {target.name} of {harmless(target.database)}")] if target else []
    screen.say(screen.grid(("", ""), lines))


def details(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What some methods did or proved, a line each."""
    from sfumato.manifest import certified
    from sfumato.report.figures import several

    lines = []
    if cells := facts.get("cells"):
        done = f"{cells['swapped']:,} swapped, {cells['generalized']:,} generalized"
        of = f"{several(cells['records'], 'record')} of {several(cells['selected'], 'cell')}"
        lines.append(("Protected", f"{of}: {done}"))
    if found := facts.get("research"):
        held = f"{found['held_bytes'] / 1e6:.1f} MB held"
        sets = f"{found['frequency_sets']:,} frequency sets"
        lines.append(("Searched", f"{found['strings']:,} strings by {sets}, {held}"))
        lines += [("Proven", "no string that holds is worth more")] if found["complete"] else []
    if certificate := facts.get("certificate"):
        lines.append(("Proven", certified(certificate)))
    if merged := facts.get("merged"):
        lines.append(("Merged", f"{several(merged['values'], 'value')} that matched too few buckets: coarser "
                      f"labels in {several(merged['records'], 'record')}"))
    if blocks := facts.get("blocks"):
        sizes = f"{blocks['smallest']:,} to {blocks['largest']:,}"
        lines.append(("Blocks", f"{blocks['count']:,} of {sizes} records, each grouped by itself"))
    if centres := facts.get("centres"):
        named = ", ".join(f"{name} ({centre})" for name, centre in centres.items())
        lines.append(("Not true", f"of each record, but of its class: {named}"))
    return lines


def solutions_of(found: dict[str, Any], columns: list[str]) -> tuple[Any, ...]:
    """The preferred generalizations of least height, as a table."""
    rows = [(str(found["height"]), f"{one['suppressed']:,}", " ".join(map(str, one["levels"])))
            for one in found["solutions"][:5]]
    return ("height", "suppressed", f"levels of {', '.join(columns)}"), rows, ("height", "suppressed")


def successes_of(found: dict[str, Any], columns: list[str]) -> tuple[Any, ...]:
    """The best generalization strings that hold, as a table."""
    rows = [(f"{one['value']:.4f}", str(one["roots"]), " ".join(map(str, one["levels"])))
            for one in found["successes"][:5]]
    return ("research value", "at *", f"levels of {', '.join(columns)}"), rows, ("research value", "at *")


def rounds_of(rounds: list[dict[str, Any]]) -> tuple[Any, ...]:
    """What each round of generalizing outliers kept, as a table."""
    headings = ("round", "levels above 0", "classes", "kept", "suppressed", "average class")
    rows = [(str(n), ", ".join(f"{name} {level}" for name, level in one["levels"].items() if level),
             *(f"{one[name]:,}" for name in ("classes", "kept", "suppressed")),
             f"{one['measures']['average_class']:.2f}") for n, one in enumerate(rounds, start=1)]
    return headings, rows, ("round", *headings[2:])


def spending(budget: dict[str, Any]) -> tuple[Any, ...]:
    """What the privacy budget was spent on, as a table."""
    rows = [(one["for"], f"{one['times']:,}", f"{one['epsilon']:.4f}") for one in budget["spent"]]
    rows.append(("in all", "", f"{budget['total']:.4f}"))
    return ("budget spent on", "times", "ε"), rows, ("times", "ε")


def rates_of(cells: dict[str, Any]) -> tuple[Any, ...]:
    """What each swap rate would select, as a table."""
    from sfumato.report.figures import percent

    names = ("rare_cells", "rare_records", "certain_cells", "certain_records")
    headings = ("lower / upper rate", *(name.replace("_", " ") for name in names))
    rows = [(f"{', '.join(pair)}: {percent(row['rate'])} / {percent(1 - row['rate'])}",
             *(f"{row[name]:,}" for name in names))
            for pair, table in zip(cells["groups"], cells["rates"], strict=True) for row in table]
    return headings, rows, headings


def described(level: int, levels: int) -> str:
    """What a level is, in a word."""
    return "as it was" if level == 0 else "nothing is left" if level == levels - 1 else "generalized"


def proof(search: dict[str, Any] | None) -> str:
    """What is known of how good the cost is."""
    from sfumato.report.figures import number

    if not search:
        return ""
    if search["status"] == "optimal":
        return f": the proven least of {search['nodes']:,} generalizations"
    return f": the best found; that none costs less than {number(search['bound'])} is proven"
