"""From what a caller names, to views of releases and people, to what the attack told."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sfumato import judge, table
from sfumato.attack.composition import Composition, attack
from sfumato.attack.intervals import Risk
from sfumato.attack.labels import read
from sfumato.attack.linkage import Linkage, link
from sfumato.attack.risks import Settings, risks
from sfumato.attack.view import Groups, Known, View, known_people, tree_over, view
from sfumato.criteria.l_diversity import LDiversity
from sfumato.errors import HierarchyError, RequestError
from sfumato.hierarchy.domain import listed
from sfumato.judge import Place
from sfumato.methods.registry import make
from sfumato.methods.sliced import Slicing
from sfumato.recipe import Recipe
from sfumato.slices.base import BUCKET
from sfumato.table.databases import is_url


@dataclass(frozen=True)
class Scene:
    """Releases and people, opened and read against each other."""

    views: tuple[View, ...]
    known: Known
    sensitive: str
    recipes: tuple[Recipe | None, ...]
    missing: tuple[str, ...]


def composition(releases: Sequence[Any], known: Any, *, recipe: Recipe | None, quasi: Sequence[str],
                sensitive: str | None, l: float | None, missing: Sequence[str],  # noqa: E741
                reading: dict[str, Any]) -> Composition:
    """What releases tell together of the people that are known."""
    if l is not None and not l >= 1:
        raise RequestError(f"l is {l:g}; 1/l is a probability, so l is at least 1.", "Say l, for example 4.")
    with scene(releases, known, recipe, quasi, sensitive, missing, reading) as seen:
        promised = [bound for one in seen.recipes if (bound := promised_l(one, seen.sensitive)) is not None]
        return attack(seen.views, seen.known, l if l is not None else min(promised, default=None))


def empirical(release: Any, known: Any, control: Any, *, recipe: Recipe | None, quasi: Sequence[str],
              sensitive: str | None, missing: Sequence[str], settings: Settings, seed: int,
              reading: dict[str, Any]) -> tuple[Risk, ...]:
    """What attacks win of the release's people beyond what they win of others, the control."""
    with scene([release], known, recipe, quasi, sensitive, missing, reading) as seen, \
            table.open_table(control, **reading) as strangers:
        people, names = seen.known, seen.views[0].names
        table.require_columns(strangers, (*names, seen.sensitive))
        other = known_people(strangers, people.names, seen.sensitive, seen.missing)
        if people.truth is None:
            raise RequestError(f"The table of people has no column {seen.sensitive!r}, so whether a guess is "
                               "right cannot be told.", "Give the people with their sensitive values; no "
                               "attack uses those but to score itself.")
        strange = [name for name in settings.half if name not in names]
        if strange or (settings.half and len(set(settings.half)) == len(names)):
            raise RequestError("One party of linkability should know some of the columns "
                               f"{listed(names, 10)}, and not all; it is said to know "
                               f"{listed(settings.half, 10)}.",
                               "Name the columns of one party, for example --half " + ",".join(names[:1]))
        return risks(seen.views[0], people, other, settings, seed)


def linkage(release: Any, known: Any, identity: str, *, recipe: Recipe | None, quasi: Sequence[str],
            missing: Sequence[str], seed: int, reading: dict[str, Any]) -> Linkage:
    """Released records linked to people; the column `identity`, which both have, says who is who."""
    place = judge.locate(release)
    own = recipe if recipe is not None else place.recipe
    markers = tuple(dict.fromkeys([*missing, *(own.missing if own else ())]))
    with table.open_table(place.release, **reading) as opened, table.open_table(known, **reading) as people:
        for one in (opened, people):
            table.require_columns(one, (identity,))
        asked = quasi or quasi_named([own], people)
        hidden = {BUCKET, *(own.named("sensitive") if own else ())}
        names = [name for name in known_columns([opened], people, identity, asked)
                 if name in opened.table.columns and name not in hidden]
        if not names:
            raise RequestError(f"{opened.name} has no column that is known of people.",
                               "Give a table of people with its quasi-identifiers.")
        rows, persons = (known_people(one, names, identity, markers) for one in (opened, people))
        covers = [read(rows.values[j], persons.values[j], tree_over(name, persons, own))
                  for j, name in enumerate(names)]
        return link(rows, persons, covers, seed)


@contextmanager
def scene(releases: Sequence[Any], known: Any, recipe: Recipe | None, quasi: Sequence[str],
          sensitive: str | None, missing: Sequence[str], reading: dict[str, Any]) -> Iterator[Scene]:
    """Open everything and read it; the tables are closed when the scene ends."""
    if not releases:
        raise RequestError("No release is named.", "Name one or several: --release FOLDER")
    places = [judge.locate(one) for one in releases]
    recipes = [recipe if recipe is not None else place.recipe for place in places]
    markers = tuple(dict.fromkeys([*missing, *(m for one in recipes if one for m in one.missing)]))
    with ExitStack() as stack:
        opened = [stack.enter_context(table.open_table(place.release, **reading)) for place in places]
        people = stack.enter_context(table.open_table(known, **reading))
        target = sensitive_column(opened, recipes, sensitive)
        names = known_columns(opened, people, target, quasi or quasi_named(recipes, people))
        groups = [groups_in(*each) for each in zip(places, opened, recipes, strict=True)]
        seen = known_people(people, names, target, markers)
        views = []
        for one, own, group in zip(opened, recipes, groups, strict=True):
            if not any(name in one.table.columns for name in names):
                raise RequestError(f"{one.name} has none of the columns that are known of people: "
                                   f"{listed(names, 10)}.", "Leave this release out, or give a table of "
                                   "people with its quasi-identifiers.")
            views.append(_view(one, seen, target, group, own, markers, given=recipe is not None))
        views = [replace(one, name=_called(release, one))
                 for one, release in zip(views, releases, strict=True)]
        yield Scene(tuple(views), seen, target, tuple(recipes), markers)


def _called(release: Any, one: View) -> str:
    """A release as the caller named it; an address or a frame as it was opened."""
    return str(release) if isinstance(release, str | os.PathLike) and not is_url(str(release)) else one.name


def _view(opened: table.Source, known: Known, sensitive: str, groups: Groups | None, recipe: Recipe | None,
          missing: Sequence[str], given: bool) -> View:
    """The view; a recipe beside a release may name hierarchies that are not there."""
    try:
        return view(opened, known, sensitive, groups, recipe, missing)
    except HierarchyError as fault:
        if given:
            raise
        raise RequestError(f"The recipe that {opened.name} brings cannot be used here. {fault.message}",
                           "Name the recipe where it stands with its hierarchies: --recipe FILE.") from None


def sensitive_column(opened: Sequence[table.Source], recipes: Sequence[Recipe | None],
                     said: str | None) -> str:
    """The one sensitive column that is attacked: all releases must have it."""
    shared = set.intersection(*(set(one.table.columns) for one in opened)) - {BUCKET}
    if not shared:
        raise RequestError("The releases have no column in common: "
                           + "; ".join(f"{one.name} has {listed(one.table.columns, 6)}" for one in opened)
                           + ". What they say of a person cannot be compared.",
                           "Give releases that share their sensitive column.")
    named = [one.named("sensitive") for one in recipes if one]
    common = [name for name in (named[0] if named else ()) if all(name in other for other in named)]
    if said is None and len(common) != 1:
        raise RequestError("Which sensitive column is attacked is not clear: "
                           + (f"the releases share {listed(common, 6)}." if common else
                              "their recipes share none." if named else "no recipe names one."),
                           "Name it: --sensitive COLUMN (sensitive=…).")
    column = said if said is not None else common[0]
    for one in opened:
        table.require_columns(one, (column,))
    return column


def quasi_named(recipes: Sequence[Recipe | None], people: table.Source) -> tuple[str, ...]:
    """The quasi-identifiers that the recipes name and the table of people has."""
    named = dict.fromkeys(name for one in recipes if one for name in one.named("quasi"))
    return tuple(name for name in named if name in people.table.columns)


def known_columns(opened: Sequence[table.Source], people: table.Source, sensitive: str,
                  quasi: Sequence[str]) -> tuple[str, ...]:
    """What is known of people: the columns asked for, else all that some release has, too."""
    table.require_columns(people, quasi)
    own = quasi or [name for name in people.table.columns if name != BUCKET]
    names = tuple(name for name in own if name != sensitive
                  and any(name in one.table.columns for one in opened))
    if not names:
        raise RequestError(f"{people.name} has no column in common with the releases but what is attacked: "
                           f"it has {listed(people.table.columns, 10)}.",
                           "Give a table of people with quasi-identifiers as the releases name them.")
    return names


def groups_in(place: Place, opened: table.Source, recipe: Recipe | None) -> Groups | None:
    """The column groups of a sliced release; None for one of classes."""
    if BUCKET not in opened.table.columns:
        return None
    if groups := (place.manifest or {}).get("column_groups"):
        return groups  # type: ignore[no-any-return]
    if recipe is None:
        raise RequestError(f"{opened.name} has a column {BUCKET!r}, so it seems to be sliced, and no recipe "
                           "says how.", "Name the folder that a run wrote, or the recipe.")
    method = make(recipe.method)
    return judge.groups_of(place, recipe, method) if isinstance(method, Slicing) else None


def promised_l(recipe: Recipe | None, sensitive: str) -> float | None:
    """The l that a release promises for a column."""
    if recipe is None:
        return None
    own = getattr(make(recipe.method), "l", None)
    said = [one.l for one in recipe.criteria if isinstance(one, LDiversity) and one.column == sensitive]
    return float(own) if own is not None else max(map(float, said), default=None)
