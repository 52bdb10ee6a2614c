"""The evidence about a sliced release: matching probabilities, and what a reader of the file gets wrong."""

from __future__ import annotations

import numpy as np

from sfumato.classes import Ints
from sfumato.frequency import FrequencySet
from sfumato.measure.collect import DEFINITIONS as OF_CLASSES
from sfumato.measure.evidence import Evidence, Measure
from sfumato.measure.released import Released
from sfumato.measure.risk import columns, profile
from sfumato.measure.utility import correlation, distribution, loss, queries
from sfumato.measure.utility.patterns import lost, patterns
from sfumato.recoding import Regrouping
from sfumato.research.said import Research
from sfumato.slices.base import Labels, Slices
from sfumato.slices.grouping import coded
from sfumato.slices.matching import match

TARGETS = 500  # people whose matching probabilities are computed, drawn where there are more
SLICING = ("Li, Li, Zhang & Molloy 2012, Slicing: a new approach for privacy preserving data publishing, "
           "IEEE TKDE 24(3), 561-574")
DISTORTION = "BinJubier 2024, Enhanced slicing-based anonymization approach, thesis; Eq 2.3"
ROWS = ("rows as they stand in the file, which are nobody's: values of different column groups meet within "
        "their bucket only")
DEFINITIONS = {**OF_CLASSES,
               "at_risk": "Share of records whose bucket (before: whose combination of quasi-identifiers) is "
                          "so small that the chance of picking the right one in it, one over its size, is "
                          "above the threshold.",
               "sizes": "Share of records in a bucket (before: with a combination of quasi-identifiers) of "
                        "that many records.",
               "after": "Share of the release's records with each label."}


def collect(frequency: FrequencySet, slices: Slices, *, least: int, rng: np.random.Generator,
            research: Research | None = None) -> Evidence:
    """Measure risk and utility; no value that fewer than `least` records of the table have is shown."""
    shadow, labels = slices.as_table(frequency)
    released = seen(shadow, labels)
    correlations = correlation.correlate(frequency, released, shadow)
    found = None
    if research is not None and research.target is not None:
        found = patterns(frequency, labels, research.target, research.predictors, few=least, of=shadow,
                         rows=ROWS)
    return Evidence(
        risk_before=profile.profile(frequency.counts, suppressed=0),
        risk_after=profile.profile(slices.sizes, suppressed=0),
        risk=(*probabilities(frequency, slices, rng), invented(frequency, slices), shown(frequency, slices)),
        utility=(*loss.losses(shadow, labels), distortion(frequency, slices),
                 correlation.change(correlations), *query_errors(frequency, slices, rng),
                 *([lost(found)] if found else ())),
        columns=distribution.pictures(shadow, labels, released, least, columns.contributions(frequency)),
        correlations=correlations,
        definitions=DEFINITIONS,
        patterns=found)


def seen(shadow: FrequencySet, regrouping: Regrouping) -> Released:
    """The released rows as an onlooker sees them, every one of them a class."""
    cells, labels = np.empty_like(shadow.codes, dtype=np.int64), []
    for j, hierarchy in enumerate(shadow.hierarchies):
        one = Labels(hierarchy)
        codes, cells[:, j] = np.unique(one.starts[regrouping.levels[:, j]] + regrouping.nodes[:, j],
                                       return_inverse=True)
        texts = [one.names[code] for code in codes]
        number = {text: n for n, text in enumerate(dict.fromkeys(texts))}
        cells[:, j] = np.array([number[text] for text in texts])[cells[:, j]]
        labels.append(tuple(number))
    return Released(regrouping.class_of, shadow.counts, cells, tuple(labels), 0)


def probabilities(frequency: FrequencySet, slices: Slices, rng: np.random.Generator) -> tuple[Measure, ...]:
    """p(t, s) of the people of the table, by an attacker who knows all of their quasi-identifiers."""
    rows = slices.rows(frequency)
    drawn = targets(rows.counts, rng)
    tuples, at = np.unique(rows.classes[drawn], return_inverse=True)
    found = match(slices, frequency, tuples)
    known = match_of_table(frequency, slices, tuples)
    people = "" if len(drawn) == len(rows.counts) else f" Of {len(drawn):,} people drawn at random."
    weights = np.ones(len(drawn)) if people else rows.counts[drawn].astype(float)

    def mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return float(np.average(values, weights=weights))

    return (
        Measure("matching_probability", "Highest matching probability", float(found.p[at].max()),
                float(known[at].max()), "lower", 0, 1,
                "The highest probability that the release gives any sensitive value of any person, for "
                "somebody who knows all of the person's quasi-identifiers: p(t, s), the mean over matching "
                "buckets of the value's share there." + people, SLICING),
        Measure("matching_probability_true", "Mean probability of the true value",
                mean(found.p[at, rows.values[drawn]]), mean(known[at, rows.values[drawn]]), "lower", 0, 1,
                "The probability that the release gives a person's own sensitive value, on average." + people,
                SLICING),
        Measure("matching_buckets", "Buckets that match a person", mean(found.buckets[at].astype(float)),
                None, "higher", 0, None,
                "In how many buckets all of a person's values occur, on average; 1 says which bucket the "
                "person is in." + people, SLICING))


def targets(counts: Ints, rng: np.random.Generator) -> Ints:
    """The distinct rows to look at: all, or those of people drawn at random."""
    if len(counts) <= TARGETS:
        return np.arange(len(counts))
    drawn = np.sort(rng.choice(int(counts.sum()), TARGETS, replace=False))
    return np.searchsorted(np.cumsum(counts), drawn, side="right")


def match_of_table(frequency: FrequencySet, slices: Slices,
                   tuples: Ints) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The share of every sensitive value among the records of each tuple, in the private table."""
    rows = slices.rows(frequency)
    shares = np.zeros((len(tuples), len(rows.labels)))
    wanted = np.flatnonzero(np.isin(rows.classes, tuples))
    at = np.searchsorted(tuples, rows.classes[wanted])
    shares[at, rows.values[wanted]] = rows.counts[wanted] / frequency.counts[tuples][at]
    return shares


def invented(frequency: FrequencySet, slices: Slices) -> Measure:
    """How many of the released rows are nobody's."""
    rows = slices.rows(frequency)
    real = np.column_stack([slices.bucket_of, frequency.codes[rows.classes[slices.source]],
                            rows.values[slices.source]])
    shown = np.column_stack([slices.bucket_of, slices.codes])
    keys, _ = coded(list(np.concatenate([real, shown]).T))
    share = 1 - float(np.isin(keys[len(real):], keys[: len(real)]).mean())
    return Measure("invented_rows", "Rows that nobody of the bucket has", share, 0.0, "higher", 0, 1,
                   "Share of the released rows whose combination of values no record of the bucket had: the "
                   "more, the less a row says that such a person is in the table.", SLICING)


def query_errors(frequency: FrequencySet, slices: Slices, rng: np.random.Generator) -> tuple[Measure, ...]:
    """Counting questions, answered under the release's own model."""
    return queries.errors_of(frequency, lambda drawn: queries.expected(frequency, slices, drawn), rng,
                             queries.EXPECTED)


def distortion(frequency: FrequencySet, slices: Slices) -> Measure:
    """The distortion ratio of the cells; values that were swapped count nothing."""
    lost = 0.0
    for j, hierarchy in enumerate(frequency.hierarchies):
        coarser = slices.codes[:, j] >= hierarchy.n_values
        leaves = Labels(hierarchy).leaves[slices.codes[coarser, j]]
        lost += float(leaves.sum()) / hierarchy.n_values
    return loss.distorted(lost / (len(slices.codes) * slices.codes.shape[1]))


def shown(frequency: FrequencySet, slices: Slices) -> Measure:
    """How many released rows have the quasi-identifiers of some record, each record being used once."""
    own = slices.codes[:, :-1]
    both, _ = coded(list(np.concatenate([frequency.codes, own]).T.astype(np.int64)))
    known, seen = both[: frequency.n_tuples], both[frequency.n_tuples:]
    width = int(both.max()) + 1
    had = np.bincount(known, weights=frequency.counts, minlength=width)
    return loss.as_they_were(float(np.minimum(had, np.bincount(seen, minlength=width)).sum()) / len(own))
