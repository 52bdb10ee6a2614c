"""The balance of utility and privacy: crossing, sampling error, reproducibility, and what cannot be asked."""

from __future__ import annotations

import dataclasses
import os
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import measures as plain
from tests.oracles import stump as oracle

from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import Cells, FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.risk.disclosure import Attacker
from sfumato.methods.base import Method
from sfumato.methods.registry import METHODS
from sfumato.recoding import Regrouping
from sfumato.recommend.balance import Balance, Job, at, crossing, judged, run
from sfumato.recommend.workers import shared
from sfumato.report import balance as page
from sfumato.report import render


def people(records: int, seed: int = 1) -> FrequencySet:
    """Towns in regions and ages in tens; what somebody earns goes with the age."""
    draw = random.Random(seed)
    towns = tuple((f"t{n}", f"r{n // 4}", "*") for n in range(16))
    ages = tuple((str(n), f"{n // 10}x", "*") for n in range(20, 60))
    rows = [(f"t{draw.randint(0, 15)}", str(draw.randint(20, 59))) for _ in range(records)]
    earns = ["much" if int(age) + draw.randint(-9, 9) > 40 else "little" for _, age in rows]
    likes = [draw.choice("abc") for _ in rows]
    frequency = plain.frequency_set((Hierarchy("town", towns), Hierarchy("age", ages)), rows,
                                    {"earns": earns, "likes": likes})
    place = {tuple(codes): n for n, codes in enumerate(frequency.codes.tolist())}
    tuple_of = [place[tuple(h.code_of[v] for h, v in zip(frequency.hierarchies, row, strict=True))]
                for row in rows]
    values = [[frequency.sensitive[name].labels.index(value) for name, value in (("earns", a), ("likes", b))]
              for a, b in zip(earns, likes, strict=True)]
    joint = Cells(np.array(tuple_of), np.array(values), np.ones(records, np.int64))
    return dataclasses.replace(frequency, joint=joint)


def job(**changes: object) -> Job:
    given = {"frequency": people(400), "criteria": (KAnonymity(k=2),), "weights": np.ones(2),
             "suppression": 0.0, "method": {"name": "mondrian"}, "ks": (2, 5, 10, 20, 40, 80), "size": 200,
             "samples": 6, "utility": "stump.town", "privacy": "cells_suppressed", "seed": 3,
             "attacker": Attacker()}
    return Job(**{**given, **changes})  # type: ignore[arg-type]


def plain_crossing(ks: list[int], curves: list[list[float]]) -> tuple[int, int, float] | None:
    """The first pair of neighbours between which utility falls below privacy, searched in tiny steps."""
    for n in range(len(ks) - 1):
        (low, high), (u, p), (v, q) = ks[n:n + 2], curves[n], curves[n + 1]
        if u >= p and v < q:
            for step in range(10_001):
                share = step / 10_000
                if u + share * (v - u) <= p + share * (q - p):
                    return low, high, low + share * (high - low)
    return None


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=8))
def test_where_two_curves_cross(drawn: list[tuple[int, int]]) -> None:
    ks, curves = [2 + 3 * n for n in range(len(drawn))], [[u / 8, p / 8] for u, p in drawn]
    found, expected = crossing(np.array(ks), np.array(curves)), plain_crossing(ks, curves)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found[0] == expected[:2] and found[1] == pytest.approx(expected[2], abs=1e-3)


def test_the_interval_holds_the_error_of_sampling() -> None:
    """Samples of curves that cross at 6 on average, each moved by noise of a known size."""
    rng, ks = np.random.default_rng(0), np.array([2, 4, 6, 8, 10])
    base = np.stack([1 - ks / 12, ks / 12], axis=1)
    covered, widths = 0, []
    for repeat in range(200):
        moved = base[None] + rng.normal(0, 0.05, size=(25, 1, 1)) * np.array([1, -1])
        found = judged(ks, moved, repeat)[1]
        assert found.k_interval is not None
        covered += found.k_interval[0] <= 6 <= found.k_interval[1]
        widths.append(found.k_interval[1] - found.k_interval[0])
    assert 0.88 <= covered / 200 <= 0.99
    # noise e moves the crossing by 12 e, so the mean of 25 has a standard error of 12 * 0.05 / 5
    assert np.mean(widths) == pytest.approx(2 * 1.96 * 12 * 0.05 / 5, rel=0.15)


def test_one_run_is_the_method_on_the_sample_measured_by_loops() -> None:
    asked = job()
    for k in (2, 10):
        drawn = at(asked, 1, k)
        rng = np.random.default_rng(np.random.SeedSequence([asked.seed, 1]).spawn(3)[0])
        frequency = asked.frequency.sample(asked.size, rng)
        from sfumato.methods.base import Problem
        from sfumato.methods.mondrian import Mondrian

        found = Mondrian().solve(Problem(frequency, (KAnonymity(k=k),), 0.0, np.ones(2)), rng)
        rows, counts = [], [int(n) for n in frequency.counts]
        for n, count in enumerate(counts):
            texts = tuple(found.labelling(frequency, j).texts[found.class_of[n]] for j in range(2))
            rows += [texts] * count
        assert len(rows) == 200
        utility = oracle.right([[row[1] for row in rows]], [row[0] for row in rows]) / 200
        privacy = sum(cell == "*" for row in rows for cell in row) / 400
        assert drawn.shares == pytest.approx((utility, privacy))


def test_with_k_privacy_rises_and_utility_falls_to_a_crossing() -> None:
    found = run(job())
    assert found.points[0].utility > found.points[-1].utility
    assert found.points[0].privacy < found.points[-1].privacy
    cross = found.crossing
    assert cross.crosses and cross.between[0] <= cross.k <= cross.between[1]
    assert cross.k_interval and cross.k_interval[0] <= cross.k <= cross.k_interval[1]
    for point in found.points:
        for name in ("utility", "privacy"):
            low, high = getattr(point, f"{name}_interval")
            assert low <= getattr(point, name) <= high


def test_more_processes_and_other_ks_give_the_same_curves() -> None:
    alone, shared = run(job(samples=3)), run(job(samples=3), jobs=2)
    assert alone.facts == shared.facts
    fewer = run(job(samples=3, ks=(2, 10)))
    assert [p.utility for p in fewer.points] == [p.utility for p in alone.points if p.k in (2, 10)]
    assert run(job(samples=3, seed=4)).facts["points"] != alone.facts["points"]


def test_a_fault_in_a_process_ends_all_of_them() -> None:
    asked = job(samples=2, ks=(2, 5), size=200)
    answers = dict(shared(at, asked, [(0, 2), (1, 5)], 2))
    assert {task: answer.shares for task, answer in answers.items()} == {
        task: at(asked, *task).shares for task in answers}
    with pytest.raises(RequestError, match="'nonsense' is not known here"):
        list(shared(at, job(utility="nonsense"), [(0, 2), (1, 5)], 2))
    with pytest.raises(RuntimeError, match="a process ended before its task"):
        list(shared(os._exit, 3, [(), ()], 2))


def test_progress_is_told_for_every_run() -> None:
    heard = []
    run(job(samples=2, ks=(2, 5)), watch=heard.append)
    assert [(one.visited, one.open) for one in heard] == [(1, 3), (2, 2), (3, 1), (4, 0)]


def test_one_run_claims_no_error() -> None:
    said = page.sampling(run(job(samples=1, ks=(2, 5))).facts)
    assert "One run has no spread" in said and "method's own chance" not in said


def test_ks_that_some_sample_cannot_keep_are_left_out_and_named() -> None:
    found = run(job(samples=2, ks=(2, 100, 201)))
    assert found.infeasible == (201,) and [point.k for point in found.points] == [2, 100]
    assert "k = 201" in page.sampling(found.facts)
    with pytest.raises(InfeasibleError, match="No k from 201 to 300"):
        run(job(ks=(201, 300)))


def test_risks_and_losses_are_turned_to_read_as_privacy_and_utility() -> None:
    found = run(job(utility="mean_ncp", privacy="prosecutor_highest", samples=2, ks=(2, 5)))
    assert found.axes[0].turned and found.axes[1].turned
    assert found.points[0].privacy == pytest.approx(0.5, abs=0.02)  # the highest risk of 2-anonymity is 1 / 2
    hidden = run(job(utility="mean_ncp", privacy="mean_ncp", samples=2, ks=(2, 5)))
    for point in hidden.points:
        assert point.utility + point.privacy == pytest.approx(1)


@pytest.mark.parametrize(("changes", "said"), [
    ({"utility": "nonsense"}, "'nonsense' is not known here"),
    ({"utility": "prosecutor_highest"}, "is not known here. As utility it can be: cells_suppressed"),
    ({"privacy": "average_class"}, "'average_class' has no upper end"),
    ({"utility": "stump.nobody"}, "'stump.nobody' is not known here"),
])
def test_what_cannot_be_drawn_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        run(job(**changes))


def test_a_method_with_its_own_promise_varies_its_own_k(monkeypatch: pytest.MonkeyPatch) -> None:
    frequency = people(200)
    one = dataclasses.replace(frequency, sensitive={"earns": frequency.sensitive["earns"]}, joint=None)
    asked = job(frequency=one, size=100, samples=2, ks=(2, 8), utility="query_error_mean", criteria=(),
                privacy="matching_probability", method={"name": "bucketization", "l": 1})
    with pytest.raises(RequestError, match="'query_error_mean' has no upper end"):
        run(asked)
    found = run(dataclasses.replace(asked, utility="correlation_change"))
    assert found.axes[0].turned and found.points[0].privacy != found.points[1].privacy

    class Kless(Method):
        name = "kless"
        citation = "nobody"
        kind = "slices"

        def solve(self, problem: object, rng: object) -> Regrouping:
            raise AssertionError("it should have been refused")

    monkeypatch.setitem(METHODS, "kless", Kless)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="kless promises no k"):
        run(job(method={"name": "kless"}))


def test_a_sample_is_a_table_of_its_own() -> None:
    frequency = people(300)
    sample = frequency.sample(120, np.random.default_rng(1))
    assert sample.n_records == 120 and (sample.counts > 0).all()
    place = {tuple(codes): n for n, codes in enumerate(frequency.codes.tolist())}
    for codes, count in zip(sample.codes.tolist(), sample.counts, strict=True):
        assert count <= frequency.counts[place[tuple(codes)]]
    for name, histogram in sample.sensitive.items():
        assert np.bincount(histogram.classes, histogram.counts).tolist() == sample.counts.tolist()
        assert histogram.whole.sum() == 120
        assert np.bincount(histogram.values, histogram.counts,
                           minlength=len(histogram.labels)).tolist() == histogram.whole.tolist()
        assert histogram.labels == frequency.sensitive[name].labels
    whole = frequency.sample(300, np.random.default_rng(1))
    assert whole.codes.tolist() == frequency.codes.tolist()
    assert whole.counts.tolist() == frequency.counts.tolist()
    assert whole.cells.counts.tolist() == frequency.cells.counts.tolist()


def test_every_record_is_as_likely_to_be_drawn() -> None:
    frequency, rng = people(40), np.random.default_rng(2)
    place = {tuple(codes): n for n, codes in enumerate(frequency.codes.tolist())}
    drawn = np.zeros(frequency.n_tuples)
    for _ in range(2000):
        sample = frequency.sample(10, rng)
        for codes, count in zip(sample.codes.tolist(), sample.counts, strict=True):
            drawn[place[tuple(codes)]] += count
    assert drawn / 2000 / frequency.counts == pytest.approx(np.full(frequency.n_tuples, 0.25), abs=0.05)


def facts(found: Balance) -> dict[str, object]:
    return found.facts


def test_the_page_says_and_draws_what_was_found() -> None:
    found = run(job())
    summary = page.summarize(facts(found))
    html, text = render.in_form_of("x.html", summary), render.in_form_of("x.md", summary)
    low, high = found.crossing.between
    assert f"Balance between k = {low} and k = {high}" in html and f"between k = {low}" in text
    assert html.count("<polyline") == 2 and "http" not in html.replace("http://www.w3.org", "")
    assert found.report == html and str(found) == page.sentence(found.facts)


def test_curves_that_do_not_cross_are_said_not_to() -> None:
    found = run(job(ks=(2, 5), samples=2))
    near = min(found.points, key=lambda point: abs(point.utility - point.privacy))
    assert not found.crossing.crosses and found.crossing.between == (near.k, near.k)
    assert "utility stays above privacy" in str(found) and "do not cross" in found.report
    upside = dataclasses.replace(found, points=tuple(
        dataclasses.replace(point, utility=-0.1) for point in found.points))
    assert "privacy is above utility" in str(upside)
