"""A hierarchy: levels of ever coarser partitions of one column's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.classes import Floats, Ints

ROOT = "*"
Label = str | None  # None is the missing value: one value of its own
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Hierarchy:
    """Nested partitions of a column's values, from the values themselves (level 0) to one root.

    `paths` has one row per value: its label at every level, `paths[i][0]` being the value. The
    missing value, where the column has it, is the row that starts with None; it keeps None up to
    the root, so it never meets a real value below `*`.
    """

    column: str
    paths: tuple[tuple[Label, ...], ...]

    @property
    def n_values(self) -> int:
        """How many values the hierarchy covers (D in the formulas, also those the table lacks)."""
        return len(self.paths)

    @property
    def n_levels(self) -> int:
        """Levels, the values themselves and the root included."""
        return len(self.paths[0])

    @cached_property
    def values(self) -> tuple[Label, ...]:
        """The values, in the order of their codes."""
        return tuple(path[0] for path in self.paths)

    @cached_property
    def code_of(self) -> Mapping[Label, int]:
        """Value to code."""
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def labels(self) -> tuple[tuple[Label, ...], ...]:
        """Per level: the distinct labels, in order of first appearance; a node is a position here."""
        return tuple(tuple(dict.fromkeys(path[level] for path in self.paths))
                     for level in range(self.n_levels))

    @cached_property
    def nodes(self) -> Codes:
        """`nodes[level, value code]`: the node above a value at a level."""
        positions = [{label: n for n, label in enumerate(level)} for level in self.labels]
        return np.array([[positions[level][path[level]] for path in self.paths]
                         for level in range(self.n_levels)], dtype=np.int32)

    @cached_property
    def leaves(self) -> tuple[Ints, ...]:
        """Per level: how many values stand under each node."""
        return tuple(np.bincount(row, minlength=len(names)).astype(np.int64)
                     for row, names in zip(self.nodes, self.labels, strict=True))

    def ncp(self, level: int) -> Floats:
        """Normalized certainty penalty of each node of a level: (leaves - 1) / (D - 1)."""
        return (self.leaves[level] - 1) / max(self.n_values - 1, 1)


def with_missing(paths: Sequence[Sequence[Label]], levels: int) -> tuple[tuple[Label, ...], ...]:
    """Add the missing value's own branch: None at every level below the root."""
    branch: tuple[Label, ...] = (None,) * (levels - 1) + (ROOT,)
    return (*(tuple(path) for path in paths), branch)
