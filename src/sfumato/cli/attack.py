"""`sfumato attack`: what releases tell somebody who knows people's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import options as o
from sfumato.cli import screen

if TYPE_CHECKING:
    from sfumato.attack.composition import Composition
    from sfumato.attack.intervals import Risk, Share
    from sfumato.attack.linkage import Linkage

RISKS = "Risks beyond a control"
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
    control: Annotated[str | None, typer.Option(
        metavar="TABLE", rich_help_panel=RISKS, help="Others of the same population, in no release, with "
        "their sensitive values: measures singling out, linkability and inference of each release.")] = None,
    half: Annotated[list[str] | None, typer.Option(
        metavar="A,B", rich_help_panel=RISKS, help="What one party of linkability knows (else every second "
        "column).")] = None,
    identity: Annotated[str | None, typer.Option(
        metavar="COLUMN", rich_help_panel=RISKS, help="A plain column of releases and people that says who "
        "is who: links records by Splink, and counts the right links.")] = None,
    trials: Annotated[int, typer.Option(rich_help_panel=RISKS, help="Attacks of each kind.")] = 500,
    seed: Annotated[int, typer.Option(rich_help_panel=RISKS, help="Makes them repeatable.")] = 0,
    json: o.Json = False, missing: o.Missing = None, table_name: o.TableName = None,
    delimiter: o.Delimiter = None, quote: o.Quote = None, encoding: o.Encoding = None,
    header: o.Header = None, memory: o.Memory = None, threads: o.Threads = None,
) -> None:
    """Intersect what releases with overlapping people say of each person (composition attack)."""
    from sfumato import api

    reading = o.reading(table_name, delimiter, quote, encoding, header, memory, threads)
    with screen.watching() as run, run.stages("attack"):
        said: dict[str, Any] = {"known": known, "recipe": recipe, "quasi": o.names(quasi),
                                "sensitive": sensitive, "missing": missing or (), **reading}
        found = api.attack(release, l=l, **said)
        beyond = {} if control is None else {
            one: api.risks(one, control=control, half=o.names(half), trials=trials, seed=seed, **said)
            for one in release}
        links = {} if identity is None else {
            one: api.link(one, known=known, identity=identity, recipe=recipe, quasi=o.names(quasi),
                          missing=missing or (), seed=seed, **reading) for one in release}
    if json:
        more = {"risks": figures(beyond), "linkage": {one: linked(link) for one, link in links.items()}}
        screen.say_json({**facts(found), **{name: told for name, told in more.items() if told}})
    else:
        show(found)
        for name, risks in beyond.items():
            show_risks(name, risks)
        if links:
            show_links(links)
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
    screen.say(screen.grid(("", *figures), rows, figures), "", *unfound(found),
               "What each number means: --json")


def unfound(found: Composition) -> list[str]:
    """An attack that finds nobody has shown nothing."""
    if found.found_in_all:
        return []
    return ["Nobody was found, so this says nothing of the releases. Are values written as the releases have "
            "them, and are the people those of the releases?", ""]


def figures(beyond: Mapping[str, Sequence[Risk]]) -> dict[str, Any]:
    """The risks for programs, release by release."""
    def share(one: Share | None) -> dict[str, float] | None:
        return None if one is None else {"rate": one.rate, "low": one.low, "high": one.high}

    return {name: {one.name: {"risk": one.value, "low": one.residual.low, "high": one.residual.high,
                              "trials": one.trials, "attack": share(one.attack),
                              "control": share(one.control), "baseline": share(one.baseline),
                              "stronger_than_guessing": one.stronger_than_guessing} for one in risks}
            for name, risks in beyond.items()}


def show_risks(name: str, risks: Sequence[Risk]) -> None:
    """The risks of one release for people."""
    from sfumato.report.figures import percent

    rows = [(one.name, percent(one.value), _within(one.residual), percent(one.attack.rate),
             "" if one.control is None else percent(one.control.rate), percent(one.baseline.rate),
             f"{one.trials:,}") for one in risks]
    headings = ("", "risk", "95 % interval", "people", "control", "guessing", "trials")
    screen.say("", f"{name}: what attacks win of its people beyond the control", "",
               screen.grid(headings, rows, headings[1:]))
    weak = [one.name for one in risks if not one.stronger_than_guessing]
    if weak:
        screen.say("", f"No better than guessing, so no evidence of safety: {', '.join(weak)}.")


def linked(link: Linkage) -> dict[str, Any]:
    """The links of one release for programs."""
    from dataclasses import asdict

    return {**asdict(link), "rate": {"rate": link.rate.rate, "low": link.rate.low, "high": link.rate.high}}


def show_links(links: Mapping[str, Linkage]) -> None:
    """How many records were linked to the right person, release by release."""
    from sfumato.report.figures import percent

    rows = [(name, f"{one.records:,}", f"{one.owned:,}", f"{one.linked:,}", f"{one.right:,.1f}", percent(
        one.rate.rate), _within(one.rate), percent(one.chance)) for name, one in links.items()]
    headings = ("", "records", "of known people", "linked", "to the right one", "rate", "95 % interval",
                "by chance")
    screen.say("", "Records linked to people", "", screen.grid(headings, rows, headings[1:]))


def _within(share: Any) -> str:
    from sfumato.report.figures import percent

    return "" if share is None else f"{percent(share.low)} to {percent(share.high)}"
