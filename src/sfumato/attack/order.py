"""The released rows laid beside the private table's, place by place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato import table
from sfumato.attack.labels import Covers, read
from sfumato.attack.matching import covering
from sfumato.attack.view import Known, tree_over
from sfumato.classes import Bools, Ints
from sfumato.frequency import distinct
from sfumato.measure.evidence import Measure
from sfumato.measure.risk.order import Fits, unsorted
from sfumato.prepare import Coded, encode
from sfumato.recipe import Recipe

ROWS = 20_000  # compared, from the top of both


def order(release: Any, original: Any, recipe: Recipe, reading: dict[str, Any]) -> Measure:
    """Unsorted matching of a release and its table."""
    with table.open_table(original, **reading) as private, table.open_table(release, **reading) as opened:
        shared = [name for name in opened.table.columns if name in private.table.columns]
        people, whole = top(private.table, list(private.table.columns), recipe)
        rows, _ = top(opened.table, shared, recipe)
    covers = {name: covered(name, people[name], rows[name], recipe) for name in shared}
    kept = here(people, rows, covers, [name for name in recipe.named("quasi") if name in shared])
    n = min(len(kept), len(next(iter(rows.values())).codes) if rows else 0)
    return unsorted(fitting(people, rows, covers, n), orders(people, kept, whole) if n else {},
                    np.random.default_rng(recipe.seed or 0), n)


def top(opened: Any, names: list[str], recipe: Recipe) -> tuple[dict[str, Coded], bool]:
    """The first rows as they stand, column by column, and whether that is all of them."""
    fetched = table.fetch(opened.select(**{f"v{n}": opened[name] for n, name in enumerate(names)})
                          .limit(ROWS + 1))
    some = fetched.slice(0, ROWS)
    columns = [encode(column, recipe.missing) for column in some.columns]
    return dict(zip(names, columns, strict=True)), fetched.num_rows <= ROWS


def covered(name: str, people: Coded, rows: Coded, recipe: Recipe) -> Covers:
    """Which private values each released label may stand for; outside the quasi-identifiers, itself."""
    quasi = name in recipe.named("quasi")
    known = Known((name,), (people.values,), people.codes[:, None].astype(np.int32), None)
    if quasi:
        return read(rows.values, people.values, tree_over(name, known, recipe))
    code = {value: n for n, value in enumerate(people.values)}
    same = np.array([code.get(value, -1) for value in rows.values], dtype=np.int64)
    return Covers(same, np.full(len(same), -1, dtype=np.int64), np.zeros((0, len(code)), dtype=bool))


def here(people: Mapping[str, Coded], rows: Mapping[str, Coded], covers: Mapping[str, Covers],
         quasi: list[str]) -> Ints:
    """The people whom some released row could be, in the table's order: the others were left out."""
    n = len(next(iter(people.values())).codes)
    if not quasi:
        return np.arange(n)
    codes, labels = (np.stack([side[name].codes for name in quasi], axis=1) for side in (people, rows))
    of_person, first = distinct(codes, [len(people[name].values) for name in quasi])
    _, shown = distinct(labels, [len(rows[name].values) for name in quasi])
    found, _ = covering(codes[first].astype(np.int32), labels[shown].astype(np.int32),
                        [covers[name] for name in quasi])
    return np.flatnonzero(np.isin(of_person, found))


def fitting(people: Mapping[str, Coded], rows: Mapping[str, Coded], covers: Mapping[str, Covers],
            n: int) -> Fits:
    """Whether each released row could be that of the person in the same place."""
    def fits(order: Ints) -> Bools:
        found = np.ones(n, dtype=bool)
        for name, one in covers.items():
            value, label = people[name].codes[order[:n]], rows[name].codes[:n]
            stands = one.same[label] == value
            coarse = one.row[label] >= 0
            stands[coarse] |= one.several[one.row[label[coarse]], value[coarse]]
            found &= stands
        return found

    return fits


def orders(people: Mapping[str, Coded], kept: Ints, whole: bool) -> dict[str, Ints]:
    """The orders that somebody may know: the table's own; where all of it is read, by each of its columns."""
    found = {"the table's own": kept}
    if whole:
        found["the table's own, backward"] = kept[::-1]
        for name, column in people.items():
            rising = kept[np.argsort(column.codes[kept], kind="stable")]
            found |= {f"by {name}": rising, f"by {name}, falling": rising[::-1]}
    return found
