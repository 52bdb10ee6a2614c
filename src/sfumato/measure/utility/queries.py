"""How well the release answers counting questions (Zhang et al. 2007)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Codes
from sfumato.measure.evidence import Measure, because
from sfumato.recoding import SUPPRESSED, Regrouping
from sfumato.slices.base import Labels, Slices

CITATION = ("Zhang, Koudas, Srivastava & Yu 2007, Aggregate query answering on anonymized tables, ICDE, "
            "116-125; questions as in Xiao & Tao 2006, Anatomy: simple and effective privacy preservation, "
            "VLDB, 139-150")
FEW = 100_000  # released cells for which a compiler does not pay
QUERIES, COLUMNS, SELECTIVITY, BOUND = 200, 5, 0.05, 0.001
EVENLY = "each label standing evenly for the values under it and a suppressed record for all values"
EXPECTED = ("as expected where within a bucket the column groups are independent, each label standing "
            "evenly for the values under it")
DEFINITION = (
    f"{QUERIES} random questions of the kind \"how many records have one of these values in these columns?\" "
    f"(1 to {COLUMNS} columns, a sensitive one among them or none, about {SELECTIVITY:.0%} of their "
    "combinations) are answered from the release, {how}. The error of a question is |answer - truth| / "
    f"max(truth, {BOUND:.1%} of the records); this is the ")
Answers = Callable[[list["Query"]], Floats]


@dataclass(frozen=True)
class Query:
    """How many records have, in each of these columns, one of these values?

    Columns are the quasi-identifiers, then the sensitive ones, of which a query asks for one at most.
    """

    wanted: dict[int, Bools]  # column -> per value code: is it asked for

    def split(self, n_quasi: int) -> tuple[dict[int, Bools], tuple[int, Bools] | None]:
        """What is asked of the quasi-identifiers, and of a sensitive column by its number among these."""
        quasi = {column: mask for column, mask in self.wanted.items() if column < n_quasi}
        asked = [(column - n_quasi, mask) for column, mask in self.wanted.items() if column >= n_quasi]
        return quasi, asked[0] if asked else None


def draw(frequency: FrequencySet, rng: np.random.Generator, *, queries: int = QUERIES,
         columns: int = COLUMNS, selectivity: float = SELECTIVITY) -> list[Query]:
    """Draw queries over 1 to `columns` columns, each asking for a random choice of the values that occur."""
    present = [np.unique(codes) for codes in frequency.codes.T]
    present += [np.unique(histogram.values) for histogram in frequency.sensitive.values()]
    return [_one(frequency, present, rng, columns, selectivity) for _ in range(queries)]


def _one(frequency: FrequencySet, present: list[Ints], rng: np.random.Generator, columns: int,
         selectivity: float) -> Query:
    n_quasi, n_sensitive = frequency.n_quasi, len(frequency.sensitive)
    spans = [*(h.n_values for h in frequency.hierarchies),
             *(len(h.labels) for h in frequency.sensitive.values())]
    candidates = [*range(n_quasi), *([n_quasi + int(rng.integers(n_sensitive))] if n_sensitive else [])]
    width = int(rng.integers(1, min(columns, len(candidates)) + 1))
    wanted: dict[int, Bools] = {}
    for column in sorted(rng.choice(candidates, size=width, replace=False).tolist()):
        values = present[column]
        size = int(np.ceil(len(values) * selectivity ** (1 / width)))
        mask = np.zeros(spans[column], dtype=bool)
        mask[rng.choice(values, size=size, replace=False)] = True
        wanted[column] = mask
    return Query(wanted)


def count(frequency: FrequencySet, queries: list[Query]) -> Ints:
    """The answers of the private table."""
    columns = [np.ascontiguousarray(codes, dtype=np.intp) for codes in frequency.codes.T]
    answers = np.empty(len(queries), dtype=np.int64)
    for n, query in enumerate(queries):
        quasi, asked = query.split(frequency.n_quasi)
        found = np.arange(frequency.n_tuples)
        for column, mask in quasi.items():
            found = found[mask[columns[column][found]]]
        answers[n] = having(frequency, asked)[found].sum()
    return answers


def having(frequency: FrequencySet, asked: tuple[int, Bools] | None) -> Ints:
    """Per tuple: the records that have one of the values asked for in a sensitive column."""
    if asked is None:
        return frequency.counts
    column, mask = asked
    histogram = list(frequency.sensitive.values())[column]
    weights = histogram.counts * mask[histogram.values]
    return np.bincount(histogram.classes, weights=weights, minlength=frequency.n_tuples).astype(np.int64)


def estimate(frequency: FrequencySet, regrouping: Regrouping, queries: list[Query]) -> Floats:
    """The answers of the release, each label standing evenly for all the values under it."""
    labels = [regrouping.labelling(frequency, column) for column in range(frequency.n_quasi)]
    leaves = [one.leaves(h.n_values) for one, h in zip(labels, frequency.hierarchies, strict=True)]
    counted, class_of = regrouping.of(frequency), regrouping.class_of
    kept = class_of != SUPPRESSED
    answers = np.empty(len(queries))
    for n, query in enumerate(queries):
        quasi, asked = query.split(frequency.n_quasi)
        records = having(counted, asked)
        held = np.bincount(class_of[kept], weights=records[kept], minlength=regrouping.n_classes)
        share = held.astype(np.float64)
        hidden = float(records[~kept].sum())
        for column, mask in quasi.items():
            share = share * (labels[column].under(mask) / leaves[column])
            hidden *= mask.mean()
        answers[n] = share.sum() + hidden
    return answers


def expected(frequency: FrequencySet, slices: Slices, queries: list[Query]) -> Floats:
    """The answers of a sliced release: in each bucket its records times the share of every column group."""
    groups = [np.array(group) for group in slices.members(frequency)]
    labels, spans = slices.codes, [*(len(Labels(h).names) for h in frequency.hierarchies),
                                   len(slices.rows(frequency).labels)]
    starts = np.cumsum([0, *spans])
    firsts = np.flatnonzero(np.diff(slices.bucket_of, prepend=-1, append=-1))
    answers = np.empty(len(queries))
    for n, query in enumerate(queries):
        share = np.ones(starts[-1])
        for column, mask in query.wanted.items():
            share[starts[column]: starts[column + 1]] = _under(frequency, column, mask)
        asked = [[j for j in group if j in query.wanted] for group in groups]
        asked = [group for group in asked if group]
        answers[n] = _summed(labels, firsts, share, starts, asked)
    return answers


def _under(frequency: FrequencySet, column: int, mask: Bools) -> Floats:
    """Per label: which share of the values under it is asked for."""
    if column == frequency.n_quasi:
        return mask.astype(np.float64)
    hierarchy = frequency.hierarchies[column]
    return np.concatenate([np.bincount(nodes, weights=mask) / leaves for nodes, leaves
                           in zip(hierarchy.nodes, hierarchy.leaves, strict=True)])


def _summed(labels: Codes, firsts: Ints, share: Floats, starts: Ints, asked: list[list[int]]) -> float:
    """Sum over buckets of records times the product, over the groups that are asked, of their mean shares."""
    columns = np.array([j for group in asked for j in group], dtype=np.int64)
    ends = np.cumsum([len(group) for group in asked])
    if labels.size > FEW:
        from sfumato.slices import kernels

        return float(kernels.expected(labels, firsts, share, starts, columns, ends))
    product = sizes = np.diff(firsts).astype(np.float64)
    for group in asked:
        held = np.prod([share[starts[j] + labels[:, j]] for j in group], axis=0)
        product = product * np.add.reduceat(held, firsts[:-1]) / sizes
    return float(product.sum())


def errors(frequency: FrequencySet, regrouping: Regrouping, rng: np.random.Generator,
           of: FrequencySet | None = None, scale: float = 1.0) -> tuple[Measure, Measure]:
    """Mean and median relative error over the drawn queries; the regrouping may count by `of`, where a record
    stands for `scale` of the table's."""
    def answers(drawn: list[Query]) -> Floats:
        asked = drawn if of is None else [translated(query, frequency, of) for query in drawn]
        return scale * estimate(of or frequency, regrouping, asked)

    return errors_of(frequency, answers, rng, EVENLY)


def translated(query: Query, frequency: FrequencySet, other: FrequencySet) -> Query:
    """The same question of other records, whose sensitive values may be others."""
    quasi, asked = query.split(frequency.n_quasi)
    if asked is None:
        return query
    column, mask = asked
    name, histogram = list(frequency.sensitive.items())[column]
    wanted = {label for label, hit in zip(histogram.labels, mask, strict=True) if hit}
    at = list(other.sensitive).index(name)
    hits = np.array([label in wanted for label in other.sensitive[name].labels], dtype=bool)
    return Query({**quasi, other.n_quasi + at: hits})


def errors_of(frequency: FrequencySet, answers: Answers, rng: np.random.Generator,
              how: str) -> tuple[Measure, Measure]:
    """Mean and median relative error of any release that answers queries."""
    definition = DEFINITION.replace("{how}", how)
    mean = median = None
    if frequency.n_records and frequency.n_quasi:
        queries = draw(frequency, rng)
        truth = count(frequency, queries)
        off = np.abs(answers(queries) - truth)
        relative = off / np.maximum(truth, BOUND * frequency.n_records)
        mean, median = float(relative.mean()), float(np.median(relative))
    return (
        Measure("query_error_mean", "Mean error of counts", mean, 0.0, "lower", 0, None,
                definition + "mean." + because(mean, "there is nothing to count"), CITATION),
        Measure("query_error_median", "Median error of counts", median, 0.0, "lower", 0, None,
                definition + "median." + because(median, "there is nothing to count"), CITATION))
