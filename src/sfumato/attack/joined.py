"""Two releases read against the people of their tables: who is left of a crowd once both are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato import table
from sfumato.attack.matching import covering, entries
from sfumato.attack.run import Scene, scene
from sfumato.attack.view import Known, View, known_people
from sfumato.classes import Bools, Ints
from sfumato.errors import RequestError
from sfumato.frequency import distinct
from sfumato.hierarchy.core import Label
from sfumato.measure.evidence import Measure
from sfumato.measure.risk import joined as risk
from sfumato.measure.risk.joined import Candidates
from sfumato.recipe import Recipe

AT_ONCE = 20_000_000  # pairs of classes compared at a time


def joined(release: Any, earlier: Any, original: Any, earlier_original: Any, recipe: Recipe,
           reading: dict[str, Any]) -> tuple[Measure, ...]:
    """Per sensitive column: complementary release, or temporal inference where the table has grown."""
    found = []
    for column in recipe.named("sensitive"):
        with scene([release, earlier], original, recipe, recipe.named("quasi"), column, recipe.missing,
                   reading) as seen:
            found.append(measured(seen, earlier_original, reading))
    if not found:
        raise RequestError("Releases are joined by a sensitive column, and none is named.",
                           "Name it: --sensitive COLUMN, or in the recipe.")
    return tuple(found)


def measured(seen: Scene, earlier_original: Any, reading: dict[str, Any]) -> Measure:
    """One sensitive column."""
    later, earlier = seen.views
    if later.sliced or earlier.sliced:
        raise RequestError("The rows of a sliced release are nobody's, so releases cannot be joined by them.",
                           "See what both tell together: sfumato attack.")
    people, truth = seen.known, own_values(seen)
    labels = tuple(dict.fromkeys((*later.sensitive_labels, *earlier.sensitive_labels, *truth)))
    kind_of, first = distinct(people.codes, [len(values) for values in people.values])
    alone = tuple(candidates(view, people, first, labels) for view in (later, earlier))
    least, together = risk.smallest(alone), alone[0].linked(alone[1])
    stays = risk.hit(together, alone, least)[kind_of]
    private = itself(kind_of, len(first), truth, labels)
    exposed = bare(private, least)[kind_of]
    if earlier_original is None:
        return risk.complementary(seen.sensitive, int(stays.sum()), int(exposed.sum()), len(people), least)
    joined_since = newcomers(people, earlier_people(seen, earlier_original, reading))
    left = candidates(subtracted(later, earlier), people, first, labels)
    comes = risk.hit(left, (alone[0],), least)[kind_of]
    own = [truth[n] for n in np.flatnonzero(joined_since)]
    fresh = itself(kind_of[joined_since], len(first), own, labels)
    before = np.where(joined_since, bare(fresh, least)[kind_of], exposed)
    hits = int(np.where(joined_since, comes, stays).sum())
    return risk.temporal(seen.sensitive, hits, int(before.sum()), len(people), least, int(joined_since.sum()))


def own_values(seen: Scene) -> tuple[Label, ...]:
    """The people's sensitive values, by which records are told apart."""
    if seen.known.truth is None:
        raise RequestError(f"The original has no column {seen.sensitive!r}, by which releases are joined.",
                           "Give the private table itself.")
    return seen.known.truth


def bare(private: Candidates, least: int) -> Bools:
    """Per kind: hit in the private table itself, by its size or by its one value."""
    return np.asarray((private.crowd > 0) & ((private.crowd < least) | (private.different == 1)))


def candidates(view: View, people: Known, first: Ints, labels: Sequence[Label]) -> Candidates:
    """The records of a release that could be those of each kind of person."""
    columns = [people.names.index(name) for name in view.names]
    row_of, shown = distinct(view.codes, [len(names) for names in view.labels])
    value, label = covering(people.codes[first][:, columns], view.codes[shown],
                            [view.covers[name] for name in view.names])
    kind, _, secret, records = entries(view, value, label, row_of, last=True)
    number = {text: n for n, text in enumerate(labels)}
    place = np.array([number[text] for text in view.sensitive_labels], dtype=np.int64)
    return sorted_out(kind, place[secret], records, len(first), len(labels))


def itself(kind_of: Ints, kinds: int, truth: Sequence[Label], labels: Sequence[Label]) -> Candidates:
    """The private table read like a release: everybody whose quasi-identifiers are the same."""
    number = {text: n for n, text in enumerate(labels)}
    values = np.array([number[text] for text in truth], dtype=np.int64)
    return sorted_out(kind_of, values, np.ones(len(values), dtype=np.int64), kinds, len(labels))


def sorted_out(kind: Ints, value: Ints, records: Ints, kinds: int, values: int) -> Candidates:
    """Candidates in their order, those of one kind and value together."""
    found, position = np.unique(kind * values + value, return_inverse=True)
    sums = np.bincount(position, weights=records, minlength=len(found)).astype(np.int64)
    some = sums > 0
    return Candidates(found[some] // values, found[some] % values, sums[some], kinds, values)


def subtracted(later: View, earlier: View) -> View:
    """The later release without the records that the earlier one held already, where that can be told."""
    number = {text: n for n, text in enumerate(later.sensitive_labels)}
    class_of, first = distinct(later.codes, [len(names) for names in later.labels])
    of_earlier, shown = distinct(earlier.codes, [len(names) for names in earlier.labels])
    home = homes(earlier, shown, later, first)
    width = len(number)
    gone = np.zeros(len(first) * width, dtype=np.int64)
    for row, secret in enumerate(earlier.sensitive):
        text = earlier.sensitive_labels[secret]
        if home[of_earlier[row]] >= 0 and text in number:
            gone[home[of_earlier[row]] * width + number[text]] += earlier.counts[row]
    keys = class_of * width + later.sensitive
    merged, at = np.unique(keys, return_index=True)
    left = np.zeros(len(keys), dtype=np.int64)  # on the first row of a class and value; the others hold none
    left[at] = np.maximum(np.bincount(np.searchsorted(merged, keys), weights=later.counts) - gone[merged], 0)
    return replace(later, counts=left)


def homes(earlier: View, shown: Ints, later: View, first: Ints) -> Ints:
    """Per earlier class: the one later class that it lies inside and that alone it touches, else -1."""
    shared = [name for name in later.names if name in earlier.names]
    if set(later.names) - set(shared):  # what a column says that the earlier release lacks cannot be told
        return np.full(len(shown), -1, dtype=np.int64)
    tables = [compared(earlier, later, name) for name in shared]
    found = np.full(len(shown), -1, dtype=np.int64)
    for rows in batches(len(shown), max(AT_ONCE // max(len(first), 1), 1)):
        cells = [(earlier.codes[shown[rows], earlier.names.index(name)],
                  later.codes[first, later.names.index(name)]) for name in shared]
        inside, touches = (np.logical_and.reduce([one[which][np.ix_(*at)] for one, at
                                                  in zip(tables, cells, strict=True)]) for which in (0, 1))
        alone = touches.sum(axis=1) == 1
        found[rows] = np.where(alone & (inside & touches).any(axis=1), touches.argmax(axis=1), -1)
    return found


def compared(earlier: View, later: View, name: str) -> tuple[Bools, Bools]:
    """Of one column, per earlier and later label: is it inside, do they touch, among the known values."""
    sides = [np.array([view.covers[name].of(n) for n in range(len(view.covers[name].same))])
             for view in (earlier, later)]
    touching = (sides[0].astype(np.int64) @ sides[1].T.astype(np.int64))
    return touching == sides[0].sum(axis=1)[:, None], touching > 0


def batches(n: int, size: int) -> Iterator[slice]:
    """Slices of at most so many."""
    return (slice(start, start + size) for start in range(0, n, size))


def earlier_people(seen: Scene, original: Any, reading: dict[str, Any]) -> Known:
    """The people of the earlier table."""
    with table.open_table(original, **reading) as opened:
        table.require_columns(opened, (*seen.known.names, seen.sensitive))
        return known_people(opened, seen.known.names, seen.sensitive, seen.missing)


def newcomers(people: Known, before: Known) -> Bools:
    """Who was not there before, told by quasi-identifiers and sensitive value; of equals the last ones."""
    were = Counter(told(before))
    fresh = np.zeros(len(people), dtype=bool)
    for n, one in enumerate(told(people)):
        fresh[n] = were[one] == 0
        were[one] -= were[one] > 0
    return fresh


def told(people: Known) -> Iterator[tuple[Label, ...]]:
    """Each person's known values and sensitive value."""
    assert people.truth is not None
    for codes, own in zip(people.codes.tolist(), people.truth, strict=True):
        yield (*(values[code] for values, code in zip(people.values, codes, strict=True)), own)
