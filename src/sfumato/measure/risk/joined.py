"""What two releases of overlapping people tell together: linked by what both show, or subtracted.

Sweeney, L. (2002). k-anonymity: a model for protecting privacy, section 4: complementary release attack and
temporal attack; as in Tandon & Jain 2010, sections 2.7.2 and 2.7.3.

Of a person, each release leaves candidates: the records whose labels could be the person's. Let a(s) and
b(s) be how many of them have the sensitive value s in the later and in the earlier release.

- Somebody in both releases is, with one value, among a(s) records of the one and b(s) of the other. So at
  most Σ min(a(s), b(s)) people are left (linking).
- A newcomer, who is in the later release only, is not among those whom the earlier release held already:
  where an earlier class lies inside a later one, and touches no other, its records are taken away.

Linking is what `sfumato attack` composes probabilities for; here it is counted in people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.measure.evidence import Measure

CITATION = ("Sweeney 2002, k-anonymity: a model for protecting privacy, Int J Uncertainty, Fuzziness and "
            "Knowledge-Based Systems 10(5), 557-570")


@dataclass(frozen=True)
class Candidates:
    """Per kind of person and sensitive value, sorted: the records that could be the person's."""

    kind: Ints
    value: Ints
    records: Ints  # at least 1
    kinds: int
    values: int

    @property
    def crowd(self) -> Ints:
        """Per kind: all candidates."""
        return np.bincount(self.kind, weights=self.records, minlength=self.kinds).astype(np.int64)

    @property
    def different(self) -> Ints:
        """Per kind: how many values they have."""
        return np.bincount(self.kind, minlength=self.kinds)

    def linked(self, other: Candidates) -> Candidates:
        """Those that both releases leave: of every value the fewer."""
        mine, theirs = (one.kind * self.values + one.value for one in (self, other))
        shared, at, there = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        fewer = np.minimum(self.records[at], other.records[there])
        return Candidates(shared // self.values, shared % self.values, fewer, self.kinds, self.values)


def hit(together: Candidates, alone: tuple[Candidates, ...], least: int) -> Bools:
    """Per kind: fewer people than any release leaves by itself, or one value where each leaves more."""
    found = np.logical_and.reduce([one.crowd > 0 for one in (together, *alone)])
    certain = (together.different == 1) & np.logical_and.reduce([one.different > 1 for one in alone])
    return np.asarray(found & ((together.crowd < least) | certain))


def smallest(alone: tuple[Candidates, ...]) -> int:
    """The smallest crowd that either release leaves of anybody who is found in it."""
    return min((int(one.crowd[one.crowd > 0].min()) for one in alone if (one.crowd > 0).any()), default=1)


def complementary(column: str, hits: int, before: int, people: int, least: int) -> Measure:
    """Two releases of the same table, linked."""
    return Measure(
        f"complementary.{column}", f"Complementary release: {column}", hits, before, "lower", 0,
        people or None,
        f"Records hit. Both releases are of the same people. Somebody who links them by {column} is left "
        f"with fewer than {least:,} people, the fewest that either release leaves by itself, or with one "
        f"value of {column} where each release leaves several: of every value, no more candidates than the "
        "release that has fewer. Before: the same with the private table in the place of both.",
        CITATION)


def temporal(column: str, hits: int, before: int, people: int, least: int, newcomers: int) -> Measure:
    """A table that has grown between its releases, linked and subtracted."""
    return Measure(
        f"temporal.{column}", f"Temporal inference: {column}", hits, before, "lower", 0, people or None,
        f"Records hit. {newcomers:,} people joined between the releases. Of those who are in both, somebody "
        f"who links the releases by {column} is left with fewer than {least:,} people, the fewest that "
        f"either release leaves by itself, or with one value of {column} where each leaves several. Of those "
        "who joined, the same after taking away the records of earlier classes that lie inside the later "
        "class (that nobody left is supposed). Before: the same with the private tables in the place of the "
        "releases.", CITATION)
