"""What levels are worth to research, and the other generalizations that hold, as the report lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.figures import label, number, rounded, several

Plain = dict[str, Any]
MOST_ALTERNATIVES = 10  # generalizations that hold, too


def alternatives(manifest: Mapping[str, Any]) -> list[Plain]:
    """The best generalizations that were found to hold, the one released first."""
    names = list(manifest.get("levels") or {})
    listed: list[tuple[str, list[int]]] = []
    if found := manifest.get("research"):
        listed = [(f"value {number(one['value'])}, {several(one['roots'], 'column')} at *", one["levels"])
                  for one in found["successes"]]
    elif found := manifest.get("samarati"):
        listed = [(f"height {found['height']}, {one['suppressed']:,} suppressed", one["levels"])
                  for one in found["solutions"]]
    return [{"merit": merit, "levels": raised(names, levels)} for merit, levels in listed[:MOST_ALTERNATIVES]]


def raised(names: list[str], levels: list[int]) -> str:
    """The columns above level 0, with their levels."""
    above = [f"{label(name)} {level}" for name, level in zip(names, levels, strict=True) if level]
    return ", ".join(above) or "values as they were"


def price_list(found: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> list[Plain]:
    """One column's levels: what each is worth to research and which rules it breaks."""
    released = columns[found["column"]].get("level")
    return [{"column": label(found["column"]), "first": not one["level"], "level": int(one["level"]),
             "of": len(found["levels"]), "released": one["level"] == released,
             "value": rounded(one["value"]), "value_text": number(one["value"]),
             "breaks": "; ".join(label(rule) for rule in one["breaks"])} for one in found["levels"]]
