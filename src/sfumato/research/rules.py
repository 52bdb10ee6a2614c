"""Whether a level of a hierarchy keeps a data constraint rule.

Morton et al., An enhanced utility-driven data anonymization method, section 4.

- *apart*: no label holds values of two of the groups ("do not mix White and Black in the same group").
- *boundary*: no label holds values on both sides of it; the boundary itself belongs to the upper side.
- *group*: no label holds values of the group and others, so that the group can be put together again.
- *together*: all of the group have one label, and nobody else has it. Values that still stand by themselves
  break it, so a coarser level may be worth more than a finer one: the only rule of which this is true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sfumato.classes import Bools
from sfumato.hierarchy.core import Hierarchy, Label
from sfumato.hierarchy.domain import listed, number
from sfumato.research.said import Members, Rule

DATE = re.compile(r"\d{4}-\d\d(-\d\d)?([ T].*)?")


def kept(rule: Rule, hierarchy: Hierarchy, level: int) -> bool:
    """Whether no label of a level breaks the rule."""
    nodes, n_labels = hierarchy.nodes[level], len(hierarchy.labels[level])
    holds = [np.bincount(nodes[side], minlength=n_labels) > 0 for side in sides(rule, hierarchy)]
    mixed = bool((np.sum(holds, axis=0) > 1).any())
    return not mixed and (rule.keep != "keep together" or int(holds[0].sum()) == 1)


def sides(rule: Rule, hierarchy: Hierarchy) -> list[Bools]:
    """The sets of values that a label must not mix."""
    if rule.keep == "keep boundary":
        place = np.array(places([*hierarchy.values, rule.boundary]))
        known = np.array([value is not None for value in hierarchy.values])
        upper = place[:-1] >= place[-1]
        return [known & ~upper, known & upper]
    groups = [belonging(members, hierarchy.values) for members in rule.groups]
    return groups if rule.keep == "keep apart" else [groups[0], ~groups[0]]


def belonging(members: Members, values: Sequence[Label]) -> Bools:
    """Which of the values are members."""
    if members.listed:
        return np.array([value in members.listed for value in values])
    place = np.array(places([*values, members.low, members.high]))
    known = np.array([value is not None for value in values])
    return np.asarray(known & (place[:-2] >= place[-2]) & (place[:-2] <= place[-1]))


def places(values: Sequence[Label]) -> list[int]:
    """Where each value stands in their natural order, equal ones at one place; empty if they have none."""
    real = [value for value in values if value is not None]
    numbers = {value: number(value) for value in real}
    if all(found is not None for found in numbers.values()):
        keys: dict[str, object] = dict(numbers)
    elif all(DATE.fullmatch(value) for value in real):
        keys = {value: value for value in real}
    else:
        return []
    order = {key: place for place, key in enumerate(sorted(set(keys.values())))}  # type: ignore[type-var]
    return [-1 if value is None else order[keys[value]] for value in values]


def misfits(rules: Sequence[Rule], hierarchy: Hierarchy) -> list[tuple[Rule, str]]:
    """The rules about values or boundaries that a column does not have, each with what is wrong."""
    found = [(rule, what) for rule in rules if (what := _misfit(rule, hierarchy))]
    sound = [rule for rule in rules if rule not in [one for one, _ in found]]
    groups = [(rule, sides(rule, hierarchy)[0]) for rule in sound
              if rule.keep in ("keep group", "keep together")]
    for n, (rule, members) in enumerate(groups):
        for other, others in groups[:n]:
            if (members & others).any() and (members & ~others).any() and (others & ~members).any():
                found.append((rule, f"the groups {other.group} and {rule.group} overlap, and no level can "
                              "show both"))
    return found


def _misfit(rule: Rule, hierarchy: Hierarchy) -> str:
    """What a column lacks for a rule; nothing where it has it all."""
    named = [value for one in rule.groups for value in one.listed]
    if unknown := [value for value in named if value not in hierarchy.code_of]:
        hint = "; a range is written with to, as in 12 to 18" if "-" in str(unknown[0]) else ""
        return f"the column has no value {listed(unknown, 3)}{hint}"
    ends = [end for one in rule.groups for end in (one.low, one.high) if not one.listed]
    ends += [rule.boundary] if rule.keep == "keep boundary" else []
    if ends and not places([*hierarchy.values, *ends]):
        return f"{listed(ends, 2)} has no place among the column's values: not all are numbers, or dates"
    for side, what in zip(sides(rule, hierarchy), ("below", "at or above"), strict=False):
        if not side.any() and rule.keep == "keep boundary":
            return f"the column has no value {what} the boundary {rule.boundary}"
    if rule.groups and not all(side.any() for side in sides(rule, hierarchy)[:len(rule.groups)]):
        return "the column has no value in one of its ranges"
    if rule.keep == "keep apart":
        both = np.sum(sides(rule, hierarchy), axis=0) > 1
        if both.any():
            return f"{hierarchy.values[int(np.argmax(both))]!r} stands on both sides"
    return ""
