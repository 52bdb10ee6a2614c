"""The evidence against plain loops over random tables."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import measures as plain

from sfumato.classes import Histogram
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.collect import as_dict, collect
from sfumato.measure.evidence import Evidence, Measure
from sfumato.measure.released import pack, see
from sfumato.measure.utility import distribution, queries
from sfumato.measure.utility.correlation import association
from sfumato.measure.utility.costs import COST_MEANING
from sfumato.recoding import Regrouping

jobs = st.builds(
    plain.job, st.integers(0, 10**6), n_rows=st.integers(1, 30), n_quasi=st.integers(1, 4),
    n_values=st.integers(1, 6), kind=st.sampled_from(["full", "local", "nothing", "all"]))
quick = settings(max_examples=40, deadline=None)


def evidence(job: plain.Job, least: int = 1, seed: int = 1, **costs: float) -> Evidence:
    return collect(job.frequency, job.regrouping, costs=costs, least=least, rng=np.random.default_rng(seed))


def named(job: plain.Job, **costs: float) -> dict[str, Measure]:
    found = evidence(job, **costs)
    return {measure.name: measure for measure in (*found.risk, *found.utility)}


def close(value: float | None, expected: float | None) -> bool:
    return value is None if expected is None else value == pytest.approx(expected, abs=1e-9)


@quick
@given(jobs)
def test_attackers(job: plain.Job) -> None:
    found = named(job)
    kept = [job.labels[n] for n in job.kept]
    for rows, read in ((job.rows, "before"), (kept, "value")):
        risks = plain.risks(rows)
        expected = {
            "highest": max(risks, default=None), "lowest": min(risks, default=None),
            "average": mean(risks) if risks else None}
        for kind, number in expected.items():
            assert close(getattr(found[f"prosecutor_{kind}"], read), number)
            assert close(getattr(found[f"journalist_{kind}"], read), number)
        assert close(getattr(found["marketer"], read), expected["average"])
        assert close(getattr(found["distinction"], read), expected["average"])
        assert close(getattr(found["uniques"], read), risks.count(1) / len(risks) if risks else None)
        assert close(getattr(found["separation"], read), plain.separation(rows))
        sizes = Counter(rows).values()
        assert close(getattr(found["smallest_class"], read), min(sizes, default=None))
        assert close(getattr(found["largest_class"], read), max(sizes, default=None))
        assert close(getattr(found["average_class"], read), mean(sizes) if sizes else None)
        for name, extreme in (("records_at_highest", max), ("records_at_lowest", min)):
            share = risks.count(extreme(risks)) / len(risks) if risks else None
            assert close(getattr(found[name], read), share)


@quick
@given(jobs)
def test_profiles(job: plain.Job) -> None:
    found = evidence(job)
    kept = [job.labels[n] for n in job.kept]
    for profile, rows in ((found.risk_before, job.rows), (found.risk_after, kept)):
        sizes = [rows.count(row) for row in rows]
        assert (profile.records, profile.classes) == (len(rows), len(set(rows)))
        assert profile.unique == sizes.count(1)
        assert profile.smallest == min(sizes, default=None)
        bounds = {"> 50 %": 2, "> 33 %": 3, "> 20 %": 5, "> 10 %": 10, "> 5 %": 20, "> 1 %": 100}
        assert list(profile.at_risk) == (list(bounds) if rows else [])
        for name, share in profile.at_risk.items():
            assert close(share, sum(size < bounds[name] for size in sizes) / len(sizes))
        bins = {"1": (1, 1), "2": (2, 2), "3-4": (3, 4), "5-9": (5, 9), "10-19": (10, 19), "20-49": (20, 49),
                "50-99": (50, 99), "100+": (100, math.inf)}
        assert list(profile.sizes) == (list(bins) if rows else [])
        for name, share in profile.sizes.items():
            assert close(share, sum(bins[name][0] <= size <= bins[name][1] for size in sizes) / len(sizes))
    assert found.risk_after.suppressed == len(job.rows) - len(kept)
    assert found.risk_before.suppressed == 0


@quick
@given(jobs)
def test_columns(job: plain.Job) -> None:
    found = evidence(job).columns
    assert [picture.column for picture in found] == [*job.frequency.quasi, "s", "u"]
    for n, picture in enumerate(found[:job.frequency.n_quasi]):
        column = [row[n] for row in job.rows]
        levels = {cell[n][0] for cell in job.cells if cell is not None}
        assert picture.level == (levels.pop() if len(levels) == 1 else None)
        assert picture.levels == len(job.hierarchies[n].paths[0])
        assert close(picture.loss, plain.ncp(job, n))
        assert close(picture.contribution, plain.contribution(job.rows, n))
        assert close(picture.distinction, len(set(column)) / len(column))
        assert close(picture.separation, plain.separation([(value,) for value in column]))
        labels = ["*" if label is None else (label[n] or "(missing)") for label in job.labels]
        assert picture.after == pytest.approx({k: v / len(labels) for k, v in Counter(labels).items()})
        names = Counter(value or "(missing)" for value in column)
        assert picture.before == pytest.approx({k: v / len(column) for k, v in names.items()})
    for name, picture in zip("su", found[job.frequency.n_quasi:], strict=True):
        values = [value or "(missing)" for value in job.sensitive[name]]
        kept = Counter(values[n] for n in job.kept)
        assert picture.before == pytest.approx({k: v / len(values) for k, v in Counter(values).items()})
        assert picture.after == pytest.approx({k: v / len(job.kept) for k, v in kept.items()})


@quick
@given(jobs)
def test_losses(job: plain.Job) -> None:
    found = named(job)
    columns = [plain.ncp(job, n) for n in range(job.frequency.n_quasi)]
    assert close(found["mean_ncp"].value, mean(columns))
    assert close(found["entropy_kept"].value, plain.kept_entropy(job))
    assert close(found["suppressed_share"].value, 1 - len(job.kept) / len(job.rows))
    assert close(found["distortion_ratio"].value, plain.distortion(job))
    as_they_were = sum(all(level == 0 for level, _ in cell) for cell in job.cells if cell is not None)
    assert close(found["rows_as_they_were"].value, as_they_were / len(job.rows))


@quick
@given(jobs)
def test_correlations(job: plain.Job) -> None:
    found = evidence(job).correlations
    assert found is not None
    n_quasi = job.frequency.n_quasi
    before = [*zip(*job.rows, strict=True), job.sensitive["s"], job.sensitive["u"]]
    kept = [job.labels[n] or () for n in job.kept]
    after = [*zip(*kept, strict=True)] if kept else [()] * n_quasi
    after += [[job.sensitive[name][n] for n in job.kept] for name in "su"]
    changes = []
    for i in range(len(found.columns)):
        assert found.before[i][i] == (1 if len(job.rows) > 1 else None)
        for j in range(i):
            pair = tuple(plain.cramer(list(side[i]), list(side[j])) for side in (before, after))
            if j >= n_quasi:  # two sensitive columns
                pair = None, None
            assert close(found.before[i][j], pair[0]) and close(found.before[j][i], pair[0])
            assert close(found.after[i][j], pair[1])
            if pair[0] is not None and pair[1] is not None:
                changes.append(abs(pair[1] - pair[0]))
    assert close(found.largest_change, max(changes, default=None))
    assert close(named(job)["correlation_change"].value, found.largest_change)


@quick
@given(jobs, st.integers(0, 1000))
def test_queries(job: plain.Job, seed: int) -> None:
    drawn = queries.draw(job.frequency, np.random.default_rng(seed), queries=15)
    truth = queries.count(job.frequency, drawn)
    guess = queries.estimate(job.frequency, job.regrouping, drawn)
    for n, query in enumerate(drawn):
        assert 1 <= len(query.wanted) <= min(5, job.frequency.n_quasi + 1)
        values = [*(h.values for h in job.hierarchies), *(h.labels for h in job.frequency.sensitive.values())]
        wanted = {column: {values[column][v] for v in np.flatnonzero(mask)}
                  for column, mask in query.wanted.items()}
        assert truth[n] == plain.answer(job, wanted)
        assert close(float(guess[n]), plain.guess(job, wanted))


def test_query_errors_are_the_mean_and_median_over_the_drawn_queries() -> None:
    job = plain.job(1, n_rows=30, n_quasi=3, n_values=6, kind="full")
    drawn = queries.draw(job.frequency, np.random.default_rng(1))
    truth, guess = queries.count(job.frequency, drawn), queries.estimate(job.frequency, job.regrouping, drawn)
    assert any(t == 0 and g > 0 for t, g in zip(truth, guess, strict=True))  # where the bound counts
    errors = [abs(g - t) / max(t, 0.001 * 30) for g, t in zip(guess, truth, strict=True)]
    found = named(job)
    assert close(found["query_error_mean"].value, mean(errors)) and mean(errors) > 0
    assert close(found["query_error_median"].value, median(errors))


@quick
@given(jobs)
def test_nothing_is_nan_and_every_none_has_a_reason(job: plain.Job) -> None:
    found = evidence(job, kl=math.inf, ncp=0.5)
    for measure in found.measures:
        assert (measure.value is None) == ("Not defined here:" in measure.definition), measure
        for number in (measure.value, measure.before):
            assert number is None or math.isfinite(number)
            low, high = measure.low, measure.high
            assert number is None or low is None or number >= low, measure
            assert number is None or high is None or number <= high, measure
        assert measure.citation and measure.title
    numbers = _numbers(dataclasses.asdict(found))
    assert numbers and all(math.isfinite(number) for number in numbers)
    assert set(as_dict(found)) == {measure.name for measure in found.measures}
    assert len(as_dict(found)) == len(found.risk) + len(found.attacks) + len(found.utility)


def _numbers(thing: object) -> list[float]:
    if isinstance(thing, dict):
        return _numbers(list(thing.values()))
    if isinstance(thing, list | tuple):
        return [number for part in thing for number in _numbers(part)]
    return [thing] if isinstance(thing, int | float) else []


@quick
@given(jobs, st.randoms(use_true_random=False))
def test_order_of_rows_and_classes_says_nothing(job: plain.Job, rng: object) -> None:
    order = list(range(len(job.rows)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    rows = [job.rows[n] for n in order]
    sensitive = {name: [values[n] for n in order] for name, values in job.sensitive.items()}
    frequency = plain.frequency_set(job.hierarchies, rows, sensitive)
    place = {tuple(codes): n for n, codes in enumerate(job.frequency.codes.tolist())}
    back = [place[tuple(codes)] for codes in frequency.codes.tolist()]
    turned = np.arange(job.regrouping.n_classes)[::-1]
    class_of = job.regrouping.class_of[back]
    class_of = np.where(class_of < 0, -1, job.regrouping.n_classes - 1 - class_of)
    regrouping = Regrouping(class_of, job.regrouping.levels[turned], job.regrouping.nodes[turned])
    other = collect(frequency, regrouping, costs={}, least=2, rng=np.random.default_rng(1))
    first = evidence(job, least=2)
    assert _numbers(dataclasses.asdict(other)) == pytest.approx(_numbers(dataclasses.asdict(first)), abs=1e-9)


@quick
@given(jobs, st.integers(2, 8))
def test_rare_private_values_are_never_shown(job: plain.Job, least: int) -> None:
    found = evidence(job, least=least)
    few = 0 < len(job.rows) - len(job.kept) < least
    population = job.kept if few else list(range(len(job.rows)))
    columns = [*zip(*job.rows, strict=True), *job.sensitive.values()]
    for picture, column in zip(found.columns, columns, strict=True):
        counts = Counter(column[n] or "(missing)" for n in population)
        shown = {label for label in picture.before if label != "(other)"}
        assert shown == {label for label, count in counts.items() if count >= least}
        assert sum(picture.before.values()) == pytest.approx(1 if population else 0)


def test_association_is_the_same_for_columns_too_wide_to_lay_out() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(0, 5, 300)
    right = np.where(rng.random(300) < 0.5, left, rng.integers(0, 7, 300))
    counts = np.ones(300, dtype=np.int64)
    narrow, wide = association(left, right, counts), association(left * 10**4, right * 10**4, counts)
    assert narrow is not None and 0.3 < narrow < 0.7
    assert close(wide, narrow) and close(narrow, plain.cramer(left.tolist(), right.tolist()))


def test_many_labels_are_folded_into_one() -> None:
    labels = tuple(f"v{n}" for n in range(40))
    shares = distribution.fold(labels, np.arange(1, 41), 3)
    assert list(shares) == [*labels[-distribution.TOP:], "(other)"]
    assert sum(shares.values()) == pytest.approx(1)


def test_too_many_values_are_drawn_by_the_finest_level_with_few_labels() -> None:
    from sfumato.hierarchy.spec import build

    ages = tuple(str(age) for age in range(40))
    counts = np.arange(1, 41)
    by_age = build("age", {"interval": [1, 5, 20]}, ages, counts.tolist(), Path())
    labels, summed = distribution.drawable(by_age, counts)
    assert labels == by_age.labels[2] and len(labels) == 8 <= distribution.TOP
    assert summed.tolist() == [int(counts[start:start + 5].sum()) for start in range(0, 40, 5)]
    for spec, values in (("suppress", ages), ({"interval": [1, 5, 20]}, ages[:12])):
        flat = build("age", spec, values, [1] * len(values), Path())
        assert distribution.drawable(flat, np.ones(len(values)))[0] == flat.labels[0]


def test_too_many_released_labels_are_drawn_like_the_values_before() -> None:
    """Values and fives under the tens that are drawn before; what stands above them, or elsewhere, stays."""
    paths = [(str(v), f"{v // 5}/5", f"{v // 10}/10", f"{v // 50}/50", "*") for v in range(100)]
    hierarchy = Hierarchy("age", (*paths, (None, None, None, None, "*")))
    labels = (*(str(v) for v in range(20)), "4/5", "1/50", None, "[31..37]", "*")
    counts = np.arange(1, len(labels) + 1)
    found = dict(zip(*distribution.gathered(hierarchy, labels, counts), strict=True))
    assert found["0/10"] == sum(range(1, 11)) and found["1/10"] == sum(range(11, 21))
    assert (found["2/10"], found["1/50"], found[None], found["[31..37]"], found["*"]) == (21, 22, 23, 24, 25)
    assert list(found)[:3] == ["0/10", "1/10", "2/10"] and sum(found.values()) == counts.sum()
    few = labels[:12], counts[:12]
    assert distribution.gathered(hierarchy, *few) == few


def test_classes_with_equal_labels_count_as_one() -> None:
    job = plain.job(3, n_rows=20, n_quasi=2, n_values=5, kind="all")
    n = job.frequency.n_tuples
    roots = [[h.n_levels - 1 for h in job.hierarchies]] * n
    split = plain.regrouping_of(job.frequency, [[i] for i in range(n)], roots)
    released = see(job.frequency, split)
    assert released.sizes.tolist() == [20]
    assert named(dataclasses.replace(job, regrouping=split))["prosecutor_highest"].value == 1 / 20


def test_pack_keeps_rows_apart_however_wide_the_columns() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=(500, 9)) * (2**20)
    keys = pack(codes, [2**22] * 9)
    _, expected = np.unique(codes, axis=0, return_inverse=True)
    _, found = np.unique(keys, return_inverse=True)
    assert len(np.unique(np.stack([expected.ravel(), found]), axis=1).T) == len(np.unique(codes, axis=0))
    assert len(set(found.tolist())) == len(np.unique(codes, axis=0))


def test_costs_come_with_their_meaning() -> None:
    job = plain.job(4, n_rows=10, n_quasi=2, n_values=3, kind="full")
    found = named(job, **dict.fromkeys(COST_MEANING, 1.0))
    assert set(COST_MEANING) == {"ncp", "loss", "aecs", "discernibility", "precision", "height", "entropy",
                                 "kl", "ambiguity", "research-value"}
    for name, meaning in COST_MEANING.items():
        assert found[name].value == 1.0 and found[name].definition == meaning.definition
        assert found[name].better == "lower"


@pytest.mark.parametrize("n_rows", [0, 3])
def test_without_quasi_identifiers_or_records_there_is_a_reason_instead_of_a_number(n_rows: int) -> None:
    hierarchies = () if n_rows else (plain.job(0, n_rows=1, n_quasi=1, n_values=3, kind="all").hierarchies)
    rows: list[plain.Row] = [()] * n_rows
    frequency = plain.frequency_set(hierarchies, rows, {"s": ["a"] * n_rows})
    regrouping = plain.regrouping_of(frequency, [[0]] if n_rows else [], [[]] if n_rows else [])
    found = collect(frequency, regrouping, costs={}, least=1, rng=np.random.default_rng(0))
    numbers = as_dict(found)
    assert numbers["query_error_mean"] is None and numbers["mean_ncp"] is None
    assert numbers["prosecutor_highest"] == (1 / 3 if n_rows else None)
    assert all(math.isfinite(number) for number in _numbers(dataclasses.asdict(found)))


def test_the_few_suppressed_cannot_be_found_by_subtracting_the_release() -> None:
    job = next(job for seed in range(1000)
               for job in [plain.job(seed, n_rows=25, n_quasi=2, n_values=3, kind="full")]
               if 0 < len(job.rows) - len(job.kept) < 5)
    for picture in evidence(job, least=5).columns[-2:]:
        assert picture.before == pytest.approx(picture.after)
    plainly = evidence(job, least=1).columns[-2:]
    assert any(picture.before != pytest.approx(picture.after) for picture in plainly)


@quick
@given(jobs, st.integers(0, 1000))
def test_other_records_are_asked_the_same(job: plain.Job, seed: int) -> None:
    """Sensitive values in another order, one of them unknown to the table, are told by their names."""
    turned = {name: Histogram(h.classes, len(h.labels) - h.values, h.counts, ("new", *h.labels[::-1]),
                              np.append(0, h.whole[::-1])) for name, h in job.frequency.sensitive.items()}
    other = dataclasses.replace(job.frequency, sensitive=dict(reversed(turned.items())))
    drawn = queries.draw(job.frequency, np.random.default_rng(seed), queries=10)
    asked = [queries.translated(query, job.frequency, other) for query in drawn]
    assert queries.count(other, asked).tolist() == queries.count(job.frequency, drawn).tolist()
