"""The levels of xk-anonymity as a page: which is recommended, the whole curve, and what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.figures import label, listing, rounded

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
