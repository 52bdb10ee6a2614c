"""`sfumato measure`: the risk in a table, and what a release lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen
from sfumato.errors import RequestError

if TYPE_CHECKING:
    from sfumato.measure.evidence import Evidence

EXAMPLE = ("Examples: `sfumato measure stays.csv --quasi age,sex,postcode` · `sfumato measure release "
           "--recipe stays.yaml --original stays.csv --report evidence.html`")


def measure(
    table: Annotated[str, typer.Argument(
        metavar="TABLE|RELEASE", help="A file, a folder that a run wrote, or a database's address.")],
    recipe: o.RecipeFile = None,
    original: Annotated[str | None, typer.Option(
        metavar="TABLE", help="The private table of a release: measures what was lost, too.")] = None,
    report: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write the evidence: a page, or .md, .json.")] = None,
    target: Annotated[str | None, typer.Option(
        metavar="COLUMN", help="With --original: do the patterns that explain this column survive?")] = None,
    predictors: Annotated[list[str] | None, typer.Option(
        metavar="A,B", help="The columns that may explain it; else all quasi-identifiers.")] = None,
    earlier: Annotated[str | None, typer.Option(
        metavar="RELEASE", help="With --original: what an earlier release tells beside it.")] = None,
    earlier_original: Annotated[str | None, typer.Option(
        metavar="TABLE", help="The earlier release's table, if it has grown since.")] = None,
    attacker: Annotated[str | None, typer.Option(
        metavar="NAME=VALUE,…", help="What attacks on sensitive columns suppose: ruled_out=2,delta=0.05; "
        "times, within, epsilon, rho=0.1:0.5.")] = None,
    json: o.Json = False, quasi: o.Quasi = None, sensitive: o.Sensitive = None, missing: o.Missing = None,
    table_name: o.TableName = None, delimiter: o.Delimiter = None, quote: o.Quote = None,
    encoding: o.Encoding = None, header: o.Header = None, memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Measure the risk in a table as it stands; with --original, all that a release changed."""
    from sfumato import api

    if report is not None and original is None:
        raise RequestError("A report compares a release with its table, and no table is named.",
                           "Name it: --original TABLE")
    if original is None and (target or predictors):
        raise RequestError("Patterns are compared between a release and its table, and no table is named.",
                           "Name it: --original TABLE")
    page = o.report_at(report)
    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    said = {"quasi": o.names(quasi), "sensitive": o.names(sensitive), "missing": missing or (),
            "attacker": supposed(attacker), "earlier": earlier, "earlier_original": earlier_original,
            **reading}
    with screen.watching() as run, run.stages("measure"):
        named = {"target": target, "predictors": o.names(predictors)}
        research = {name: what for name, what in named.items() if what} or None
        if page is None:
            evidence = api.measure(table, recipe, original=original, research=research, **said)
        else:
            compared = api.compare(table, original, recipe, research=research, **said)
            evidence = compared.evidence
            write_report(compared, page)
    if json:
        screen.say_json(facts(evidence, bool(evidence.utility)))
    else:
        show(evidence, bool(evidence.utility))
        if report is not None:
            screen.say("", f"Written: {report}")


def supposed(text: str | None) -> dict[str, Any]:
    """What is supposed of an attacker: `ruled_out=2,rho=0.1:0.5`."""
    kinds: dict[str, Any] = {"ruled_out": int, "times": float, "within": float, "delta": float,
                             "epsilon": float, "rho": lambda pair: tuple(map(float, pair.split(":", 1)))}
    found = {}
    for part in (text or "").split(",") if text else ():
        name, _, value = part.strip().partition("=")
        try:
            found[name] = kinds[name](value)
        except (KeyError, ValueError):
            raise RequestError(f"It is not clear what {part.strip()!r} supposes of an attacker.",
                               f"Say for example ruled_out=2; known are {', '.join(kinds)}.") from None
    if len(found.get("rho", (0, 1))) != 2:
        raise RequestError("rho is two numbers.", "Say for example rho=0.1:0.5.")
    return found


def write_report(compared: Any, path: Path) -> None:
    """The evidence in the form that the name asks for, written whole or not at all."""
    from sfumato.release import examples
    from sfumato.report import render
    from sfumato.report.summary import summarize
    from sfumato.table.staging import whole_file

    summary = summarize(compared.manifest, compared.evidence, examples(compared.prepared, compared.recoding))
    with whole_file(path) as temporary:
        temporary.write_text(render.in_form_of(path.name, summary), encoding="utf-8")


def facts(evidence: Evidence, compared: bool) -> dict[str, Any]:
    """The evidence for programs; without the original there is no before."""
    from dataclasses import asdict

    every = asdict(evidence)
    measures = {one.pop("name"): one
                for family in ("risk", "attacks", "utility") for one in every.pop(family)}
    profiles = {"before": every.pop("risk_before"), "after": every.pop("risk_after")}
    if compared:
        return {"risk": profiles, "measures": measures, **every}
    for one in measures.values():
        del one["before"]
    columns = [{name: column[name] for name in ("column", "contribution", "distinction", "separation")}
               for column in every["columns"]]
    return {"risk": profiles["after"], "measures": measures, "columns": columns,
            "definitions": every["definitions"]}


def show(evidence: Evidence, compared: bool) -> None:
    """The evidence for people; what each number means is in JSON and report."""
    from dataclasses import asdict

    from sfumato.report.figures import number, percent, several

    after = evidence.risk_after
    screen.say(f"{several(after.records, 'record')} in {several(after.classes, 'class', 'classes')}, "
               f"{after.unique:,} of them unique, {after.suppressed:,} suppressed.", "")
    headings = ("measure", *(("before",) if compared else ()), "after" if compared else "value")
    rows = [(one.title, *((number(one.before) if one.before is not None else "",) if compared else ()),
             number(one.value)) for one in (*evidence.risk, *evidence.utility)]
    screen.say(screen.grid(headings, rows, headings[1:]))
    if evidence.attacks:
        first = (*(("before",) if compared else ()), "after" if compared else "value")
        hit = [(one.title, *((number(one.before),) if compared else ()), number(one.value))
               for one in evidence.attacks]
        screen.say("", screen.grid(("attack: records hit", *first), hit, first))
    columns = sorted(evidence.columns, key=lambda one: -(one.contribution or 0))
    drawn = [(one.column, percent(one.contribution), percent(one.separation)) for one in columns
             if one.distinction is not None and one.role == "quasi"]
    screen.say("", screen.grid(("column", "uniques due to it", "pairs it tells apart"), drawn,
                               ("uniques due to it", "pairs it tells apart")), "")
    if evidence.patterns is not None:
        screen.say(*survival(asdict(evidence.patterns)), "")
    screen.say("What each number means: --json" + (" or --report FILE" if compared else ""))


def survival(patterns: dict[str, Any]) -> tuple[Any, ...]:
    """What became of each rule: a sentence and a table."""
    from sfumato.report.figures import percent
    from sfumato.report.patterns import STATES, sentence

    def told(rule: dict[str, Any] | None) -> tuple[str, str]:
        if rule is None:
            return "", ""
        return (f"{' and '.join(rule['conditions'])}: {rule['value']}",
                f"{percent(rule['share'])} of {rule['records']:,}")

    headings = ("rule in the private table", "holds for", "", "rule in the release", "holds for ")
    rows = [(*told(one["before"]), STATES[one["state"]], *told(one["after"])) for one in patterns["fates"]]
    return sentence(patterns), *([screen.grid(headings, rows, ("holds for", "holds for "))] if rows else [])
