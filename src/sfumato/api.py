"""The public functions: data frames, files or addresses in, answers out."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato import judge, pipeline, table
from sfumato.errors import DestinationError, RequestError
from sfumato.measure.evidence import Evidence, Measure
from sfumato.pipeline import Result
from sfumato.recipe import Recipe
from sfumato.request import Names, Said, as_recipe, completed, listed, requested, specs, table_of
from sfumato.roles import Suggestion
from sfumato.search import Watch
from sfumato.verify import Verdict

if TYPE_CHECKING:
    from sfumato.attack.composition import Composition
    from sfumato.attack.intervals import Risk
    from sfumato.attack.linkage import Linkage
    from sfumato.recommend.advice import Advice
    from sfumato.recommend.balance import Balance
    from sfumato.slices.suggest import Absent

NOBODY: Mapping[str, Any] = {}  # in particular: the attacker as the documentation has it


def anonymize(source: Any = None, recipe: Said = None, *, out: str | os.PathLike[str] | None = None,
              format: str = "csv", report: bool | str = True, quasi: Names = (), sensitive: Names = (),
              identifying: Names = (), k: int | None = None, l: float | None = None,  # noqa: E741
              kind: str | None = None, c: float | None = None, t: float | None = None, missing: Names = (),
              suppression: float | None = None, suppressed: str | None = None,
              method: dict[str, Any] | None = None, research: dict[str, Any] | None = None,
              seed: int | None = None, seconds: float | None = None,
              interruptible: bool = False, watch: Watch | None = None, keep_steps: bool = False,
              **reading: Any) -> Result:
    """The release of a table that keeps the promise and the most of the picture.

    `recipe` is a file, a mapping or a Recipe; the other words say the same beside it or without it:
    `quasi={"age": {"interval": 5}, "sex": "suppress"}, sensitive=["income"], k=5`. Quasi-identifiers
    named without a hierarchy get a suggested one, and a warning says which. The search ends after `seconds`,
    or at Ctrl-C where it is `interruptible`, with the best found; `watch` is called with its progress.
    `keep_steps` keeps the table after each step of the method xk, for the publisher's eyes only.
    """
    asked = requested(recipe, quasi=quasi, sensitive=sensitive, identifying=identifying, k=k, l=l, kind=kind,
                      c=c, t=t, missing=missing, suppression=suppression, suppressed=suppressed,
                      method=method, research=research, seed=seed)
    with table.open_table(table_of(asked) if source is None else source, **reading) as opened:
        if recipe is None:
            asked, notes = completed(opened, asked, quasi)
            if notes:
                warnings.warn("\n  ".join(["What was not said:", *notes]), stacklevel=2)
        return pipeline.anonymize(opened, asked, None if out is None else Path(out), format=format,
                                  report=report, seconds=seconds, interruptible=interruptible, watch=watch,
                                  keep_steps=keep_steps)


def check(release: Any, recipe: Said = None, *, quasi: Names = (), sensitive: Names = (),
          identifying: Names = (), k: int | None = None, l: float | None = None,  # noqa: E741
          kind: str | None = None, c: float | None = None, t: float | None = None, missing: Names = (),
          **reading: Any) -> Verdict:
    """Whether a release keeps a promise; the folder that a run wrote brings its own recipe."""
    place = judge.locate(release)
    asked = requested(_given(recipe, place, quasi), quasi=quasi, sensitive=sensitive, identifying=identifying,
                      k=k, l=l, kind=kind, c=c, t=t, missing=missing)
    return judge.check(place, asked, **reading)


def measure(source: Any, recipe: Said = None, *, original: Any = None, quasi: Names = (),
            sensitive: Names = (), missing: Names = (), attacker: Mapping[str, Any] = NOBODY,
            research: dict[str, Any] | None = None, earlier: Any = None, earlier_original: Any = None,
            **reading: Any) -> Evidence:
    """The risk in a table or release; with the original beside a release, also what it lost.

    With an `earlier` release of the same table, or of the `earlier_original` that has grown since, also
    what both tell together; a release that mixes levels is then measured as it stands.
    `attacker` says what the attacks on sensitive columns suppose, for example `{"ruled_out": 2}`.
    `research={"target": "income", "predictors": ["age", "job"]}` asks what became of the patterns that
    explain the target.
    """
    if original is not None:
        try:
            return compare(source, original, recipe, quasi=quasi, sensitive=sensitive, missing=missing,
                           attacker=attacker, research=research, earlier=earlier,
                           earlier_original=earlier_original, **reading).evidence
        except judge.NotRebuilt:
            if earlier is None:
                raise
        asked = _measured(recipe, judge.locate(source), quasi, sensitive, missing)
        found = judge.measure(judge.locate(source).release, asked, attacker, **reading)
        together = _together(source, original, asked, earlier, earlier_original, reading)
        return replace(found, attacks=(*found.attacks, *together))
    if earlier is not None or earlier_original is not None:
        raise RequestError("Two releases are joined by the people of their table, and no table is named.",
                           "Name it: original= (--original TABLE).")
    if research is not None:
        raise RequestError("Patterns are compared between a release and its table, and no table is named.",
                           "Name it: original= (--original TABLE).")
    place = judge.locate(source)
    return judge.measure(place.release, _measured(recipe, place, quasi, sensitive, missing), attacker,
                         **reading)


def compare(release: Any, original: Any, recipe: Said = None, *, quasi: Names = (), sensitive: Names = (),
            missing: Names = (), attacker: Mapping[str, Any] = NOBODY,
            research: dict[str, Any] | None = None, earlier: Any = None, earlier_original: Any = None,
            **reading: Any) -> judge.Comparison:
    """A release beside its private table: the recoding found again, the verdict and all the evidence."""
    if earlier is None and earlier_original is not None:
        raise RequestError("An earlier table is named, but no earlier release.",
                           "Name it: earlier= (--earlier RELEASE).")
    place = judge.locate(release)
    asked = _measured(recipe, place, quasi, sensitive, missing, research)
    found = judge.compare(place, original, asked, attacker, reading)
    return found.with_attacks(_together(release, original, asked, earlier, earlier_original, reading))


def _together(release: Any, original: Any, asked: Recipe, earlier: Any, earlier_original: Any,
              reading: dict[str, Any]) -> list[Measure]:
    """The attacks that lay a release beside its table, or beside an earlier release."""
    from sfumato.attack.joined import joined
    from sfumato.attack.order import order

    found = [order(judge.locate(release).release, original, asked, reading)]
    if earlier is not None:
        found += joined(release, earlier, original, earlier_original, asked, reading)
    return found


def _measured(recipe: Said, place: judge.Place, quasi: Names, sensitive: Names, missing: Names,
              research: dict[str, Any] | None = None) -> Recipe:
    """The recipe to measure by; a promise is not needed, so the weakest stands for it."""
    said = _given(recipe, place, quasi)
    return requested(said, quasi=quasi, sensitive=sensitive, missing=missing, k=2 if said is None else None,
                     research=research)


def _given(recipe: Said, place: judge.Place, quasi: Names) -> Said:
    """The recipe named, else the one beside the release."""
    return recipe if recipe is not None or quasi else place.recipe


def balance(source: Any = None, recipe: Said = None, *, k: Iterable[int] = range(2, 51),
            utility: str | None = None, privacy: str = "cells_suppressed", samples: int = 20,
            size: int | None = None, method: dict[str, Any] | None = None, seed: int | None = None,
            jobs: int | None = None, quasi: Names = (), sensitive: Names = (), missing: Names = (),
            suppression: float | None = None, watch: Watch | None = None, **reading: Any) -> Balance:
    """Where utility and privacy balance as k grows, over random samples of a table.

    `utility` and `privacy` are measures by name (`stump.COLUMN`: a decision stump's accuracy on a column; the
    first sensitive column's unless said). Each of the `samples` has `size` records, half of the table's
    unless said; `jobs` processes share the runs.
    """
    from sfumato.measure.collect import attacker_of
    from sfumato.prepare import prepare
    from sfumato.recommend import balance as balancing

    ks = tuple(sorted(set(k)))
    if len(ks) < 2 or ks[0] < 2 or samples < 1 or (jobs is not None and jobs < 1):
        raise RequestError("A balance needs at least two different k from 2 on, a sample and a job; given "
                           f"are {len(ks)} k, {samples} samples, {jobs} jobs.",
                           "Say, for example, k 2 to 50.")
    asked = requested(recipe, quasi=quasi, sensitive=sensitive, missing=missing, suppression=suppression,
                      method=method, seed=seed, k=ks[0] if recipe is None else None)
    with table.open_table(table_of(asked) if source is None else source, **reading) as opened:
        if recipe is None:
            asked, notes = completed(opened, asked, quasi)
            if notes:
                warnings.warn("\n  ".join(["What was not said:", *notes]), stacklevel=2)
        prepared, name = prepare(opened.table, asked), opened.name
    records = prepared.frequency.n_records
    drawn = size if size is not None else max(records // 2, 1)
    if not 1 <= drawn <= records:
        raise RequestError(f"A sample of {drawn:,} records cannot be drawn from a table of {records:,}.",
                           f"Say a size from 1 to {records:,}.")
    job = balancing.Job(
        prepared.frequency, prepared.criteria, prepared.weights, asked.suppression, dict(asked.method), ks,
        drawn, samples, utility or default_utility(asked), privacy,
        asked.seed if asked.seed is not None else secrets.randbits(31),
        attacker_of(asked, prepared.frequency), name)
    return balancing.run(job, jobs=jobs or cores(), watch=watch)


def recommend(source: Any, *, quasi: Names = (), sensitive: Names = (),
              diversity: int | Mapping[str, int] | None = None, k: int = 5, prefer: str | None = None,
              min_precision: float | None = None, sensitive_suppression: bool = False,
              identifying: Names = (), missing: Names = (), name: str | None = None,
              **reading: Any) -> Advice:
    """The best xk-anonymity approach to a table (Brown 2019), before anything is changed.

    `diversity` is how many different values of a sensitive column every pair must have: one number for all
    of them, or a number each. `prefer` is `"precision"` or `"original"`; `min_precision` is in percent. The
    answer has all approaches, best first, why the first won, what it keeps and loses, and the recipe.
    """
    from sfumato.recommend.advice import advise

    columns = listed(sensitive)
    asked = dict(diversity) if isinstance(diversity, Mapping) else dict.fromkeys(columns, diversity)
    if diversity is not None and not columns:
        raise RequestError("A diversity is asked, and no sensitive column is named.", "Name one: sensitive.")
    with table.open_table(source, **reading) as opened:
        wanted = specs(quasi)
        table.require_columns(opened, (*wanted, *columns, *listed(identifying)))
        return advise(opened.table, name=name, quasi=wanted, sensitive=columns,
                      diversity={column: d for column, d in asked.items() if d is not None},
                      identifying=listed(identifying), k=k, prefer=prefer,  # type: ignore[arg-type]
                      min_precision=min_precision, sensitive_suppression=sensitive_suppression,
                      missing=listed(missing))


def cores() -> int:
    """The cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def default_utility(recipe: Recipe) -> str:
    """A stump's accuracy on the first sensitive column; without one, what the labels show."""
    sensitive = recipe.named("sensitive")
    return f"stump.{sensitive[0]}" if sensitive else "mean_ncp"


def value(source: Any = None, recipe: Said = None, *, quasi: Names = (), missing: Names = (),
          **reading: Any) -> list[dict[str, Any]]:
    """What every level of every quasi-identifier is worth to research, and which rules it breaks."""
    from sfumato.prepare import prepare
    from sfumato.research.applied import priced, told

    said = requested(recipe, quasi=quasi, missing=missing, k=2 if recipe is None else None)
    with table.open_table(table_of(said) if source is None else source, **reading) as opened:
        if recipe is None:
            said, _ = completed(opened, said, quasi)
        prepared = prepare(opened.table, said)
    prices = prepared.prices or priced(None, prepared.frequency, prepared.weights)
    return told(prices, prepared.frequency, prepared.weights)


def rules(source: Any = None, recipe: Said = None, *, least: float = 5.0, quasi: Names = (),
          missing: Names = (), **reading: Any) -> list[Absent]:
    """Pairs of quasi-identifiers' values that no record has though `least` or more should: what the recipe of
    the method ul may forbid as `rules`, the most surprising first."""
    from sfumato.prepare import prepare
    from sfumato.slices.suggest import never_together

    said = requested(recipe, quasi=quasi, missing=missing, k=2 if recipe is None else None)
    with table.open_table(table_of(said) if source is None else source, **reading) as opened:
        return never_together(prepare(opened.table, said).frequency, least)


def attack(releases: Any, *, known: Any, recipe: Said = None, quasi: Names = (), sensitive: str | None = None,
           l: float | None = None, missing: Names = (), **reading: Any) -> Composition:  # noqa: E741
    """What releases tell together of people whose quasi-identifiers are known (composition attack).

    A release is a file, a frame, a run's result or the folder that it wrote; one or a list of them.
    """
    from sfumato.attack.run import composition

    several = list(releases) if isinstance(releases, list | tuple) else [releases]
    return composition(several, known, recipe=None if recipe is None else as_recipe(recipe),
                       quasi=listed(quasi), sensitive=sensitive, l=l, missing=listed(missing),
                       reading=reading)


def risks(release: Any, *, known: Any, control: Any, recipe: Said = None, quasi: Names = (),
          sensitive: str | None = None, missing: Names = (), half: Names = (), trials: int = 500,
          draws: int = 10, seed: int = 0, **reading: Any) -> tuple[Risk, ...]:
    """Singling out, linkability and inference of a release's people, beyond what attacks win of the control.

    `known` are people of the release with their sensitive values, `control` people of the same population
    who are not in it; `half` are the columns that one of the two parties of linkability knows.
    """
    from sfumato.attack.risks import Settings
    from sfumato.attack.run import empirical

    if trials < 1 or draws < 1:
        raise RequestError(f"{trials} trials in {draws} draws are none.", "Ask for one of each at least.")
    return empirical(release, known, control, recipe=None if recipe is None else as_recipe(recipe),
                     quasi=listed(quasi), sensitive=sensitive, missing=listed(missing),
                     settings=Settings(trials, draws, half=listed(half)), seed=seed, reading=reading)


def link(release: Any, *, known: Any, identity: str, recipe: Said = None, quasi: Names = (),
         missing: Names = (), seed: int = 0, **reading: Any) -> Linkage:
    """Released records linked to people by Splink, and how many to the right one (sfumato[linkage]).

    `identity` is a plain column of the release that says whose record it is, which the table of people has,
    too: it scores the links, and nothing else.
    """
    from sfumato.attack.run import linkage

    return linkage(release, known, identity, recipe=None if recipe is None else as_recipe(recipe),
                   quasi=listed(quasi), missing=listed(missing), seed=seed, reading=reading)


def suggest(source: Any, *, missing: Names = (), **reading: Any) -> list[Suggestion]:
    """A role for every column, with its reason and what a person has to decide."""
    return _looked_at(source, missing, reading)[0]


def init(source: Any, out: str | os.PathLike[str] | None = None, *, missing: Names = (), force: bool = False,
         **reading: Any) -> str:
    """A commented recipe suggested for a table; written to a file where one is named."""
    return draft(source, None if out is None else Path(out), missing, force, reading)[1]


def draft(source: Any, out: Path | None, missing: Names, force: bool,
          reading: dict[str, Any]) -> tuple[list[Suggestion], str]:
    """The suggestions, and the recipe that holds them, written whole or not at all."""
    from sfumato.roles import write_recipe
    from sfumato.table.staging import whole_file

    if out is not None and out.exists() and not force:
        raise DestinationError(f"{out} exists already.",
                               "Choose another name, or overwrite it with --force (force=True).")
    suggestions, profile = _looked_at(source, missing, reading)
    text = write_recipe(suggestions, profile, _name(source, out))
    if out is not None:
        with whole_file(out) as path:
            path.write_text(text, encoding="utf-8")
    return suggestions, text


def _looked_at(source: Any, missing: Names, reading: dict[str, Any]) -> tuple[list[Suggestion], Any]:
    from sfumato.profile import profile
    from sfumato.roles import suggest as suggested

    with table.open_table(source, **reading) as opened:
        seen = profile(opened.table, listed(missing))
        return suggested(seen), seen


def _name(source: Any, out: Path | None) -> str:
    """How the recipe names the table: from its own folder, an address without its password."""
    from sfumato.table.databases import harmless, is_url

    if not isinstance(source, str | os.PathLike):
        return "TABLE"
    if is_url(str(source)):
        return harmless(str(source))
    folder = Path() if out is None else out.parent
    return Path(os.path.relpath(source, folder)).as_posix()
