"""What a decision stump learns from the release: a tree of one question (Iba & Langley 1992)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.classes import Bools, Floats, Histogram, Ints
from sfumato.contingency import pair_counts
from sfumato.frequency import FrequencySet, merge
from sfumato.hierarchy.core import ROOT, Label
from sfumato.measure.evidence import Measure, because
from sfumato.measure.released import Released

CITATION = ("Iba & Langley 1992, Induction of one-level decision trees, ML, 233-240; as a measure of "
            "utility: Tandon & Jain 2010, Balancing between data utility and privacy preservation in data "
            "mining, section 4.5")
DEFINITION = (
    "Share of records whose {target} is told right by a decision stump, learnt from the released labels of "
    "the other quasi-identifiers and asked about the same records: one question, whether a column has one "
    "label or any other (in a column of numbers: one up to a bound or one above it), the question after "
    "which {target} is least uncertain (entropy), and the most frequent label on either side. Before: the "
    f"same on the private values. Naming {ROOT} says nothing, so it is never right, nor is a suppressed "
    "record.")
TIED = 1e-9


@dataclass(frozen=True)
class Lesson:
    """Weighted examples: features in codes, and what is to be told."""

    features: tuple[Ints, ...]  # per feature: a code per example
    labels: tuple[tuple[Label, ...], ...]  # per feature: what the codes stand for
    target: Ints  # per example: a code
    said: Bools  # per target code: whether naming it says anything
    counts: Ints  # per example: records


def stumps(frequency: FrequencySet, counted: FrequencySet, released: Released,
           targets: Iterable[str]) -> tuple[Measure, ...]:
    """How well a stump tells each target column, before and after."""
    return tuple(_measure(target, frequency, counted, released) for target in targets)


def _measure(target: str, frequency: FrequencySet, counted: FrequencySet, released: Released) -> Measure:
    values = tuple(hierarchy.values for hierarchy in frequency.hierarchies)
    private = lesson(frequency.codes, values, frequency.counts, frequency.quasi, target, frequency.sensitive)
    merged = {name: merge(histogram, released.class_of) for name, histogram in counted.sensitive.items()}
    kept = released.class_of >= 0
    sizes = np.bincount(released.class_of[kept], counted.counts[kept], len(released.sizes)).astype(np.int64)
    shown = lesson(released.cells, released.labels, sizes, frequency.quasi, target, merged)
    records = frequency.n_records
    value = right(shown) / records if records else None
    return Measure(f"stump.{target}", f"Decision stump on {target}", value,
                   right(private) / records if records else None, "higher", 0, 1,
                   DEFINITION.format(target=target) + because(value, "there is no record"), CITATION)


def lesson(cells: np.ndarray[tuple[int, int], np.dtype[np.integer]], labels: Sequence[tuple[Label, ...]],
           sizes: Ints, quasi: Sequence[str], target: str, sensitive: Mapping[str, Histogram]) -> Lesson:
    """The examples: rows of quasi-identifiers, with the target among them or beside them."""
    columns = [np.asarray(column, dtype=np.int64) for column in cells.T]
    if target in quasi:
        own = list(quasi).index(target)
        rest = [j for j in range(len(quasi)) if j != own]
        said = np.array([label != ROOT for label in labels[own]], dtype=bool)
        return Lesson(tuple(columns[j] for j in rest), tuple(labels[j] for j in rest), columns[own], said,
                      sizes)
    histogram = sensitive[target]
    return Lesson(tuple(column[histogram.classes] for column in columns), tuple(labels), histogram.values,
                  np.array([label != ROOT for label in histogram.labels], dtype=bool), histogram.counts)


def right(lesson: Lesson) -> int:
    """Records that the best stump tells right; of questions as good as each other, the luckiest."""
    if not len(lesson.counts):
        return 0
    best, found = unsplit(lesson), guessed(lesson, np.ones(len(lesson.counts), dtype=bool))
    slack = TIED * max(float(lesson.counts.sum()), 1.0)
    for column, labels in zip(lesson.features, lesson.labels, strict=True):
        order = ranks(labels)
        for question, doubt in asked(lesson, column, labels, order):
            if doubt > best + slack:
                break
            told = guessed(lesson, question)
            if doubt < best - slack:
                best, found = doubt, told
            else:
                found = max(found, told)
    return found


def unsplit(lesson: Lesson) -> float:
    """The uncertainty without any question, in bits times records."""
    return float(_xlogx(lesson.counts.sum()) - _xlogx(np.bincount(lesson.target, lesson.counts)).sum())


def asked(lesson: Lesson, column: Ints, labels: Sequence[Label],
          order: Ints | None) -> Iterator[tuple[Bools, float]]:
    """Each question about a column that divides the records, least doubt first: who is meant, the doubt."""
    codes = column if order is None else order[column]
    doubts = against_others(lesson, codes) if order is None else up_to(lesson, codes)
    records = np.bincount(codes, lesson.counts, minlength=len(doubts))
    below = records if order is None else np.cumsum(records)
    useful = np.flatnonzero((records > 0) & (below < lesson.counts.sum()))
    for code in useful[np.argsort(doubts[useful], kind="stable")]:
        yield (codes == code if order is None else codes <= code), float(doubts[code])


def ranks(labels: Sequence[Label]) -> Ints | None:
    """Where each label stands among numbers, what is not one first; None where labels are no numbers."""
    numbers = [_number(label) for label in labels]
    if not any(number is not None for number in numbers) or any(
            number is None and label not in (None, ROOT)
            for number, label in zip(numbers, labels, strict=True)):
        return None
    keys = np.array([-np.inf if number is None else number for number in numbers])
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _number(label: Label) -> float | None:
    try:
        number = float(label) if label is not None else None
    except ValueError:
        return None
    return number if number is not None and np.isfinite(number) else None


def against_others(lesson: Lesson, codes: Ints) -> Floats:
    """Per code: the uncertainty that is left once it is known whether an example has it."""
    whole, pair_code, pair_target, together = pairs(lesson, codes)
    rest = _xlogx(whole[pair_target] - together) - _xlogx(whole[pair_target])
    inside = np.bincount(pair_code, _xlogx(together))
    outside = _xlogx(whole).sum() + np.bincount(pair_code, rest)
    records = np.bincount(codes, lesson.counts)
    return np.asarray(_xlogx(records) + _xlogx(records.sum() - records) - inside - outside)


def up_to(lesson: Lesson, codes: Ints) -> Floats:
    """Per code: the uncertainty that is left once it is known whether an example's is at most that."""
    whole, pair_code, pair_target, together = pairs(lesson, codes)
    by_target = np.lexsort((pair_code, pair_target))
    pair_code, pair_target, together = pair_code[by_target], pair_target[by_target], together[by_target]
    so_far = np.cumsum(together)
    first = np.searchsorted(pair_target, pair_target)  # of the pair's target
    so_far = so_far - (so_far - together)[first]
    left, before = _xlogx(so_far), _xlogx(so_far - together)
    after, earlier = _xlogx(whole[pair_target] - so_far), _xlogx(whole[pair_target] - so_far + together)
    below = np.cumsum(np.bincount(pair_code, left - before))
    above = _xlogx(whole).sum() + np.cumsum(np.bincount(pair_code, after - earlier))
    records = np.cumsum(np.bincount(codes, lesson.counts))
    return np.asarray(_xlogx(records) + _xlogx(records[-1] - records) - below - above)


def pairs(lesson: Lesson, codes: Ints) -> tuple[Floats, Ints, Ints, Floats]:
    """Records of each target; the pairs of a code and a target that occur, and the records of each."""
    width = len(lesson.said)
    found, together = pair_counts(codes, lesson.target, width, lesson.counts)
    whole = np.bincount(lesson.target, lesson.counts, minlength=width)
    return whole.astype(np.float64), found // width, found % width, together.astype(np.float64)


def guessed(lesson: Lesson, chosen: Bools) -> int:
    """Records told right by naming the most frequent target that says anything, on either side."""
    width, told = len(lesson.said), 0
    for side in (chosen, ~chosen):
        records = np.bincount(lesson.target[side], lesson.counts[side], minlength=width)
        told += int(records[lesson.said].max(initial=0))
    return told


def _xlogx(counts: npt.ArrayLike) -> Floats:
    """x log2 x, and 0 for nothing."""
    values = np.asarray(counts, dtype=np.float64)
    return np.asarray(values * np.log2(np.where(values > 0, values, 1.0)))
