"""The manifest: what was done and what holds, with the hashes that reproduce it and nothing private."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sfumato import table
from sfumato.measure.evidence import Patterns
from sfumato.methods.base import Recoding
from sfumato.methods.registry import make
from sfumato.prepare import Prepared
from sfumato.research.applied import told
from sfumato.stages import Stages
from sfumato.verify import Verdict
from sfumato.version import __version__


def build(opened: table.Source, prepared: Prepared, recoding: Recoding, verdict: Verdict,
          measures: dict[str, float | None], seed: int, stages: Stages, path: Path | None,
          patterns: Patterns | None = None) -> dict[str, Any]:
    """Everything about a run that may be published."""
    frequency, notes = prepared.frequency, recoding.notes
    received, suppressed = frequency.n_records, recoding.suppressed(frequency)
    levels = dict(zip(frequency.quasi, notes["levels"], strict=True)) if "levels" in notes else None
    secret = getattr(recoding, "n_added", 0) > 0  # who knows the seed knows more of which records are false
    recipe = prepared.recipe.model_copy(update={"seed": None} if secret else {}).to_yaml()
    made = make(prepared.recipe.method)
    facts = {
        "sfumato": __version__,
        "table": opened.name,
        "method": dict(prepared.recipe.method),
        "levels": levels,
        "classes": recoding.n_classes,
        "records": {"received": received, "kept": received - suppressed, "suppressed": suppressed,
                    "added": getattr(recoding, "n_added", 0)},
        "suppressed_rows": prepared.recipe.suppressed,
        "cost": {"name": notes["cost"], "score": notes["score"]} if "cost" in notes else None,
        "search": notes.get("search"),
        "measures": measures,
        "verdict": verdict.as_dict(),
        "seed": None if secret else seed,
        "sha256": {"table": table.fingerprint(opened),
                   "recipe": hashlib.sha256(recipe.encode()).hexdigest(),
                   "release": table.sha256(path) if path else None},
        "columns": _columns(prepared, levels, notes.get("facts", {})),
        "recipe": recipe,
        **_priced(prepared),
        **({"style": made.ours} if made.ours else {}),
        **notes.get("facts", {}),
        "timings": {name: round(spent, 4) for name, spent in stages.seconds.items()},
    }
    if patterns is not None:
        facts["patterns"] = asdict(patterns)
    facts["story"] = story(facts)
    return facts


def _priced(prepared: Prepared) -> dict[str, Any]:
    """What each level is worth to research, where the recipe speaks of it."""
    if prepared.prices is None:
        return {}
    return {"research_values": told(prepared.prices, prepared.frequency, prepared.weights)}


def _columns(prepared: Prepared, levels: dict[str, int] | None,
             facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Each column's role, and a quasi-identifier's level of how many, its group, or its classes' centre."""
    roles = {name: column.role for name, column in prepared.recipe.columns.items()}
    described: dict[str, dict[str, Any]] = {name: {"role": roles.get(name, "plain")}
                                            for name in prepared.table.columns}
    for hierarchy, weight in zip(prepared.frequency.hierarchies, prepared.weights, strict=True):
        level = levels[hierarchy.column] if levels else None
        described[hierarchy.column] |= {"level": level, "levels": hierarchy.n_levels, "weight": float(weight)}
    if "drawn" in facts:
        for column in described.values():
            column |= {"left_out": True} if column["role"] == "plain" else {}
    if groups := facts.get("column_groups"):
        alone = [[name] for name, column in described.items() if column["role"] == "plain"]
        for group in (*groups, *alone):
            for name in group:
                described[name]["group"] = group
    for name, cells in facts.get("adaptable", {}).get("hidden", {}).items():
        described[name]["hidden"] = cells
    for name, centre in facts.get("centres", {}).items():
        described[name]["centre"] = centre
    return described


def story(facts: dict[str, Any]) -> list[str]:
    """One sentence a stage."""
    records, search = facts["records"], facts["search"]
    told = [f"{records['received']:,} records were read from {facts['table']}."]
    told += [facts["style"]] if "style" in facts else []
    if search:
        proven = search["status"] == "optimal"
        told.append(f"Of {search['nodes']:,} ways to generalize, {search['checked']:,} were counted; "
                    + ("that none is better is proven." if proven else
                       f"none can cost less than {search['bound']:.4g}, which is {search['gap']:.1%} below "
                       "the best found."))
    told += _searched(facts)
    told += _sliced(facts) if "column_groups" in facts else _drawn(facts) if "drawn" in facts else [
        f"{records['kept']:,} records are released in {facts['classes']:,} classes."]
    if certificate := facts.get("certificate"):
        told.append(certified(certificate))
    if blocks := facts.get("blocks"):
        told.append(f"The table was cut into {blocks['count']:,} blocks of {blocks['smallest']:,} to "
                    f"{blocks['largest']:,} records first; classes were sought within each of them.")
    if facts.get("stopped"):
        told.append(f"The time was up before the end: {facts['stopped']}.")
    if centres := facts.get("centres"):
        names = ", ".join(f"{name} ({centre})" for name, centre in centres.items())
        told.append(f"In some columns each record shows the centre of its class, not its own value: {names}.")
    if rounds := facts.get("rounds"):
        told.append(f"The outliers of each round were generalized again by themselves: {len(rounds)} rounds, "
                    f"of which the first kept {rounds[0]['kept']:,} records.")
    if records["added"]:
        told.append(f"{records['added']:,} false records were added, so that every class has "
                    f"{facts['adaptable']['k']:,} records or more; at least {facts['adaptable']['xk']:,} of "
                    "each class are real.")
    if records["suppressed"]:
        how = "their quasi-identifiers all *" if facts["suppressed_rows"] == "keep" else "left out"
        told.append(f"{records['suppressed']:,} records are suppressed: {how}.")
    return told


def _searched(facts: dict[str, Any]) -> list[str]:
    """What a search through strings or heights did."""
    if found := facts.get("samarati"):
        return [f"No generalization of a height below {found['height']} keeps the promise with at most "
                f"{found['may_suppress']:,} records suppressed; of {found['solutions_found']:,} of that "
                f"height one was preferred ({found['prefer']}). {found['frequency_sets']:,} of "
                f"{found['nodes']:,} nodes were counted."]
    if found := facts.get("research"):
        return [f"Of {found['strings']:,} generalization strings {found['strings_kept']:,} were left by "
                f"pre-pruning, and {found['frequency_sets']:,} frequency sets were counted. Of the "
                f"{found['successes_found']:,} strings found to hold, this one has the highest research "
                f"value, {found['value']:.4g}, with {found['roots']} of the columns at *."
                + (" That none is worth more is proven." if found["complete"] else "")]
    return []


def certified(found: dict[str, Any]) -> str:
    """What is proven of how good a local recoding is."""
    if found["within"] is None:
        return "Nothing was lost, so no release can lose less." if not found["score"] else (
            "No bound above 0 on the loss could be proven.")
    share = found["within"]
    far = f"within {share:.1%} of" if share <= 1 else f"at most {1 + share:,.3g} times"
    return (f"The loss is {far} the best possible: no classes of so many records "
            f"under labels of this kind can lose less than {found['bound']:.4g}; that is proven.")


def _sliced(facts: dict[str, Any]) -> list[str]:
    """What was done to a table whose values stay and whose columns are permuted."""
    groups = " | ".join(", ".join(group) for group in facts["column_groups"])
    told = [f"{facts['records']['kept']:,} records stand in {facts['buckets']['count']:,} buckets; within a "
            f"bucket, each of these groups of columns has an order of its own: {groups}."]
    if merged := facts.get("merged"):
        told.append(f"{merged['values']:,} values of a group matched fewer than {merged['matches']} "
                    f"buckets; in {merged['steps']:,} steps they came to share coarser labels with other "
                    f"buckets, in {merged['records']:,} records. {merged['unresolved']:,} still match too "
                    "few.")
    if cells := facts.get("cells"):
        told.append(f"{cells['records']:,} records have one of {cells['selected']:,} cells that give people "
                    f"away: {cells['swapped']:,} of them were swapped and {cells['generalized']:,} "
                    f"generalized; {cells['partners']:,} further records lent their values.")
    return told


def _drawn(facts: dict[str, Any]) -> list[str]:
    """How rows were drawn from counts."""
    drawn = facts["drawn"]
    told = [f"{drawn['records']:,} rows were drawn, with {facts['classes']:,} combinations of labels; "
            "columns other than quasi-identifiers and the sensitive one are left out."]
    if drawn["rate"] < 1:
        told.append(f"Each record was drawn with probability {drawn['rate']:g}, by itself.")
    if noise := drawn.get("noise"):
        told.append(f"Noise ({noise['kind']}, scale {noise['scale']:.4g}, ε = {noise['epsilon']:.4g}) was "
                    f"added to {noise['on']}.")
    if budget := drawn.get("budget"):
        spent = "; ".join(f"{one['epsilon']:.4g} on {one['for']}" for one in budget["spent"])
        told.append(f"Of the privacy budget ε = {budget['epsilon']:g}, {budget['total']:.4g} was spent: "
                    f"{spent}.")
    return told


def write(facts: dict[str, Any], path: Path) -> None:
    """Write the manifest; what is not finite is written as null."""
    path.write_text(json.dumps(finite(facts), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def finite(value: Any) -> Any:
    """The same value with every infinity and NaN as None."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def reading(format: str, dialect: table.Dialect) -> dict[str, Any]:
    """How to open a release again that was written so."""
    if format not in ("csv", "tsv"):
        return {}
    return {"delimiter": "\t" if format == "tsv" else dialect.delimiter, "header": True}
