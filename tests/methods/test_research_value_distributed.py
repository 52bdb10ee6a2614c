"""Distributed research-value search against brute force, and its bounds where ladders stand in."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_research_value import brute, problem_of, solved, worths
from tests.oracles import lattice as oracle
from tests.properties.cases import SETS, Case, cases, criterion

from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import FrequencySet, distinct
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.full_domain import release_node
from sfumato.methods.research_value import ResearchValue, limits_of, worth_of
from sfumato.strings import combined, subsets
from sfumato.strings.subsets import Job, elsewhere, job, solve, split
from sfumato.strings.trial import Trial, prepruned


@settings(deadline=None, max_examples=120)
@given(cases(), st.sampled_from(SETS), st.booleans(), st.sampled_from(["0", "0.1", "0.5"]),
       st.integers(2, 40), st.sampled_from([1, 200_000]), st.integers(0, 2 ** 32))
def test_brute_force(case: Case, names: tuple[str, ...], falling: bool, limit: str, fits: int, most: int,
                     seed: int) -> None:
    """All combinations listed: the best string. Ladders: one that holds, and is worth no more."""
    worth = worths(case, seed, falling)
    problem, judges = problem_of(case, names, worth, limit, seed)
    trial = Trial(problem.frequency, problem.criteria, limits_of(problem), worth_of(problem))
    expected = brute(case, worth, judges, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combined, "MOST_COMBINED", most)
        patch.setattr(combined, "MOST_THINNED", 8)
        if not trial.carries:
            with pytest.raises(RequestError, match="distributed"):
                solved(problem, search="distributed", fits=fits)
            return
        if expected is None:
            with pytest.raises(InfeasibleError):
                solved(problem, search="distributed", fits=fits)
            return
        found = solved(problem, search="distributed", fits=fits)
    if most > 1:
        assert found["complete"] and (round(found["value"], 9), found["roots"]) == expected
    assert found["value"] <= expected[0] + 1e-9
    for one in found["successes"]:
        released = oracle.release(case.records, case.paths, tuple(one["levels"]), judges)
        assert oracle.feasible(released, Fraction(limit), len(case.records))


@settings(deadline=None, max_examples=60)
@given(cases(), st.sampled_from(SETS), st.integers(0, 2 ** 32), st.integers(2, 30))
def test_a_subset_finds_all_strings_that_hold(case: Case, names: tuple[str, ...], seed: int,
                                              fits: int) -> None:
    """Against plain loops over the whole table, the other columns at their roots."""
    problem, judges = problem_of(case, names, worths(case, seed, True), "0.1", seed)
    trial = Trial(problem.frequency, problem.criteria, limits_of(problem), worth_of(problem))
    if not trial.carries:
        return
    kept = prepruned(trial)
    tops = tuple(len(paths[0]) - 1 for paths in case.paths)
    parts = split(kept, fits)
    assert [j for part in parts for j in part] == list(range(len(tops)))
    for part in parts:
        assert len(part) == 1 or math.prod(len(kept[j]) for j in part) <= fits
        expected = set()
        for node in oracle.nodes(case.paths):
            rooted = all(node[j] == tops[j] for j in range(len(tops)) if j not in part)
            released = oracle.release(case.records, case.paths, node, judges)
            if rooted and oracle.feasible(released, Fraction("0.1"), len(case.records)):
                expected.add(tuple(node[j] for j in part))
        found = solve(job(trial, part, kept, None))
        assert {tuple(levels) for levels in found.levels.tolist()} == expected and found.complete


def certificates(records: int, columns: int, seed: int = 0) -> FrequencySet:
    """A table of many columns of two to six levels, whose tuples nearly all differ."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, records)
    codes, hierarchies = [], []
    for j in range(columns):
        levels = (6, 5, 4, 3, 2)[j % 5]
        width = 2 ** (levels - 1)
        codes.append(np.where(rng.random(records) < 0.8, kind % width, rng.integers(0, width, records)))
        hierarchies.append(Hierarchy(f"c{j}", tuple((*(f"{n}.{value >> n}" for n in range(levels - 1)), "*")
                                                    for value in range(width))))
    table = np.stack(codes, axis=1).astype(np.int32)
    class_of, first = distinct(table, [h.n_values for h in hierarchies])
    return FrequencySet(tuple(hierarchies), table[first], np.bincount(class_of).astype(np.int64))


@pytest.mark.parametrize("columns", [24, 36])
def test_many_columns(columns: int) -> None:
    """Far more strings than fit: an answer that holds, that no single step betters, within bounded memory."""
    frequency = certificates(4_000, columns)
    problem = Problem(frequency, (criterion("k-anonymity", k=5),), 0.0, np.ones(columns))
    with pytest.raises(RequestError, match="generalization strings") as caught:
        ResearchValue(search="global").solve(problem, np.random.default_rng(0))
    assert "distributed" in caught.value.remedy
    method = ResearchValue(search="distributed", fits=500, processes=1)
    found = method.solve(problem, np.random.default_rng(0))
    told = found.notes["facts"]["research"]
    assert told["strings"] > 10 ** 12 and len(told["subsets"]) > 4 and not told["complete"]
    assert told["held_bytes"] < 1 << 28
    assert told["value"] > 0.05 and min(found.sizes(frequency)) >= 5
    levels = np.array(found.notes["levels"])
    for j in np.flatnonzero(levels):
        finer = levels - np.eye(columns, dtype=np.int64)[j]
        assert release_node(problem, finer, {}).suppressed(frequency) > 0, f"column {j} could be finer"


def test_a_process_of_its_own_finds_the_same() -> None:
    frequency = certificates(500, 4)
    problem = Problem(frequency, (criterion("k-anonymity", k=5),), 0.0, np.ones(4))
    trial = Trial(frequency, problem.criteria, limits_of(problem), worth_of(problem))
    one = job(trial, (1, 3), prepruned(trial), None)
    there, here = elsewhere(one), solve(one)
    assert there.levels.tolist() == here.levels.tolist() and there.counted == here.counted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "SMALL", 0)
        several = solved(problem, search="distributed", fits=8, processes=2)
    alone = solved(problem, search="distributed", fits=8, processes=1)
    assert len(several["subsets"]) > 1
    without: list[dict[str, Any]] = [{**told, "held_bytes": 0} for told in (several, alone)]
    assert without[0] == without[1]


def test_a_process_that_ends_badly_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    frequency = certificates(50, 2)
    problem = Problem(frequency, (criterion("k-anonymity", k=5),), 0.0, np.ones(2))
    trial = Trial(frequency, problem.criteria, limits_of(problem), worth_of(problem))
    broken: Job = replace(job(trial, (0, 1), prepruned(trial), None), kept=())
    with pytest.raises(RequestError, match="columns c0, c1 ended with code 1") as caught:
        elsewhere(broken)
    assert "processes: 1" in caught.value.remedy
    assert capfd.readouterr().err == "", "its traceback could hold values of the table"


@pytest.mark.parametrize("search", ["global", "local", "hybrid", "distributed"])
def test_out_of_time_it_shows_nothing_and_claims_no_proof(search: str) -> None:
    frequency = certificates(900, 6)
    problem = Problem(frequency, (criterion("k-anonymity", k=5),), 0.0, np.ones(6))
    problem.clock.seconds = 1e-9
    found = solved(problem, search=search, fits=100)
    assert found["value"] == 0 and found["roots"] == 6 and not found["complete"]
    strict = Problem(frequency, (criterion("k-anonymity", k=901),), 0.0, np.ones(6))
    strict.clock.seconds = 1e-9
    with pytest.raises(InfeasibleError, match="found so far"):
        solved(strict, search=search, fits=100)
