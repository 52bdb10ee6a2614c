"""Noise and choices as distributions, DiffGen's cut and ledger, sampling, and the confidence it leaves."""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_slices import table

from sfumato.classes import ClassStats, Histogram
from sfumato.criteria.confidence import Confidence, expected
from sfumato.draws import base, diffgen, noise
from sfumato.draws.diffgen import Bounds, Interval, Ledger, Taxonomy, score, sensitivity, specialize
from sfumato.errors import InfeasibleError, MissingExtraError, RecipeError, TableError
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Problem
from sfumato.methods.composition_style import Composition, rate
from sfumato.methods.e_dp import DiffGen, counted
from sfumato.methods.hybrid_style import Hybrid
from sfumato.recipe import Recipe
from sfumato.slices.correlation import positions

LIMIT = 6.0  # of chi-square, in standard deviations: one honest run in a billion is above


def chi_square(observed: Counter[Any], p: dict[Any, float]) -> float:
    """How far counts are from what a law expects, in standard deviations of the statistic."""
    n, cells = observed.total(), [key for key, value in p.items() if value * observed.total() >= 8]
    rest = 1 - sum(p[key] for key in cells)
    pairs = [(observed[key], n * p[key]) for key in cells]
    pairs.append((n - sum(o for o, _ in pairs), n * rest))
    statistic = sum((o - e) ** 2 / e for o, e in pairs if e > 1)
    degrees = len(pairs) - 1
    return (statistic - degrees) / math.sqrt(2 * degrees)


def discrete_laplace(epsilon: float, most: int = 200) -> dict[int, float]:
    """P(n) = (1 - q) / (1 + q) q^|n| with q = exp(-ε)."""
    q = math.exp(-epsilon)
    return {n: (1 - q) / (1 + q) * q ** abs(n) for n in range(-most, most + 1)}


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_noise_has_its_scale_and_another_one_fails(epsilon: float) -> None:
    drawn = Counter((noise.laplace(np.full(40_000, 7), epsilon) - 7).tolist())
    assert chi_square(drawn, discrete_laplace(epsilon)) < LIMIT
    for wrong in (epsilon * 1.15, epsilon / 1.15):
        assert chi_square(drawn, discrete_laplace(wrong)) > LIMIT
    mean = sum(n * count for n, count in drawn.items()) / drawn.total()
    variance = sum(n * n * count for n, count in drawn.items()) / drawn.total()
    q = math.exp(-epsilon)
    exact = 2 * q / (1 - q) ** 2  # near 2 / ε², the continuous law's
    assert abs(mean) < 6 * math.sqrt(exact / drawn.total())
    assert variance == pytest.approx(exact, rel=0.1) and exact == pytest.approx(2 / epsilon ** 2, rel=0.1)


def test_choices_follow_the_exponential_mechanism_and_another_budget_fails() -> None:
    scores = np.array([3.0, 9.0, 8.0, 8.5])
    drawn = Counter(noise.choose(scores, 2.0, 1.0) for _ in range(3000))
    assert chi_square(drawn, dict(enumerate(noise.probabilities(scores, 2.0, 1.0)))) < LIMIT
    for wrong in (1.2, 3.0):
        assert chi_square(drawn, dict(enumerate(noise.probabilities(scores, wrong, 1.0)))) > LIMIT


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtraError, match=r"sfumato\[dp\]"):
        noise.laplace(np.array([1]), 1.0)


# DiffGen


def test_scores_and_probabilities_of_the_worked_example() -> None:
    """Children of v1: (6,1), (2,3); of v2: (5,2), (3,2)."""
    both = np.array([[[6, 1], [2, 3]], [[5, 2], [3, 2]]], dtype=float)
    assert score(both, "max").tolist() == [9, 8]
    assert score(both, "gain").round(5).tolist() == [0.16859, 0.01025]
    assert noise.probabilities(score(both, "max"), 0.5, 1).round(4).tolist() == [0.5622, 0.4378]
    assert noise.probabilities(score(both, "gain"), 0.5, 1).round(4).tolist() == [0.5099, 0.4901]
    assert sensitivity("max", 14) == 1 and sensitivity("gain", 16) == 4 and sensitivity("gain", 2) == 1


def numbers() -> Interval:
    """Values 20 Y, 20 Y, 35 N, 60 Y, 60 N in [0, 100), in steps of a hundredth."""
    bounds = Bounds(0, 100, 0.01)
    matrix = np.array([[2.0, 0], [0, 1], [1, 1]])
    return Interval("x", bounds, bounds.part_of(np.array([20.0, 35, 60])), matrix)


def test_points_of_numbers_are_drawn_by_length_and_score(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    monkeypatch.setattr(diffgen, "choose", lambda scores, e, d: seen.update(p=noise.probabilities(
        scores, e, d), s=scores) or 3499)
    ends = np.array([0, 2000, 3500, 6000, 9999])
    for by, scores, expected_p in (("max", [3, 4, 3, 3], [.1918, .1847, .2398, .3837]),
                                   ("gain", [0, .4200, .0200, 0], [.1965, .1637, .2468, .3930])):
        column = numbers()
        column.draw((0, 10_000), by, 0.5, 1.0)  # type: ignore[arg-type]
        parts = [slice(a, b) for a, b in pairwise(ends)]
        assert [round(float(seen["s"][part][0]), 4) for part in parts] == pytest.approx(scores, abs=1e-4)
        assert [float(seen["p"][part].sum()) for part in parts] == pytest.approx(expected_p, abs=2e-4)
    assert column.children((0, 10_000)) == [(0, 3500), (3500, 10_000)]
    assert [column.label(node) for node in column.children((0, 10_000))] == ["[0..35)", "[35..100)"]
    column.replace((0, 10_000))
    assert column.position().tolist() == [0, 1, 1]


TREE = (("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"), (None, None, "*"))


def columns_of(seed: int) -> list[diffgen.Column]:
    rng = np.random.default_rng(seed)
    bounds = Bounds(0, 8, 1)
    return [Taxonomy(Hierarchy("t", TREE), rng.integers(0, 9, (5, 3)).astype(float)),
            Interval("n", bounds, np.arange(8), rng.integers(0, 9, (8, 3)).astype(float))]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 12), st.sampled_from(["max", "gain"]))
def test_cuts_cover_the_domain_and_the_ledger_stays_within_the_budget(seed: int, h: int, by: Any) -> None:
    columns, ledger = columns_of(seed), Ledger(0.7)
    specialize(columns, h, by, ledger, 3)
    assert ledger.total <= 0.35 + 1e-12
    times = {one["for"]: one["times"] for one in ledger.told()}
    assert times.get("choices of what to specialize", 0) <= h
    assert times["points at which numbers are cut"] <= 1 + h
    tree, numeric = columns
    assert (tree.position()[:4] >= 0).all() and tree.position()[4] == -1
    assert sorted(numeric.cut) == numeric.cut and numeric.cut[0][0] == 0 and numeric.cut[-1][1] == 8
    assert all(a[1] == b[0] for a, b in zip(numeric.cut, numeric.cut[1:], strict=False))
    assert len(tree.cut) + len(numeric.cut) <= 2 + 2 * h


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from(["max", "gain"]))
def test_every_choice_costs_what_the_ledger_says(seed: int, h: int, by: Any) -> None:
    """Each call of the mechanism: ε' of the budget, the score's own sensitivity; points of disjoint nodes
    that are drawn together are paid for once."""
    asked: list[tuple[float, float]] = []
    rng = np.random.default_rng(seed)

    def recorded(scores: Any, epsilon: float, delta: float) -> int:
        asked.append((epsilon, delta))
        return int(rng.integers(len(scores)))

    columns, ledger = columns_of(seed), Ledger(0.7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diffgen, "choose", recorded)
        specialize(columns, h, by, ledger, 3)
    each = 0.7 / (2 * (1 + 2 * h))
    assert {round(epsilon, 12) for epsilon, _ in asked} == {round(each, 12)}
    assert {delta for _, delta in asked} == {1.0 if by == "max" else math.log2(3)}
    assert len(ledger.spent) <= len(asked) <= 2 * len(ledger.spent)
    assert ledger.total == pytest.approx(each * len(ledger.spent))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["max", "gain"]))
def test_one_record_moves_no_score_by_more_than_its_sensitivity(seed: int, by: Any) -> None:
    rng = np.random.default_rng(seed)
    children = rng.integers(0, 6, (int(rng.integers(2, 4)), 4)).astype(float)
    more = children.copy()
    more[rng.integers(len(children)), rng.integers(4)] += 1
    assert abs(float(score(more, by) - score(children, by))) <= sensitivity(by, 4) + 1e-12


def test_with_a_large_budget_the_best_is_chosen() -> None:
    """The tree tells the classes exactly, the numbers not at all."""
    tree = Taxonomy(Hierarchy("t", TREE), np.array([[9, 0], [9, 0], [0, 9], [0, 9], [0, 0]], dtype=float))
    numeric = Interval("n", Bounds(0, 4, 1), np.arange(4), np.full((4, 2), 5.0))
    for _ in range(5):
        specialize([tree, numeric], 1, "max", Ledger(1e6), 2)
        assert len(tree.cut) == 2 and len(numeric.cut) == 1
        tree.cut = [(2, 0)]


def test_with_next_to_no_budget_all_candidates_are_alike() -> None:
    chosen: Counter[str] = Counter()
    for seed in range(300):
        columns = columns_of(seed % 3)
        specialize(columns, 1, "max", Ledger(1e-6), 3)
        chosen["tree" if len(columns[0].cut) == 2 else "numbers"] += 1
    assert chi_square(chosen, {"tree": 0.5, "numbers": 0.5}) < LIMIT


def people(seed: int, n: int = 200) -> list[tuple[str, ...]]:
    rng = random.Random(seed)
    return [(str(rng.randrange(20, 60)), rng.choice("abcd"), rng.choice("sssttuv")) for _ in range(n)]


DP = {"values": list("stuvw"), "bounds": {"age": [0, 100]}, "specializations": 4}


def given_table(seed: int, n: int = 200) -> Any:
    return table(people(seed, n), ("age", "kind", "ill"), {"kind": list(TREE[:4])})


def solved(method: Any, frequency: Any, seed: int = 0) -> Any:
    return method.solve(Problem(frequency, (), 0.0, np.ones(2)), np.random.default_rng(seed))


@pytest.mark.parametrize("leaf_budget", ["half", "remaining"])
def test_counts_before_the_noise_are_the_table_s(leaf_budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frequency, spent = given_table(1), {}

    def exact(counts: Any, epsilon: float) -> Any:
        spent["leaves"] = epsilon
        return counts

    monkeypatch.setattr("sfumato.methods.e_dp.laplace", exact)
    found = solved(DiffGen.model_validate({"epsilon": 1, "leaf_budget": leaf_budget, **DP}), frequency)
    assert found.shadow.n_records == 200
    told = found.notes["facts"]["drawn"]
    assert told["budget"]["total"] <= 1 + 1e-9 and spent["leaves"] >= 0.5 - 1e-12
    assert (spent["leaves"] == 0.5) == (leaf_budget == "half")
    shown = Counter()
    names = [found.texts(j) for j in range(2)]
    cells = found.cells
    for c, v, n in zip(cells.classes, cells.values, cells.counts, strict=True):
        shown[names[0][c], names[1][c], cells.labels[v]] += int(n)
    expected_counts: Counter[Any] = Counter()
    for age, kind, ill in people(1):
        [interval] = [t for t in told["cut"]["age"] if within(int(age), t)]
        [node] = [t for t in told["cut"]["kind"] if t in next(path for path in TREE if path[0] == kind)]
        expected_counts[interval, node, ill] += 1
    assert shown == expected_counts


def within(age: int, label: str) -> bool:
    low, high = label.strip("[)").split("..")
    return int(low) <= age < int(high)


def test_empty_combinations_get_noise_too() -> None:
    frequency = given_table(2)
    rows = frequency.sensitive["ill"]
    method = DiffGen.model_validate({"epsilon": 1, **DP})
    classes = method.classes_of("ill", rows)
    columns = [method.column(frequency, j, rows, classes) for j in range(2)]
    specialize(columns, 4, "max", Ledger(1.0), 5)
    cells, labels = counted(frequency, columns, rows, classes, 5)
    assert len(cells) == len(columns[0].cut) * len(columns[1].cut) * 5 == labels.n_classes * 5
    assert cells.sum() == 200 and (cells.reshape(-1, 5)[:, 4] == 0).all()  # nobody has w
    seen = Counter()
    for _ in range(30):
        found = solved(DiffGen.model_validate({"epsilon": 0.2, **DP}), frequency)
        seen.update(found.cells.values.tolist())
    assert seen[4] > 0, "a value that nobody has must be able to appear"


def test_missing_values_are_left_out_and_unknown_ones_refused() -> None:
    rows = people(3, 50)
    frequency = table(rows, ("age", "kind", "ill"), {"kind": list(TREE)})
    with pytest.raises(TableError, match="2 of the values of 'ill'"):
        solved(DiffGen.model_validate({"epsilon": 1, **DP, "values": ["s", "t"]}), frequency)
    with pytest.raises(TableError, match="values that are no numbers"):
        solved(DiffGen.model_validate({"epsilon": 1, **DP, "bounds": {"kind": [0, 9]}}), frequency)


QUASI = {"age": {"role": "quasi"}, "kind": {"role": "quasi", "hierarchy": {"tree": {"all": ["a", "b"]}}}}


@pytest.mark.parametrize(("changes", "said"), [
    ({"epsilon": 0}, "method.epsilon"), ({"epsilon": -1}, "greater than 0"), ({"epsilon": True}, "a number"),
    ({"bounds": {}}, "must know every value that 'age'"), ({"values": ["s"]}, "method.values"),
    ({"values": ["s", "s"]}, "one is there twice"), ({"bounds": {"age": [9, 3]}}, "lowest number"),
    ({"bounds": {"age": [0, 9], "x": [0, 1]}}, "is no quasi-identifier"),
    ({"bounds": {"age": [0, 1, 1e-9]}}, "use a larger step"), ({"specializations": -1}, "specializations"),
])
def test_faults_of_an_e_dp_recipe(changes: dict[str, Any], said: str) -> None:
    method = {"name": "e-dp", "epsilon": 1, **DP, **changes}
    with pytest.raises(RecipeError, match=said):
        Recipe.from_dict({"columns": {**QUASI, "ill": {"role": "sensitive"}}, "method": method})


@pytest.mark.parametrize("method", [{"name": "hybrid-style", "k": 3, "epsilon": 0.0},
                                    {"name": "hybrid-style", "k": 3, "epsilon": 1, "beta": 0},
                                    {"name": "composition-style", "k": 3, "rho": 1.5},
                                    {"name": "composition-style", "k": 3, "alpha": 0}])
def test_faults_of_rates_and_budgets(method: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=list(method)[-1]):
        Recipe.from_dict({"columns": {**QUASI, "ill": {"role": "sensitive"}}, "method": method})


# Sampling, and what it leaves


def test_every_record_is_drawn_alike() -> None:
    frequency = given_table(4, 4000)
    sizes = [base.sampled(frequency, "ill", 0.6, np.random.default_rng(seed)).n_records for seed in range(50)]
    deviation = math.sqrt(4000 * 0.6 * 0.4)
    assert abs(np.mean(sizes) - 2400) < 5 * deviation / math.sqrt(50)
    assert 0.6 * deviation < np.std(sizes) < 1.5 * deviation
    sample = base.sampled(frequency, "ill", 0.6, np.random.default_rng(0))
    whole = {tuple(row): count for row, count in zip(frequency.codes.tolist(), frequency.counts, strict=True)}
    assert all(count <= whole[tuple(row)]
               for row, count in zip(sample.codes.tolist(), sample.counts, strict=True))
    assert sample.sensitive["ill"].whole.sum() == sample.n_records == sample.counts.sum()
    assert (base.sampled(frequency, "ill", 1.0, np.random.default_rng(0)).counts == frequency.counts).all()


def test_the_rate_and_the_worked_confidence() -> None:
    assert rate(0.5, 0.2) == 0.61 and math.sqrt(0.3 / 0.8) == pytest.approx(0.6124, abs=1e-4)
    assert rate(0.25, 0.2) == 0.25 and rate(0.99, 0.01) == 0.9 and rate(0.5, 0.5) == 0
    found = 0.36 * float(expected(np.array([1, 0.9375, 0.4128]))) + 0.64 * 0.5
    assert found == pytest.approx(0.4865, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.3, 0.6, 1.0]))
def test_confidence_against_every_other_class_written_out(seed: int, size: int, rho: float) -> None:
    rng = random.Random(seed)
    records = [(rng.randrange(3), rng.choice("aaabcd")) for _ in range(rng.randrange(1, 14))]
    labels = tuple(sorted({v for _, v in records}))
    names = sorted({c for c, _ in records})
    held = Counter((names.index(c), labels.index(v)) for c, v in records)
    whole = Counter(v for _, v in records)
    ordered = sorted(held)
    histogram = Histogram(np.array([c for c, _ in ordered]), np.array([v for _, v in ordered]),
                          np.array([held[one] for one in ordered]), labels,
                          np.array([whole[v] for v in labels]))
    sizes = np.bincount([names.index(c) for c, _ in records])
    found = Confidence(column="s", rho=rho, alpha=0.5, size=size).measure(ClassStats(sizes, {"s": histogram}))
    p = {v: Fraction(n, len(records)) for v, n in whole.items()}
    for n, name in enumerate(names):
        mine = Counter(v for c, v in records if c == name)
        both = max(sum(math.prod((p[v] for v in other), start=Fraction(1))
                       / (1 + len((set(other) & set(mine)) - {own})) for other in product(p, repeat=size))
                   for own in mine)
        single = max(max(mine.values()) / Fraction(mine.total()), max(p.values()))
        rate_both = Fraction(rho).limit_denominator(10) ** 2
        assert found[n] == pytest.approx(float(rate_both * both + (1 - rate_both) * single))


def test_every_class_of_a_composition_style_sample_keeps_its_promise() -> None:
    frequency = given_table(5, 600)
    found = solved(Composition.model_validate({"k": 3, "alpha": 0.6}), frequency)
    most = frequency.sensitive["ill"].whole.max() / 600
    assert found.shadow.counts.min() >= 3 and found.rate == rate(0.6, most)
    stats = ClassStats(found.shadow.counts, {"ill": found.cells})
    assert found.criteria[1].measure(stats).max() <= 0.6 + 1e-9
    assert found.n_classes > 5
    with pytest.raises(InfeasibleError, match="Raise alpha above"):
        solved(Composition.model_validate({"k": 3, "alpha": 0.3}), frequency)
    with pytest.raises(InfeasibleError, match="raise the rate"):
        solved(Composition.model_validate({"k": 500, "alpha": 0.6, "rho": 0.5}), frequency)


def test_hybrid_style_without_sampling_and_noise_is_mondrian() -> None:
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.methods.mondrian import Mondrian

    frequency = given_table(6, 300)
    found = solved(Hybrid.model_validate({"k": 4, "epsilon": 60, "beta": 1}), frequency)
    problem = Problem(frequency, (KAnonymity(k=4),), 0.0, np.ones(2))
    plain = Mondrian().solve(problem, np.random.default_rng(0))
    stats = plain.stats(frequency).sensitive["ill"]
    texts = [plain.labelling(frequency, j).texts for j in range(2)]
    wanted = Counter({(texts[0][c], texts[1][c], v): n for c, v, n in
                      zip(stats.classes, stats.values, stats.counts, strict=True)})
    ours = [found.texts(j) for j in range(2)]
    cells = found.cells
    assert wanted == Counter({(ours[0][c], ours[1][c], v): n for c, v, n in
                              zip(cells.classes, cells.values, cells.counts, strict=True)})


def test_hybrid_style_noise_goes_where_it_is_said() -> None:
    frequency = given_table(7, 300)
    present = solved(Hybrid.model_validate({"k": 20, "epsilon": 0.3, "support": "present"}), frequency)
    sample = base.sampled(frequency, "ill", 0.8, np.random.default_rng(0))
    assert len(present.cells.counts) <= len(sample.sensitive["ill"].counts)
    sums = [solved(Hybrid.model_validate({"k": 20, "epsilon": 0.3}), frequency, seed).shadow.n_records
            for seed in range(5)]
    assert len(set(sums)) > 1 and min(sums) > 0
    same = {solved(Hybrid.model_validate({"k": 20, "epsilon": 0.3}), frequency).shadow.n_records
            for _ in range(6)}
    assert len(same) > 1, "noise must not follow the seed"


@pytest.mark.parametrize("support", ["all", "present"])
def test_hybrid_style_noise_has_the_scale_that_was_asked_for(support: str,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    frequency, asked = given_table(8, 300), []

    def recorded(counts: Any, epsilon: float) -> Any:
        asked.append((len(counts), epsilon))
        return counts + 1

    monkeypatch.setattr("sfumato.methods.hybrid_style.laplace", recorded)
    found = solved(Hybrid.model_validate({"k": 20, "epsilon": 0.3, "support": support}), frequency)
    [(cells, epsilon)] = asked
    assert epsilon == 0.3 and found.notes["facts"]["drawn"]["noise"]["scale"] == pytest.approx(1 / 0.3)
    assert cells == len(found.cells.counts) and (support == "present" or cells % 4 == 0)
    sample = base.sampled(frequency, "ill", 0.8, np.random.default_rng(0))
    assert found.shadow.n_records == sample.n_records + cells


@pytest.mark.parametrize("odd", ["nan", "inf", "-Infinity"])
def test_text_that_a_computer_takes_for_a_number_is_none(odd: str) -> None:
    assert positions(["1", None, "2.5"]) is not None
    assert positions(["1", None, odd]) is None and positions([odd]) is None
