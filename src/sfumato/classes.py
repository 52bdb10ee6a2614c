"""What a criterion sees of a release: the sizes of its classes and their sensitive histograms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Histogram:
    """How often each value of one sensitive column occurs in each class, as sorted triples.

    Values are positions in `labels`, which stand in their natural order (numbers ascending, else
    text ascending, missing last as None). `whole` is the distribution over all records of the
    table, suppressed ones included.
    """

    classes: Ints  # per triple: the class, ascending
    values: Ints  # per triple: the value, ascending within a class, each at most once
    counts: Ints  # per triple: records, at least 1
    labels: tuple[str | None, ...]
    whole: Ints  # per value: records in the whole table

    @cached_property
    def whole_share(self) -> Floats:
        """The whole table's distribution, summing to one."""
        return self.whole / max(int(self.whole.sum()), 1)


@dataclass(frozen=True)
class ClassStats:
    """The classes of a release: sizes, and one histogram for each sensitive column."""

    sizes: Ints
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.sizes)
