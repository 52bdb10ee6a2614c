"""What can be counted again of a drawn release, and what cannot. Shares no code with the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sfumato.criteria.base import TOLERANCE, Criterion, Finding
from sfumato.verify import Fetch, Verdict, counted_rows, in_words, verify

Told = Mapping[str, Any]  # what the manifest says under `drawn`


def verify_drawn(release: Any, quasi: Sequence[str], sensitive: str, criteria: Sequence[Criterion],
                 values: Sequence[str] | None, told: Told, missing: Sequence[str], fetch: Fetch,
                 epsilon: float | None = None) -> Verdict:
    """Judge the criteria over all rows, and compare the release with what was said of it.

    `values` is the sensitive column's domain, and `epsilon` the most that may be spent, where the recipe
    names them.
    """
    verdict = verify(release, quasi, (sensitive,), criteria, missing, fetch)
    findings = [*verdict.findings, _records(verdict, told)]
    if "budget" in told:
        findings.append(_budget("budget", told["budget"]["spent"], told["budget"]["epsilon"], epsilon))
    elif "noise" in told:
        findings.append(_budget("noise", [told["noise"]], told["noise"]["epsilon"], epsilon))
    if "cut" in told:
        findings.append(_domain(release, {**told["cut"], sensitive: values or ()}, missing, fetch))
    return replace(verdict, findings=tuple(findings), holds=all(one.holds for one in findings),
                   notes=(*verdict.notes, *unseen(told)))


def _records(verdict: Verdict, told: Told) -> Finding:
    wanted, found = int(told["records"]), verdict.records
    return Finding("rows", f"{wanted:,} as drawn", found == wanted, float(found), float(wanted),
                   int(found != wanted), -float(abs(found - wanted)))


def _budget(name: str, ledger: Sequence[Mapping[str, Any]], said: float, asked: float | None) -> Finding:
    """What the ledger adds up to: no more than was said, nor than the recipe asks for."""
    spent = sum(float(one["epsilon"]) for one in ledger)
    most = float(said if asked is None else min(said, asked))
    return Finding(name, f"ε = {most:g}", spent <= most + TOLERANCE, spent, most,
                   int(spent > most + TOLERANCE), most - spent)


def _domain(release: Any, known: Mapping[str, Sequence[str | None]], missing: Sequence[str],
            fetch: Fetch) -> Finding:
    """Rows with a cell outside the published partition."""
    names = list(known)
    columns, counts = counted_rows(release, names, missing, fetch)
    inside = [{None if label is None else str(label) for label in known[name]} for name in names]
    strange = sum(int(count) for row, count in zip(zip(*columns, strict=True), counts, strict=True)
                  if any((None if value is None else in_words(value)) not in labels
                         for value, labels in zip(row, inside, strict=True)))
    return Finding("partition", "only published nodes and values", not strange, float(strange), 0.0, strange,
                   -float(strange))


def unseen(told: Told) -> tuple[str, ...]:
    """What no recount can see."""
    said = []
    if float(told["rate"]) < 1:
        said.append("Not to be seen in the file: that each record was drawn with probability "
                    f"{told['rate']:g}, by itself.")
    if noise := told.get("noise"):
        said.append(f"Not to be seen in the file: {noise['kind']} noise of scale {noise['scale']:.4g} on "
                    f"{noise['on']}.")
    return tuple(said)
