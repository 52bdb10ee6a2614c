"""Research-value search against brute force, the toy traces, and the paper's claims."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import lattice as oracle
from tests.properties.cases import SETS, Case, cases, criterion, promises

from sfumato.costs.registry import make
from sfumato.errors import InfeasibleError
from sfumato.evaluate import PlainEvaluator
from sfumato.frequency import FrequencySet
from sfumato.frontier import BestFirst
from sfumato.hierarchy.core import Hierarchy
from sfumato.lattice import Lattice
from sfumato.methods.base import Problem
from sfumato.methods.optimal import Optimal
from sfumato.methods.research_value import ResearchValue, limits_of, worth_of
from sfumato.research.said import Reading
from sfumato.research.values import prices
from sfumato.search import Clock, TopDown
from sfumato.strings.listed import Strings, globally
from sfumato.strings.trial import Trial, prepruned

Worth = tuple[tuple[float, ...], ...]
RNG = np.random.default_rng(0)


def solved(problem: Problem, **said: Any) -> dict[str, Any]:
    """What the manifest says of a search."""
    return ResearchValue(**said).solve(problem, RNG).notes["facts"]["research"]


def problem_of(case: Case, names: Sequence[str], worth: Worth, limit: str,
               seed: int) -> tuple[Problem, list[oracle.Judge]]:
    known = promises(case, random.Random(seed))
    frequency = replace(case.frequency, worth=tuple(np.array(one) for one in worth))
    criteria = tuple(known[name][0] for name in names)
    return Problem(frequency, criteria, float(limit), np.array(case.weights)), [known[n][1] for n in names]


def brute(case: Case, worth: Worth, judges: list[oracle.Judge], limit: str) -> tuple[float, int] | None:
    """The highest value of any string that holds, and the fewest roots at that value."""
    tops = [len(paths[0]) - 1 for paths in case.paths]
    found = []
    for node in oracle.nodes(case.paths):
        released = oracle.release(case.records, case.paths, node, judges)
        if oracle.feasible(released, Fraction(limit), len(case.records)):
            value = round(sum(w[level] for w, level in zip(worth, node, strict=True)), 9)
            found.append((-value, sum(level == top for level, top in zip(node, tops, strict=True))))
    return (-min(found)[0], min(found)[1]) if found else None


def worths(case: Case, seed: int, falling: bool) -> Worth:
    """Random values of all levels, in twentieths so that strings tie; the root is worth nothing."""
    rng = random.Random(seed)
    columns = []
    for paths in case.paths:
        values = [rng.randrange(20) / 20 for _ in paths[0][:-1]]
        columns.append((*(sorted(values, reverse=True) if falling else values), 0.0))
    return tuple(columns)


@settings(deadline=None, max_examples=150)
@given(cases(), st.sampled_from(SETS), st.booleans(), st.sampled_from(["0", "0.1", "0.5"]),
       st.integers(0, 2 ** 32))
def test_global_and_hybrid_are_brute_force(case: Case, names: tuple[str, ...], falling: bool, limit: str,
                                           seed: int) -> None:
    """Under any criteria and values, rising ones too; the paper's pruning where values fall and criteria
    pass on to generalizations."""
    worth = worths(case, seed, falling)
    problem, judges = problem_of(case, names, worth, limit, seed)
    expected = brute(case, worth, judges, limit)
    if expected is None:
        for search in ("global", "local", "hybrid"):
            with pytest.raises(InfeasibleError):
                ResearchValue(search=search).solve(problem, RNG)
        return
    limits = limits_of(problem)
    carries = limits.upward or (limits.mergeable and not limits.suppressed)
    settings = [{"search": "global"}, {"search": "hybrid"}]
    settings += [{"search": "global", "pruning": "paper"}] if falling and carries else []
    for said in settings:
        found = solved(problem, **said)
        assert (round(found["value"], 9), found["roots"]) == expected, said
        assert found["complete"] and found["successes"][0]["value"] == round(found["value"], 4)
    try:
        assert solved(problem, search="local")["value"] <= expected[0] + 1e-9
    except InfeasibleError as error:
        assert "search: hybrid" in error.remedy


@settings(deadline=None, max_examples=60)
@given(cases(), st.sampled_from(["0", "0.1", "0.5"]), st.integers(0, 2 ** 32))
def test_the_cost_is_least_where_values_rise(case: Case, limit: str, seed: int) -> None:
    """`optimal` and its best-first search count suppressed records as worth nothing."""
    worth = worths(case, seed, False)
    problem, judges = problem_of(case, ("k",), worth, limit, seed)
    n, costs = len(case.records), []
    for node in oracle.nodes(case.paths):
        released = oracle.release(case.records, case.paths, node, judges)
        if oracle.feasible(released, Fraction(limit), n):
            kept = 1 - len(released.suppressed) / n
            costs.append(sum(max(w) - kept * w[level] for w, level in zip(worth, node, strict=True)))
    lattice = Lattice(tuple(len(paths[0]) for paths in case.paths))
    cost = make("research-value", problem.frequency, problem.weights, problem.least)
    for strategy in (TopDown, BestFirst):
        engine = PlainEvaluator(problem.frequency, problem.criteria, cost)
        found = strategy(lattice, cost, engine, limits_of(problem), Clock(60.0)).run()
        assert (found.levels is None) is (not costs)
        assert not costs or found.score == pytest.approx(min(costs), abs=1e-9)


@settings(deadline=None, max_examples=200)
@given(cases(), st.sampled_from(SETS), st.sampled_from(["0.1", "0.5"]), st.integers(0, 2 ** 32))
def test_every_success_holds_and_pre_pruning_loses_none(case: Case, names: tuple[str, ...], limit: str,
                                                        seed: int) -> None:
    worth = worths(case, seed, True)
    problem, judges = problem_of(case, names, worth, limit, seed)
    trial = Trial(problem.frequency, problem.criteria, limits_of(problem), worth_of(problem))
    kept = prepruned(trial)
    for node in oracle.nodes(case.paths):
        released = oracle.release(case.records, case.paths, node, judges)
        if oracle.feasible(released, Fraction(limit), len(case.records)):
            assert all(level in levels for level, levels in zip(node, kept, strict=True))
    globally(Strings.all_of(kept, trial.worth), trial, Clock())
    for one in trial.successes:
        released = oracle.release(case.records, case.paths, one.levels, judges)
        assert oracle.feasible(released, Fraction(limit), len(case.records))
        assert one.suppressed == len(released.suppressed)


def test_a_string_is_worth_the_same_in_the_list_and_by_itself() -> None:
    """Were the list's value higher in its last bit, a success would stay in it, to be tested for ever."""
    trial = Trial.__new__(Trial)
    trial.worth = list(np.random.default_rng(0).random((3, 40)))
    listed = Strings.all_of([np.arange(40)] * 3, trial.worth)
    assert listed.values.tolist() == [trial.value(levels) for levels in listed.levels]


def test_what_does_not_pass_on_to_generalizations_prunes_nothing() -> None:
    """(α,k)-anonymity with suppression: the whole fails where one half of it can be kept."""
    records = [("x", half) for half in "aaaaabbbbb"]
    values = list("ppqrs" + "ppppq")
    case = Case(records, [[("x", "*")], [("a", "*"), ("b", "*")]], values, values, [1.0, 1.0])  # type: ignore[arg-type,list-item]
    frequency = replace(case.frequency, worth=(np.array([0.5, 0.0]), np.array([0.5, 0.0])))
    criteria = (criterion("alpha-k-anonymity", column="s", alpha=0.5, k=2),)
    for search in ("global", "hybrid"):
        found = ResearchValue(search=search).solve(Problem(frequency, criteria, 0.5, np.ones(2)), RNG)
        assert found.notes["levels"] == [0, 0] and found.suppressed(frequency) == 5


def test_where_values_rise_the_papers_pruning_loses_the_best_string() -> None:
    """Stages I and II together: level 1 is worth more than level 0, which holds and is tested first."""
    stage = Hierarchy("stage", (("I", "early", "*"), ("II", "early", "*"), ("III", "late", "*"),
                                ("IV", "late", "*")))
    rules = Reading().rules([{"column": "stage", "keep together": ["I", "II"], "importance": 9},
                             {"column": "stage", "keep apart": ["II", "III"]}])
    values = np.array([price.value for price in prices(stage, np.full(4, 5), 1.0, rules)])
    assert values.tolist() == pytest.approx([0.1, 0.5, 0.0])
    frequency = FrequencySet((stage,), np.arange(4, dtype=np.int32)[:, None], np.full(4, 5), worth=(values,))
    problem = Problem(frequency, (criterion("k-anonymity", k=5),), 0.0, np.ones(1))
    assert solved(problem)["value"] == solved(problem, search="hybrid")["value"] == pytest.approx(0.5)
    printed = solved(problem, pruning="paper")
    assert printed["value"] == pytest.approx(0.1) and not printed["complete"], "it claims no proof"
    assert Optimal(cost="research-value").solve(problem, RNG).notes["levels"] == [1]


@pytest.mark.needs_shared
@pytest.mark.parametrize("which", ["toy/global-k2", "toy/global-k3"])
def test_toy_traces(shared: Path, which: str) -> None:
    golden = json.loads((shared / "golden" / "001_morton.json").read_text())["entries"]
    entry = next(one for one in golden if one["id"] == which)
    said, expected = entry["inputs"], entry["recomputed"]
    hierarchies = tuple(Hierarchy(name, tuple(tuple(level[value] for level in levels) for value in levels[0]))
                        for name, levels in said["hierarchies"].items())
    coded = [[h.code_of[v] for h, v in zip(hierarchies, record, strict=True)] for record in said["records"]]
    codes, counts = np.unique(np.array(coded, np.int32), axis=0, return_counts=True)
    worth = tuple(np.array(values) for values in said["research_values"].values())
    frequency = FrequencySet(hierarchies, codes, counts.astype(np.int64), worth=worth)
    problem = Problem(frequency, (criterion("k-anonymity", k=said["k"]),), 0.0, np.ones(2))
    for pruning in ("paper", "sound"):
        trial = Trial(frequency, problem.criteria, limits_of(problem), worth)
        kept = prepruned(trial)
        assert [levels.tolist() for levels in kept] == list(expected["allowed"].values())
        traced: list[Any] = []
        tested = trial.test
        trial.test = lambda levels, tested=tested, traced=traced: (  # type: ignore[method-assign]
            traced.append(levels.tolist()) or tested(levels))
        globally(Strings.all_of(kept, worth, pruning), trial, Clock())
        assert pruning == "sound" or traced == [levels for levels, _, _ in expected["trace"]]
        assert pruning == "sound" or {(one.levels, one.value, one.roots) for one in trial.successes} == {
            (tuple(levels), value, roots) for levels, value, roots in expected["success"]}
        assert trial.best is not None and trial.best.value == expected["answer"][1]
    for levels, value, smallest in said["all_strings"]:
        assert trial.value(np.array(levels)) == value
        nodes = [h.nodes[level][code] for h, level, code in zip(hierarchies, levels, codes.T, strict=True)]
        _, class_of = np.unique(np.stack(nodes, axis=1), axis=0, return_inverse=True)
        assert np.bincount(class_of.ravel(), weights=counts).min() == smallest
