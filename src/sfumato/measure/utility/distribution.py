"""Each column's distribution, before and after, without showing what few records have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Histogram, Ints
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import ROOT, Hierarchy, Label
from sfumato.measure.evidence import ColumnPicture
from sfumato.measure.released import Released
from sfumato.measure.risk.columns import distinction, separation
from sfumato.measure.utility.loss import column_ncp
from sfumato.recoding import SUPPRESSED, Regrouping

TOP = 12  # labels drawn; the rest is folded into one
OTHER, MISSING = "(other)", "(missing)"

DEFINITIONS = {
    "before": "Share of the private table's records with each value or, where a column has more than "
              f"{TOP}, with each label of the finest level that has no more; without such a level, with the "
              f"most frequent values, all others together as {OTHER}. A value that fewer records have "
              "than the report may show is always among the others. If some records are suppressed, but "
              "fewer than that, they are left out here, so that nothing is learnt of them by comparison.",
    "after": f"Share of the release's records with each label, suppressed records as {ROOT}; where a column "
             f"has more than {TOP} labels, those that stand under a label drawn before are counted with it. "
             "For a sensitive column, share of the records that are kept.",
}


def pictures(frequency: FrequencySet, regrouping: Regrouping, released: Released,
             least: int, contributions: Sequence[float | None],
             of: FrequencySet | None = None) -> tuple[ColumnPicture, ...]:
    """One picture for each quasi-identifier and each sensitive column; the release may count by `of`."""
    after = (of or frequency).sensitive
    shown = shown_before(regrouping, released, least)
    shares = zip(contributions, column_ncp(frequency, regrouping), strict=True)
    return (*(_quasi(frequency, regrouping, released, n, least, shown, contribution, loss)
              for n, (contribution, loss) in enumerate(shares)),
            *(_sensitive(name, histogram, after[name], released, least, shown)
              for name, histogram in frequency.sensitive.items()))


def shown_before(regrouping: Regrouping, released: Released, least: int) -> Bools:
    """Which tuples the private distributions count: all, unless too few records are suppressed."""
    few = 0 < released.suppressed < least
    return regrouping.class_of != SUPPRESSED if few else np.ones(len(regrouping.class_of), dtype=bool)


def _quasi(frequency: FrequencySet, regrouping: Regrouping, released: Released, column: int, least: int,
           shown: Bools, contribution: float | None, loss: float | None) -> ColumnPicture:
    hierarchy, codes = frequency.hierarchies[column], frequency.codes[:, column]
    counts = _count(codes, frequency.counts, hierarchy.n_values)
    before = _count(codes[shown], frequency.counts[shown], hierarchy.n_values)
    after = _count(released.cells[:, column], released.sizes, len(released.labels[column]))
    levels = set(regrouping.levels[:, column].tolist())
    return ColumnPicture(
        hierarchy.column, "quasi", level=levels.pop() if len(levels) == 1 else None,
        levels=hierarchy.n_levels, loss=loss, contribution=contribution,
        distinction=distinction(counts), separation=separation(counts),
        before=fold(*drawable(hierarchy, before), least),
        after=fold(*gathered(hierarchy, (*released.labels[column], ROOT),
                             np.append(after, released.suppressed)), 1))


def drawable(hierarchy: Hierarchy, counts: Ints) -> tuple[Sequence[Label], Ints]:
    """Values with their counts, or what stands above them where there are too many to draw."""
    level = drawn_level(hierarchy)
    labels = hierarchy.labels[level]
    return labels, _count(hierarchy.nodes[level], counts, len(labels))


def drawn_level(hierarchy: Hierarchy) -> int:
    """The finest level with few enough labels to draw, or else that of the values."""
    return next((level for level, labels in enumerate(hierarchy.labels[:-1]) if len(labels) <= TOP), 0)


def gathered(hierarchy: Hierarchy, labels: Sequence[Label], counts: Ints) -> tuple[Sequence[Label], Ints]:
    """Released labels with their counts; too many are counted with what is drawn before above them."""
    level = drawn_level(hierarchy)
    if np.count_nonzero(counts) <= TOP or not level:
        return labels, counts
    above: dict[Label, set[Label]] = {}
    for path in hierarchy.paths:
        for label in path[: level + 1]:
            above.setdefault(label, set()).add(path[level])
    told = dict.fromkeys(hierarchy.labels[level], 0)
    for label, count in zip(labels, counts.tolist(), strict=True):
        name = next(iter(above[label])) if len(above.get(label, ())) == 1 else label
        told[name] = told.get(name, 0) + count
    return tuple(told), np.array(list(told.values()), dtype=np.int64)


def _sensitive(name: str, histogram: Histogram, shown_as: Histogram, released: Released, least: int,
               shown: Bools) -> ColumnPicture:
    counts = _values(histogram, np.ones(len(released.class_of), dtype=bool))
    before, after = _values(histogram, shown), _values(shown_as, released.class_of != SUPPRESSED)
    return ColumnPicture(
        name, "sensitive", level=None, levels=None, loss=None, contribution=None,
        distinction=distinction(counts), separation=separation(counts),
        before=fold(histogram.labels, before, least), after=fold(shown_as.labels, after, least))


def _values(histogram: Histogram, tuples: Bools) -> Ints:
    chosen = tuples[histogram.classes]
    return _count(histogram.values[chosen], histogram.counts[chosen], len(histogram.labels))


def _count(codes: npt.NDArray[np.integer], counts: Ints, length: int) -> Ints:
    return np.bincount(codes, weights=counts, minlength=length).astype(np.int64)


def fold(labels: Sequence[Label], counts: Ints, least: int) -> dict[str, float]:
    """Shares of the most frequent labels, in the order given; those of fewer than `least` are folded."""
    records = int(counts.sum())
    frequent = np.argsort(-counts, kind="stable")[:TOP]
    named = set(frequent[counts[frequent] >= max(least, 1)].tolist())
    shares: dict[str, float] = {}
    for n in sorted(named):
        label = labels[n]
        name = MISSING if label is None else label
        shares[name] = shares.get(name, 0.0) + int(counts[n]) / records
    rest = records - sum(int(counts[n]) for n in named)
    if rest:
        shares[OTHER] = shares.get(OTHER, 0.0) + rest / records
    return shares
