"""A table or release that stands somewhere, judged: is the promise kept, how large is the risk."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import table
from sfumato.classes import Ints
from sfumato.criteria.base import Criterion, Finding
from sfumato.errors import RequestError, TableError
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import ROOT, Hierarchy, Label
from sfumato.measure.evidence import Evidence, Measure
from sfumato.methods.drawing import Drawing
from sfumato.methods.registry import make
from sfumato.methods.sliced import Slicing
from sfumato.pipeline import PRIVATE, Result
from sfumato.prepare import Prepared, bind, count, encode, histogram, prepare
from sfumato.recipe import Column, Recipe
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.slices.base import BUCKET
from sfumato.table.databases import is_url
from sfumato.verify import Verdict, verify
from sfumato.verify_drawn import verify_drawn
from sfumato.verify_slices import verify_slices

MANIFEST = "manifest.json"
SLICED = RequestError("The rows of a sliced release are nobody's, so they cannot be measured like records.",
                      "What it says of people and what it lost was measured when it was made: see the "
                      "report, or manifest.json. To attack it: sfumato attack.")

DRAWN = RequestError("The rows of a drawn release are counts, sampled or noisy, so its records cannot be "
                     "found in the original.", "What it says of people and what it lost was measured when "
                     "it was made: see the report, or manifest.json. Without the original its rows can be "
                     "measured.")


class NotRebuilt(RequestError):
    """How a release was made cannot be found again from its labels."""


@dataclass(frozen=True)
class Place:
    """A release, and the manifest beside it where there is one."""

    release: Any
    manifest: dict[str, Any] | None = None

    @property
    def recipe(self) -> Recipe | None:
        """The recipe that the manifest holds."""
        if self.manifest is None or not isinstance(self.manifest.get("recipe"), str):
            return None
        folder = Path(self.release).parent if isinstance(self.release, str | os.PathLike) else Path()
        return Recipe.parse(self.manifest["recipe"], source=MANIFEST, folder=folder)


def locate(release: Any) -> Place:
    """A release's file, frame or address; a folder stands for the release that was written into it.

    A run's result stands for its release.
    """
    if isinstance(release, Result):
        return Place(release.release, release.manifest)
    if not isinstance(release, str | os.PathLike):
        return Place(release)
    path = Path(release)
    if not is_url(str(release)) and not path.exists():
        table.open_table(path)  # says so, and what stands nearby
    if path.is_dir():
        manifest = _manifest(path / MANIFEST)
        found = sorted(one for one in path.glob("release.*") if one.is_file())
        if len(found) > 1:
            found = [one for one in found if table.sha256(one) == _hash(manifest)] or found
        if len(found) != 1:
            names = ", ".join(one.name for one in found) or "none"
            raise RequestError(f"The folder {path} should hold one release; it holds: {names}.",
                               "Name the release's file.")
        return Place(found[0], manifest)
    return Place(release, _manifest(path.parent / MANIFEST) if path.stem == "release" else None)


def _manifest(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RequestError(f"{path} is not a manifest that can be read.",
                           "Fetch it again, or name the recipe.") from None
    return read if isinstance(read, dict) else None


def _hash(manifest: dict[str, Any] | None) -> str | None:
    """The hash of the release that a manifest describes."""
    return ((manifest or {}).get("sha256") or {}).get("release")


def check(place: Place, recipe: Recipe, **reading: Any) -> Verdict:
    """Recount a release and judge it; columns that identify must be gone."""
    with table.open_table(place.release, **reading) as opened:
        quasi, sensitive = recipe.named("quasi"), recipe.named("sensitive")
        table.require_columns(opened, (*quasi, *sensitive))
        if not table.fetch(opened.table.aggregate(n=opened.table.count())).column("n")[0].as_py():
            raise TableError(f"{opened.name} has no records, so nothing can be judged.",
                             "Give a release with records.")
        verdict = recount(place, opened, recipe, **reading)
        left = [name for name in recipe.named("identifying") if name in opened.table.columns]
        return with_columns(verdict, recipe, left, notes(place, opened, verdict, recipe))


def recount(place: Place, opened: table.Source, recipe: Recipe, **reading: Any) -> Verdict:
    """The verdict on a release of the kind that the recipe's method makes."""
    method = make(recipe.method)
    if isinstance(method, Slicing):
        return recount_slices(place, opened, recipe, method)
    if isinstance(method, Drawing):
        return recount_drawn(place, opened, recipe, method)
    with ExitStack() as closing:
        false = None
        if (aside := made_up(place)) is not None:
            how = {name: value for name, value in reading.items() if name != "table"}
            false = closing.enter_context(table.open_table(aside, **how)).table
        return verify(opened.table, recipe.named("quasi"), recipe.named("sensitive"),
                      bound(opened.table, recipe), recipe.missing, table.fetch, hides=method.hides,
                      false=false, real=method.real if false is not None or all_real(place) else None)


def all_real(place: Place) -> bool:
    """Whether the manifest beside a release says that none of its records is false."""
    return bool((place.manifest or {}).get("records", {}).get("added") == 0)


def made_up(place: Place) -> Path | None:
    """The file of false records in the private folder beside a release, where it is still there."""
    if not isinstance(place.release, str | os.PathLike):
        return None
    path = Path(place.release)
    aside = path.parent / PRIVATE / f"added{path.suffix}"
    return aside if (place.manifest or {}).get("records", {}).get("added") and aside.is_file() else None


def recount_slices(place: Place, opened: table.Source, recipe: Recipe, method: Slicing) -> Verdict:
    """The verdict on a sliced release, whose column groups its manifest names, or else its recipe."""
    facts, groups = place.manifest or {}, groups_of(place, recipe, method)
    table.require_columns(opened, (BUCKET,))
    rules = list(getattr(method, "rules", ()))
    same = rules == list((facts.get("method") or {}).get("rules", ()))
    return verify_slices(opened.table, groups, method.least, method.l, recipe.missing, table.fetch, rules,
                         facts.get("rules_broken", ()) if same else ())  # else of other rules


def groups_of(place: Place, recipe: Recipe, method: Slicing) -> Sequence[Sequence[str]]:
    """The column groups of a sliced release; the sensitive column stands last in the last."""
    known = method.column_groups(recipe.named("quasi"), recipe.named("sensitive"))
    groups = (place.manifest or {}).get("column_groups") or known
    if groups is None:
        raise RequestError("Which columns of this sliced release were kept together is not known.",
                           f"Check the folder that has its {MANIFEST}, or write the groups into the recipe's "
                           "method: groups: [[age, sex], [postcode, diagnosis]].")
    sensitive = recipe.named("sensitive")
    if groups[-1][-1] not in sensitive:
        raise RequestError(f"This release protects the column {groups[-1][-1]!r}, and the recipe's sensitive "
                           f"column is {', '.join(map(repr, sensitive))}.",
                           "Name the recipe by which it was made, or none.")
    return groups


def recount_drawn(place: Place, opened: table.Source, recipe: Recipe, method: Drawing) -> Verdict:
    """The verdict on a drawn release, of which its manifest says how it was drawn."""
    told = (place.manifest or {}).get("drawn")
    if not isinstance(told, dict):
        raise RequestError("How the rows of this release were drawn is not known.",
                           f"Check the folder that has its {MANIFEST}.")
    [sensitive] = recipe.named("sensitive")
    return verify_drawn(opened.table, recipe.named("quasi"), sensitive, method.kept(sensitive, told),
                        recipe.method.get("values"), told, recipe.missing, table.fetch,
                        getattr(method, "epsilon", None))


def bound(release: Any, recipe: Recipe) -> tuple[Criterion, ...]:
    """The criteria, knowing what they must of the sensitive values."""
    sensitive = recipe.named("sensitive")
    if not sensitive:
        return recipe.promised
    histograms = {}
    for name in sensitive:
        column, counts = counted_column(release, name, recipe.missing)
        histograms[name] = histogram(column, np.zeros(len(counts), dtype=np.int64), counts)
    return tuple(bind(criterion, histograms, recipe) for criterion in recipe.promised)


def counted_column(opened: Any, name: str, missing: Sequence[str]) -> tuple[Any, Ints]:
    """A column's distinct values, coded, and the records of each."""
    counted, counts = count(opened, (name,))
    return encode(counted.column(0), missing), counts


def counted_values(opened: Any, name: str, missing: Sequence[str]) -> tuple[tuple[Label, ...], list[int]]:
    """A column's distinct values in their natural order and the records of each."""
    column, counts = counted_column(opened, name, missing)
    records = np.bincount(column.codes, weights=counts, minlength=len(column.values))
    return column.values, records.astype(int).tolist()


def with_columns(verdict: Verdict, recipe: Recipe, left: Sequence[str], notes: tuple[str, ...]) -> Verdict:
    """The verdict with what the columns tell: none that identifies may be left."""
    if not recipe.named("identifying"):
        return replace(verdict, notes=(*verdict.notes, *notes))
    found = Finding("identifying columns", "none is released", not left, float(len(left)), 0.0, 0,
                    -float(len(left)))
    said = tuple(f"The identifying column {name!r} is still there." for name in left)
    return replace(verdict, holds=verdict.holds and not left, findings=(*verdict.findings, found),
                   notes=(*verdict.notes, *said, *notes))


def notes(place: Place, opened: table.Source, verdict: Verdict, recipe: Recipe) -> tuple[str, ...]:
    """What does not break the promise but should be known."""
    said = []
    least = max((criterion.least for criterion in recipe.promised), default=1)
    if 0 < verdict.suppressed < least:
        said.append(f"Only {verdict.suppressed:,} suppressed records are kept as rows of {ROOT!r}: fewer "
                    f"than a class may have, they stand out as a group. To leave them out: suppressed: drop")
    added = (place.manifest or {}).get("records", {}).get("added")
    if added and not verdict.added:
        said.append(f"{added:,} of its records are false. How many of a class are real can be counted only "
                    f"with the file of false records, which stands in the folder {PRIVATE!r} of the run.")
    wanted = _hash(place.manifest)
    if wanted and opened.path and table.sha256(opened.path) != wanted:
        said.append("The file is not the one that the manifest beside it describes: its hash differs.")
    return tuple(said)


def measure(source: Any, recipe: Recipe, attacker: Mapping[str, Any], **reading: Any) -> Evidence:
    """The risk in a table or release as it stands; rows of `*` only are taken as suppressed."""
    from sfumato.measure.collect import attacker_of, collect
    from sfumato.measure.released import see
    from sfumato.measure.risk.disclosure import attacks

    columns = {name: Column(role="quasi") for name in recipe.named("quasi")}
    bare = recipe.model_copy(update={"columns": columns, "criteria": (), "research": None})
    with table.open_table(source, **reading) as opened:
        if isinstance(make(recipe.method), Slicing) and BUCKET in opened.table.columns:
            raise SLICED
        columns |= {name: recipe.columns[name] for name in recipe.named("sensitive")
                    if name in opened.table.columns}
        frequency = prepare(opened.table, bare.model_copy(update={"columns": columns})).frequency
    whole = Regrouping(np.arange(frequency.n_tuples), np.zeros_like(frequency.codes), frequency.codes)
    found = attacks(frequency, frequency, see(frequency, whole),
                    replace(attacker_of(recipe, frequency), **attacker))
    kept, suppressed = without_stars(frequency)
    as_it_is = Regrouping(np.arange(kept.n_tuples), np.zeros_like(kept.codes), kept.codes)
    evidence = collect(kept, as_it_is, costs={}, least=least_of(recipe),
                       rng=np.random.default_rng(recipe.seed or 0))
    risk = replace(evidence.risk_after, suppressed=suppressed)
    return replace(evidence, risk_before=risk, risk_after=risk, utility=(), correlations=None,
                   attacks=found)


def without_stars(frequency: FrequencySet) -> tuple[FrequencySet, int]:
    """The frequency set without rows of `*` only, unless there is nothing else; how many records go."""
    starred = np.ones(frequency.n_tuples, dtype=bool)
    for codes, hierarchy in zip(frequency.codes.T, frequency.hierarchies, strict=True):
        starred &= codes == hierarchy.code_of.get(ROOT, -1)
    if starred.all():
        starred[:] = False
    kept = FrequencySet(frequency.hierarchies, frequency.codes[~starred], frequency.counts[~starred],
                        worth=frequency.worth)
    return kept, int(frequency.counts[starred].sum())


def least_of(recipe: Recipe) -> int:
    """No value that fewer records have is shown."""
    return max([5, *(int(criterion.least) for criterion in recipe.promised)])


@dataclass(frozen=True)
class Comparison:
    """A release seen beside its private table."""

    prepared: Prepared
    recoding: Regrouping
    verdict: Verdict
    evidence: Evidence
    manifest: dict[str, Any]

    def with_attacks(self, found: Sequence[Measure]) -> Comparison:
        """The same with more attacks tried."""
        evidence = replace(self.evidence, attacks=(*self.evidence.attacks, *found))
        measures = {**self.manifest["measures"], **{one.name: one.value for one in found}}
        return replace(self, evidence=evidence, manifest={**self.manifest, "measures": measures})


def compare(place: Place, original: Any, recipe: Recipe, attacker: Mapping[str, Any],
            reading: dict[str, Any]) -> Comparison:
    """All the evidence about a full-domain release, from both tables, which are written alike."""
    from sfumato import manifest
    from sfumato.costs.measured import measure_all
    from sfumato.measure.collect import as_dict, attacker_of, collect
    from sfumato.stages import Stages

    unfit(recipe)
    verdict = check(place, recipe, **reading)
    seed = recipe.seed or 0
    with table.open_table(original, **reading) as private:
        prepared = prepare(private.table, recipe)
        frequency = prepared.frequency
        with table.open_table(place.release, **reading) as opened:
            recoding = rebuilt(opened.table, frequency, recipe)
            path = opened.path
        costs = measure_all(frequency, recoding, prepared.weights)
        evidence = collect(frequency, recoding, costs=costs, least=least_of(recipe),
                           rng=np.random.default_rng(seed), research=recipe.research,
                           attacker=replace(attacker_of(recipe, frequency), **attacker))
        facts = manifest.build(private, prepared, recoding, verdict, as_dict(evidence), seed, Stages(), path,
                               evidence.patterns)
    return Comparison(prepared, recoding, verdict, evidence, facts)


def unfit(recipe: Recipe) -> None:
    """Refuse releases whose rows are nobody's."""
    method = make(recipe.method)
    if isinstance(method, Slicing | Drawing):
        raise SLICED if isinstance(method, Slicing) else DRAWN


def rebuilt(release: Any, frequency: FrequencySet, recipe: Recipe) -> Regrouping:
    """The recoding that made a full-domain release, found from its labels.

    Each column stands at the finest level that has all of its labels for enough records; a private
    tuple whose labels the release has belongs to that class, any other is suppressed.
    """
    labels, counts = label_rows(release, frequency.quasi, recipe.missing)
    starred = tuple([ROOT] * frequency.n_quasi)
    kept = [n for n, row in enumerate(labels) if row != starred] or list(range(len(labels)))
    rows, sizes = [labels[n] for n in kept], counts[kept]
    levels = np.array([level_of(frequency, j, [row[j] for row in rows], sizes)
                       for j in range(frequency.n_quasi)], dtype=np.int32)
    number = {row: n for n, row in enumerate(rows)}
    reached = zip(*(_texts(hierarchy, level, codes) for hierarchy, level, codes
                    in zip(frequency.hierarchies, levels, frequency.codes.T, strict=True)), strict=True)
    class_of = np.array([number.get(row, SUPPRESSED) for row in reached], dtype=np.int64)
    found = np.bincount(class_of[class_of >= 0], weights=frequency.counts[class_of >= 0], minlength=len(rows))
    differing = int((found.astype(np.int64) != sizes).sum())
    if differing:
        raise RequestError(f"In {differing:,} of {len(rows):,} classes the release has another number of "
                           "records than the original has under the same labels, so the loss cannot be "
                           "measured.", "Give the table and the recipe that this release was made from; to "
                           "measure only the risk, leave the original out.")
    nodes = np.array([[hierarchy.labels[level].index(label) for hierarchy, level, label
                       in zip(frequency.hierarchies, levels, row, strict=True)] for row in rows], np.int32)
    notes = {"levels": [int(level) for level in levels]}
    return Regrouping(class_of, np.tile(levels, (len(rows), 1)), nodes, notes)


def label_rows(release: Any, quasi: Sequence[str],
               missing: Sequence[str]) -> tuple[list[tuple[Label, ...]], Ints]:
    """The distinct label combinations of a release and the records of each."""
    counted, sizes = count(release, quasi)
    columns = [encode(column, missing) for column in counted.columns]
    merged: dict[tuple[Label, ...], int] = {}
    for n, size in enumerate(sizes):
        row = tuple(column.values[column.codes[n]] for column in columns)
        merged[row] = merged.get(row, 0) + int(size)
    return list(merged), np.array(list(merged.values()), dtype=np.int64)


def level_of(frequency: FrequencySet, j: int, released: Sequence[Label], sizes: Ints) -> int:
    """The finest level that has every released label, each with at least as many private records."""
    hierarchy = frequency.hierarchies[j]
    private = np.bincount(frequency.codes[:, j], weights=frequency.counts, minlength=hierarchy.n_values)
    asked: dict[Label, int] = {}
    for label, size in zip(released, sizes, strict=True):
        asked[label] = asked.get(label, 0) + int(size)
    for level, names in enumerate(hierarchy.labels):
        held = dict(zip(names, np.bincount(hierarchy.nodes[level], weights=private), strict=True))
        if all(held.get(label, -1) >= size for label, size in asked.items()):
            return int(level)
    known = {label for names in hierarchy.labels for label in names}
    strange = [label for label in asked if label not in known]
    why = (f"{len(strange):,} of its labels are not in its hierarchy, such as {strange[0]!r}" if strange else
           "no level of its hierarchy has all of its labels for so many records: it mixes levels, or comes "
           "from another table")
    raise NotRebuilt(f"The loss of column {hierarchy.column!r} cannot be measured: {why}.",
                     "Give the recipe that the release was made with; to measure only the risk, leave the "
                     "original out.")


def _texts(hierarchy: Hierarchy, level: int, codes: Any) -> list[Label]:
    names = hierarchy.labels[level]
    return [names[node] for node in hierarchy.nodes[level][codes]]
