"""Which known values a released label may stand for, told from the label's text.

A label is the value itself, `*`, a node of the column's hierarchy where one is known, an interval as sfumato
writes it (`[20..25)`, `[20..29]`, `<18`, `>=65`) or a set (`{a, "b, c"}`). Any other text stands for itself
alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.hierarchy.core import ROOT, Hierarchy, Label
from sfumato.hierarchy.domain import number

INTERVAL = re.compile(r"\[(?P<low>.+?)\.\.(?P<high>.+)(?P<end>[\])])|<(?P<below>.+)|>=(?P<above>.+)")
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
MEMBER = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}\\]+?))\s*(?:,|$)')


@dataclass(frozen=True)
class Covers:
    """One column: which known values each label covers.

    A label that is a known value has its code in `same`, else -1; one that covers several has its row
    of `several` in `row`, else -1.
    """

    same: Ints
    row: Ints
    several: Bools  # [labels that cover several, known values]

    @property
    def coarse(self) -> Bools:
        """Per label: does it cover more than the value that it is?"""
        return self.row >= 0

    def of(self, label: int) -> Bools:
        """Per known value: does this label cover it?"""
        found = np.zeros(self.several.shape[1], dtype=bool)
        if self.row[label] >= 0:
            found |= self.several[self.row[label]]
        if self.same[label] >= 0:
            found[self.same[label]] = True
        return found


def read(labels: Sequence[Label], values: Sequence[Label], hierarchy: Hierarchy | None) -> Covers:
    """Read every label of a column against the values that are known of people."""
    code = {value: n for n, value in enumerate(values)}
    plain = {_plain(value): n for n, value in enumerate(values)}
    same = np.array([code.get(label, plain.get(_plain(label), -1)) for label in labels], dtype=np.int64)
    found: dict[int, Bools] = {} if hierarchy is None else _nodes(labels, code, hierarchy)
    numbers = _numbers(values)
    for n, label in enumerate(labels):
        if label == ROOT:
            found[n] = np.ones(len(values), dtype=bool)
        elif n not in found and same[n] < 0 and label is not None:
            inside = _inside(label, code, numbers)
            if inside is not None:
                found[n] = inside
    row = np.full(len(labels), -1, dtype=np.int64)
    row[list(found)] = np.arange(len(found))
    several = np.array(list(found.values()), dtype=bool).reshape(len(found), len(values))
    return Covers(same, row, several)


def _plain(label: Label) -> Label:
    """A number as it is written without a fraction of zeros (`41` for `41.0`); any other text as it is."""
    return label.rstrip("0").rstrip(".") if label is not None and DECIMAL.fullmatch(label) else label


def _nodes(labels: Sequence[Label], code: dict[Label, int], hierarchy: Hierarchy) -> dict[int, Bools]:
    """The labels that are nodes above the lowest level, with the known values under them."""
    place = {label: n for n, label in enumerate(labels)}
    mine = np.array([code.get(value, -1) for value in hierarchy.values])
    found: dict[int, Bools] = {}
    for level in range(1, hierarchy.n_levels):
        for node, label in enumerate(hierarchy.labels[level]):
            if label is None or label not in place:
                continue
            under = mine[hierarchy.nodes[level] == node]
            inside = found.setdefault(place[label], np.zeros(len(code), dtype=bool))
            inside[under[under >= 0]] = True
    return found


def _numbers(values: Sequence[Label]) -> dict[int, float]:
    """The known values that are numbers."""
    read = {n: number(value) for n, value in enumerate(values) if value is not None}
    return {n: float(value) for n, value in read.items() if value is not None}


def _inside(label: str, code: dict[Label, int], numbers: dict[int, float]) -> Bools | None:
    """The known values in an interval or a set; None where the text is neither."""
    members = _members(label)
    if members is not None:
        return np.array([value in members for value in code], dtype=bool)
    if not (interval := INTERVAL.fullmatch(label)):
        return None
    ends = {name: number(text) for name, text in interval.groupdict().items() if text and name != "end"}
    if any(end is None for end in ends.values()):
        return None
    bound = {name: float(end) for name, end in ends.items() if end is not None}
    low = bound.get("low", bound.get("above", -np.inf))
    high = bound.get("high", bound.get("below", np.inf))
    closed = interval["end"] == "]"
    found = np.zeros(len(code), dtype=bool)
    for n, value in numbers.items():
        found[n] = low <= value < high or (closed and value == high)
    return found


def _members(label: str) -> set[str] | None:
    """The values of a set as it is written; None where the text is no set."""
    if not (label.startswith("{") and label.endswith("}")):
        return None
    inner, at, found = label[1:-1], 0, set()
    while at < len(inner):
        member = MEMBER.match(inner, at)
        if member is None:
            return None
        quoted, plain = member.groups()
        found.add(plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        at = member.end()
    return found
