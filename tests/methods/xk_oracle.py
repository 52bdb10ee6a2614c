"""The data processing program of Brown's dissertation in plain loops over rows: what `xk` must do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Labels = tuple[Any, ...]


@dataclass
class Row:
    """One record on its way."""

    values: Labels  # of the quasi-identifiers
    sensitive: dict[str, Any]
    levels: list[int]
    out: bool = False
    hidden: set[str] = field(default_factory=set)


@dataclass
class Answer:
    """What a processed table has."""

    pairs: Counter[Labels]  # real records
    shown: dict[Labels, Counter[Any]]  # sensitive values of real records, * where hidden
    added: dict[Labels, int]
    suppressed: int
    generalized_cells: int
    suppressed_cells: int


def process(values: Sequence[Labels], sensitive: Mapping[str, Sequence[Any]],
            paths: Sequence[Mapping[Any, Labels]], k: int, xk: int, diversity: Mapping[str, int],
            generalize: Mapping[int, int], cells: Sequence[int], cells_only: bool, gradually: bool,
            order: Sequence[int]) -> Answer:
    """All seven steps; `paths` hold each value's labels from itself to the root."""
    rows = [Row(value, {name: column[n] for name, column in sensitive.items()}, [0] * len(value))
            for n, value in enumerate(values)]

    def label(row: Row, j: int) -> Any:
        return paths[j][row.values[j]][row.levels[j]]

    def pair(row: Row, columns: Sequence[int]) -> Labels:
        return tuple(label(row, j) for j in columns)

    every = range(len(paths))
    for name, d in diversity.items():  # step 2
        found: dict[Labels, set[Any]] = {}
        for row in rows:
            found.setdefault(row.values, set()).add(row.sensitive[name])
        for row in rows:
            if len(found[row.values]) < d and cells_only:
                row.hidden.add(name)
            elif len(found[row.values]) < d:
                row.out = True

    rounds = [order[: n + 1] for n in range(len(order))] if gradually else [order]
    for introduced in rounds:  # steps 3 and 4
        new = introduced[-1:] if gradually else introduced
        tops = {j: len(next(iter(paths[j].values()))) - 1 for j in cells}
        for levels in (generalize, tops):
            sizes = Counter(pair(row, introduced) for row in rows if not row.out)
            small = [row for row in rows if not row.out and sizes[pair(row, introduced)] < xk]
            for row in small:
                for j in new:
                    if j in levels:
                        row.levels[j] = max(row.levels[j], levels[j])

    sizes = Counter(pair(row, every) for row in rows if not row.out)
    for row in rows:  # what is too small goes, and what would show nothing
        top = all(row.levels[j] == len(paths[j][row.values[j]]) - 1 for j in every)
        if not row.out and (sizes[pair(row, every)] < xk or top):
            row.out = True
    kept = [row for row in rows if not row.out]
    pairs = Counter(pair(row, every) for row in kept)
    shown: dict[Labels, Counter[Any]] = {}
    for row in kept:
        told = tuple("*" if name in row.hidden else row.sensitive[name] for name in sensitive)
        shown.setdefault(pair(row, every), Counter())[told] += 1
    changed = [(j, row) for row in kept for j in every if label(row, j) != row.values[j]]
    stars = sum(row.levels[j] == len(paths[j][row.values[j]]) - 1 for j, row in changed)
    return Answer(pairs, shown, {p: k - n for p, n in pairs.items() if n < k}, len(rows) - len(kept),
                  len(changed) - stars, stars + sum(len(row.hidden) for row in kept))
