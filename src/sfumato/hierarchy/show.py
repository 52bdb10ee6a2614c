"""A hierarchy on the terminal: its levels, and its families from the root down."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.hierarchy.core import Hierarchy, Label
from sfumato.hierarchy.domain import counted

MISSING = "(missing)"
VALUES = 6  # of a family on one line


def summary(hierarchy: Hierarchy) -> list[str]:
    """One line for each level: how many labels it has, and the first few."""
    return [f"level {level}: {counted(len(labels), 'label')}  {', '.join(shortened(labels, 4))}"
            for level, labels in enumerate(hierarchy.labels)]


def outline(hierarchy: Hierarchy, most: int = 6) -> list[str]:
    """The tree from the root: at most so many members of a family, half as many in each family below
    it (two at least); values share a line."""
    top = hierarchy.n_levels - 1
    return [line for root in range(len(hierarchy.labels[top])) for line in family(hierarchy, top, root, most)]


def family(hierarchy: Hierarchy, level: int, node: int, most: int) -> Iterator[str]:
    """A label and, drawn under it, what it holds."""
    name = hierarchy.labels[level][node]
    below = members(hierarchy, level, node)
    while level > 1 and len(below) == 1:  # a level that changes nothing here
        level, node = level - 1, below[0]
        below = members(hierarchy, level, node)
    labels = [hierarchy.labels[level - 1][member] for member in below]
    if labels == [name]:
        yield spelled(name)
        return
    yield f"{spelled(name)} ({int(hierarchy.leaves[level][node]):,})"
    if level == 1:
        yield "└── " + ", ".join(shortened(labels, VALUES))
        return
    hidden = len(below) - most
    fewer = max(2, most // 2)
    shown = [list(family(hierarchy, level - 1, member, fewer)) for member in below[:most]]
    shown += [[f"… {hidden:,} more"]] if hidden > 0 else []
    for place, lines in enumerate(shown):
        first, rest = ("└── ", "    ") if place == len(shown) - 1 else ("├── ", "│   ")
        yield first + lines[0]
        yield from (rest + line for line in lines[1:])


def members(hierarchy: Hierarchy, level: int, node: int) -> list[int]:
    """The nodes one level below that stand under a node, in order of appearance."""
    below = hierarchy.nodes[level - 1][hierarchy.nodes[level] == node]
    return [int(member) for member in np.unique(below)]


def shortened(labels: tuple[Label, ...] | list[Label], most: int) -> list[str]:
    """The first labels, and how many more there are."""
    shown = [spelled(label) for label in labels[:most]]
    return [*shown, f"… {len(labels) - most:,} more"] if len(labels) > most else shown


def spelled(label: Label) -> str:
    """A label on one line."""
    return MISSING if label is None else label.replace("\n", "⏎")
