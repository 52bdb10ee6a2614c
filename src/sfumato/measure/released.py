"""The release as an onlooker sees it: classes are told apart by their labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.classes import Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Label
from sfumato.recoding import SUPPRESSED, Regrouping

SPAN = 2**62


@dataclass(frozen=True)
class Released:
    """The kept records of a release, grouped by their labels; suppressed records are counted apart."""

    class_of: Ints  # per tuple: its class, or SUPPRESSED
    sizes: Ints  # per class, at least 1
    cells: Ints  # [n_classes, n_quasi]: the label, as a position in `labels`
    labels: tuple[tuple[Label, ...], ...]  # per quasi-identifier
    suppressed: int  # records


def see(frequency: FrequencySet, regrouping: Regrouping) -> Released:
    """Merge the classes that no label tells apart, and drop those without records."""
    columns = [label_codes(frequency, regrouping, column) for column in range(frequency.n_quasi)]
    cells = np.array([codes for codes, _ in columns], dtype=np.int64)
    cells = cells.reshape(frequency.n_quasi, regrouping.n_classes).T
    keys = pack(cells, [len(labels) for _, labels in columns])
    kept = regrouping.class_of != SUPPRESSED
    used, first = np.unique(keys[regrouping.class_of[kept]], return_index=True)
    class_of = np.full(frequency.n_tuples, SUPPRESSED, dtype=np.int64)
    class_of[kept] = np.searchsorted(used, keys[regrouping.class_of[kept]])
    sizes = np.bincount(class_of[kept], weights=frequency.counts[kept], minlength=len(used))
    return Released(class_of, sizes.astype(np.int64), cells[regrouping.class_of[kept][first]],
                    tuple(labels for _, labels in columns), regrouping.suppressed(frequency))


def label_codes(frequency: FrequencySet, regrouping: Regrouping,
                column: int) -> tuple[Ints, tuple[Label, ...]]:
    """Per class: the position of its label among the column's distinct released labels."""
    labelling = regrouping.labelling(frequency, column)
    texts = labelling.texts
    ordered = (texts[n] for n in np.argsort(labelling.place, kind="stable"))
    code = {label: n for n, label in enumerate(dict.fromkeys(ordered))}
    return np.array([code[text] for text in texts], dtype=np.int64), tuple(code)


def pack(codes: npt.NDArray[np.integer], spans: Sequence[int]) -> Ints:
    """One number per row, equal exactly where the rows are equal."""
    keys, span = np.zeros(len(codes), dtype=np.int64), 1
    for column, width in zip(codes.T, spans, strict=True):
        if span * width > SPAN:
            found, keys = np.unique(keys, return_inverse=True)
            span = len(found)
        keys, span = keys * width + column, span * width
    return keys
