"""What somebody who knows a person's quasi-identifiers can tell from a sliced release (Li et al. 2012,
section 4): which buckets match, with what probability, and what that says of the sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.classes import Floats, Ints
from sfumato.frequency import FrequencySet
from sfumato.slices.base import Labels, Slices
from sfumato.slices.grouping import coded

FEW = 20_000  # targets times buckets for which a compiler does not pay
AT_ONCE = 2_000_000  # targets times buckets that are looked at together where labels are coarse
Codes = npt.NDArray[np.integer]


class Matches(NamedTuple):
    """What the release says of each target."""

    p: Floats  # [targets, sensitive values]: p(t, s); a row of zeros where no bucket matches
    buckets: Ints  # per target: how many buckets match
    total: Floats  # per target: f(t), the sum of f(t, B) over all buckets


@dataclass(frozen=True)
class Index:
    """The released buckets by the values that they hold, for every column group.

    An entry is a value of a group in a bucket; `starts[firsts[g] + v]` begins the entries of value
    v, in the order of their buckets.
    """

    firsts: Ints  # per group: where its values begin
    starts: Ints  # per value (and one more): where its entries begin
    buckets: Ints  # per entry
    shares: Floats  # per entry: f_i(t, B), the share of the bucket's records that could have the value
    inside: Ints  # per entry of any group (and one more): where its sensitive values begin
    inside_value: Ints
    inside_share: Floats  # D(t, B)
    n_values: int


@dataclass(frozen=True)
class Held:
    """What the release holds of one column group: labels in buckets, with sensitive values."""

    group: list[int]
    labels: Codes  # [label, column of the group]
    cells: Ints  # per entry: bucket and sensitive value in one number
    starts: Ints  # per label (and one more): where its entries begin
    counts: Ints  # per entry: records
    n_values: int  # sensitive values that are told apart: one stands for all but in the last group


def match(slices: Slices, frequency: FrequencySet, targets: Ints) -> Matches:
    """p(t, s) of some tuples: p(t, s) = sum over buckets of p(t, B) D(t, B)(s).

    Where labels are coarser than values, every target may match every bucket: then some targets are looked
    at after the other, so that memory does not grow with both.
    """
    held = holdings(slices, frequency)
    coarse = any((one.labels[:, at] >= frequency.hierarchies[j].n_values).any()
                 for one in held for at, j in enumerate(one.group))
    portion = max(AT_ONCE // slices.n_classes, 1) if coarse else max(len(targets), 1)
    parts = [looked_up(*indexed(slices, frequency, targets[low: low + portion], held), slices.n_classes)
             for low in range(0, max(len(targets), 1), portion)]
    return parts[0] if len(parts) == 1 else Matches(*(np.concatenate(columns)
                                                      for columns in zip(*parts, strict=True)))


def looked_up(index: Index, values: Ints, n_buckets: int) -> Matches:
    """What an index says of targets, each given by its value of every group."""
    if len(values) * n_buckets <= FEW:
        return _plain(index, values)
    from sfumato.slices import kernels

    return Matches(*kernels.matching(values, index.firsts, index.starts, index.buckets, index.shares,
                                     index.inside, index.inside_value, index.inside_share, index.n_values))


def holdings(slices: Slices, frequency: FrequencySet) -> list[Held]:
    """The release by column groups, the sensitive column's last."""
    members = [[j for j in group if j < frequency.n_quasi] for group in slices.members(frequency)]
    n_values = len(slices.rows(frequency).labels)
    return [_held(slices, group, n_values if n == len(members) - 1 else 1) for n, group in enumerate(members)]


def _held(slices: Slices, group: list[int], n_values: int) -> Held:
    shown, first = coded([np.zeros(len(slices.codes), np.int64), *slices.codes[:, group].T])
    triples = (shown * slices.n_classes + slices.bucket_of) * n_values
    if n_values > 1:
        triples += slices.codes[:, -1]
    found, counts = np.unique(triples, return_counts=True)
    width = slices.n_classes * n_values
    starts = np.searchsorted(found // width, np.arange(len(first) + 1))
    labels = slices.codes[first][:, group]
    return Held(group, labels, found % width, starts, counts.astype(np.int64), n_values)


def indexed(slices: Slices, frequency: FrequencySet, targets: Ints,
            held: list[Held] | None = None) -> tuple[Index, Ints]:
    """The index, and the value of every group that each target has."""
    held = holdings(slices, frequency) if held is None else held
    values, parts = [], []
    for n, one in enumerate(held):
        known, _ = coded([np.zeros(len(targets), np.int64), *frequency.codes[targets][:, one.group].T])
        values.append(known)
        parts.append((int(known.max(initial=-1)) + 1, *_entries(slices, frequency, one, targets, known),
                      n == len(held) - 1))
    return joined(parts, slices.sizes, held[-1].n_values), np.stack(values, axis=1)


def _entries(slices: Slices, frequency: FrequencySet, one: Held, targets: Ints,
             known: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Of one group: (value, bucket, sensitive value, records), in that order; one value stands for all."""
    first_known = np.unique(known, return_index=True)[1]
    value, label = covering(frequency, one.group, frequency.codes[targets[first_known]][:, one.group],
                            one.labels)
    lengths = np.diff(one.starts)[label]
    at = np.repeat(one.starts[label] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    width = slices.n_classes * one.n_values
    merged, position = np.unique(np.repeat(value, lengths) * width + one.cells[at], return_inverse=True)
    records = np.bincount(position, weights=one.counts[at], minlength=len(merged)).astype(np.int64)
    rest = merged % width
    return merged // width, rest // one.n_values, rest % one.n_values, records


def covering(frequency: FrequencySet, group: list[int], known: Codes, labels: Codes) -> tuple[Ints, Ints]:
    """The pairs (known value, released label) of a group where the label is the value or covers it."""
    plain = np.ones(len(labels), dtype=bool)
    for column, j in enumerate(group):
        plain &= labels[:, column] < frequency.hierarchies[j].n_values
    both, _ = coded([np.zeros(len(known) + len(labels), np.int64), *np.concatenate([known, labels]).T])
    value_of = np.full(int(both.max()) + 1, -1)
    value_of[both[: len(known)]] = np.arange(len(known))
    same = value_of[both[len(known):]]
    label = np.flatnonzero(plain & (same >= 0))
    values, found = [same[label]], [label]
    columns = [Labels(frequency.hierarchies[j]) for j in group]
    for at in np.flatnonzero(~plain):
        inside = np.ones(len(known), dtype=bool)
        for column, names in enumerate(columns):
            inside &= np.isin(known[:, column], names.covers(int(labels[at, column])))
        values.append(np.flatnonzero(inside))
        found.append(np.full(int(inside.sum()), at))
    return np.concatenate(values).astype(np.int64), np.concatenate(found).astype(np.int64)


def joined(parts: list[tuple[int, Ints, Ints, Ints, Ints, bool]], sizes: Ints, n_values: int) -> Index:
    """The entries of all groups, one group after the other."""
    firsts = np.cumsum([0, *(n for n, *_ in parts)])[:-1].astype(np.int64)
    n_all = sum(n for n, *_ in parts)
    owners, buckets, shares, inside, end = [], [], [], [], 0
    inside_value, inside_share = np.zeros(0, dtype=np.int64), np.zeros(0)
    for first, (_, value, bucket, sensitive, records, last) in zip(firsts, parts, strict=True):
        entry, position = np.unique(value * len(sizes) + bucket, return_inverse=True)
        held = np.bincount(position, weights=records)
        owners.append(entry // len(sizes) + first)
        buckets.append(entry % len(sizes))
        shares.append(held / sizes[entry % len(sizes)])
        inside.append(np.searchsorted(position, np.arange(len(entry))) if last else np.zeros(len(entry)))
        if last:
            inside_value, inside_share, end = sensitive, records / held[position], len(records)
    starts = np.searchsorted(np.concatenate(owners), np.arange(n_all + 1))
    return Index(firsts, starts.astype(np.int64), np.concatenate(buckets), np.concatenate(shares),
                 np.append(np.concatenate(inside), end).astype(np.int64), inside_value.astype(np.int64),
                 inside_share, n_values)


def _plain(index: Index, values: Ints) -> Matches:
    """The twin of `kernels.matching` in plain Python."""
    p = np.zeros((len(values), index.n_values))
    matches, total = np.zeros(len(values), dtype=np.int64), np.zeros(len(values))
    for t, row in enumerate(values):
        held = []
        for group, value in enumerate(row):
            low, high = index.starts[index.firsts[group] + value: index.firsts[group] + value + 2]
            held.append({int(index.buckets[at]): int(at) for at in range(low, high)})
        for bucket in set.intersection(*map(set, held)):
            f = float(np.prod([index.shares[entries[bucket]] for entries in held]))
            last = held[-1][bucket]
            inside = slice(index.inside[last], index.inside[last + 1])
            p[t, index.inside_value[inside]] += f * index.inside_share[inside]
            matches[t] += 1
            total[t] += f
    return Matches(np.divide(p, total[:, None], out=p, where=total[:, None] > 0), matches, total)
