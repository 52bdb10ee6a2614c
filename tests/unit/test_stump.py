"""The decision stump against plain loops, and the thesis's way of counting."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import SHARED
from tests.oracles import measures as plain
from tests.oracles import stump as oracle

from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.released import see
from sfumato.measure.utility.loss import losses
from sfumato.measure.utility.stump import ranks, stumps

jobs = st.builds(
    plain.job, st.integers(0, 10**6), n_rows=st.integers(1, 30), n_quasi=st.integers(1, 4),
    n_values=st.integers(1, 6), kind=st.sampled_from(["full", "local", "nothing", "all"]))


def found(job: plain.Job, target: str) -> tuple[float | None, float | None]:
    [one] = stumps(job.frequency, job.frequency, see(job.frequency, job.regrouping), [target])
    return one.before, one.value


def expected(job: plain.Job, target: str) -> tuple[float, float]:
    """The same by loops over the records: before on all of them, after on those that are kept."""
    shares = []
    for rows, numbers in ((job.rows, range(len(job.rows))), ([job.labels[n] for n in job.kept], job.kept)):
        columns = [[row[j] for row in rows] for j in range(job.frequency.n_quasi)]
        if target in job.sensitive:
            aim = [job.sensitive[target][n] for n in numbers]
        else:
            aim = columns.pop(job.frequency.quasi.index(target))
        shares.append(oracle.right(columns, aim) / len(job.rows))
    return shares[0], shares[1]


@settings(max_examples=60, deadline=None)
@given(jobs)
def test_stump_of_every_column(job: plain.Job) -> None:
    for target in ("s", "u", *job.frequency.quasi):
        assert found(job, target) == pytest.approx(expected(job, target))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_numbers_are_asked_about_by_a_bound(seed: int, n_rows: int) -> None:
    draw = random.Random(seed)
    numbers = tuple((str(n), str(n // 4), "*") for n in (3, -1.5, 10, 7, 20, 11))
    tree = Hierarchy("age", (*numbers, (None, None, "*")))
    town = Hierarchy("town", tuple((name, "*") for name in "abc"))
    rows = [(draw.choice(tree.values), draw.choice("abc")) for _ in range(n_rows)]
    frequency = plain.frequency_set((tree, town), rows, {"s": [draw.choice("xyz") for _ in rows],
                                                         "u": ["same"] * n_rows})
    job = plain.job(seed, n_rows=1, n_quasi=1, n_values=1, kind="all")
    levels = [draw.randint(0, 2), draw.randint(0, 1)]
    regrouping = plain.full_domain(frequency, levels, draw.choice([1, 2, 3]).__le__)
    sensitive = {name: values_of(frequency, rows, name) for name in frequency.sensitive}
    job = plain.Job(rows, sensitive, plain.cells_of(rows, frequency, regrouping), (tree, town), frequency,
                    regrouping)
    for target in ("s", "u", "age", "town"):
        assert found(job, target) == pytest.approx(expected(job, target))


def values_of(frequency: object, rows: list[plain.Row], name: str) -> list[str | None]:
    """A sensitive column's values in an order that fits the frequency set's counts."""
    histogram = frequency.sensitive[name]  # type: ignore[attr-defined]
    left: dict[int, list[str | None]] = {}
    for c, v, n in zip(histogram.classes, histogram.values, histogram.counts, strict=True):
        left.setdefault(int(c), []).extend([histogram.labels[v]] * int(n))
    place = {tuple(codes): n for n, codes in enumerate(frequency.codes.tolist())}  # type: ignore[attr-defined]
    trees = frequency.hierarchies  # type: ignore[attr-defined]
    return [left[place[tuple(h.code_of[v] for h, v in zip(trees, row, strict=True))]].pop() for row in rows]


def test_which_labels_are_numbers() -> None:
    assert ranks(("10", "9", None, "-1.5")).tolist() == [3, 2, 0, 1]  # type: ignore[union-attr]
    assert ranks(("*", "30")).tolist() == [0, 1]  # type: ignore[union-attr]
    assert ranks(("[10..20)", "30")) is None and ranks(("*", None)) is None and ranks(("inf", "3")) is None


@settings(max_examples=40, deadline=None)
@given(jobs)
def test_cells_of_which_nothing_is_shown(job: plain.Job) -> None:
    named = {one.name: one.value for one in losses(job.frequency, job.regrouping)}
    every = list(range(job.frequency.n_quasi))
    assert named["cells_suppressed"] == pytest.approx(plain.starred(job, every))
    assert named["cells_suppressed_categorical"] == pytest.approx(plain.starred(job, every))


@pytest.mark.needs_shared
def test_the_thesis_counts_suppressed_cells_of_its_categorical_columns() -> None:
    """Figure 4.8: 33 of 69 categorical cells; with age, which is a mean and never suppressed, 33 of 92."""
    golden = json.loads((SHARED / "golden" / "002_tandon_jain.json").read_text())
    entry = next(one for one in golden["entries"] if one["id"] == "fig4.8")
    rows = [tuple("*" if cell == "xxx" else cell for cell in row) for row in entry["inputs"]]
    names = ("age", "education", "race", "native-country")
    values = [["28", "34", "48", "29", "21"], ["Graduate", "*"], ["*", "White"], ["North_America", "*"]]
    trees = tuple(Hierarchy(name, tuple((v, "*") for v in column))
                  for name, column in zip(names, values, strict=True))
    frequency = plain.frequency_set(trees, rows, {"s": ["a"] * 23, "u": ["a"] * 23})
    as_it_is = plain.regrouping_of(frequency, [[n] for n in range(frequency.n_tuples)],
                                   [[0] * 4] * frequency.n_tuples)
    named = {one.name: one.value for one in losses(frequency, as_it_is)}
    assert 100 * named["cells_suppressed_categorical"] == pytest.approx(47.8261, abs=1e-4)
    assert 100 * named["cells_suppressed"] == pytest.approx(entry["recomputed"]["privacy_incl_age"], abs=1e-4)


def test_a_stump_by_hand() -> None:
    trees = (Hierarchy("job", (("clerk", "*"), ("nurse", "*"))),)
    rows = [("clerk",)] * 4 + [("nurse",)] * 4
    frequency = plain.frequency_set(trees, rows, {"s": list("aaabbbbb"), "u": list("aaaaaaaa")})
    hidden = plain.regrouping_of(frequency, [[0, 1]], [[1]])
    for regrouping, after in ((plain.full_domain(frequency, [0], lambda n: True), 7 / 8), (hidden, 5 / 8)):
        [s, u, job] = stumps(frequency, frequency, see(frequency, regrouping), ["s", "u", "job"])
        assert (s.before, s.value) == (7 / 8, after) and (u.before, u.value) == (1, 1)
        assert (job.before, job.value) == (0.5, 0.5 if after == 7 / 8 else 0)
    assert np.isclose(s.low or 0, 0) and s.high == 1 and s.better == "higher"
