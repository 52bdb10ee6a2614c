"""The evidence about a drawn release: what it says of the table's people, and how far its counts are off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.classes import Bools, Floats, Histogram, Ints
from sfumato.draws.base import Drawn
from sfumato.frequency import FrequencySet
from sfumato.measure.collect import DEFINITIONS
from sfumato.measure.evidence import ColumnPicture, Evidence, Measure
from sfumato.measure.released import Released, see
from sfumato.measure.risk import columns, profile
from sfumato.measure.utility import correlation, distribution, queries
from sfumato.measure.utility.patterns import lost, patterns
from sfumato.research.said import Research

ROWS = "rows as they stand in the file, drawn from counts and nobody's"
TARGETS = 500  # people looked at, drawn where there are more
SOURCE = "Ganta, Kasiviswanathan & Smith 2008, Composition attacks and auxiliary information, KDD, 265-273"
NCP = "Xu, Wang, Pei, Wang, Shi & Fu 2006, Utility-based anonymization using local recoding, KDD, 785-790"


def collect(frequency: FrequencySet, drawn: Drawn, *, least: int, rng: np.random.Generator,
            research: Research | None = None) -> Evidence:
    """Measure risk and utility; no value that fewer than `least` records of the table have is shown."""
    shadow = drawn.shadow
    released = see(shadow, drawn.labels)
    correlations = correlation.correlate(frequency, released, shadow)
    losses = hidden(frequency, drawn)
    found = None
    if research is not None and research.target is not None:
        found = patterns(frequency, drawn.labels, research.target, research.predictors, few=least,
                         of=in_terms_of(frequency, drawn), rows=ROWS, rate=drawn.rate)
    return Evidence(
        risk_before=profile.profile(frequency.counts, suppressed=0),
        risk_after=profile.profile(released.sizes, suppressed=0),
        risk=told(frequency, drawn, rng),
        utility=(Measure("mean_ncp", "Mean certainty penalty", float(np.mean(losses)), 0.0, "lower", 0, 1,
                         "How much of a cell the labels hide, on average over quasi-identifiers and rows: "
                         "(values under the label - 1) / (values of the column - 1).", NCP),
                 correlation.change(correlations), *errors(frequency, drawn, rng),
                 *([lost(found)] if found else ())),
        columns=pictures(frequency, drawn, released, losses, least),
        correlations=correlations,
        definitions=DEFINITIONS,
        patterns=found)


def in_terms_of(frequency: FrequencySet, drawn: Drawn) -> FrequencySet:
    """The rows with the table's codes of sensitive values; values that the table has not are left out."""
    rows, cells = frequency.sensitive[drawn.sensitive], drawn.cells
    place = {label: n for n, label in enumerate(rows.labels)}
    code = np.array([place.get(label, -1) for label in cells.labels], dtype=np.int64)[cells.values]
    known = code >= 0
    order = np.flatnonzero(known)[np.lexsort((code[known], cells.classes[known]))]
    histogram = Histogram(cells.classes[order], code[order], cells.counts[order], rows.labels, rows.whole)
    return replace(drawn.shadow, sensitive={drawn.sensitive: histogram}, joint=None)


def hidden(frequency: FrequencySet, drawn: Drawn) -> list[float]:
    """Per quasi-identifier: the mean certainty penalty of the rows' labels."""
    found, sizes = [], drawn.shadow.counts
    for j, hierarchy in enumerate(frequency.hierarchies):
        leaves = drawn.labels.labelling(drawn.shadow, j).leaves(hierarchy.n_values)
        penalty = (leaves - 1) / max(int(leaves.max()) - 1, hierarchy.n_values - 1, 1)
        found.append(float(np.average(penalty[drawn.labels.class_of], weights=sizes)))
    return found


def errors(frequency: FrequencySet, drawn: Drawn, rng: np.random.Generator) -> tuple[Measure, ...]:
    """Errors of counts, each row standing for 1 / rate records; and as they stand in the file."""
    state = rng.bit_generator.state
    found = queries.errors(frequency, drawn.labels, rng, drawn.shadow, 1 / drawn.rate)
    if drawn.rate == 1:
        return found
    rng.bit_generator.state = state
    mean, _ = queries.errors(frequency, drawn.labels, rng, drawn.shadow)
    scaled = f" Each row was counted as {1 / drawn.rate:.4g} records, since records were sampled."
    return (*(replace(one, definition=one.definition + scaled) for one in found),
            replace(mean, name="query_error_as_drawn", title="Mean error of counts, rows as they stand"))


def told(frequency: FrequencySet, drawn: Drawn, rng: np.random.Generator) -> tuple[Measure, ...]:
    """What somebody who knows a person's quasi-identifiers reads off the rows whose labels fit."""
    rows = frequency.sensitive[drawn.sensitive]
    few = len(rows.counts) <= TARGETS
    chosen = np.arange(len(rows.counts)) if few else np.sort(np.searchsorted(
        np.cumsum(rows.counts), rng.choice(int(rows.counts.sum()), TARGETS, replace=False), side="right"))
    weights = rows.counts[chosen].astype(float) if few else np.ones(len(chosen))
    shares = said(frequency, drawn, rows.classes[chosen])
    place = {label: n for n, label in enumerate(drawn.cells.labels)}
    own = np.array([place.get(rows.labels[value], -1) for value in rows.values[chosen]])
    true = np.where(own >= 0, shares[np.arange(len(chosen)), own], 0.0)
    before = rows.counts[chosen] / frequency.counts[rows.classes[chosen]]
    people = "" if few else f" Of {TARGETS} people drawn at random."
    none = shares.sum(axis=1) == 0

    def mean(values: Floats | Bools) -> float:
        return float(np.average(values, weights=weights))

    return (
        Measure("told_probability", "Highest share of any sensitive value", float(shares.max(initial=0.0)),
                float(before.max()), "lower", 0, 1,
                "Among the rows whose labels fit a person, the largest share that one sensitive value has, "
                "for the worst person. With noise, what is read there may be wrong." + people, SOURCE),
        Measure("told_probability_true", "Mean share of the true value", mean(true), mean(before), "lower", 0,
                1, "Among the rows whose labels fit a person, the share of the person's own sensitive value, "
                "on average; 0 where no row fits." + people, SOURCE),
        Measure("not_covered", "People whom no row fits", mean(none), 0.0, "higher", 0, 1,
                "Share of the table's people for whom no row of the release has fitting labels." + people,
                SOURCE))


def said(frequency: FrequencySet, drawn: Drawn, tuples: Ints) -> Floats:
    """[target, value]: the value's share of the rows whose labels cover the target's values."""
    shadow, cells = drawn.shadow, drawn.cells
    table = np.zeros((shadow.n_tuples, len(cells.labels)))
    table[cells.classes, cells.values] = cells.counts
    fits = np.ones((len(tuples), shadow.n_tuples), dtype=bool)
    everywhere = np.arange(shadow.n_tuples)
    for j in range(frequency.n_quasi):
        codes, at = np.unique(frequency.codes[tuples, j], return_inverse=True)
        fits &= drawn.covers(j, codes, everywhere)[at]
    counts = np.stack([table[row].sum(axis=0) for row in fits])
    sums = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0))


def pictures(frequency: FrequencySet, drawn: Drawn, released: Released, losses: list[float],
             least: int) -> tuple[ColumnPicture, ...]:
    """Each column's distribution in the private table and in the release."""
    found = []
    contributions = columns.contributions(frequency)
    for j, hierarchy in enumerate(frequency.hierarchies):
        counts = frequency.marginals[j]
        after = np.bincount(released.cells[:, j], weights=released.sizes, minlength=len(released.labels[j]))
        found.append(ColumnPicture(
            hierarchy.column, "quasi", None, hierarchy.n_levels, losses[j], contributions[j],
            columns.distinction(counts), columns.separation(counts),
            distribution.fold(*distribution.drawable(hierarchy, counts), least),
            distribution.fold(*distribution.gathered(hierarchy, released.labels[j], after.astype(np.int64)),
                              1)))
    rows, cells = frequency.sensitive[drawn.sensitive], drawn.cells
    counts = np.bincount(cells.values, weights=cells.counts, minlength=len(cells.labels)).astype(np.int64)
    found.append(ColumnPicture(
        drawn.sensitive, "sensitive", None, None, None, None, columns.distinction(rows.whole),
        columns.separation(rows.whole), distribution.fold(rows.labels, rows.whole, least),
        distribution.fold(cells.labels, counts, least)))
    return tuple(found)
