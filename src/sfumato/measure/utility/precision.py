"""Precision and data loss over all cells of the file (Brown 2019, after Sweeney 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.costs.precision import measured_loss, measured_precision
from sfumato.frequency import FrequencySet
from sfumato.measure.evidence import Measure, because
from sfumato.recoding import SUPPRESSED, Regrouping

CITATION = "Brown 2019, Adaptable privacy-preserving model, dissertation, Nova Southeastern University"
CELLS = ("over all columns of the released file: a generalized cell counts a half, a suppressed one nothing, "
         "a false record nothing")


@dataclass(frozen=True)
class Changed:
    """How many cells of the records that are kept are not what they were."""

    kept: int  # records
    generalized: int
    suppressed: int


def changed(frequency: FrequencySet, regrouping: Regrouping) -> Changed:
    """Count the cells: a label that is not the value is a generalized one, unless it is the root."""
    kept = regrouping.class_of != SUPPRESSED
    counts, class_of = frequency.counts[kept], regrouping.class_of[kept]
    halves = wholes = 0
    for j, hierarchy in enumerate(frequency.hierarchies):
        texts = regrouping.labelling(frequency, j).texts
        number = {text: n for n, text in enumerate(dict.fromkeys((*hierarchy.values, *texts)))}
        values = np.array([number[value] for value in hierarchy.values])[frequency.codes[kept, j]]
        labels = np.array([number[text] for text in texts], dtype=np.int64)[class_of]
        gone = labels == number.get(hierarchy.labels[-1][0], -1)
        wholes += _records(counts, (values != labels) & gone)
        halves += _records(counts, (values != labels) & ~gone)
    wholes += sum(_records(counts, hidden[kept]) for hidden in regrouping.hidden.values())
    return Changed(int(counts.sum()), halves, wholes)


def _records(counts: Ints, where: Bools) -> int:
    return int(counts[where].sum())


def of_file(frequency: FrequencySet, regrouping: Regrouping, columns: int) -> tuple[Measure, ...]:
    """Precision, loss and the pairs that remain, measured on the processed table."""
    cells, n_records = changed(frequency, regrouping), frequency.n_records
    suppressed, precision, loss = n_records - cells.kept, None, None
    if cells.kept:
        precision = measured_precision(cells.kept, regrouping.n_added, cells.generalized, cells.suppressed,
                                       columns) / 100
        loss = measured_loss(n_records, suppressed, cells.generalized + cells.suppressed, columns) / 100
    pairs = regrouping.n_classes / frequency.n_tuples if frequency.n_tuples else None
    return (
        Measure("file_precision", "Precision", precision, 1.0, "higher", 0, 1,
                f"Value of the release's cells per cell, {CELLS}."
                + because(precision, "no record is kept"), CITATION),
        Measure("file_loss", "Data loss", loss, 0.0, "lower", 0, 1,
                "Cells of suppressed records, and every changed cell of the others as a whole one, per cell "
                "of the file." + because(loss, "no record is kept"), CITATION),
        Measure("pairs_remaining", "Pairs that remain", pairs, 1.0, "higher", 0, 1,
                "Combinations of quasi-identifier labels in the release per combination of values in the "
                "private table.", CITATION))
