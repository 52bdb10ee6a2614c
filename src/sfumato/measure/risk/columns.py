"""Which quasi-identifiers make records stand out (Motwani & Xu 2007)."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.frequency import FrequencySet
from sfumato.measure.evidence import Measure, because
from sfumato.measure.released import Released, pack
from sfumato.measure.risk.profile import KEPT_ONLY

CITATION = "Motwani & Xu 2007, Efficient algorithms for masking and finding quasi-identifiers, Proc VLDB Conf"

DEFINITIONS = {
    "contribution": "Share of the private table's unique records that would no longer be unique if this "
                    "column alone were left out; the shares of several columns need not add up to one.",
    "distinction": "Different values of the column per record of the private table, values / records: 1 "
                   "would name every record (α-distinction).",
    "separation": "Share of all pairs of records in the private table that differ in this column: "
                  "1 would tell every two records apart.",
}


def contributions(frequency: FrequencySet) -> list[float | None]:
    """Per quasi-identifier: the share of unique records that it alone makes unique."""
    unique = frequency.counts == 1
    if not unique.any():
        return [None] * frequency.n_quasi
    spans = [hierarchy.n_values for hierarchy in frequency.hierarchies]
    shares: list[float | None] = []
    for column in range(frequency.n_quasi):
        others = np.delete(np.arange(frequency.n_quasi), column)
        keys = pack(frequency.codes[:, others], [spans[n] for n in others])
        shares.append(1 - float((_alone(keys) & unique).sum() / unique.sum()))
    return shares


def _alone(keys: Ints) -> Bools:
    """Which keys occur once."""
    order = np.argsort(keys)
    differs = np.concatenate(([True], np.diff(keys[order]) != 0, [True]))
    alone = np.empty(len(keys), dtype=bool)
    alone[order] = differs[1:] & differs[:-1]
    return alone


def distinction(sizes: Ints) -> float | None:
    """Distinct values per record."""
    records = int(sizes.sum())
    return int((sizes > 0).sum()) / records if records else None


def separation(sizes: Ints) -> float | None:
    """Share of the pairs of records that differ; not defined for fewer than two records."""
    records = int(sizes.sum())
    if records < 2:
        return None
    together = float((sizes.astype(np.float64) * (sizes - 1)).sum())
    return 1 - together / (records * (records - 1))


def separations(frequency: FrequencySet, released: Released) -> tuple[Measure, Measure]:
    """How well all quasi-identifiers together tell records apart, before and after."""
    before, after = frequency.counts, released.sizes
    distinct, separate = distinction(after), separation(after)
    return (
        Measure("distinction", "Distinction", distinct, distinction(before), "lower", 0, 1,
                "Different combinations of quasi-identifiers per record, combinations / records: 1 means "
                "that every record stands alone (α-distinction)." + KEPT_ONLY
                + because(distinct, "no record is kept"), CITATION),
        Measure("separation", "Separation", separate, separation(before), "lower", 0, 1,
                "Share of all pairs of records that differ in at least one quasi-identifier: 1 means that "
                "every two records can be told apart." + KEPT_ONLY
                + because(separate, "fewer than two records are kept"), CITATION))
