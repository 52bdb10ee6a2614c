"""What a recipe's `research` says: rules in an expert's words, weights, values given by hand.

    research:
      weights: correlation
      rules:
        - {column: race, keep apart: [White, Black], importance: 20}
        - {column: age, keep boundary: 65, importance: 50}
        - {column: age, keep together: 12 to 18, importance: 10}
      values: {sex: [0.85, 0.1]}
      formulas: {postcode: categorical}
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any, Literal

Formula = Literal["numeric", "categorical"]
Steps = tuple[str | int, ...]
Wrong = Iterator[tuple[Steps, str]]
WORDS = ("keep apart", "keep boundary", "keep group", "keep together")
KEYS = ("rules", "weights", "values", "formulas", "target", "predictors")
FORMULAS = ("numeric", "categorical")
RANGE = re.compile(r"\s*(\S.*?)\s+to\s+(\S.*?)\s*")
DASHED = re.compile(r"\s*(\d[\d.]*)\s*–\s*(\d[\d.]*)\s*")  # an en dash; a hyphen is part of a label
EXAMPLE = "{column: race, keep apart: [White, Black], importance: 20}"


@dataclass(frozen=True)
class Members:
    """Some values of a column: those listed, or all from one to another."""

    listed: tuple[str, ...] = ()
    low: str = ""
    high: str = ""

    def __str__(self) -> str:
        return " or ".join(self.listed) if self.listed else f"{self.low} to {self.high}"

    @property
    def plain(self) -> Any:
        """As a recipe writes it."""
        return list(self.listed) if self.listed else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Rule:
    """One thing that generalization should leave alone, and how much that matters."""

    column: str
    keep: str  # one of WORDS
    groups: tuple[Members, ...] = ()  # two and more that are kept apart; one that is kept
    boundary: str = ""
    importance: float = 1.0
    position: int = field(default=0, compare=False)  # in the recipe's list

    def __str__(self) -> str:
        what = {"keep apart": f"keep {' and '.join(map(str, self.groups))} apart",
                "keep boundary": f"keep a boundary at {self.boundary}",
                "keep group": f"keep {self.group} apart from the rest",
                "keep together": f"keep {self.group} together as a group"}[self.keep]
        return f"{what} ({self.importance:g})"

    @property
    def group(self) -> str:
        """The one group, in words."""
        return str(self.groups[0]) if self.groups else ""

    @property
    def plain(self) -> dict[str, Any]:
        """As a recipe writes it."""
        if self.keep == "keep boundary":
            what: Any = float(self.boundary) if _is_number(self.boundary) else self.boundary
            what = int(what) if isinstance(what, float) and what.is_integer() else what
        elif self.keep == "keep apart":
            what = [one.listed[0] if len(one.listed) == 1 else one.plain for one in self.groups]
        else:
            what = self.groups[0].plain
        number = int(self.importance) if float(self.importance).is_integer() else self.importance
        return {"column": self.column, self.keep: what, "importance": number}


@dataclass(frozen=True)
class Research:
    """All that a recipe says of research value."""

    rules: tuple[Rule, ...] = ()
    weights: Literal["correlation"] | Mapping[str, float] | None = None  # None: the columns' own
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    formulas: Mapping[str, Formula] = field(default_factory=dict)
    target: str | None = None  # the column whose patterns should survive
    predictors: tuple[str, ...] = ()  # what may explain it; none named: all other quasi-identifiers

    @property
    def valued(self) -> bool:
        """Whether it says what levels are worth."""
        return bool(self.rules or self.weights or self.values or self.formulas)

    def of(self, column: str) -> tuple[Rule, ...]:
        """The rules about a column."""
        return tuple(rule for rule in self.rules if rule.column == column)

    @property
    def plain(self) -> dict[str, Any]:
        """As a recipe writes it."""
        weights = dict(self.weights) if isinstance(self.weights, Mapping) else self.weights
        said = {"rules": [rule.plain for rule in self.rules], "weights": weights,
                "values": {name: list(values) for name, values in self.values.items()},
                "formulas": dict(self.formulas), "target": self.target, "predictors": list(self.predictors)}
        return {name: value for name, value in said.items() if value}


class Reading:
    """One pass over what a recipe says; what is wrong is noted with its place."""

    def __init__(self) -> None:
        self.faults: list[tuple[Steps, str]] = []

    def research(self, said: Any) -> Research:
        """The sound parts."""
        if not isinstance(said, Mapping):
            self.faults.append(((), f"It should be a mapping with rules, such as {{rules: [{EXAMPLE}]}}."))
            return Research()
        for key in said:
            if key not in KEYS:
                self.faults.append(((key,), f"The key {key!r} is not known here.{_meant(key, KEYS)} "
                                    f"Known are: {', '.join(KEYS)}."))
        return Research(self.rules(said.get("rules") or ()), self.weights(said.get("weights")),
                        self.values(said.get("values") or {}), self.formulas(said.get("formulas") or {}),
                        *self.patterns(said.get("target"), said.get("predictors") or ()))

    def rules(self, said: Any) -> tuple[Rule, ...]:
        """The sound rules."""
        if not _is_list(said):
            self.faults.append((("rules",), f"It should be a list of rules, such as [{EXAMPLE}]."))
            return ()
        read = [self.rule(one, ("rules", n)) for n, one in enumerate(said)]
        return tuple(rule for rule in read if rule is not None)

    def rule(self, said: Any, place: Steps) -> Rule | None:
        """One rule; None, and its faults noted, where it is no sound one."""
        wrong = list(_wrong_rule(said))
        if not wrong:
            [word] = [key for key in said if key in WORDS]
            wrong = [((word, *steps), what) for steps, what in _wrong_what(word, said[word])]
        self.faults += [((*place, *steps), what) for steps, what in wrong]
        if wrong:
            return None
        what, importance = said[word], float(said.get("importance", 1))
        if word == "keep boundary":
            return Rule(said["column"], word, (), _text(what), importance, int(place[-1]))
        groups = [_members(one) for one in what] if word == "keep apart" else [_members(what)]
        return Rule(said["column"], word, tuple(one for one in groups if one), "", importance, int(place[-1]))

    def weights(self, said: Any) -> Literal["correlation"] | Mapping[str, float] | None:
        """Where weights come from, if not from the columns."""
        if said is None or said == "correlation":
            return said  # type: ignore[no-any-return]
        if not isinstance(said, Mapping) or not said:
            self.faults.append((("weights",), "It should be the word correlation, or a weight for every "
                                f"quasi-identifier such as {{age: 0.6, sex: 0.4}}, and is {said!r}."))
            return None
        bad = [name for name, weight in said.items() if not _is_finite(weight) or weight < 0]
        self.faults += [(("weights", name), f"A weight is a number of at least 0, and is {said[name]!r}.")
                        for name in bad]
        total = sum(weight for name, weight in said.items() if name not in bad)
        if not bad and abs(total - 1) > 1e-3:
            remedy = f"Divide each by {total:g}." if total else "Give at least one more than 0."
            self.faults.append((("weights",), f"The weights sum to {total:g}; they must sum to 1. {remedy}"))
        return {name: float(weight) for name, weight in said.items() if name not in bad}

    def values(self, said: Any) -> dict[str, tuple[float, ...]]:
        """Research values by hand: for each level of a column, the value itself first."""
        if not isinstance(said, Mapping):
            self.faults.append((("values",), "It should be a value for every level of a column, such as "
                                "{sex: [0.85, 0.1]}."))
            return {}
        read = {}
        for name, values in said.items():
            if not _is_list(values) or not values or not all(_is_finite(v) and v >= 0 for v in values):
                self.faults.append((("values", name), "It should be a list of numbers of at least 0, one for "
                                    f"each level, such as [0.85, 0.1], and is {values!r}."))
                continue
            rises = [n for n, (fine, coarse) in enumerate(pairwise(values), 1) if coarse > fine]
            if rises:
                n = rises[0]
                self.faults.append((("values", name), "A coarser level cannot be worth more than a finer "
                                    f"one, and level {n} ({values[n]:g}) is worth more than level {n - 1} "
                                    f"({values[n - 1]:g}). Let the values fall from level to level."))
                continue
            read[name] = tuple(float(value) for value in values)
        return read

    def formulas(self, said: Any) -> dict[str, Formula]:
        """The columns whose formula is named."""
        if not isinstance(said, Mapping):
            self.faults.append((("formulas",), "It should be a mapping such as {postcode: categorical}."))
            return {}
        bad = [name for name, formula in said.items() if formula not in FORMULAS]
        self.faults += [(("formulas", name), f"It should be numeric or categorical, and is {said[name]!r}.")
                        for name in bad]
        return {name: formula for name, formula in said.items() if name not in bad}


    def patterns(self, target: Any, predictors: Any) -> tuple[str | None, tuple[str, ...]]:
        """The column to be explained, and those that may explain it."""
        if target is not None and not isinstance(target, str):
            self.faults.append((("target",), f"It should be a column's name, and is {target!r}."))
            target = None
        if not _is_list(predictors) or not all(isinstance(name, str) for name in predictors):
            self.faults.append((("predictors",), "It should be a list of columns, such as [age, sex], and is "
                                f"{predictors!r}."))
            predictors = ()
        return target, tuple(predictors)


def _wrong_rule(said: Any) -> Wrong:
    """What is wrong with a rule, apart from what it keeps."""
    if not isinstance(said, Mapping):
        yield (), f"A rule is a mapping such as {EXAMPLE}, and this is {said!r}."
        return
    for key in said:
        if key not in ("column", "importance", *WORDS):
            yield (key,), (f"The key {key!r} is not known here.{_meant(key, WORDS)} "
                           f"Known are: column, importance, {', '.join(WORDS)}.")
    if not isinstance(said.get("column"), str):
        yield (), f"A rule names the column it is about: {EXAMPLE}."
    words = [key for key in said if key in WORDS]
    if len(words) != 1:
        found = " and ".join(words) or "none"
        yield (), f"A rule says one thing to keep ({', '.join(WORDS)}), and this says {found}."
    importance = said.get("importance", 1)
    if not _is_finite(importance) or importance <= 0:
        yield ("importance",), f"An importance is a number above 0, and this is {importance!r}."


def _wrong_what(word: str, what: Any) -> Wrong:
    """What is wrong with that which a rule keeps."""
    if word == "keep boundary":
        if not isinstance(what, str) and not _is_finite(what):
            yield (), f"A boundary is a number or a date, such as 65, and this is {what!r}."
    elif word != "keep apart":
        if _members(what) is None:
            yield (), f"It should be a list of values or a range such as 12 to 18, and is {what!r}."
    elif not _is_list(what) or len(what) < 2:
        yield (), f"It should be a list of two or more values, such as [White, Black], and is {what!r}."
    else:
        groups = [_members(one) for one in what]
        if None in groups:
            yield (groups.index(None),), "It should be a value, a list of values or a range such as 12 to 18."
            return
        both = [value for one, other in combinations(filter(None, groups), 2) for value in one.listed
                if value in other.listed]
        if both:
            yield (), f"{both[0]!r} stands on both sides, and cannot be kept apart from itself. Take one out."


def _members(said: Any) -> Members | None:
    """A value, a list of values, or a range."""
    if isinstance(said, str) and (found := RANGE.fullmatch(said) or DASHED.fullmatch(said)):
        return Members((), found[1], found[2])
    if isinstance(said, str) or _is_finite(said):
        return Members((_text(said),))
    if _is_list(said) and said and all(isinstance(one, str) or _is_finite(one) for one in said):
        return Members(tuple(dict.fromkeys(map(_text, said))))
    return None


def _text(value: Any) -> str:
    """A value as hierarchies write it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_list(said: Any) -> bool:
    return isinstance(said, Sequence) and not isinstance(said, str)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _meant(key: Any, known: Sequence[str]) -> str:
    guess = difflib.get_close_matches(str(key), known, 1, 0.6)
    return f" Did you mean {guess[0]!r}?" if guess else ""


def between(said: Research, quasi: Sequence[str], weighted: Sequence[str],
            sensitive: Sequence[str] = ()) -> Wrong:
    """What is wrong between what is said and the columns; `weighted` have a weight of their own."""
    yield from _between_patterns(said, (*quasi, *sensitive))
    known = ", ".join(map(repr, quasi)) or "none so far"
    for rule in said.rules:
        if rule.column not in quasi:
            yield ("rules", rule.position, "column"), (f"{rule.column!r} is no quasi-identifier."
                                           f"{_meant(rule.column, quasi)} Rules are about: {known}.")
    for part in ("values", "formulas"):
        for name in getattr(said, part):
            if name not in quasi:
                yield (part, name), (f"{name!r} is no quasi-identifier.{_meant(name, quasi)} "
                                     f"They are: {known}.")
    if isinstance(said.weights, Mapping):
        strange = [name for name in said.weights if name not in quasi]
        absent = [name for name in quasi if name not in said.weights]
        if strange or absent:
            wrong = [f"{', '.join(map(repr, strange))} is no quasi-identifier"] if strange else []
            wrong += [f"{', '.join(map(repr, absent))} has none"] if absent else []
            yield ("weights",), (f"Weights do not fit the quasi-identifiers: {'; '.join(wrong)}. "
                                 f"Give one to each of: {known}.")
    if said.weights is not None and weighted:
        yield ("weights",), (f"The column {weighted[0]!r} has a weight of its own, and here are others. "
                             "Take one of the two out.")
    for one, other in combinations([r for r in said.rules if r.keep in ("keep group", "keep together")], 2):
        if one.column == other.column and _cross(one.groups[0], other.groups[0]):
            yield ("rules", other.position), (f"The groups {one.group} and {other.group} of {one.column!r} "
                                              "overlap, and no level can show both. Let them be apart, or "
                                              "one within the other.")


def _between_patterns(said: Research, counted: Sequence[str]) -> Wrong:
    """What is wrong between the columns and the patterns that are sought among them."""
    names: list[tuple[Steps, str]] = [(("predictors", n), name) for n, name in enumerate(said.predictors)]
    if said.target is not None:
        names.append((("target",), said.target))
    for steps, name in names:
        if name not in counted:
            yield steps, ("Patterns are sought among quasi-identifying and sensitive columns: "
                          f"{', '.join(map(repr, counted))}. {name!r} is neither.{_meant(name, counted)} "
                          "Change its role or the name.")
    if said.predictors and said.target is None:
        yield (), "Predictors explain a target, and none is named. Add it, such as target: income."
    if said.target in said.predictors:
        yield ("predictors",), (f"The target {said.target!r} cannot explain itself. Take it out of the "
                                "predictors.")


def _cross(one: Members, other: Members) -> bool:
    """Whether groups share some values and not others, as far as the words alone tell."""
    if one.listed and other.listed:
        left, right = set(one.listed), set(other.listed)
        return bool(left & right) and not (left <= right or right <= left)
    ends = [one.low, one.high, other.low, other.high]
    if not all(map(_is_number, ends)):
        return False
    low, high, other_low, other_high = map(float, ends)
    return low < other_low <= high < other_high or other_low < low <= other_high < high
