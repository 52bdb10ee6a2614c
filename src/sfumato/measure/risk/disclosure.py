"""What a class tells of its records' sensitive values: the attacks of the literature, counted in records.

| attack | a record is hit if, for somebody who finds its class |
| --- | --- |
| homogeneity | the class has one value |
| background knowledge | as many values can be ruled out as leave one |
| skewness | some value is much likelier in the class than in the whole table |
| similarity | the class's values mean about the same |
| positive disclosure | the record's own value is nearly certain: β(q, s) > 1 - δ |
| negative disclosure | a value that is not its own is nearly excluded: β(q, s) < ε |
| (ρ1, ρ2)-breach | belief in some value goes from below ρ1 to above ρ2, or the like downward |

As in Tandon & Jain 2010, sections 2.7, 2.8 and 2.10; the attacks are Machanavajjhala et al.'s (the first two,
positive and negative disclosure), Li et al.'s (skewness, similarity) and Evfimievski et al.'s (breach). The
prior belief α is a value's share in the whole private table, the posterior β its share in the class; all
inequalities are strict.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Floats, Histogram, Ints
from sfumato.errors import RequestError
from sfumato.frequency import FrequencySet, merge
from sfumato.hierarchy.core import ROOT, Hierarchy
from sfumato.measure.evidence import SUPPRESSED_GONE, SUPPRESSED_TOO, Measure, because
from sfumato.measure.released import Released
from sfumato.recoding import SUPPRESSED

EVEN = 1e-9  # what is nearer to a bound than this has not passed it
DIVERSITY = ("Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007, l-Diversity: privacy beyond "
             "k-anonymity, ACM TKDD 1(1), 3")
CLOSENESS = ("Li, Li & Venkatasubramanian 2007, t-Closeness: privacy beyond k-anonymity and l-diversity, "
             "ICDE, 106-115")
BREACH = ("Evfimievski, Gehrke & Srikant 2003, Limiting privacy breaches in privacy preserving data mining, "
          "PODS, 211-222")


@dataclass(frozen=True)
class Attacker:
    """What somebody is supposed to know and to call a success."""

    ruled_out: int = 1  # values that background knowledge excludes
    times: float = 2.0  # as likely as in the whole table: skewed
    within: float = 0.25  # of a numeric column's range: similar
    delta: float = 0.1
    epsilon: float = 0.05
    rho: tuple[float, float] = (0.2, 0.5)
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)  # of sensitive columns
    sees_suppressed: bool = True  # suppressed records are released, as a class of their own

    def __post_init__(self) -> None:
        low, high = self.rho
        fits = {"ruled_out from 0 on": self.ruled_out >= 0, "times from 1 on": self.times >= 1,
                "within from 0 to 1": 0 <= self.within <= 1, "delta from 0 to 1": 0 <= self.delta <= 1,
                "epsilon from 0 to 1": 0 <= self.epsilon <= 1,
                "rho as 0 <= ρ1 < ρ2 <= 1": 0 <= low < high <= 1}
        if wrong := [name for name, holds in fits.items() if not holds]:
            raise RequestError(f"No such attacker: {self.ruled_out=}, {self.times=}, {self.within=}, "
                               f"{self.delta=}, {self.epsilon=}, {self.rho=}.".replace("self.", ""),
                               f"Say {', '.join(wrong)}.")


@dataclass(frozen=True)
class Beliefs:
    """One sensitive column over the classes that an attacker tells apart."""

    column: str
    histogram: Histogram  # as it is shown: false records among the others, hidden cells as one more value
    real: Histogram  # the same without false records, which nobody can hit
    whole: Ints  # per value: records of the private table
    hidden: int = -1  # the value that hidden cells show

    @cached_property
    def sizes(self) -> Ints:
        """Records shown per class."""
        return np.bincount(self.histogram.classes, weights=self.histogram.counts).astype(np.int64)

    @cached_property
    def shares(self) -> Floats:
        """Per class and value that occurs there: the posterior belief."""
        return np.asarray(self.histogram.counts / self.sizes[self.histogram.classes])

    @cached_property
    def told(self) -> Bools:
        """Per class and value that occurs there: is it a value, and not a hidden cell?"""
        return np.asarray(self.histogram.values != self.hidden)

    @cached_property
    def whole_share(self) -> Floats:
        """Per value: the prior belief; hidden cells have none."""
        share = np.zeros(len(self.histogram.labels))
        share[:len(self.whole)] = self.whole / max(int(self.whole.sum()), 1)
        return share

    @cached_property
    def prior(self) -> Floats:
        """Per class and value that occurs there: the prior belief."""
        return self.whole_share[self.histogram.values]

    @cached_property
    def veiled(self) -> Floats:
        """Per class: the share of hidden cells, which may be any value."""
        return self.per_class(self.shares * ~self.told)

    @cached_property
    def different(self) -> Ints:
        """Per class: how many values it shows."""
        return self.per_class(self.told).astype(np.int64)

    def per_class(self, weights: npt.ArrayLike) -> Floats:
        """Summed over the values of each class."""
        found = np.bincount(self.histogram.classes, weights=np.asarray(weights, dtype=np.float64))
        return np.asarray(found, dtype=np.float64)

    def people(self, classes: Bools) -> int:
        """Real records in the chosen classes."""
        return int(self.real.counts[classes[self.real.classes]].sum())

    def people_with(self, cells: Bools) -> int:
        """Real records with the chosen values in their classes."""
        width = len(self.histogram.labels)
        chosen = (self.histogram.classes * width + self.histogram.values)[cells]
        return int(self.real.counts[np.isin(self.real.classes * width + self.real.values, chosen)].sum())


Hits = Callable[[Beliefs, Attacker], "int | None"]


def homogeneity(beliefs: Beliefs, attacker: Attacker) -> int:
    """Records of classes with a single value."""
    return beliefs.people((beliefs.different == 1) & (beliefs.veiled == 0))


def background(beliefs: Beliefs, attacker: Attacker) -> int:
    """Records of classes with so few values that one is left when the others can be ruled out."""
    few = beliefs.different <= attacker.ruled_out + 1
    return beliefs.people(few & (beliefs.veiled == 0))


def skewness(beliefs: Beliefs, attacker: Attacker) -> int:
    """Records of classes that make some value much likelier than the whole table does."""
    likelier = beliefs.told & (beliefs.shares > attacker.times * beliefs.prior + EVEN)
    return beliefs.people(beliefs.per_class(likelier) > 0)


def similarity(beliefs: Beliefs, attacker: Attacker) -> int | None:
    """Records of classes whose values stand under one node below the root, or near each other as numbers."""
    if beliefs.column in attacker.trees:
        together = under_one_node(beliefs, attacker.trees[beliefs.column])
    elif (numbers := as_numbers(beliefs)) is not None:
        together = within(beliefs, numbers, attacker.within)
    else:
        return None
    return beliefs.people(together & (beliefs.veiled == 0))


def under_one_node(beliefs: Beliefs, tree: Hierarchy) -> Bools:
    """Per class: do all values share a node of the level below the root?"""
    level = max(tree.n_levels - 2, 0)
    node = np.array([tree.nodes[level][tree.code_of[label]] if n != beliefs.hidden else -1
                     for n, label in enumerate(beliefs.histogram.labels)], dtype=np.int64)
    nodes = node[beliefs.histogram.values]
    pairs = np.unique(beliefs.histogram.classes * (tree.n_values + 1) + nodes + 1)
    return np.asarray(np.bincount(pairs // (tree.n_values + 1), minlength=len(beliefs.sizes)) == 1)


def as_numbers(beliefs: Beliefs) -> Floats | None:
    """The values as numbers, a missing or hidden one as none; None where there are others."""
    try:
        numbers = np.array([np.nan if label is None or n == beliefs.hidden else float(label)
                            for n, label in enumerate(beliefs.histogram.labels)])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).any() and not np.isinf(numbers).any() else None


def within(beliefs: Beliefs, numbers: Floats, share: float) -> Bools:
    """Per class: do all values lie within a share of the column's range? A missing value lies nowhere."""
    classes, values = beliefs.histogram.classes, numbers[beliefs.histogram.values]
    low, high = np.full(len(beliefs.sizes), np.inf), np.full(len(beliefs.sizes), -np.inf)
    present = numbers[:len(beliefs.whole)][beliefs.whole > 0]
    reach = share * float(np.nanmax(present) - np.nanmin(present)) if np.isfinite(present).any() else 0.0
    with np.errstate(invalid="ignore"):  # a missing value makes both undefined, an empty class endless
        np.minimum.at(low, classes, values)
        np.maximum.at(high, classes, values)
        near = high - low <= reach + EVEN * max(1.0, reach)
    return np.asarray(near | (beliefs.different == 1))


def positive(beliefs: Beliefs, attacker: Attacker) -> int:
    """Records whose own value is nearly certain."""
    return beliefs.people_with(beliefs.told & (beliefs.shares > 1 - attacker.delta + EVEN))


def negative(beliefs: Beliefs, attacker: Attacker) -> int:
    """Records of which a value that they do not have is nearly excluded."""
    classes, bound = beliefs.histogram.classes, attacker.epsilon - EVEN
    unlikely = beliefs.told & (beliefs.shares + beliefs.veiled[classes] < bound)
    absent = (beliefs.whole > 0).sum() - beliefs.per_class(beliefs.told)
    excluded = np.where(beliefs.veiled < bound, absent, 0) + beliefs.per_class(unlikely)
    return beliefs.people_with(excluded[classes] - unlikely > 0)


def breach(beliefs: Beliefs, attacker: Attacker) -> int:
    """Records of classes in which belief in some value moves too far, upward or downward."""
    low, high = attacker.rho
    upward = beliefs.told & (beliefs.prior < low - EVEN) & (beliefs.shares > high + EVEN)
    hit = beliefs.per_class(upward) > 0
    for value in np.flatnonzero(beliefs.whole_share > 1 - low + EVEN):
        belief = beliefs.per_class(beliefs.shares * (beliefs.histogram.values == value)) + beliefs.veiled
        hit = hit | (belief < 1 - high - EVEN)
    return beliefs.people(hit)


class Attack(NamedTuple):
    """One attack, and what it says of itself."""

    name: str
    title: str
    hits: Hits
    definition: str  # about {column}, with the attacker's {numbers}
    citation: str


FINDS = "Somebody who finds a person's class "
ATTACKS = (
    Attack("homogeneity", "Homogeneity", homogeneity,
           FINDS + "knows the person's {column}: all records of the class have the same.", DIVERSITY),
    Attack("background", "Background knowledge", background,
           FINDS + "and can rule out {ruled_out} of the values of {column} may be left with a single one: "
           "the class has at most {few}.", DIVERSITY),
    Attack("skewness", "Skewness", skewness,
           FINDS + "holds some value of {column} for more than {times:g} times as likely as it is in the "
           "whole table.", CLOSENESS),
    Attack("similarity", "Similarity", similarity,
           FINDS + "knows about what the person's {column} is: {alike}.", CLOSENESS),
    Attack("positive", "Positive disclosure", positive,
           FINDS + "is right to believe in the person's own {column} by more than 1 - δ = {sure:g}: β(q, s) "
           "> 1 - δ, the share of the value in the class.", DIVERSITY),
    Attack("negative", "Negative disclosure", negative,
           FINDS + "is right to exclude some value of {column} that the person does not have: β(q, s) < ε = "
           "{epsilon:g}. Where a column has many values, a small class always lacks some.", DIVERSITY),
    Attack("breach", "(ρ1, ρ2)-breach", breach,
           FINDS + "changes a belief in some value of {column} from below ρ1 = {low:g} to above ρ2 = "
           "{high:g}, or from above 1 - ρ1 to below 1 - ρ2; before, the belief is the value's share in the "
           "whole table.", BREACH),
)


def attacks(frequency: FrequencySet, seen: FrequencySet, released: Released, attacker: Attacker,
            real: FrequencySet | None = None, hidden: Container[str] = ()) -> tuple[Measure, ...]:
    """Every attack on every sensitive column: records hit in the private table and in the release.

    `seen` counts as an onlooker does, `real` leaves false records out; `hidden` are columns with cells that
    show `*`.
    """
    class_of = released.class_of
    if attacker.sees_suppressed:
        class_of = np.where(class_of == SUPPRESSED, len(released.sizes), class_of)
    found = []
    for name, histogram in frequency.sensitive.items():
        before = Beliefs(name, histogram, histogram, histogram.whole)
        shown, own = (merge(one.sensitive[name], class_of) for one in (seen, real or seen))
        after = Beliefs(name, shown, own, histogram.whole,
                        shown.labels.index(ROOT) if name in hidden else -1)
        found += [measured(attack, before, after, attacker, frequency.n_records) for attack in ATTACKS]
    return tuple(found)


def measured(attack: Attack, before: Beliefs, after: Beliefs, attacker: Attacker, records: int) -> Measure:
    """One attack on one column."""
    hit, at_first = ((attack.hits(one, attacker) if records else None) for one in (after, before))
    why = ("there is no record" if not records else "the column has no hierarchy in the recipe, and its "
           "values are no numbers")
    return Measure(f"{attack.name}.{before.column}", f"{attack.title}: {before.column}", hit, at_first,
                   "lower", 0, records or None,
                   "Records hit. " + attack.definition.format(**words(before.column, attacker))
                   + (SUPPRESSED_TOO if attacker.sees_suppressed else SUPPRESSED_GONE) + because(hit, why),
                   attack.citation)


def words(column: str, attacker: Attacker) -> dict[str, object]:
    """What the definitions say in numbers."""
    tree = attacker.trees.get(column)
    alike = (f"the values of the class lie within {attacker.within:.0%} of the column's range" if tree is None
             else "its values stand under one node of the column's hierarchy, just below the root")
    return {"column": column, "ruled_out": attacker.ruled_out, "few": attacker.ruled_out + 1,
            "times": attacker.times, "alike": alike, "sure": 1 - attacker.delta, "epsilon": attacker.epsilon,
            "low": attacker.rho[0], "high": attacker.rho[1]}
