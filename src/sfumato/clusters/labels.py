"""Classes → what is released of them: nodes, ranges, sets, means, modes; a class for each combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.classes import Ints
from sfumato.clusters.axes import Axis, in_hierarchy
from sfumato.costs.measured import score
from sfumato.costs.registry import make
from sfumato.frequency import FrequencySet, distinct
from sfumato.hierarchy.core import ROOT, Label
from sfumato.hierarchy.domain import number
from sfumato.recoding import SUPPRESSED, Labelling, Nodes, Portions, Regrouping, Sets, Spans


@dataclass(frozen=True)
class Elements:
    """The records in pieces that are never parted, and each piece's class."""

    tuple_of: Ints
    counts: Ints
    class_of: Ints
    cell_of: Ints | None = None  # where a tuple's records may be parted: the cell of each piece


def recoding(frequency: FrequencySet, axes: Sequence[Axis], found: Elements, weights: Any, affordable: int,
             facts: Mapping[str, Any]) -> Regrouping:
    """The classes with their labels.

    Classes that no label tells apart become one. A class with nothing but `*` is a set of suppressed
    records by another name: it is counted as such where so many may be suppressed.
    """
    made = _told_apart(frequency, axes, found)
    affordable -= int(found.counts[found.class_of == SUPPRESSED].sum())
    class_of = _starred(made, frequency, made.class_of, found.counts, affordable)
    if class_of.min() == SUPPRESSED:
        made = _labelled(frequency, axes, found, class_of)
    parted = _portions(frequency, found, class_of)
    portions, of_rows = parted if parted else (None, np.zeros(frequency.n_tuples, dtype=np.int64))
    if portions is None:
        of_rows[found.tuple_of] = class_of
    made = replace(made, class_of=of_rows, portions=portions)
    cost = score(make("ncp", frequency, weights), frequency, made)
    centres = {axis.hierarchy.column: axis.style for axis in axes if axis.style in ("mean", "mode")}
    notes = {"cost": "ncp", "score": cost, "facts": {**facts, **({"centres": centres} if centres else {})}}
    return replace(made, notes=notes)


def _told_apart(frequency: FrequencySet, axes: Sequence[Axis], found: Elements) -> Regrouping:
    """The classes that the labels make."""
    kept = found.class_of != SUPPRESSED
    class_of = np.full(len(kept), SUPPRESSED, dtype=np.int64)
    class_of[kept] = np.unique(found.class_of[kept], return_inverse=True)[1]
    while True:
        made = _labelled(frequency, axes, found, class_of)
        texts = [_numbered(made.labelling(frequency, j)) for j in range(frequency.n_quasi)]
        row_of, first = distinct(np.stack(texts, axis=1), [int(text.max()) + 1 for text in texts])
        if len(first) == made.n_classes:
            return made
        class_of[kept] = row_of[class_of[kept]]


def _labelled(frequency: FrequencySet, axes: Sequence[Axis], found: Elements, class_of: Ints) -> Regrouping:
    """Each class's labels, column by column."""
    kept = np.flatnonzero(class_of != SUPPRESSED)
    order = kept[np.argsort(class_of[kept], kind="stable")]
    starts = np.flatnonzero(np.diff(class_of[order], prepend=-1))
    levels, nodes, narrower = [], [], {}
    for j, axis in enumerate(axes):
        codes = frequency.codes[found.tuple_of[order], j]
        own = axis if axis.style == "node" else in_hierarchy(axis.hierarchy)
        level, node = own.lowest(*_ends(own.place_of[codes], starts))
        levels.append(level)
        nodes.append(node)
        if axis.style != "node":
            places = axis.place_of[codes]
            narrower[j] = _narrower(axis, places, starts, class_of[order], found.counts[order])
    shape = np.stack(levels, axis=1).astype(np.int32), np.stack(nodes, axis=1).astype(np.int32)
    return Regrouping(class_of, *shape, narrower=narrower)


def _ends(places: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Per class: its first place and its last."""
    return np.minimum.reduceat(places, starts), np.maximum.reduceat(places, starts)


def _narrower(axis: Axis, places: Ints, starts: Ints, class_of: Ints, counts: Ints) -> Labelling:
    """Labels outside the hierarchy; with the missing value, real ones meet only at the root."""
    low, high = _ends(places, starts)
    mixed = (high == axis.missing) & (low != high)
    rooted = mixed | (high - low == axis.n_values - 1) & (low != high)
    if axis.style == "set":
        return _sets(axis, places, class_of, rooted)
    if axis.style == "mode":
        made = _sets(axis, places, class_of, mixed)
        return Sets(made.starts, made.members, _modes(axis, places, starts, counts, mixed))
    low, high = np.where(rooted, 0, low), np.where(rooted, axis.n_values - 1, high)
    if axis.style == "mean":
        texts = _means(axis, places, starts, counts, rooted)
    else:
        pairs, position = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
        written = [_range(axis, int(a), int(b)) for a, b in pairs.T]
        texts = [written[n] for n in position.ravel()]
    return Spans(axis.order, low, high, texts)


def _range(axis: Axis, low: int, high: int) -> Label:
    """A range as text, both ends included: `[20..29]`."""
    first, last = (axis.value(place) for place in (low, high))
    if low == high:
        return first
    return ROOT if high - low == axis.n_values - 1 else f"[{first}..{last}]"


def _sets(axis: Axis, places: Ints, class_of: Ints, rooted: Any) -> Sets:
    """Each class's values, written `{a, b}`."""
    keys = np.unique(class_of * axis.n_values + places)
    owners, members = keys // axis.n_values, keys % axis.n_values
    kept = ~rooted[owners]
    every = np.repeat(np.flatnonzero(rooted), axis.n_values)
    owners = np.concatenate([owners[kept], every])
    members = np.concatenate([members[kept], np.tile(np.arange(axis.n_values), int(rooted.sum()))])
    order = np.argsort(owners, kind="stable")
    owners, members = owners[order], members[order]
    starts = np.searchsorted(owners, np.arange(len(rooted) + 1))
    written: dict[bytes, Label] = {}
    texts = [_written(axis, members[a:b], written) for a, b in pairwise(starts)]
    return Sets(starts, axis.order[members], texts)


def _written(axis: Axis, members: Ints, known: dict[bytes, Label]) -> Label:
    key = members.tobytes()
    if key not in known:
        values = [axis.value(int(place)) for place in members]
        every = len(members) == axis.n_values and len(members) > 1
        known[key] = values[0] if len(values) == 1 else ROOT if every else braced(values)
    return known[key]


def braced(values: Sequence[Label]) -> str:
    """A set of values as text that can be read back: values with marks of the form stand in quotes."""
    def quoted(value: Label) -> str:
        text = str(value)
        plain = text and text == text.strip() and not set(text) & set(',{}"\\')
        return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return "{" + ", ".join(map(quoted, values)) + "}"


def _means(axis: Axis, places: Ints, starts: Ints, counts: Ints, rooted: Any) -> list[Label]:
    """The mean of each class's numbers, to the decimals that the values have, rounded half up."""
    values = [number(value) if value is not None else None for value in axis.hierarchy.values]
    digits = max((-int(n.as_tuple().exponent) for n in values if n is not None), default=0)
    unit = Decimal(1).scaleb(-max(digits, 0))
    texts: list[Label] = []
    for a, b in pairwise([*starts, len(places)]):
        codes = axis.order[places[a:b]]
        if rooted[len(texts)] and places[a:b].max() == axis.missing:
            texts.append(ROOT)
        elif len(np.unique(codes)) == 1:
            texts.append(axis.hierarchy.values[codes[0]])
        else:
            total = sum((values[code] * int(c) for code, c in zip(codes, counts[a:b], strict=True)),
                        Decimal(0))
            mean = (total / int(counts[a:b].sum())).quantize(unit, ROUND_HALF_UP)
            texts.append(f"{mean.normalize():f}")
    return texts


def _modes(axis: Axis, places: Ints, starts: Ints, counts: Ints, mixed: Any) -> list[Label]:
    """The most frequent of each class's values; of equals the one that stands first among its elements."""
    texts: list[Label] = []
    for a, b in pairwise([*starts, len(places)]):
        found, first, position = np.unique(places[a:b], return_index=True, return_inverse=True)
        records = np.bincount(position, weights=counts[a:b])
        texts.append(ROOT if mixed[len(texts)] else axis.value(int(found[np.lexsort((first, -records))[0]])))
    return texts


def _numbered(labelling: Labelling) -> Ints:
    """Per class: a number that is equal exactly where the texts are."""
    seen: dict[Label, int] = {}
    if not isinstance(labelling, Nodes):
        return np.array([seen.setdefault(text, len(seen)) for text in labelling.texts], dtype=np.int64)
    _, first, position = np.unique(labelling.of_class, return_index=True, return_inverse=True)
    names = labelling.hierarchy.labels
    texts = [names[labelling.levels[n]][labelling.nodes[n]] for n in first]
    return np.array([seen.setdefault(text, len(seen)) for text in texts], dtype=np.int64)[position]


def _starred(made: Regrouping, frequency: FrequencySet, class_of: Ints, counts: Ints,
             affordable: int) -> Ints:
    """The classes, with the one of nothing but `*`, if there is one beside others, suppressed."""
    found = starred(made, frequency)
    if not found or made.n_classes == 1:
        return class_of
    [star] = found
    if int(counts[class_of == star].sum()) > affordable:
        return class_of
    return np.where(class_of == star, SUPPRESSED, class_of - (class_of > star))  # -1 stays -1


def starred(made: Regrouping, frequency: FrequencySet) -> list[int]:
    """The classes with nothing but `*`: one, or none."""
    texts = [made.labelling(frequency, j).texts for j in range(frequency.n_quasi)]
    return [n for n in range(made.n_classes) if all(column[n] == ROOT for column in texts)]


def _portions(frequency: FrequencySet, found: Elements, class_of: Ints) -> tuple[Portions, Ints] | None:
    """The portions and their classes, if some tuple's records are in several classes."""
    if found.cell_of is None:
        return None
    order = np.lexsort((class_of, found.tuple_of))
    tuples, classes = found.tuple_of[order], class_of[order]
    if not ((tuples[1:] == tuples[:-1]) & (classes[1:] != classes[:-1])).any():
        return None
    order = np.lexsort((class_of, found.cell_of))
    cells, classes = found.cell_of[order], class_of[order]
    first = np.flatnonzero((np.diff(cells, prepend=-1) != 0) | (np.diff(classes, prepend=-2) != 0))
    counts = np.add.reduceat(found.counts[order], first)
    return Portions.of(frequency, cells[first], counts), classes[first]
