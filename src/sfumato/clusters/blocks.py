"""One line for methods that form groups: the table, or blocks of it; groups; repair; labels.

Methods whose time grows with the square of the records take a table of more than `block` records in blocks:
the relaxed Mondrian cut divides it until no part has more. Every block keeps the whole promise by itself.
The number of blocks is reported (`blocks` in the manifest). """

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.clusters.axes import Axis, places
from sfumato.clusters.boxes import Labels
from sfumato.clusters.cuts import Cutting, Judge, elements
from sfumato.clusters.labels import Elements, recoding, starred
from sfumato.clusters.refusal import require_feasible
from sfumato.clusters.repair import repaired
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.search import Clock, Progress

ROOM = 20  # smallest classes that a block has room for, whatever its size
Group = Callable[[Elements, np.random.Generator], Elements]


def clustered(problem: Any, name: str, axes: Sequence[Axis], block: int, group: Group,
              rng: np.random.Generator) -> Regrouping:
    """Every block grouped, repaired and labelled."""
    require_feasible(problem, name)
    parts, facts = blocks(problem, axes, block, rng)
    grouped = list(_grouped(problem, parts, group, rng))
    if len(grouped) < len(parts):  # time is up: each block that is left is one class
        facts["stopped"] = f"{len(parts) - len(grouped)} blocks were still to be grouped"
    grouped += parts[len(grouped):]
    made = _released(problem, axes, grouped, problem.affordable, facts)
    if made.suppressed(problem.frequency) and starred(made, problem.frequency):
        return _released(problem, axes, grouped, 0, facts)  # a class that looks like the suppressed records
    return made


def blocks(problem: Any, axes: Sequence[Axis], block: int,
           rng: np.random.Generator) -> tuple[list[Elements], dict[str, Any]]:
    """The table's cells in an order of chance, in blocks of about `block` records at most; what was done."""
    frequency = problem.frequency
    pieces = elements(frequency, problem.criteria, True, rng)
    most = max(block, ROOM * problem.least)
    whole = replace(pieces, class_of=np.zeros(len(pieces.counts), dtype=np.int64))
    if frequency.n_records <= most:
        return [whole], {}
    half = KAnonymity(k=max(most // 2, 2))
    judge = Judge(frequency, (half, *problem.criteria))
    found = Cutting(frequency, axes, judge, pieces, problem.weights, True).run(Clock(), None)
    order = np.argsort(found.class_of, kind="stable")
    ends = np.cumsum(np.bincount(found.class_of))[:-1]
    parts = [_taken(found, members) for members in np.split(order, ends)]
    sizes = [int(part.counts.sum()) for part in parts]
    told = {"count": len(parts), "smallest": min(sizes), "largest": max(sizes)}
    return parts, {"blocks": told} if len(parts) > 1 else {}


def _taken(found: Elements, members: Ints) -> Elements:
    """Some elements, as one group."""
    cells = None if found.cell_of is None else found.cell_of[members]
    return Elements(found.tuple_of[members], found.counts[members], np.zeros(len(members), np.int64), cells)


def _grouped(problem: Any, parts: Sequence[Elements], group: Group,
             rng: np.random.Generator) -> Iterator[Elements]:
    """The blocks in groups, one after the other, as long as there is time."""
    clock = problem.clock
    for n, part in enumerate(parts):
        if clock.over and n:
            return
        found = None
        try:
            found = group(part, rng)
            if problem.watch:
                problem.watch(Progress(n + 1, len(parts) - n - 1, np.inf, 0.0))
        except KeyboardInterrupt:
            if not clock.interruptible:
                raise
            clock.interrupted = True
        if found is None:
            return
        yield found


def _released(problem: Any, axes: Sequence[Axis], grouped: Sequence[Elements], affordable: int,
              facts: dict[str, Any]) -> Regrouping:
    """The groups of all blocks, those that fail merged or suppressed, with their labels."""
    frequency, judge = problem.frequency, Judge(problem.frequency, problem.criteria)
    labels, at = Labels(axes, problem.weights), places(axes, frequency)
    settled, start = [], 0
    for part in grouped:
        share = int(affordable * int(part.counts.sum()) // frequency.n_records)
        one = repaired(judge, labels, at[part.tuple_of], part, share)
        numbers = np.where(one.class_of == SUPPRESSED, SUPPRESSED, one.class_of + start)
        settled.append(replace(one, class_of=numbers))
        start += int(one.class_of.max()) + 1
    return recoding(frequency, axes, joined(settled), problem.weights, affordable, facts)


def joined(parts: Sequence[Elements]) -> Elements:
    """Elements of several blocks as one."""
    cells = [part.cell_of for part in parts if part.cell_of is not None]
    return Elements(np.concatenate([part.tuple_of for part in parts]),
                    np.concatenate([part.counts for part in parts]),
                    np.concatenate([part.class_of for part in parts]),
                    np.concatenate(cells) if cells else None)


def records(part: Elements) -> Ints:
    """The element that each record of a block is of, element by element."""
    return np.repeat(np.arange(len(part.counts)), part.counts)


def counted(part: Elements, element_of: Ints, group_of: Ints) -> Elements:
    """Groups of records as elements: those of one element and group are one."""
    width = int(group_of.max()) + 1
    keys, counts = np.unique(element_of * width + group_of, return_counts=True)
    source = keys // width
    cells = None if part.cell_of is None else part.cell_of[source]
    return Elements(part.tuple_of[source], counts.astype(np.int64), keys % width, cells)
