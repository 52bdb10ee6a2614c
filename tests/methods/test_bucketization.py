"""Anatomize: the worked example, and what every group has, on random tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.test_slices import table

from sfumato.errors import InfeasibleError
from sfumato.methods.base import Problem
from sfumato.methods.bucketization import Bucketization
from sfumato.slices.anatomy import anatomized, placed, reconstruction_error

ILL = ["flu"] * 3 + ["asthma"] * 2 + ["ulcer"] * 2


def solved(values: list[str], seed: int = 0, **said: float) -> tuple[list[list[str]], dict[str, float]]:
    """The sensitive values of each bucket, and the error as the method reports it."""
    rows = [(str(n), value) for n, value in enumerate(values)]
    frequency = table(rows, ("age", "disease"))
    found = Bucketization.model_validate(said).solve(Problem(frequency, (), 0.0, np.ones(1)),
                                                     np.random.default_rng(seed))
    labels = frequency.sensitive["disease"].labels
    held = defaultdict(list)
    for bucket, row, source in zip(found.bucket_of.tolist(), found.codes.tolist(), found.source, strict=True):
        held[bucket].append(labels[row[-1]])
        assert rows[int(frequency.hierarchies[0].values[frequency.sensitive["disease"].classes[source]])]
    ages = sorted(int(frequency.hierarchies[0].values[code]) for code in found.codes[:, 0])
    assert ages == list(range(len(values)))
    return list(held.values()), found.notes["facts"]["reconstruction_error"]


def by_hand(buckets: list[list[str]]) -> Fraction:
    """Record by record: the squared distance of the true value to the bucket's distribution."""
    total = Fraction(0)
    for bucket in buckets:
        share = {value: Fraction(count, len(bucket)) for value, count in Counter(bucket).items()}
        total += sum(((value == true) - share[value]) ** 2 for true in bucket for value in share)
    return total


def test_the_worked_example() -> None:
    """Flu 3, asthma 2, ulcer 2, l = 2: an ulcer is left, and joins one of the two groups without one."""
    groups, left = anatomized(np.array([2, 3, 2]), 2)
    assert groups.tolist() == [[1, 0], [1, 2], [0, 1]] and left.tolist() == [2]
    assert {int(placed(groups, left, np.random.default_rng(seed))[0]) for seed in range(40)} == {0, 2}
    buckets, error = solved(ILL, l=2)
    assert by_hand(buckets) == 4 and error == {"total": 4.0, "least_possible": 3.5}
    assert Fraction(4) / Fraction(7, 2) == 1 + Fraction(1, 7)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(1, 5), st.integers(1, 12),
       st.integers(0, 99))
def test_every_value_at_most_once_a_group(counts: list[int], l: int, k: int, seed: int) -> None:  # noqa: E741
    values = [chr(97 + n) for n, count in enumerate(counts) for _ in range(count)]
    assume(k <= len(values))
    if max(counts) * l > len(values):
        with pytest.raises(InfeasibleError, match=rf"has {len(counts)} values"):
            solved(values, seed, l=l, k=k)
        return
    buckets, error = solved(values, seed, l=l, k=k)
    assert sorted(value for bucket in buckets for value in bucket) == values
    assert min(map(len, buckets)) >= max(k, l)
    for bucket in buckets:
        assert max(Counter(bucket).values()) * l <= len(bucket)
    assert error["total"] == pytest.approx(float(by_hand(buckets)), abs=1e-6)
    if k <= l:
        assert max(Counter(value for bucket in buckets for value in set(bucket)).values()) == max(counts)
        least = len(values) * (1 - Fraction(1, l))
        assert least <= by_hand(buckets) <= least * (1 + Fraction(1, len(values)))


def test_which_record_is_in_which_group_is_left_to_chance() -> None:
    """Of six records with one of two values, each of the nine pairs of partners comes about equally often."""
    seen: Counter[tuple[int, int]] = Counter()
    frequency = table([(str(n), "ab"[n % 2]) for n in range(6)], ("age", "disease"))
    for seed in range(600):
        found = Bucketization(l=2).solve(Problem(frequency, (), 0.0, np.ones(1)), np.random.default_rng(seed))
        tuples = frequency.sensitive["disease"].classes[found.source]
        for bucket in range(3):
            odd, even = sorted(tuples[found.bucket_of == bucket], key=lambda t: t % 2 == 0)
            seen[int(odd), int(even)] += 1
    assert len(seen) == 9 and all(150 < count < 250 for count in seen.values())  # expected 200, sd 11.5


def test_error_of_a_group_of_different_values() -> None:
    assert reconstruction_error(np.array([0, 1, 2, 3]), np.zeros(4, int)) == pytest.approx(4 * (1 - 1 / 4))
