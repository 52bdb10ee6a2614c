"""How well the release answers counting questions (Zhang et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.frequency import FrequencySet
from sfumato.measure.evidence import Measure, because
from sfumato.recoding import Regrouping

CITATION = ("Zhang, Koudas, Srivastava & Yu 2007, Aggregate query answering on anonymized tables, ICDE, "
            "116-125; questions as in Xiao & Tao 2006, Anatomy: simple and effective privacy preservation, "
            "VLDB, 139-150")
QUERIES, COLUMNS, SELECTIVITY, BOUND = 200, 4, 0.05, 0.001
DEFINITION = (
    f"{QUERIES} random questions of the kind \"how many records have one of these values in these columns?\" "
    f"(1 to {COLUMNS} quasi-identifiers, about {SELECTIVITY:.0%} of their combinations) are answered from "
    "the release, each label standing evenly for the values under it and a suppressed record for all values. "
    f"The error of a question is |answer - truth| / max(truth, {BOUND:.1%} of the records); this is the ")


@dataclass(frozen=True)
class Query:
    """How many records have, in each of these quasi-identifiers, one of these values?"""

    wanted: dict[int, Bools]  # column -> per value code: is it asked for


def draw(frequency: FrequencySet, rng: np.random.Generator, *, queries: int = QUERIES,
         columns: int = COLUMNS, selectivity: float = SELECTIVITY) -> list[Query]:
    """Draw queries over 1 to `columns` columns, each asking for a random choice of the values that occur."""
    present = [np.unique(codes) for codes in frequency.codes.T]
    return [_one(frequency, present, rng, columns, selectivity) for _ in range(queries)]


def _one(frequency: FrequencySet, present: list[Ints], rng: np.random.Generator, columns: int,
         selectivity: float) -> Query:
    width = int(rng.integers(1, min(columns, frequency.n_quasi) + 1))
    wanted: dict[int, Bools] = {}
    for column in sorted(rng.choice(frequency.n_quasi, size=width, replace=False).tolist()):
        values = present[column]
        size = int(np.ceil(len(values) * selectivity ** (1 / width)))
        mask = np.zeros(frequency.hierarchies[column].n_values, dtype=bool)
        mask[rng.choice(values, size=size, replace=False)] = True
        wanted[column] = mask
    return Query(wanted)


def count(frequency: FrequencySet, queries: list[Query]) -> Ints:
    """The answers of the private table."""
    columns = [np.ascontiguousarray(codes, dtype=np.intp) for codes in frequency.codes.T]
    answers = np.empty(len(queries), dtype=np.int64)
    for n, query in enumerate(queries):
        (first, mask), *others = query.wanted.items()
        found = np.flatnonzero(mask[columns[first]])
        for column, mask in others:
            found = found[mask[columns[column][found]]]
        answers[n] = frequency.counts[found].sum()
    return answers


def estimate(frequency: FrequencySet, regrouping: Regrouping, queries: list[Query]) -> Floats:
    """The answers of the release, each label standing evenly for all the values under it."""
    labels = [regrouping.labelling(frequency, column) for column in range(frequency.n_quasi)]
    leaves = [one.leaves(h.n_values) for one, h in zip(labels, frequency.hierarchies, strict=True)]
    sizes = regrouping.sizes(frequency).astype(np.float64)
    suppressed = regrouping.suppressed(frequency)
    answers = np.empty(len(queries))
    for n, query in enumerate(queries):
        share, hidden = sizes, float(suppressed)
        for column, mask in query.wanted.items():
            share = share * (labels[column].under(mask) / leaves[column])
            hidden *= mask.mean()
        answers[n] = share.sum() + hidden
    return answers


def errors(frequency: FrequencySet, regrouping: Regrouping, rng: np.random.Generator,
           of: FrequencySet | None = None, scale: float = 1.0) -> tuple[Measure, Measure]:
    """Mean and median relative error over the drawn queries; the regrouping may count by `of`, where a record
    stands for `scale` of the table's."""
    mean = median = None
    if frequency.n_records and frequency.n_quasi:
        queries = draw(frequency, rng)
        truth = count(frequency, queries)
        off = np.abs(scale * estimate(of or frequency, regrouping, queries) - truth)
        relative = off / np.maximum(truth, BOUND * frequency.n_records)
        mean, median = float(relative.mean()), float(np.median(relative))
    return (
        Measure("query_error_mean", "Mean error of counts", mean, 0.0, "lower", 0, None,
                DEFINITION + "mean." + because(mean, "there is nothing to count"), CITATION),
        Measure("query_error_median", "Median error of counts", median, 0.0, "lower", 0, None,
                DEFINITION + "median." + because(median, "there is nothing to count"), CITATION))
