"""The trees of a target, before and after, as the report draws them, and each rule's fate in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sfumato.measure.evidence import Fate, Patterns, Rule, Step
from sfumato.report.figures import label, listing, percent, rounded, several

Plain = dict[str, Any]
VERBS = (("survives", "survives", "survive"), ("moved", "has moved", "have moved"),
         ("lost", "is lost", "are lost"))
STATES = {"survives": "survives", "moved": "has moved", "lost": "is lost", "new": "only in the release"}


def patterns(found: Patterns | None) -> Plain | None:
    """Everything about the patterns of a target, if one is named."""
    if found is None:
        return None
    values = [label(value) for value in found.values]
    return {
        "target": label(found.target), "values": values,
        "sentence": sentence(asdict(found)),
        "before": [node(step, values) for step in found.before],
        "after": [node(step, values) for step in found.after],
        "fates": [fate(one) for one in found.fates],
        "definition": found.definition, "citation": found.citation,
    }


def sentence(found: Mapping[str, Any]) -> str:
    """What became of the rules, in a few sentences, from the evidence or the manifest's copy of it."""
    states = [one["state"] for one in found["fates"]]
    rules = len(states) - states.count("new")
    if not rules:
        return (f"Nothing in {listing(found['predictors'])} says enough about {label(found['target'])}: the "
                "private table's tree has no rule that could be lost.")
    told = [f"{n} {one if n == 1 else many}" for state, one, many in VERBS if (n := states.count(state))]
    said = (f"Of {several(rules, 'rule')} for {label(found['target'])} in the private table, "
            f"{listing(told)}.")
    if new := states.count("new"):
        said += f" The release shows {several(new, 'rule')} that the private table's tree does not."
    if found["untold"]:
        said += f" {several(found['untold'], 'released record')} no longer tell the target, and are left out."
    return said if found["rows"] == "records" else f"{said} The release's tree is grown on {found['rows']}."


def node(step: Step, values: Sequence[str]) -> Plain:
    """One node of a tree."""
    share = max(step.shares)
    return {"depth": step.depth, "test": label(step.test) if step.test else "", "leaf": step.leaf,
            "records": step.records, "records_text": f"{step.records:,}",
            "shares": [rounded(one) for one in step.shares], "share": rounded(share),
            "value": values[step.shares.index(share)]}


def fate(found: Fate) -> Plain:
    """One rule and what became of it."""
    truth = sure = ""
    if found.truth is not None:
        truth = f"in the private table {percent(found.truth[1])} of {found.truth[0]:,}"
    if found.certain is not None and found.possible is not None:
        surely, share = found.certain
        told = f"{percent(share)} of {surely:,} that surely meet it" if surely else "nobody surely meets it"
        sure = told if found.possible == surely else f"{told}; {found.possible:,} may"
    return {"state": found.state, "state_text": STATES[found.state],
            "common": rounded(found.common), "common_text": percent(found.common) if found.common else "",
            "before": rule(found.before), "after": rule(found.after), "truth_text": truth, "sure_text": sure,
            "truth": pair(found.truth), "certain": pair(found.certain), "possible": found.possible}


def rule(found: Rule | None) -> Plain | None:
    """One rule in words and numbers."""
    if found is None:
        return None
    return {"conditions": [label(one) for one in found.conditions], "value": label(found.value),
            "records": found.records, "share": rounded(found.share),
            "text": f"{percent(found.share)} of {found.records:,} have {label(found.value)}"}


def pair(found: tuple[int, float | None] | None) -> Mapping[str, Any] | None:
    """Records, and the share of them that has the rule's value."""
    return None if found is None else {"records": found[0], "share": rounded(found[1])}
