"""What a method answers: how each tuple is to be released."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.classes import ClassStats, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes, Label

SUPPRESSED = -1


@dataclass(frozen=True)
class Regrouping:
    """Every tuple joins a class whose labels are nodes of the hierarchies, or is suppressed."""

    class_of: Ints  # per tuple: its class, or SUPPRESSED
    levels: Codes  # [n_classes, n_quasi]: the level of each label
    nodes: Codes  # [n_classes, n_quasi]: the node at that level
    notes: dict[str, Any] = field(default_factory=dict)  # what the method reports of its search

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.levels)

    def stats(self, frequency: FrequencySet) -> ClassStats:
        """Sizes and histograms of the classes."""
        return frequency.regroup(self.class_of, self.n_classes)

    def sizes(self, frequency: FrequencySet) -> Ints:
        """Records per class."""
        kept = self.class_of != SUPPRESSED
        sizes = np.bincount(self.class_of[kept], weights=frequency.counts[kept], minlength=self.n_classes)
        return sizes.astype(np.int64)

    def labels(self, frequency: FrequencySet, column: int) -> list[Label]:
        """Per class: its label in one quasi-identifier."""
        names = frequency.hierarchies[column].labels
        pairs = zip(self.levels[:, column], self.nodes[:, column], strict=True)
        return [names[level][node] for level, node in pairs]

    def suppressed(self, frequency: FrequencySet) -> int:
        """How many records are suppressed."""
        return int(frequency.counts[self.class_of == SUPPRESSED].sum())
