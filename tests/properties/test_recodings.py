"""The same recoding said in another way measures the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import measures as plain

from sfumato.costs.measured import measure_all
from sfumato.frequency import Cells, FrequencySet
from sfumato.measure.collect import as_dict, collect
from sfumato.recoding import SUPPRESSED, Portions, Regrouping, Sets, Spans

jobs = st.builds(
    plain.job, st.integers(0, 10**6), n_rows=st.integers(1, 30), n_quasi=st.integers(1, 4),
    n_values=st.integers(1, 6), kind=st.sampled_from(["full", "local", "nothing", "all"]))
quick = settings(max_examples=60, deadline=None)


def measured(frequency: FrequencySet, regrouping: Regrouping) -> dict[str, float | None]:
    costs = measure_all(frequency, regrouping, np.arange(1.0, 1 + frequency.n_quasi))
    return as_dict(collect(frequency, regrouping, costs=costs, least=1, rng=np.random.default_rng(1)))


def same(one: dict[str, float | None], other: dict[str, float | None]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert other[name] == (value if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)), name


def as_sets(job: plain.Job) -> dict[int, Sets]:
    """Each column's labels as the sets of the values under them."""
    found = {}
    for j, hierarchy in enumerate(job.hierarchies):
        pairs = list(zip(job.regrouping.levels[:, j], job.regrouping.nodes[:, j], strict=True))
        members = [np.flatnonzero(hierarchy.nodes[level] == node) for level, node in pairs]
        texts = [hierarchy.labels[level][node] for level, node in pairs]
        starts = np.cumsum([0, *(len(one) for one in members)])
        found[j] = Sets(starts, np.concatenate([*members, []]).astype(np.int64), texts)
    return found


@quick
@given(jobs)
def test_nodes_written_as_sets(job: plain.Job) -> None:
    """Where suppressed records can have no labels' entropy of their own (see costs.cells.Entropy)."""
    if (job.regrouping.class_of == SUPPRESSED).any() or not job.regrouping.n_classes:
        return
    same(measured(job.frequency, job.regrouping),
         measured(job.frequency, replace(job.regrouping, narrower=as_sets(job))))


@quick
@given(jobs, st.booleans())
def test_every_record_a_portion(job: plain.Job, together: bool) -> None:
    """Tuples fall into cells and cells into records, all of one class; or into cells alone."""
    frequency, places = job.frequency, {row: n for n, row in enumerate(dict.fromkeys(job.rows))}
    codes = [{label: n for n, label in enumerate(h.labels)} for h in frequency.sensitive.values()]
    values = [[code[v] for v in column] for code, column in zip(codes, job.sensitive.values(), strict=True)]
    tuple_of = np.array([places[row] for row in job.rows])
    joint = Cells(tuple_of, np.array(values).T, np.ones(len(job.rows), np.int64))
    frequency = replace(frequency, joint=joint)
    cells = frequency.cells
    assert cells.counts.sum() == len(job.rows) and (np.diff(cells.tuple_of) >= 0).all()
    each = np.ones(len(cells.counts), np.int64) if together else cells.counts
    cell_of = np.repeat(np.arange(len(each)), each)
    counts = cells.counts if together else np.ones(len(cell_of), np.int64)
    regrouping = replace(job.regrouping, class_of=job.regrouping.class_of[cells.tuple_of[cell_of]],
                         portions=Portions.of(frequency, cell_of, counts))
    assert regrouping.suppressed(frequency) == job.regrouping.suppressed(frequency)
    for name, histogram in regrouping.stats(frequency).sensitive.items():
        before = job.regrouping.stats(frequency).sensitive[name]
        assert np.array_equal(histogram.counts, before.counts)
        assert np.array_equal(histogram.values, before.values)
    same(measured(frequency, job.regrouping), measured(frequency, regrouping))


@quick
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 8))
def test_spans_and_sets_sum_what_stands_under_them(seed: int, n_values: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    order, weights = rng.permutation(n_values), rng.integers(0, 9, n_values).astype(float)
    first, last = np.sort(rng.integers(0, n_values, (2, n_classes)), axis=0)
    texts = [f"{a}-{b}" for a, b in zip(first, last, strict=True)]
    members = [order[a:b + 1] for a, b in zip(first, last, strict=True)]
    starts = np.cumsum([0, *(len(one) for one in members)])
    for labels in (Spans(order, first, last, texts), Sets(starts, np.concatenate(members), texts)):
        assert labels.under(weights) == pytest.approx([weights[one].sum() for one in members])
        assert labels.leaves(n_values).tolist() == [len(one) for one in members]
        assert labels.texts == texts and len(labels.place) == n_classes
