"""Does the pattern survive? A tree for a target column on the private table and on the release, compared.

Morton et al. compare such trees by eye (Figures 6 to 9). Here a rule of one tree is a set of values in
each column, so it can be put to the private table too, whichever tree it comes from: two rules are as
alike as the people they pick out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.frequency import FrequencySet, distinct
from sfumato.hierarchy.core import Label
from sfumato.measure.evidence import Fate, Measure, Patterns, Rule, Step
from sfumato.measure.utility.tree import MOST, Node, Predictor, Table, grow
from sfumato.measure.utility.wording import Values, classes_of
from sfumato.recoding import SUPPRESSED, Labelling, Regrouping, Spans

CITATION = ("Morton, Mahoui, Gibson & Yechuri, An enhanced utility-driven data anonymization method, "
            "Figures 6 to 9; trees as in Breiman, Friedman, Olshen & Stone "
            "1984, Classification and regression trees")
TARGETS = 10  # classes of the target
SHARE = 0.01  # of the records: the least that a rule is about
ALIKE = 0.5  # above it a rule is found again
OTHERS = " or not told"
DEFINITION = (
    f"A tree of at most {MOST} rules for the target, by recursive partitioning (each split the one with the "
    "largest G²; none that gains less than its price under Schwarz' criterion, or leaves fewer than {least} "
    "records), on the private table and on the release, whose labels stand for all the values under them: a "
    "record meets a condition if its label says so, and \"or not told\" marks rules with records whose label "
    "leaves it open. Suppressed records are left out. Rules are compared by the people of the private table "
    "that they pick out: one survives if the release has a rule for the same people and target, has moved if "
    "more than half of the people that either picks out are common to both, else it is lost. In the private "
    "table, targets that fewer than {few} records of a rule have are counted with its most frequent one.")
Columns = dict[str, tuple[Labelling, Ints, int]]  # labels, each row's, and how many there are
State = Literal["survives", "moved", "lost", "new"]
ROWS = "records"


@dataclass(frozen=True)
class Question:
    """What is sought, in the private table's terms."""

    target: str
    predictors: tuple[str, ...]
    values: dict[str, Values]
    names: tuple[str, ...]  # of the target's classes
    class_of: Ints  # per value of the target: its class
    least: int  # records of a rule
    few: int  # fewer are not shown
    released: dict[str, Values] = field(default_factory=dict)  # with cuts as the release writes them


def patterns(frequency: FrequencySet, regrouping: Regrouping, target: str, predictors: tuple[str, ...] = (),
             *, few: int, of: FrequencySet | None = None, rows: str = ROWS, rate: float = 1.0) -> Patterns:
    """Both trees and each rule's fate.

    The regrouping of a release whose `rows` are nobody's counts by `of`; one of them stands for 1 / rate
    records.
    """
    asked = question(frequency, target, predictors, few)
    private = of_table(frequency, asked, regrouping if of is None else None)
    asked = replace(asked, released={name: _as_released(frequency, regrouping, asked.values[name])
                                     for name in asked.predictors})
    released, untold = of_release(of or frequency, regrouping, asked)
    trees = grow(private, asked.least), grow(released, int(np.ceil(asked.least * rate)))
    return Patterns(
        target, asked.names, asked.predictors, steps(trees[0], private, asked.values, few),
        steps(trees[1], released, asked.released), tuple(fates(private, released, trees, asked)), untold,
        rows, DEFINITION.format(least=f"{asked.least:,}", few=few), CITATION)


def question(frequency: FrequencySet, target: str, predictors: tuple[str, ...], few: int) -> Question:
    """The columns, the target's classes, and how few records a rule may be about."""
    predictors = predictors or tuple(name for name in frequency.quasi if name != target)
    values = {name: _values(frequency, name, few) for name in (target, *predictors)}
    names, class_of = classes_of(values[target], TARGETS)
    least = max(few, int(np.ceil(SHARE * frequency.n_records)))
    return Question(target, predictors, values, names, class_of, least, few)


def _values(frequency: FrequencySet, name: str, few: int) -> Values:
    if name in frequency.sensitive:
        histogram = frequency.sensitive[name]
        return Values(name, histogram.labels, histogram.whole, few)
    j = frequency.quasi.index(name)
    return Values(name, frequency.hierarchies[j].values, frequency.marginals[j], few)


def _as_released(frequency: FrequencySet, regrouping: Regrouping, values: Values) -> Values:
    if values.column in frequency.sensitive:
        return values
    return values.cut_as(regrouping.labelling(frequency, frequency.quasi.index(values.column)).texts)


def of_table(frequency: FrequencySet, asked: Question, regrouping: Regrouping | None) -> Table:
    """The private table; a few suppressed records are left out, so that comparing shows none."""
    rows = _rows(frequency, regrouping)
    gone = rows.counts[rows.class_of == SUPPRESSED].sum()
    kept = rows.class_of != SUPPRESSED if 0 < gone < asked.few else np.ones(len(rows.counts), bool)
    codes = {name: rows.codes(name)[kept] for name in asked.values}
    columns: Columns = {}
    for name in asked.predictors:
        labels = asked.values[name].labels
        columns[name] = (_single(labels), codes[name], len(labels))
    return _table(asked, columns, asked.class_of[codes[asked.target]], rows.counts[kept])


def of_release(frequency: FrequencySet, regrouping: Regrouping, asked: Question) -> tuple[Table, int]:
    """The kept records as their labels tell them, and how many do not tell the target."""
    rows = _rows(frequency, regrouping)
    target = _told(rows, regrouping, asked)
    kept = (rows.class_of != SUPPRESSED) & (target >= 0)
    untold = int(rows.counts[(rows.class_of != SUPPRESSED) & (target < 0)].sum())
    columns: Columns = {}
    for name in asked.predictors:
        if name in frequency.sensitive:
            labels = asked.values[name].labels
            columns[name] = (_single(labels), rows.codes(name)[kept], len(labels))
        else:
            labelling = regrouping.labelling(frequency, frequency.quasi.index(name))
            columns[name] = (labelling, rows.class_of[kept], regrouping.n_classes)
    return _table(asked, columns, target[kept], rows.counts[kept]), untold


@dataclass(frozen=True)
class Rows:
    """Cells, or their portions: what each is of the private table, and its class in the release."""

    frequency: FrequencySet
    cell: Ints
    class_of: Ints
    counts: Ints

    def codes(self, name: str) -> Ints:
        """Each row's value of a column."""
        cells = self.frequency.cells
        if name in self.frequency.sensitive:
            codes = cells.values[self.cell, list(self.frequency.sensitive).index(name)]
        else:
            codes = self.frequency.codes[cells.tuple_of[self.cell], self.frequency.quasi.index(name)]
        return np.asarray(codes, dtype=np.int64)


def _rows(frequency: FrequencySet, regrouping: Regrouping | None) -> Rows:
    cells = frequency.cells
    every = np.arange(len(cells.counts))
    if regrouping is None:
        return Rows(frequency, every, np.zeros(len(every), np.int64), cells.counts)
    if regrouping.portions is None:
        return Rows(frequency, every, regrouping.class_of[cells.tuple_of], cells.counts)
    portions = regrouping.portions
    return Rows(frequency, portions.cell_of, regrouping.class_of, portions.frequency.counts)


def _single(labels: tuple[Label, ...]) -> Spans:
    """Labels that each stand for one value: itself."""
    each = np.arange(len(labels))
    return Spans(each, each, each, list(labels))


def _told(rows: Rows, regrouping: Regrouping, asked: Question) -> Ints:
    """Per row: the target's class, or -1 where its label has values of several."""
    if asked.target in rows.frequency.sensitive:
        return asked.class_of[rows.codes(asked.target)]
    labels = regrouping.labelling(rows.frequency, rows.frequency.quasi.index(asked.target))
    leaves = labels.leaves(len(asked.class_of))
    of_label = np.full(regrouping.n_classes, -1, dtype=np.int64)
    for n in range(len(asked.names)):
        of_label[labels.under(asked.class_of == n) == leaves] = n
    return np.where(rows.class_of == SUPPRESSED, -1, of_label[rows.class_of])


def _table(asked: Question, columns: Columns, target: Ints, counts: Ints) -> Table:
    """Rows that agree in everything put together, the target ascending."""
    keys = [target, *(at for _, at, _ in columns.values())]
    widths = [len(asked.names), *(width for _, _, width in columns.values())]
    row_of, first = distinct(np.stack(keys, axis=1), widths)
    predictors = tuple(
        Predictor(name, labels, at[first], width, len(asked.values[name].labels), asked.values[name].rank)
        for name, (labels, at, width) in columns.items())
    summed = np.bincount(row_of, weights=counts, minlength=len(first)).astype(np.int64)
    return Table(predictors, target[first], summed, len(asked.names))


def fates(private: Table, released: Table, trees: tuple[Node, Node], asked: Question) -> list[Fate]:
    """Each rule of the private tree and what became of it, then what only the release's tree shows."""
    before, after = ([_Chosen(node, chosen_by(private, node.allowed)) for node in tree.walk() if node.depth]
                     for tree in trees)
    told = []
    for one in before:
        if one.node.split is not None:
            continue
        other, common = _nearest(private, one, after)
        state: State = "lost" if other is None else "survives" if common == 1 else "moved"
        told.append(_fate(state, private, released, one.node, other, common, asked))
    return told + [_fate("new", private, released, None, one.node, None, asked)
                   for one in after if one.node.split is None and _nearest(private, one, before)[0] is None]


@dataclass(frozen=True)
class _Chosen:
    """A node of either tree, with the private records that it picks out."""

    node: Node
    rows: Bools


def _nearest(private: Table, one: _Chosen, others: list[_Chosen]) -> tuple[Node | None, float | None]:
    """The node of the other tree for most of the same people and the same target, and how many are common."""
    same = [(_common(private, one.rows, other.rows), other.node) for other in others
            if other.node.histogram.argmax() == one.node.histogram.argmax()]
    common, node = max(same, key=lambda pair: pair[0], default=(0.0, None))
    return (node, common) if common > ALIKE else (None, None)


def _fate(state: State, private: Table, released: Table, leaf: Node | None, other: Node | None,
          common: float | None, asked: Question) -> Fate:
    """What is said of a rule: what both trees say, and what either table says of the other's."""
    before = after = truth = certain = possible = None
    if other is not None:
        rule, after = other.histogram.argmax(), rule_of(other, released, asked, asked.released)
        found = hidden(private.histogram(np.flatnonzero(chosen_by(private, other.allowed))), asked.few)
        truth = int(found.sum()), float(found[rule] / max(found.sum(), 1))
    if leaf is not None:
        sure = released.histogram(np.flatnonzero(chosen_by(released, leaf.allowed)))
        share = float(sure[leaf.histogram.argmax()] / sure.sum()) if sure.sum() else None
        certain = int(sure.sum()), share
        met = [released.predictors[n].meets(values) for n, values in leaf.allowed.items()]
        possible = int(released.counts[_every(met, len(released.counts))].sum())
        before = rule_of(leaf, private, asked, asked.values, asked.few)
    return Fate(state, before, after, common, truth, certain, possible)


def chosen_by(table: Table, allowed: dict[int, Bools]) -> Bools:
    """The rows that surely meet all conditions."""
    return _every([table.predictors[n].within(values) for n, values in allowed.items()], len(table.counts))


def _every(conditions: list[Bools], rows: int) -> Bools:
    return reduce(np.logical_and, conditions, np.ones(rows, dtype=bool))


def _common(table: Table, one: Bools, other: Bools) -> float:
    either = table.counts[one | other].sum()
    return float(table.counts[one & other].sum() / either) if either else 0.0


def hidden(histogram: Ints, few: int) -> Ints:
    """The histogram with targets of fewer records counted with the most frequent one."""
    shown = np.where(histogram >= few, histogram, 0)
    if histogram.sum():
        shown[histogram.argmax()] += histogram.sum() - shown.sum()
    return shown


def rule_of(leaf: Node, table: Table, asked: Question, words: dict[str, Values], few: int = 0) -> Rule:
    """A leaf in words and numbers."""
    histogram = hidden(leaf.histogram, few)
    predicted, records = int(histogram.argmax()), int(histogram.sum())
    conditions = tuple(_condition(leaf, table, n, words) for n in leaf.allowed)
    return Rule(conditions, asked.names[predicted], records, float(histogram[predicted] / records))


def _condition(node: Node, table: Table, n: int, words: dict[str, Values]) -> str:
    """What is known of one column at a node."""
    predictor, values = table.predictors[n], node.allowed[n]
    sure = bool(predictor.within(values)[node.rows].all())
    return words[predictor.name].told(values) + ("" if sure else OTHERS)


def steps(tree: Node, table: Table, words: dict[str, Values], few: int = 0) -> tuple[Step, ...]:
    """The tree in drawing order."""
    tests: dict[int, str] = {}
    for node in tree.walk():
        if node.split is not None:
            for child in (node.inside, node.outside):
                assert child is not None
                tests[id(child)] = _condition(child, table, node.split.predictor, words)
    found = []
    for node in tree.walk():
        histogram = hidden(node.histogram, few)
        shares: Floats = histogram / max(int(histogram.sum()), 1)
        found.append(Step(node.depth, tests.get(id(node), ""), int(histogram.sum()),
                          tuple(shares.tolist()), node.split is None))
    return tuple(found)


def lost(found: Patterns) -> Measure:
    """How much of what the private table tells is told no more, as a number."""
    before = [(fate.before.records, fate.state) for fate in found.fates if fate.before is not None]
    total = sum(records for records, _ in before)
    value = sum(records for records, state in before if state == "lost") / total if total else None
    why = "" if before else " Not defined here: the private table's tree has no rule."
    return Measure("patterns_lost", "Patterns lost", value, 0.0, "lower", 0, 1,
                   f"Share of the records whose rule for {found.target}, in the private table's tree, is "
                   f"lost in the release's.{why}", found.citation)
