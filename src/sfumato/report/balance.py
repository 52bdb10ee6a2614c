"""The balance of utility and privacy as a page: what was found, the two curves, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.figures import label, listing, number, percent, rounded, several

Facts = Mapping[str, Any]
FEWEST = 12  # rows of the short table


def summarize(facts: Facts) -> dict[str, Any]:
    """Everything the page shows."""
    points = [{name: rounded(point[name]) for name in ("k", "utility", "privacy")}
              | {f"{name}_interval": [rounded(end) for end in point[f"{name}_interval"]]
                 for name in ("utility", "privacy")} for point in facts["points"]]
    axes = {role: {"title": label(facts[role]["title"]), "name": label(facts[role]["name"]),
                   "definition": meaning(facts, role), "citation": facts[role]["citation"]}
            for role in ("utility", "privacy")}
    found = facts["balance"]
    return {
        "page": "balance", "sfumato": facts["sfumato"], "table": label(facts["table"]),
        "headline": headline(found), "sentence": sentence(facts), "method": setting(facts),
        "sampling": sampling(facts), **axes, "points": points, "rows": rows(facts),
        "balance": {**found, "k_text": k_text(found)}, "level_text": percent(facts["level"]),
        "sources": list(dict.fromkeys(axes[role]["citation"] for role in axes)),
    }


def headline(found: Facts) -> str:
    """The answer in a few words."""
    low, high = found["between"]
    return f"Balance between k = {low} and k = {high}" if found["crosses"] else "The curves do not cross"


def sentence(facts: Facts) -> str:
    """Where the curves cross, with the error of it."""
    found, points = facts["balance"], facts["points"]
    if not found["crosses"]:
        above = points[0]["utility"] >= points[0]["privacy"]
        stays = "utility stays above privacy" if above else "privacy is above utility from the start"
        near = next(point for point in points if point["k"] == found["between"][0])
        gap = abs(near["utility"] - near["privacy"])
        return (f"From k = {points[0]['k']} to k = {points[-1]['k']} the curves do not cross: {stays}. "
                f"They are nearest at k = {near['k']}, {100 * gap:.1f} points apart.")
    low, high = found["between"]
    ends = [number(round(end, 2)) for end in found["k_interval"]]
    heights = [percent(end) for end in found["utility_interval"]]
    return (f"Utility falls below privacy between k = {low} and k = {high}, at k = {k_text(found)} "
            f"({percent(facts['level'])} interval {ends[0]} to {ends[1]}), where both are "
            f"{percent(found['utility'])} ({heights[0]} to {heights[1]}).")


def k_text(found: Facts) -> str:
    """The k of the crossing, which need not be whole."""
    return number(round(found["k"], 1))


def setting(facts: Facts) -> str:
    """What was run."""
    promises = ["k-anonymity at each k", *(label(one) for one in facts["criteria"])]
    extras = ", ".join(f"{name} {value}" for name, value in facts["method"].items() if name != "name")
    allowed = percent(facts["suppression"])
    return (f"Method {label(facts['method']['name'])}{f' ({label(extras)})' if extras else ''} over "
            f"{listing(facts['quasi'])}; {listing(promises)}; at most {allowed} of the records suppressed.")


def sampling(facts: Facts) -> str:
    """What the curves are means of, and where their error comes from."""
    whole = facts["size"] >= facts["records"]
    of = ("the whole table" if whole else f"random samples of {facts['size']:,} of its {facts['records']:,} "
          "records, drawn without replacement")
    said = (f"The curves are means over {several(facts['samples'], 'run')} on {of} (seed {facts['seed']}). ")
    if facts["samples"] == 1:
        said += "One run has no spread: the intervals hold no error. "
    elif whole:
        said += ("What differs between runs is the method's own chance only: the intervals hold no error of "
                 "sampling. ")
    else:
        said += (f"Intervals ({percent(facts['level'])}) are those of the mean over samples: samples drawn "
                 "again with replacement, the percentile bootstrap. ")
        alike = "cross too" if facts["balance"]["crosses"] else "do not either"
        said += f"{percent(facts['balance']['agreement'])} of the drawn means {alike}. "
        if facts["balance"]["deviation"] is not None:
            deviation = number(round(facts["balance"]["deviation"], 1))
            said += f"Single samples cross at k that differ by {deviation} (standard deviation). "
    if facts["infeasible"]:
        said += (f"Left out, because not every sample can keep them: k = "
                 f"{', '.join(map(str, facts['infeasible'][:FEWEST]))}"
                 f"{' …' if len(facts['infeasible']) > FEWEST else ''}.")
    return said.strip()


def meaning(facts: Facts, role: str) -> str:
    """What an axis is, and which way it was turned."""
    axis: Facts = facts[role]
    turned = f" Drawn as {role}: 100 % less its share of its range." if axis["turned"] else ""
    return f"{axis['definition']}{turned}"


def rows(facts: Facts) -> list[dict[str, str]]:
    """The points as text; of many k, those around the crossing and some of the others."""
    points = facts["points"]
    step = max(1, -(-len(points) // FEWEST))
    between = facts["balance"]["between"]
    shown = {n for n, point in enumerate(points) if n % step == 0 or point["k"] in between}
    shown.add(len(points) - 1)
    return [{"k": str(points[n]["k"]), **{name: spread(points[n], name) for name in ("utility", "privacy")},
             "here": "balance" if points[n]["k"] in between else ""}
            for n in sorted(shown)]


def spread(point: Facts, name: str) -> str:
    """A mean with its interval."""
    low, high = point[f"{name}_interval"]
    return f"{percent(point[name])} ({percent(low)} to {percent(high)})"
