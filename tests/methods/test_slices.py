"""Matching probabilities and buckets: the published example, plain loops with fractions, twins."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.classes import Histogram
from sfumato.evaluate import distinct
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.sliced import shown
from sfumato.measure.utility import queries
from sfumato.slices import kernels, partition
from sfumato.slices import matching as m
from sfumato.slices.base import Labels, Slices
from sfumato.slices.partition import Blocks

Rows = list[tuple[str, ...]]


def table(rows: Rows, names: tuple[str, ...], trees: dict[str, list[tuple[str, ...]]] | None = None,
          ) -> FrequencySet:
    """A frequency set of records written out, the sensitive column last."""
    quasi = []
    for j, name in enumerate(names[:-1]):
        paths = (trees or {}).get(name) or [(value, "*") for value in sorted({row[j] for row in rows})]
        quasi.append(Hierarchy(name, tuple(paths)))
    labels = tuple(sorted({row[-1] for row in rows}))
    codes = np.array([[h.code_of[row[j]] for j, h in enumerate(quasi)] for row in rows], dtype=np.int32)
    tuple_of, first = distinct(codes, [h.n_values for h in quasi])
    pairs = Counter((int(t), labels.index(row[-1])) for t, row in zip(tuple_of, rows, strict=True))
    ordered = sorted(pairs)
    histogram = Histogram(np.array([t for t, _ in ordered]), np.array([s for _, s in ordered]),
                          np.array([pairs[one] for one in ordered]), labels,
                          np.array([sum(row[-1] == label for row in rows) for label in labels]))
    return FrequencySet(tuple(quasi), codes[first], np.bincount(tuple_of), {names[-1]: histogram})


def sliced(frequency: FrequencySet, groups: tuple[tuple[str, ...], ...], buckets: list[Rows],
           l: float = 2) -> Slices:  # noqa: E741
    """Buckets written out as a release."""
    [(name, histogram)] = frequency.sensitive.items()
    codes = [[*(Labels(h).names.index(row[j]) for j, h in enumerate(frequency.hierarchies)),
              histogram.labels.index(row[-1])] for bucket in buckets for row in bucket]
    bucket_of = np.repeat(np.arange(len(buckets)), [len(bucket) for bucket in buckets])
    assert groups[-1][-1] == name
    released = np.array(codes, dtype=np.int32)
    return Slices(groups, bucket_of, released, released, np.zeros(len(codes), int), 2, l)


THESIS = [[("32", "F", "130352", "flu"), ("22", "M", "130352", "heart disease"),
           ("28", "M", "130350", "flu"), ("30", "M", "130350", "dyspepsia")],
          [("53", "F", "130355", "heart disease"), ("39", "F", "130353", "flu"),
           ("60", "M", "130355", "heart disease"), ("64", "M", "130353", "HIV")]]
SPEC = [[("25", "M", "A", "flu"), ("25", "M", "B", "asthma"), ("31", "F", "A", "asthma"),
         ("40", "F", "B", "flu")],
        [("25", "M", "C", "ulcer"), ("52", "F", "C", "flu"), ("52", "F", "A", "ulcer"),
         ("60", "M", "A", "flu")]]
NAMES = ("age", "sex", "zip", "disease")
GROUPS = (("age", "sex"), ("zip", "disease"))


def said(buckets: list[Rows]) -> dict[tuple[str, ...], dict[str, float]]:
    """p(t, s) of every tuple of these buckets, by the project."""
    rows = [row for bucket in buckets for row in bucket]
    frequency = table(rows, NAMES)
    found = m.match(sliced(frequency, GROUPS, buckets), frequency, np.arange(frequency.n_tuples))
    values = [tuple(h.values[c] for h, c in zip(frequency.hierarchies, codes, strict=True))
              for codes in frequency.codes]
    labels = frequency.sensitive["disease"].labels
    return {value: {s: float(p) for s, p in zip(labels, row, strict=True) if p}
            for value, row in zip(values, found.p, strict=True)}


def test_the_published_example_and_what_gives_it_away() -> None:
    """Table 3.10 of the thesis: it says that the table is 2-diverse, and 130355 gives it away."""
    p = said(THESIS)
    assert p["32", "F", "130352"] == {"flu": 0.5, "heart disease": 0.5}
    assert p["53", "F", "130355"] == {"heart disease": 1.0}
    assert sorted(t[2] for t, of in p.items() if max(of.values()) > 0.5) == ["130355", "130355"]
    frequency = table([row for bucket in THESIS for row in bucket], NAMES)
    first = int(np.flatnonzero([h == 2 for h in frequency.codes[:, 2]])[0])  # of 130353
    found = m.match(sliced(frequency, GROUPS, THESIS), frequency, np.array([first]))
    assert found.buckets.tolist() == [1] and found.total.tolist() == [0.125]


def test_the_worked_example_with_two_matching_buckets() -> None:
    p = said(SPEC)
    assert p["25", "M", "A"] == pytest.approx({"flu": 1 / 2, "asthma": 1 / 3, "ulcer": 1 / 6})
    assert all(max(of.values()) == 0.5 for of in p.values())


def by_hand(frequency: FrequencySet, slices: Slices) -> list[tuple[dict[int, Fraction], int, Fraction]]:
    """Per tuple: p(t, s), matching buckets and f(t), by plain loops over records, with fractions."""
    names = (*frequency.quasi, slices.sensitive)
    groups = [[names.index(name) for name in group] for group in slices.groups]
    groups[-1] = groups[-1][:-1]
    members = defaultdict(list)
    for bucket, row in zip(slices.bucket_of.tolist(), slices.codes.tolist(), strict=True):
        members[bucket].append(row)

    def fits(t: Any, row: list[int], group: list[int]) -> bool:
        return all(t[j] in Labels(frequency.hierarchies[j]).covers(row[j]) for j in group)

    answers = []
    for t in frequency.codes.tolist():
        f, joint = Fraction(0), defaultdict(Fraction)
        matching = 0
        for rows in members.values():
            share = prod((Fraction(sum(fits(t, r, g) for r in rows), len(rows)) for g in groups),
                         start=Fraction(1))
            if share:
                matching += 1
                f += share
                block = [r[-1] for r in rows if fits(t, r, groups[-1])]
                for s in block:
                    joint[s] += share / len(block)
        answers.append(({s: value / f for s, value in joint.items()}, matching, f))
    return answers


@st.composite
def releases(draw: st.DrawFn) -> tuple[FrequencySet, Slices]:
    """Random tables in random buckets, some cells generalized."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    rows = [(rng.choice("abcd"), rng.choice("xy"), rng.choice("pqr"), rng.choice("stu"))
            for _ in range(rng.randrange(1, 14))]
    tree = [(v, "low" if v in "ab" else "high", "*") for v in "abcd"]
    frequency = table(rows, ("A", "B", "C", "S"), {"A": tree})
    groups = rng.choice([(("A",), ("B",), ("C", "S")), (("A", "B"), ("C", "S")), (("A", "B", "C"), ("S",)),
                         (("A", "B", "C", "S"),), (("C",), ("A", "B", "S"))])
    rng.shuffle(rows)
    cuts = sorted(rng.sample(range(1, len(rows)), min(len(rows) - 1, rng.randrange(3))))
    buckets = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    blurred = [[(rng.choice([r[0], r[0], "low" if r[0] in "ab" else "high", "*"]), *r[1:]) for r in bucket]
               for bucket in buckets]
    return frequency, sliced(frequency, groups, blurred)


@settings(max_examples=150, deadline=None)
@given(releases())
def test_matching_probabilities_against_plain_loops(case: tuple[FrequencySet, Slices]) -> None:
    frequency, slices = case
    targets = np.arange(frequency.n_tuples)
    index, values = m.indexed(slices, frequency, targets)
    compiled = m.Matches(*kernels.matching(
        values, index.firsts, index.starts, index.buckets, index.shares, index.inside, index.inside_value,
        index.inside_share, index.n_values))
    for found in (m._plain(index, values), compiled):
        for t, (p, matching, f) in enumerate(by_hand(frequency, slices)):
            assert found.p[t] == pytest.approx([float(p.get(s, 0)) for s in range(index.n_values)], abs=1e-12)
            assert (found.buckets[t], found.total[t]) == (matching, pytest.approx(float(f)))


@settings(max_examples=40, deadline=None)
@given(releases())
def test_targets_looked_at_one_after_the_other(case: tuple[FrequencySet, Slices]) -> None:
    """As many at once as memory bears: the answers are those of all at once."""
    frequency, slices = case
    targets = np.arange(frequency.n_tuples)
    index, values = m.indexed(slices, frequency, targets)
    whole = m._plain(index, values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(m, "AT_ONCE", 1)
        apart = m.match(slices, frequency, targets)
    for one, other in zip(whole, apart, strict=True):
        assert one.shape == other.shape and np.allclose(one, other)


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([1, 1.5, 2, 3]), st.booleans())
def test_buckets_are_large_and_diverse_and_the_twins_agree(seed: int, k: int, l: float,  # noqa: E741
                                                           together: bool) -> None:
    rng = random.Random(seed)
    rows = [(str(rng.randrange(12)), rng.choice("xyz"), rng.choice("pq"), rng.choice("stuv"))
            for _ in range(rng.randrange(1, 120))]
    frequency = table(rows, ("A", "B", "C", "S"))
    histogram = frequency.sensitive["S"]
    blocks = Blocks.of(frequency, histogram, [2] if together else [])
    bucket_of = partition._plain(frequency, histogram, blocks, k, l)
    ranks, places, spans = partition.geometry(frequency)
    starts = np.searchsorted(histogram.classes, np.arange(frequency.n_tuples + 1))
    compiled = kernels.partition(ranks, places, spans, frequency.counts, starts, blocks.cells, blocks.of_row,
                                 histogram.counts, blocks.n_cells, blocks.n_blocks, k, 1 / l)
    assert (bucket_of == compiled).all()
    whole = len(set(bucket_of)) == 1
    held: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in rows:
        codes = [h.code_of[v] for h, v in zip(frequency.hierarchies, row, strict=False)]
        at = int(np.flatnonzero((frequency.codes == codes).all(axis=1))[0])
        held[bucket_of[at], row[2] if together else ""][row[3]] += 1
    sizes: Counter[int] = Counter()
    for (bucket, _), found in held.items():
        sizes[bucket] += found.total()
        assert whole or max(found.values()) * l <= found.total() + 1e-9
    assert whole or min(sizes.values()) >= k


@settings(max_examples=120, deadline=None)
@given(releases(), st.integers(0, 100))
def test_counting_questions_against_plain_loops(case: tuple[FrequencySet, Slices], seed: int) -> None:
    """In each bucket: its records, times for every column group the share that has what is asked."""
    frequency, slices = case
    drawn = queries.draw(frequency, np.random.default_rng(seed), queries=10, selectivity=0.4)
    names = (*frequency.quasi, slices.sensitive)
    with pytest.MonkeyPatch.context() as patch:
        plain = queries.expected(frequency, slices, drawn)
        patch.setattr(queries, "FEW", 0)
        compiled = queries.expected(frequency, slices, drawn)
    members = defaultdict(list)
    for bucket, row in zip(slices.bucket_of.tolist(), slices.codes.tolist(), strict=True):
        members[bucket].append(row)
    for n, query in enumerate(drawn):
        assert 1 <= len(query.wanted) <= 4
        wanted = {j: set(np.flatnonzero(mask).tolist()) for j, mask in query.wanted.items()}

        def has(row: list[int], j: int, wanted: dict[int, set[int]] = wanted) -> Fraction:
            under = {row[j]} if j == frequency.n_quasi else set(
                Labels(frequency.hierarchies[j]).covers(row[j]).tolist())
            return Fraction(len(under & wanted[j]), len(under))

        total = Fraction(0)
        for rows in members.values():
            one = Fraction(len(rows))
            for group in slices.groups:
                asked = [names.index(name) for name in group if names.index(name) in wanted]
                one *= sum((prod((has(r, j) for j in asked), start=Fraction(1)) for r in rows),
                           Fraction(0)) / len(rows)
            total += one
        assert plain[n] == pytest.approx(float(total)) and compiled[n] == pytest.approx(float(total))


@settings(max_examples=60, deadline=None)
@given(releases())
def test_rows_as_they_were_against_plain_loops(case: tuple[FrequencySet, Slices]) -> None:
    frequency, slices = case
    left = Counter({tuple(codes): int(n) for codes, n in zip(frequency.codes.tolist(), frequency.counts,
                                                             strict=True)})
    hits = 0
    for row in slices.codes[:, :-1].tolist():
        if left[tuple(row)] > 0:
            left[tuple(row)] -= 1
            hits += 1
    assert shown(frequency, slices).value == pytest.approx(hits / len(slices.codes))
