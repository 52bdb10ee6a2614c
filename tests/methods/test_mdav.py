"""MDAV: the steps by hand, the kernel beside its twin, centres, Adult."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numba  # noqa: F401  (loaded, so that the kernel serves)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.local import keeps_its_promises
from tests.methods.test_oka import in_words, line, mixed
from tests.methods.test_optimal_golden import adult
from tests.properties.cases import Case, cases

from sfumato.clusters import plain_mdav
from sfumato.clusters.space import Space
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.criteria.l_diversity import LDiversity
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.mdav import MDAV, grouped

quick = settings(max_examples=120, deadline=None)
forms = st.fixed_dictionaries({"numeric": st.sampled_from(["mean", "auto", "hierarchy", "range"]),
                               "categorical": st.sampled_from(["mode", "auto", "hierarchy", "set"]),
                               "distance": st.sampled_from(["hierarchy", "equal"])})


@quick
@given(cases(), forms, st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.booleans())
def test_every_class_keeps_every_promise(case: Case, form: dict[str, Any], seed: int, share: float,
                                         words: bool) -> None:
    keeps_its_promises(MDAV(**form), in_words(case) if words else case, seed, share)


def test_the_steps_by_hand() -> None:
    """Of seven the mean is 26.6: 100 is farthest, then 1 from it; three are left, fewer than 2k."""
    values = [1, 2, 10, 12, 30, 31, 100, 31]
    element_of, groups = grouped(line(values), np.array([1, 1, 1, 1, 1, 0, 1, 1]), 2)
    found = [sorted(values[e] for e in element_of[groups == g]) for g in range(int(groups.max()) + 1)]
    assert found == [[31, 100], [1, 2], [10, 12, 30]]
    element_of, groups = grouped(line([1, 2, 10, 12, 30, 31, 99, 100]), np.ones(8, np.int64), 2)
    found = [element_of[groups == g].tolist() for g in range(4)]
    assert found == [[7, 6], [0, 1], [2, 3], [4, 5]]


@quick
@given(cases(most_columns=4, most_records=60), st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_the_kernel_groups_as_its_twin(case: Case, k: int, seed: int, words: bool) -> None:
    """The kernel counts records alike, its twin has each of them."""
    frequency = (in_words(case) if words else case).frequency
    order = np.random.default_rng(seed).permutation(frequency.n_tuples)
    space = Space.of(frequency, np.array(case.weights), "hierarchy").taken(order)
    agree(space, frequency.counts[order], k)


@pytest.mark.parametrize("k", [2, 3, 10, 77])
def test_many_records_are_grouped_as_by_the_twin(k: int) -> None:
    """Enough of them for the used-up ones to be dropped, and values too many for a table of distances."""
    rng = np.random.default_rng(k)
    agree(mixed(rng, 400), rng.integers(1, 4, 400), k)


def agree(space: Space, counts: np.ndarray, k: int) -> None:
    fast, slow = grouped(space, counts, k), plain_mdav.microaggregate(space, counts, k)
    assert Counter(zip(*map(np.ndarray.tolist, fast), strict=True)) == Counter(
        zip(*map(np.ndarray.tolist, slow), strict=True))
    sizes = np.bincount(fast[1])
    assert sizes.sum() == counts.sum() and (len(sizes) == 1 or (sizes[:-1] == k).all())
    assert sizes[-1] < 2 * k


def test_centres_are_means_and_modes_and_named() -> None:
    age = Hierarchy("age", tuple((a, "*") for a in ("20", "20.5", "30", "31", "33.25")))
    town = Hierarchy("town", tuple((t, "*") for t in "ab"))
    codes = np.array([[0, 0], [1, 0], [2, 1], [3, 1], [4, 0]], np.int32)
    frequency = FrequencySet((age, town), codes, np.array([1, 1, 1, 2, 1]))
    problem = Problem(frequency, (KAnonymity(k=2),), 0.0, np.array([3.0, 0.1]))
    found = MDAV().solve(problem, np.random.default_rng(0))
    texts = sorted(zip(*(found.labelling(frequency, j).texts for j in range(2)), strict=True))
    assert texts[:2] == [("20.25", "a"), ("30.5", "b")]
    assert texts[2] in (("32.13", "a"), ("32.13", "b"))  # of 31 and 33.25, half up; one of each town
    assert found.notes["facts"]["centres"] == {"age": "mean", "town": "mode"}
    true = MDAV(numeric="range", categorical="set").solve(problem, np.random.default_rng(0))
    assert sorted(true.labelling(frequency, 0).texts) == ["[20..20.5]", "[30..31]", "[31..33.25]"]
    assert "centres" not in true.notes["facts"]


@pytest.mark.needs_shared
def test_adult_and_a_second_criterion() -> None:
    """Less lost than Mondrian (0.0300 in ranges and sets); l-diversity by merging, nothing suppressed."""
    from tests.methods.adult import COLUMNS
    from tests.methods.adult import adult as with_salary

    problem = Problem(adult(), (KAnonymity(k=5),), 0.0, np.ones(8))
    found = MDAV(numeric="range", categorical="set").solve(problem, np.random.default_rng(0))
    assert found.notes["score"] < 0.026 and found.sizes(adult()).min() >= 5
    frequency = with_salary(COLUMNS, "salary-class")
    criteria = (KAnonymity(k=5), LDiversity(column="salary-class", l=2))
    found = MDAV().solve(Problem(frequency, criteria, 0.0, np.ones(8)), np.random.default_rng(0))
    stats = found.stats(frequency)
    assert all(one.holds(stats).all() for one in criteria) and found.suppressed(frequency) == 0
