"""The one way down: table → prepare → method → release → verdict → evidence → report.

This is the page to read first. Each stage takes what stands before it and nothing else.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import manifest, table
from sfumato.errors import RequestError, UnprovenError
from sfumato.kinds import Kind, kind_of
from sfumato.methods.base import Problem
from sfumato.methods.registry import METHODS, make
from sfumato.prepare import prepare
from sfumato.recipe import Recipe
from sfumato.search import Clock, Watch
from sfumato.stages import Stages
from sfumato.verify import Verdict

PRIVATE = "private"  # the folder beside a release that must not be handed on


@dataclass(frozen=True)
class Result:
    """A proven release: where it is or the frame itself, its manifest, evidence and report."""

    release: Any = field(repr=False)  # a frame of the kind that came in, or the path of the written file
    verdict: Verdict
    manifest: dict[str, Any] = field(repr=False)
    summary: dict[str, Any] | None = field(repr=False)
    private: dict[str, Any] = field(default_factory=dict, repr=False)  # never to be handed on: false records

    @property
    def report(self) -> str:
        """The report as one HTML page."""
        from sfumato.report import render

        return render.html(self._summarized)

    @property
    def _summarized(self) -> dict[str, Any]:
        if self.summary is None:
            raise ValueError("This run made no report. Run again with report=True.")
        return self.summary

    def __str__(self) -> str:
        if groups := self.manifest.get("column_groups"):
            return f"{self.verdict}\n  groups: {' | '.join(', '.join(group) for group in groups)}"
        levels = ", ".join(f"{name} {level}" for name, level in (self.manifest["levels"] or {}).items())
        return f"{self.verdict}\n  levels: {levels or 'several a column'}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from sfumato.report import render

        return render.notebook(self._summarized)


@dataclass(frozen=True)
class Target:
    """A table of a database into which the proven release is written too."""

    database: str  # a file or an address
    name: str
    replace: bool = False


def anonymize(source: object, recipe: Recipe, out: Path | None = None, *, format: str = "csv",
              target: Target | None = None, report: bool | str = True, watch: Watch | None = None,
              interruptible: bool = False, seconds: float | None = None, stages: Stages | None = None,
              keep_steps: bool = False, **reading: Any) -> Result:
    """From a private table to a proven release; `report` may name its form: html, md or json."""
    stages = stages or Stages()
    if out is not None:
        table.require_writable(out)
    if keep_steps and not METHODS[recipe.method["name"]].adds:
        raise RequestError(f"The method {recipe.method['name']} has no steps to keep.",
                           "Leave --keep-steps out (keep_steps=False), or choose the method xk.")
    seed = recipe.seed if recipe.seed is not None else secrets.randbits(31)
    with stages("read"):
        opened = table.open_table(source, **reading)  # ibis.Table: rows stay where they are
    with opened:
        with stages("prepare"):
            prepared = prepare(opened.table, recipe)  # FrequencySet: tuples × counts × histograms
        with stages("search"):
            problem = Problem(prepared.frequency, prepared.criteria, recipe.suppression, prepared.weights,
                              Clock(seconds, interruptible), watch, keep_steps)
            method = make(recipe.method)
            chance = method.kind in ("slices", "drawn")  # is part of the promise: nobody may repeat it
            rng = prepared.frequency.secret(seed) if chance else np.random.default_rng(seed)
            recoding = method.solve(problem, rng)  # tuple → class → labels, or buckets
        kind = kind_of(prepared, recoding)  # how such a recoding is written, proven and measured
        released = kind.released(seed)  # ibis.Table: joins, not yet run
        if out is None:
            return _to_frame(opened, kind, released, seed, report, stages)
        engine: dict[str, Any] = {name: reading.get(name) for name in ("memory_limit", "threads")}
        return _to_folder(opened, kind, released, seed, report, stages, out, format, target, engine)


def _to_frame(opened: table.Source, kind: Kind, released: Any, seed: int, report: bool | str,
              stages: Stages) -> Result:
    """Release a frame of the kind that came in; the frame itself is what is verified."""
    with stages("write"):
        frame = table.frame_like(opened, released)
        private = {name: table.frame_like(opened, one) for name, one in kind.private(seed).items()}
    with stages("verify"), table.open_table(frame) as again, ExitStack() as closing:
        added = private.get("added")
        false = None if added is None else closing.enter_context(table.open_table(added)).table
        verdict = prove(again.table, kind, false)
    facts, summary = _account(opened, kind, verdict, seed, report, stages, None)
    return Result(frame, verdict, facts, summary, private)


def _to_folder(opened: table.Source, kind: Kind, released: Any, seed: int, report: bool | str,
               stages: Stages, out: Path, format: str, target: Target | None,
               engine: dict[str, Any]) -> Result:
    """Write release, manifest and report whole: all of them appear, or nothing does."""
    with table.staged(out) as folder:
        path = folder / f"release.{'xlsx' if format == 'excel' else format}"
        with stages("write"):
            dialect = opened.dialect if opened.dialect and format == "csv" else table.Dialect()
            table.write_table(released, path, format, delimiter=dialect.delimiter)  # type: ignore[arg-type]
            private = _aside(kind.private(seed), seed, folder, path, format, dialect.delimiter)
        how = {**manifest.reading(format, dialect), **engine}
        with stages("verify"), table.open_table(path, **how) as again, ExitStack() as closing:
            added = private.get("added")
            false = None if added is None else closing.enter_context(table.open_table(added, **how)).table
            verdict = prove(again.table, kind, false)
        facts, summary = _account(opened, kind, verdict, seed, report, stages, path)
        if summary is not None:
            from sfumato.report import render

            with stages("report"):
                name = f"report.{'html' if report is True else report}"
                (folder / name).write_text(render.in_form_of(name, summary), encoding="utf-8")
        manifest.write(facts, folder / "manifest.json")
        if target is not None:
            table.write_to_database(target.database, target.name, released, replace=target.replace)
            try:
                with table.open_table(target.database, table=target.name) as again:
                    prove(again.table, kind, kind.private(seed).get("added"))
            except UnprovenError:
                table.withdraw(target.database, target.name)
                raise
    private = {name: out / one.relative_to(folder) for name, one in private.items()}
    return Result(out / path.name, verdict, facts, summary, private)


def _aside(tables: dict[str, Any], seed: int, folder: Path, release: Path, format: str,
           delimiter: str) -> dict[str, Path]:
    """Write what only the publisher may see into a folder that nobody else can enter."""
    written = {name: folder / PRIVATE / f"{name}{release.suffix}" for name in tables}
    for name, one in tables.items():
        written[name].parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        table.write_table(one, written[name], format, delimiter=delimiter)  # type: ignore[arg-type]
    if written:
        (folder / PRIVATE / "seed.txt").write_text(f"{seed}\n", encoding="utf-8")
    return written


def prove(release: Any, kind: Kind, false: Any = None) -> Verdict:
    """The verdict; a release that fails it, or is not the one that was found, is not released."""
    verdict = kind.verdict(release, false)
    wrong = [f"{f.name} ({f.promise})" for f in verdict.findings if not f.holds]
    wrong += kind.differences(release, verdict)
    if tuple(release.columns) != kind.columns:
        wrong.append("other columns than were to be released")
    if wrong:
        raise UnprovenError(f"The release failed its own verdict: {', '.join(wrong)}. It was withdrawn.",
                            "This is a fault of sfumato: please report it with the recipe.")
    return verdict


def _account(opened: table.Source, kind: Kind, verdict: Verdict, seed: int, report: bool | str,
             stages: Stages, path: Path | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Measure what was released; the manifest, and the report's summary where one is wanted."""
    from sfumato.measure.collect import as_dict

    with stages("measure"):
        evidence = kind.evidence(np.random.default_rng(seed))
        facts = manifest.build(opened, kind.prepared, kind.recoding, verdict, as_dict(evidence), seed, stages,
                               path, evidence.patterns)
    if not report:
        return facts, None
    from sfumato.report.summary import summarize

    with stages("report"):
        return facts, summarize(facts, evidence, kind.examples())
