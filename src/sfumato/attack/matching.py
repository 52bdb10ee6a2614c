"""What one release says of every known person: p(t, s) under the release's own model.

A sliced release is buckets in which column groups stand in orders of their own (Li et al. 2012, section 4). A
release of classes is the simplest of that kind: one bucket with one group of all columns, in which any record
whose labels cover a person could be the person's. So both are answered by the same sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.attack.labels import Covers
from sfumato.attack.view import Known, View
from sfumato.classes import Ints
from sfumato.frequency import distinct
from sfumato.hierarchy.core import Codes
from sfumato.slices.matching import Matches, joined, looked_up

FEW = 4_000_000  # cells of (known combination, released row, column) for which a compiler does not pay


def match(view: View, known: Known) -> Matches:
    """p(t, s), the matching buckets and f(t) of every person that is known; all rows alike go once."""
    values, parts = [], []
    for n, group in enumerate(view.groups):
        last = n == len(view.groups) - 1
        of_person, first = _combinations(known.codes[:, [known.names.index(name) for name in group]])
        covers = [view.covers[name] for name in group]
        columns = [view.names.index(name) for name in group]
        row_of, shown = _combinations(view.codes[:, columns])
        value, label = covering(known.codes[first][:, [known.names.index(name) for name in group]],
                                view.codes[shown][:, columns], covers)
        values.append(of_person)
        parts.append((len(first), *entries(view, value, label, row_of, last), last))
    index = joined(parts, view.sizes, len(view.sensitive_labels))
    return looked_up(index, np.stack(values, axis=1), len(view.sizes))


def _combinations(codes: Codes) -> tuple[Ints, Ints]:
    """Each row's number among the distinct ones, and where these first stand; without columns one."""
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return distinct(codes, [int(column.max(initial=0)) + 1 for column in codes.T])


def entries(view: View, value: Ints, label: Ints, row_of: Ints, last: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """(known combination, bucket, sensitive value, records) of one group, in that order."""
    n_values = len(view.sensitive_labels) if last else 1
    inner = view.bucket_of * n_values + (view.sensitive if last else 0)
    width = len(view.sizes) * n_values
    found, position = np.unique(row_of * width + inner, return_inverse=True)
    counts = np.bincount(position, weights=view.counts)
    starts = np.searchsorted(found // width, np.arange(int(row_of.max()) + 2))
    lengths = np.diff(starts)[label]
    at = np.repeat(starts[label] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    merged, position = np.unique(np.repeat(value, lengths) * width + found[at] % width, return_inverse=True)
    records = np.bincount(position, weights=counts[at], minlength=len(merged)).astype(np.int64)
    rest = merged % width
    return merged // width, rest // n_values, rest % n_values, records


def covering(known: Codes, rows: Codes, covers: Sequence[Covers]) -> tuple[Ints, Ints]:
    """The pairs (known combination, released row) in which each label covers the value."""
    if not covers:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    if len(known) * len(rows) * len(covers) <= FEW:
        return _plain(known, rows, covers)
    from sfumato.attack import kernels

    by_spread = np.argsort([len(np.unique(column)) for column in rows.T], kind="stable")
    rows, known = rows[:, by_spread], np.ascontiguousarray(known[:, by_spread], dtype=np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = np.ascontiguousarray(rows[order], dtype=np.int64)
    chosen = [covers[j] for j in by_spread]
    firsts = np.cumsum([0, *(len(one.same) for one in chosen)])[:-1]
    starts, end = [], 0
    for one in chosen:
        starts.append(end + np.maximum(one.row, 0) * one.several.shape[1])
        end += one.several.size
    same, row, several = (np.concatenate(parts) for parts in zip(
        *((one.same, one.row, one.several.ravel()) for one in chosen), strict=True))
    tables = (firsts, same, row, np.concatenate(starts), several)
    skip, nothing = kernels.skips(ordered), np.empty(0, dtype=np.int64)
    pairs = kernels.covering(ordered, skip, known, *tables, nothing, nothing)
    value, at = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int64)
    kernels.covering(ordered, skip, known, *tables, value, at)
    return value, order[at]


def _plain(known: Codes, rows: Codes, covers: Sequence[Covers]) -> tuple[Ints, Ints]:
    """The twin of `kernels.covering` in plain numpy."""
    inside = np.ones((len(known), len(rows)), dtype=bool)
    for j, one in enumerate(covers):
        values, labels = known[:, j], rows[:, j]
        hit = one.same[labels][None, :] == values[:, None]
        coarse = one.row[labels] >= 0
        hit[:, coarse] |= one.several[one.row[labels[coarse]]][:, values].T
        inside &= hit
    value, label = np.nonzero(inside)
    return value.astype(np.int64), label.astype(np.int64)
