"""The rounds of ρ-Gain as the report shows them: the paper's figures side by side, and what a round gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.report.figures import label, number, percent, rounded

Plain = dict[str, Any]
MOST = 8  # rounds that are shown side by side
# title, the figure's two columns: without the outliers, and with them as one more class
SIZES = (("Average class", "average_class", "average_class_with_outliers"),
         ("Largest class", "largest_class", "largest_class_with_outliers"),
         ("Smallest class", "smallest_class", "smallest_class_with_outliers"))
RISKS = (("Lowest risk", "lowest_risk", "records_at_lowest_risk"),
         ("Highest risk", "highest_risk", "records_at_highest_risk"))


def rounds(manifest: Mapping[str, Any]) -> Plain | None:
    """Everything about the rounds, where a method worked in rounds."""
    every = manifest.get("rounds") or ()
    if not every:
        return None
    shown = list(enumerate(every, start=1))
    if len(shown) > MOST:
        shown = [*shown[: MOST - 1], shown[-1]]
    gains = manifest.get("gains") or ()
    return {
        "numbers": [n for n, _ in shown], "left_out": len(every) - len(shown),
        "rows": [{"title": title, "cells": [cell(one) for _, one in shown]} for title, cell in ROWS],
        "levels": [{"round": n, "text": raised(one)} for n, one in shown],
        "cost": (manifest.get("cost") or {}).get("name", "cost"),
        "gains": [gained(one) for one in gains],
        "sentence": sentence(gains, manifest.get("gain_asked")),
    }


def raised(one: Mapping[str, Any]) -> str:
    """The levels of a round, those at 0 left out."""
    return ", ".join(f"{label(name)} {level}" for name, level in one["levels"].items() if level) or "all 0"


def gained(one: Mapping[str, Any]) -> Plain:
    """One point of the curve."""
    return {"round": one["round"], "cost": rounded(one["cost"]), "cost_text": number(one["cost"]),
            "gain": rounded(one["gain"]), "gain_text": saved(one["gain"]), "suppressed": one["suppressed"],
            "suppressed_text": f"{one['suppressed']:,}", "taken": one["taken"]}


def saved(gain: float | None) -> str:
    """What a round took off the cost, or put on it."""
    if gain is None:
        return "–"
    return f"−{percent(gain)}" if gain > 0 else f"+{percent(-gain)}" if gain < 0 else "nothing"


def sentence(gains: Sequence[Mapping[str, Any]], asked: float | None) -> str:
    """Why the rounds ended where they did."""
    if not gains:
        return ""
    if asked is None:
        return "As many rounds were run as the recipe asks for and as there were outliers that could be kept."
    last = gains[-1]
    if last["taken"]:
        return ("Rounds were run as long as one saved enough. They ended because no outliers were left, "
                "because nothing but * could be shown of them, or at the limit on suppression or time.")
    would = (f"would have saved {percent(last['gain'])} of the cost of the whole release"
             if last["gain"] > 0 else "would not have lowered the cost of the whole release")
    return f"Round {last['round']} {would}; {percent(asked)} is asked of a round, so it was not run."


def of(name: str, others: str = "") -> Any:
    """A cell: a number, and in brackets the one with the outliers."""
    def cell(one: Mapping[str, Any]) -> str:
        found = number(one["measures"][name])
        return f"{found} ({number(one['measures'][others])})" if others else found
    return cell


def risk(name: str, records: str = "") -> Any:
    """A cell: a risk, and in brackets the share of the records that bear it."""
    def cell(one: Mapping[str, Any]) -> str:
        found = percent(one["measures"][name])
        return f"{found} ({percent(one['measures'][records])})" if records else found
    return cell


def counted(name: str) -> Any:
    """A cell: records of a round, and in brackets their share."""
    def cell(one: Mapping[str, Any]) -> str:
        return f"{one[name]:,} ({percent(one['measures'][f'{name}_share'])})"
    return cell


def above(threshold: str) -> Any:
    """A cell: the share of the records with a larger risk."""
    return lambda one: percent(one["at_risk"][threshold])


ROWS: tuple[tuple[str, Any], ...] = (
    ("Records it was given", of("records")), ("Records kept", counted("kept")),
    ("Records suppressed", counted("suppressed")), ("Classes", lambda one: f"{one['classes']:,}"),
    *((title, of(*names)) for title, *names in SIZES),
    *((title, risk(*names)) for title, *names in RISKS),
    ("Average risk, the marketer's", risk("average_risk")),
    ("Prosecutor's and journalist's risk", risk("prosecutor_risk")),
    *((f"Records at a risk above {share} %", above(f"> {share} %")) for share in (10, 5, 2, 1)))
