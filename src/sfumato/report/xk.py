"""The levels of xk-anonymity as a page: which is recommended, the whole curve, and what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.costs.precision import Bounds, maximum_loss, precision_range, proven_loss, proven_range
from sfumato.report.figures import label, listing, rounded

MOST_WAYS = 10  # of introducing quasi-identifiers, shown
BROWN = "Brown 2019, Adaptable privacy-preserving model, doctoral dissertation, Nova Southeastern University"


def summarize(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the page shows."""
    best, records = facts["best"], facts["records"]
    low, high = best.precision_range
    levels = {one.xk: one for one in facts["levels"]}
    return {
        "page": "xk", "sfumato": facts["sfumato"], "table": label(facts["table"]),
        "headline": f"Recommended: {best.label}",
        "sentence": (f"Pairs of at least {best.xk:,} records are kept and filled up with false records: "
                     f"{best.original:,} of {records:,} records stay as they are, {best.added:,} are added, "
                     f"{best.suppressed:,} are suppressed unless generalization or cell suppression brings "
                     "them back."),
        "why": facts["why"],
        "setting": f"{records:,} records in {facts['pairs']:,} pairs of values of {listing(facts['quasi'])}.",
        "points": [point(one, records) for one in facts["levels"]],
        "rows": [row(levels[xk], facts["recommended"]) for xk in facts["ranked"]],
        "predicted": [
            {"what": "Precision", "predicted": f"{low} to {high} %",
             "certain": f"{best.proven_range[0]:.2f} to {best.proven_range[1]:.2f} %"},
            {"what": "Greatest data loss", "predicted": f"{best.maximum_loss} %",
             "certain": f"{best.proven_loss:.2f} %"}],
        "sources": [BROWN],
    }


def point(one: Any, records: int) -> dict[str, Any]:
    """One level's two shares, as a chart of two curves takes them."""
    original, precision = rounded(one.original / records), rounded(one.precision / 100)
    return {"k": one.xk, "utility": original, "privacy": precision,
            "utility_interval": [original, original], "privacy_interval": [precision, precision]}


def row(one: Any, recommended: list[int]) -> dict[str, str]:
    """One level."""
    counts = {name: f"{getattr(one, name):,}" for name in ("suppressed", "added", "original", "total",
                                                           "difference")}
    ranks = f"{one.ranks.precision} + {one.ranks.original} + {one.ranks.difference}"
    return {"label": one.label, "xk": str(one.xk), **counts, "precision": f"{one.precision:.2f} %",
            "ranks": ranks, "score": str(one.score), "here": "recommended" if one.xk in recommended else ""}


def repair(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the method xk did, step by step, and whether it kept to what was predicted."""
    told = manifest["adaptable"]
    elected = f"; elected: {listing(label(name) for name in told['elected'])}" if told["elected"] else ""
    steps = [{"step": label(one["step"]), **{name: f"{one[name]:,}" for name in (
        "pairs", "records", "suppressed", "hidden_cells", "added")}} for one in told["steps"]]
    ways = [{"introduce": one["introduce"], "order": ", ".join(label(name) for name in one["order"]),
             "original": f"{one['original']:,}", "added": f"{one['added']:,}"}
            for one in told["tried"][:MOST_WAYS]]
    return {"sentence": f"xk = {told['xk']:,}, k = {told['k']:,}{elected}. Every step counts the pairs anew.",
            "steps": steps, "ways": ways, "predicted": predicted(manifest)}


def predicted(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    """Precision and loss: measured, as the published equations predict them, and as they are bounded."""
    told, columns = manifest["adaptable"], manifest["columns"]
    suppressed, added, original = (told["as_it_is"][name] for name in ("suppressed", "added", "original"))
    asked = [one["threshold"] for one in manifest["verdict"]["criteria"] if one["name"] == "l-diversity"]
    hides = told["sensitive_suppression"] and bool(asked)
    n_quasi = sum(one["role"] == "quasi" for one in columns.values())
    bounds = Bounds(told["k"], sum(one["role"] != "identifying" for one in columns.values()),
                    max(len(told["elected"]), 1), len(asked) if hides else 0)
    low, high = precision_range(suppressed, added, original, n_quasi, int(sum(asked)) if hides else 1)
    least, most = proven_range(told["xk"], suppressed, added, original, bounds)
    precision, loss = (100 * manifest["measures"][name] for name in ("file_precision", "file_loss"))
    return [{"what": "Precision", "measured": f"{precision:.2f} %", "predicted": f"{low} to {high} %",
             "certain": f"{least:.2f} to {most:.2f} %"},
            {"what": "Data loss", "measured": f"{loss:.2f} %",
             "predicted": f"at most {maximum_loss(suppressed, suppressed + original)} %",
             "certain": f"at most {proven_loss(suppressed, original, bounds):.2f} %"}]
