"""The Adult table as a frequency set, with the reference hierarchies and one sensitive column."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np
from tests.conftest import SHARED

from sfumato.classes import Histogram
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


@cache
def adult(columns: tuple[str, ...], sensitive: str) -> FrequencySet:
    folder = SHARED / "data" / "adult"
    with open(folder / "adult-9.csv", newline="") as file:
        records = list(csv.DictReader(file, delimiter=";"))
    hierarchies = []
    for column in columns:
        with open(folder / "hierarchies" / f"adult_hierarchy_{column}.csv", newline="") as file:
            hierarchies.append(Hierarchy(column, tuple(map(tuple, csv.reader(file, delimiter=";")))))
    codes = np.array([[h.code_of[record[h.column]] for h in hierarchies] for record in records], np.int32)
    tuples, tuple_of, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    labels = sorted({record[sensitive] for record in records})
    values = np.array([labels.index(record[sensitive]) for record in records])
    keys, cells = np.unique(tuple_of.ravel() * len(labels) + values, return_counts=True)
    histogram = Histogram(keys // len(labels), keys % len(labels), cells.astype(np.int64), tuple(labels),
                          np.bincount(values).astype(np.int64))
    return FrequencySet(tuple(hierarchies), tuples, counts.astype(np.int64), {sensitive: histogram})
