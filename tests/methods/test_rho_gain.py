"""ρ-Gain against plain loops, the paper's figures, and the rounds measured on Adult."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.adult import COLUMNS, adult
from tests.oracles import lattice as oracle
from tests.properties.cases import SETS, Case, cases, criterion, promises

from sfumato.errors import InfeasibleError
from sfumato.methods.base import Problem
from sfumato.methods.rho_gain import RhoGain, at_risk, measures
from sfumato.recoding import SUPPRESSED

Members = dict[tuple[Any, ...], list[int]]


def grouped(case: Case, left: list[int], node: tuple[int, ...], judges: list[oracle.Judge]) -> Members:
    """The classes of some records at a node that every judge accepts."""
    found: Members = {}
    for position in left:
        labels = tuple(oracle.path_of(case.paths, j, value)[node[j]]
                       for j, value in enumerate(case.records[position]))
        found.setdefault(labels, []).append(position)
    return {labels: members for labels, members in found.items()
            if all(judge(members, len(case.records)) for judge in judges)}


def best(case: Case, left: list[int], judges: list[oracle.Judge], most: int) -> tuple[Any, Members] | None:
    """The node of least AECS (then lowest, then first) that suppresses at most so many and not all."""
    found = []
    for node in oracle.nodes(case.paths):
        kept = grouped(case, left, node, judges)
        gone = len(left) - sum(map(len, kept.values()))
        if gone <= min(most, len(left) - 1):
            found.append((Fraction(len(left), len(kept) + (gone > 0)), sum(node), node, kept))
    return min(found, key=lambda one: one[:3])[2:] if found else None


def plainly(case: Case, judges: list[oracle.Judge], rho: int, most: int) -> list[tuple[Any, Members]] | None:
    """ρ-Gain by plain loops: each round's node and classes."""
    top = tuple(len(paths[0]) - 1 for paths in case.paths)
    everybody = list(range(len(case.records)))

    def run(rounds: int, limited: bool) -> tuple[list[tuple[Any, Members]], list[int]] | None:
        done: list[tuple[Any, Members]] = []
        left = everybody
        for n in range(rounds):
            last = limited and n == rounds - 1
            one = best(case, left, judges, most if last else len(left)) if left else None
            if one is None or (left != everybody and one[0] == top):
                return None if last else (done, left)
            done.append(one)
            left = [p for p in left if not any(p in members for members in one[1].values())]
        return done, left

    free = run(rho + 1, False)
    assert free is not None
    if free[0] and len(free[1]) <= most:
        return free[0]
    for rounds in range(max(len(free[0]), 1), 0, -1):
        limited = run(rounds, True)
        if limited is not None and limited[0]:
            return limited[0]
    return None


@settings(deadline=None, max_examples=120)
@given(cases(), st.sampled_from(SETS), st.integers(0, 3), st.sampled_from(["0", "0.1", "0.3", "1"]),
       st.integers(0, 2 ** 32))
def test_rounds_are_those_of_plain_loops(case: Case, names: tuple[str, ...], rho: int, limit: str,
                                         seed: int) -> None:
    known = promises(case, random.Random(seed))
    problem = Problem(case.frequency, tuple(known[name][0] for name in names), float(limit),
                      np.array(case.weights))
    expected = plainly(case, [known[name][1] for name in names], rho,
                       math.floor(Fraction(limit) * len(case.records)))
    if expected is None:
        with pytest.raises(InfeasibleError):
            RhoGain(rounds=rho).solve(problem, np.random.default_rng(0))
        return
    found = RhoGain(rounds=rho).solve(problem, np.random.default_rng(0))
    rounds = found.notes["facts"]["rounds"]
    assert [tuple(one["levels"].values()) for one in rounds] == [node for node, _ in expected]
    assert [one["classes"] for one in rounds] == [len(kept) for _, kept in expected]
    labels = {labels for _, kept in expected for labels in kept}
    assert found.n_classes == len(labels), "classes of several rounds with the same labels are one"
    gone = len(case.records) - sum(len(m) for _, kept in expected for m in kept.values())
    assert found.suppressed(case.frequency) == gone == rounds[-1]["suppressed"]
    assert gone <= float(limit) * len(case.records) + 1e-9


@settings(deadline=None, max_examples=60)
@given(cases(), st.sampled_from(SETS), st.integers(0, 2 ** 32))
def test_every_class_keeps_the_promise_and_tells_the_truth(case: Case, names: tuple[str, ...],
                                                           seed: int) -> None:
    """By the released labels: classes of all rounds together, each judged by plain loops."""
    known = promises(case, random.Random(seed))
    problem = Problem(case.frequency, tuple(known[name][0] for name in names), 1.0, np.array(case.weights))
    try:
        found = RhoGain().solve(problem, np.random.default_rng(0))
    except InfeasibleError:
        return
    frequency = case.frequency
    tuples = [tuple(row) for row in frequency.codes.tolist()]
    classes: Members = {}
    for position, record in enumerate(case.records):
        code = tuple(h.code_of[v] for h, v in zip(frequency.hierarchies, record, strict=True))
        number = int(found.class_of[tuples.index(code)])
        if number == SUPPRESSED:
            continue
        labels = tuple(found.labelling(frequency, j).texts[number] for j in range(frequency.n_quasi))
        for j, (value, label) in enumerate(zip(record, labels, strict=True)):
            assert label in oracle.path_of(case.paths, j, value)
        classes.setdefault(labels, []).append(position)
    assert len(classes) == found.n_classes
    for name in names:
        assert all(known[name][1](members, len(case.records)) for members in classes.values())


@pytest.mark.needs_shared
@pytest.mark.parametrize("columns, rounds", [
    (7, [(914, 9841), (410, 4122), (48, 3441)]),
    pytest.param(8, [(1230, 12681), (466, 7513), (118, 5938)], marks=pytest.mark.slow)])
def test_adult_round_by_round(columns: int, rounds: list[tuple[int, int]]) -> None:
    """The reference tool's rounds, and that `auto` stops after the paper's two rounds of gain."""
    criteria = (criterion("k-anonymity", k=5), criterion("l-diversity", column="salary-class", l=2))
    problem = Problem(adult(COLUMNS[:columns], "salary-class"), criteria, 1.0, np.ones(columns))
    facts = RhoGain(rounds="auto", cost="aecs").solve(problem, np.random.default_rng(0)).notes["facts"]
    assert [(one["classes"], one["suppressed"]) for one in facts["rounds"]] == rounds
    assert facts["rho"] == 2
    curve = facts["gains"]
    assert [(one["round"], one["taken"]) for one in curve] == [(1, True), (2, True), (3, True), (4, False)]
    assert curve[3]["gain"] == pytest.approx({7: 0.01152, 8: 0.00874}[columns], abs=1e-5)
    assert [one["suppressed"] for one in curve[:3]] == [suppressed for _, suppressed in rounds]
    if columns == 7:
        risk = [one["measures"] for one in facts["rounds"]]
        assert [one["average_class"] for one in risk] == pytest.approx(
            [22.23304, 13.94878, 14.1875], abs=1e-5)
        assert [one["average_class_with_outliers"] for one in risk] == pytest.approx(
            [32.96393, 23.94404, 84.12245], abs=1e-5)
        assert [one["largest_class"] for one in risk] == [173, 263, 134]


def entries(shared: Path, kind: str) -> list[dict[str, Any]]:
    found = json.loads((shared / "golden" / "004_vural_aydos.json").read_text())["entries"]
    return [one for one in found if one["id"].startswith(f"{kind}/")]


def sizes_of(said: dict[str, Any], smallest: int) -> np.ndarray[Any, Any]:
    """Class sizes with these numbers of classes, records, and records in the smallest and largest ones."""
    middle = said["classes"] - smallest - 1
    records = said["kept"] - smallest * said["min_class"] - said["max_class"]
    rest = np.full(middle, records // middle)
    rest[:records - rest.sum()] += 1
    assert said["min_class"] < rest.min() and rest.max() < said["max_class"]
    return np.concatenate([np.full(smallest, said["min_class"]), rest, [said["max_class"]]]).astype(float)


@pytest.mark.needs_shared
def test_figures_11_and_12(shared: Path) -> None:
    found = entries(shared, "risk")
    assert len(found) == 6
    for one in found:
        expected = one["recomputed"]
        few = round(expected["records_at_highest"] / one["inputs"]["min_class"])
        made = measures(sizes_of(one["inputs"], few), 1)
        for name, key in (("lowest_risk", "lowest"), ("average_risk", "average"), ("highest_risk", "highest"),
                          ("records_at_lowest_risk", "records_lowest"),
                          ("records_at_highest_risk", "records_highest_pct")):
            assert 100 * made[name] == pytest.approx(expected[key], abs=1e-5), (one["id"], name)
        assert made["journalist_risk"] == made["prosecutor_risk"] == made["highest_risk"]


@pytest.mark.needs_shared
def test_figures_3_to_8(shared: Path) -> None:
    """Every number of the six figures, from their classes and records; outliers are one more class."""
    found = entries(shared, "util")
    assert len(found) == 6
    for one in found:
        said = {**one["inputs"], "classes": one["inputs"]["classes_excluding"]}
        expected = one["expected"]
        gone = said["records"] - said["kept"]
        made = measures(sizes_of(said, 1), gone)
        total, kept = made["records"], said["kept"]
        assert (total, gone) == (said["records"], expected["outliers"])
        assert made["classes_with_outliers"] == said["classes_excluding"] + 1
        assert made["largest_class_with_outliers"] == gone and made["largest_class"] == said["max_class"]
        assert made["smallest_class_with_outliers"] == made["smallest_class"] == said["min_class"]
        for name, value in (("aecs_including", made["average_class_with_outliers"]),
                            ("aecs_excluding", made["average_class"]),
                            ("outlier_pct", 100 * made["suppressed_share"]),
                            ("kept_pct", 100 * made["kept_share"]),
                            ("aecs_incl_pct", 100 * made["average_class_with_outliers"] / total),
                            ("aecs_excl_pct", 100 * made["average_class"] / kept),
                            ("max_pct_excl", 100 * made["largest_class"] / kept)):
            assert value == pytest.approx(expected[name], abs=1e-5), (one["id"], name)


@pytest.mark.needs_shared
def test_table_4_is_the_sum_of_its_rounds(shared: Path) -> None:
    """Classes and records of all rounds together; of the second table what the paper should have printed."""
    for one in entries(shared, "tableIV"):
        said, expected = one["inputs"], one["recomputed"]
        every = np.concatenate([np.array([kept - 5.0 * (classes - 1), *[5.0] * (classes - 1)])
                                for classes, kept in zip(said["classes"], said["kept"], strict=True)])
        made = measures(every, expected["outliers_after"])
        assert len(every) == expected["classes_after"]
        assert made["records"] - expected["outliers_after"] == expected["kept_after"]
        assert made["average_class"] == pytest.approx(expected["aecs_after"], abs=1e-5)
        assert 100 * made["marketer_risk"] == pytest.approx(expected["average_risk_after"], abs=1e-4)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 250), min_size=1, max_size=30))
def test_records_at_risk(sizes: list[int]) -> None:
    """Figures 9 and 10, record by record."""
    records = [Fraction(1, size) for size in sizes for _ in range(size)]
    for name, share in at_risk(np.array(sizes, dtype=float)).items():
        threshold = Fraction(int(name.strip("> %")), 100)
        assert share == pytest.approx(sum(risk > threshold for risk in records) / len(records)), name


def test_a_gain_too_small_is_not_taken_and_a_limit_is() -> None:
    problem = Problem(_lattice_table(), (criterion("k-anonymity", k=3),), 1.0, np.ones(3))
    free = [len(RhoGain(rounds="auto", gain=gain).solve(problem, np.random.default_rng(0))
                .notes["facts"]["rounds"]) for gain in (0.9, 0.05, 1e-6)]
    assert free[0] == 1 and free == sorted(free) and free[2] > 1
    strict = Problem(problem.frequency, problem.criteria, 0.01, problem.weights)
    found = RhoGain(rounds="auto", gain=0.9).solve(strict, np.random.default_rng(0))
    assert len(found.notes["facts"]["rounds"]) > 1, "goes on until the recipe's limit is kept"
    assert found.suppressed(problem.frequency) <= 0.01 * problem.frequency.n_records


@pytest.mark.parametrize("rounds", ["auto", 0, 1, 3])
@pytest.mark.parametrize("limit", [0.0, 0.02, 0.2, 1.0])
@pytest.mark.parametrize("cost", ["aecs", "ncp"])
def test_the_curve_is_the_cost_of_each_release(rounds: Any, limit: float, cost: str) -> None:
    """After each round, what a release with just these rounds would cost; the gains follow from it."""
    problem = Problem(_lattice_table(), (criterion("k-anonymity", k=3),), limit, np.ones(3))
    found = RhoGain(rounds=rounds, gain=0.05, cost=cost).solve(problem, np.random.default_rng(0))
    facts = found.notes["facts"]
    curve, run = facts["gains"], [one for one in facts["gains"] if one["taken"]]
    assert len(run) == len(facts["rounds"]) and run == curve[: len(run)] and len(curve) - len(run) <= 1
    assert run[-1]["cost"] == found.notes["score"]
    assert run[-1]["suppressed"] == found.suppressed(problem.frequency)
    assert [one["suppressed"] for one in run] == [one["suppressed"] for one in facts["rounds"]]
    for before, after in itertools.pairwise(curve):
        assert after["gain"] == pytest.approx((before["cost"] - after["cost"]) / before["cost"])
        assert after["taken"] or (rounds == "auto" and after["gain"] < 0.05)
    free = replace(problem, suppression=1.0)
    for n, one in enumerate(run[:-1]):
        fixed = RhoGain(rounds=n, cost=cost).solve(free, np.random.default_rng(0))
        assert fixed.notes["score"] == pytest.approx(one["cost"])


def test_the_report_shows_figures_and_curve() -> None:
    import sfumato

    rng = random.Random(1)
    table = pa.table({"age": [int(rng.gauss(45, 14)) for _ in range(500)],
                      "town": [rng.choice("aaabbcd") for _ in range(500)]})
    said = {"columns": {"age": {"role": "quasi", "hierarchy": {"interval": [5, 20]}},
                        "town": {"role": "quasi", "hierarchy": "suppress"}}, "suppression": 1.0, "seed": 1,
            "criteria": [{"k-anonymity": {"k": 5}}], "method": {"name": "rho-gain", "gain": 0.04}}
    result = sfumato.anonymize(table, said)
    told = result.summary["changes"]["rounds"]
    assert told["numbers"] == list(range(1, len(result.manifest["rounds"]) + 1))
    assert {"Average class", "Lowest risk", "Records suppressed"} <= {row["title"] for row in told["rows"]}
    assert not told["gains"][-1]["taken"] and "is asked of a round, so it was not run" in told["sentence"]
    assert "Cost after each round" in result.report
    assert told["sentence"].replace(" %", "\u00a0%") in result.report


def _lattice_table() -> Any:
    rng = random.Random(3)
    paths = [[(str(v), f"{v // 2}.", f"{v // 4}..", "*") for v in range(16)] for _ in range(3)]
    records = [tuple(str(min(15, int(rng.expovariate(0.3)))) for _ in paths) for _ in range(400)]
    return Case(records, paths, ["a"] * 400, ["a"] * 400, [1.0] * 3).frequency  # type: ignore[arg-type]
