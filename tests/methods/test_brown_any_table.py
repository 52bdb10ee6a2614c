"""The adaptable model on tables nobody printed: a plain-loop oracle, invariants, bounds, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.classes import Histogram
from sfumato.costs.precision import (
    Bounds,
    maximum_loss,
    measured_loss,
    measured_precision,
    precision_range,
    proven_loss,
    proven_range,
)
from sfumato.errors import InfeasibleError, RequestError
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.recommend.xk import Approach, PairSet, Recommendation, label, pairs_of, recommend

Pair = tuple[int, int]  # QP#, l#


def pair_set(pairs: list[Pair]) -> PairSet:
    sizes, distinct = np.array(pairs, dtype=np.int64).T
    return PairSet(sizes, {"grade": distinct}, {"grade": 30})


@st.composite
def requests(draw: Any) -> tuple[list[Pair], dict[str, Any]]:
    sizes = draw(st.lists(st.integers(1, 12), min_size=2, max_size=25))
    pairs = [(size, draw(st.integers(1, size))) for size in sizes]
    k = draw(st.integers(2, min(9, sum(sizes))))
    d = draw(st.none() | st.integers(1, k))
    return pairs, {"k": k, "n_quasi": draw(st.integers(1, 7)), "diversity": d and {"grade": d},
                   "sensitive_suppression": draw(st.booleans()),
                   "prefer": draw(st.sampled_from([None, "precision", "original"])),
                   "min_precision": draw(st.none() | st.integers(0, 100))}


def oracle(pairs: list[Pair], k: int, n_quasi: int, diversity: dict[str, int] | None,
           sensitive_suppression: bool, prefer: str | None, min_precision: float | None) -> Any:
    """Figure 2 and Equations 1 and 2 as they are printed, one pair and one false record at a time."""
    d = (diversity or {}).get("grade", 0)
    must_be_diverse = d > 0 and not sensitive_suppression
    rows = []
    for xk in range(max(d, 1) if must_be_diverse else 1, k + 1):
        krecords = xkrecords = addrecords = suppressrecords = 0
        for qp, values in pairs:
            if must_be_diverse and values < d:
                suppressrecords += qp
            elif qp >= k:
                krecords += qp
            elif qp >= xk:
                xkrecords += qp
                while qp < k:
                    addrecords, qp = addrecords + 1, qp + 1
            else:
                suppressrecords += qp
        original = krecords + xkrecords
        total = original + addrecords
        rows.append({"xk": xk, "suppressed": suppressrecords, "added": addrecords, "original": original,
                     "total": total, "precision": 100 * original / total if total else 100.0,
                     "difference": abs(addrecords - suppressrecords)})
    for row in rows:
        o = 1 + sum(other["original"] < row["original"] for other in rows)
        p = 1 + sum(other["precision"] < row["precision"] for other in rows)
        diff = 1 + sum(other["difference"] > row["difference"] for other in rows)
        preferred = {"original": o, "precision": p, None: 0}[prefer]
        first_tie = preferred + diff
        row |= {"ranks": (p, o, diff), "score": o + p + diff + preferred,
                "order": (o + p + diff + preferred, first_tie, preferred, row["xk"])}
        s, a, dv = row["suppressed"], row["added"], d if sensitive_suppression and d else 1
        lpv = (s * (n_quasi - 1) + row["original"] * n_quasi) / (
            (row["total"] + min(s, a) + row["difference"]) * n_quasi)
        row["range"] = max(floor(100 * lpv + 0.5 + 1e-9) - dv, 0), ceil(round(row["precision"], 9))
        row["loss"] = ceil(round(100 * s / sum(qp for qp, _ in pairs), 9))
    return sorted(rows, key=lambda row: row["order"], reverse=True), winners(rows, k, min_precision)


def winners(rows: list[Any], k: int, min_precision: float | None) -> list[int]:
    ranked = sorted(rows, key=lambda row: row["order"], reverse=True)
    released = [row["xk"] for row in ranked if row["original"] > 0]
    enough = [row["xk"] for row in ranked if row["original"] > 0 and row["precision"] >= (min_precision or 0)]
    if not enough or enough[0] != k:
        return enough[:1]
    if all((row["added"], row["suppressed"]) == (rows[0]["added"], rows[0]["suppressed"]) for row in rows):
        return [k]
    return [k, *[xk for xk in (*enough, *released) if xk != k][:1]]


@given(requests())
@settings(max_examples=300, deadline=None)
def test_the_plain_loop_agrees(request_: tuple[list[Pair], dict[str, Any]]) -> None:
    pairs, request = request_
    rows, chosen = oracle(pairs, **request)
    if not chosen:
        with pytest.raises(InfeasibleError):
            recommend(pair_set(pairs), **request)
        return
    found = recommend(pair_set(pairs), **request)
    assert list(found.recommended) == chosen
    for ours, theirs in zip(found.approaches, rows, strict=True):
        names = ("xk", "suppressed", "added", "original", "total", "precision", "difference", "score")
        assert {name: getattr(ours, name) for name in names} == {name: theirs[name] for name in names}
        assert (ours.ranks.precision, ours.ranks.original, ours.ranks.difference) == theirs["ranks"]
        assert (ours.precision_range, ours.maximum_loss) == (theirs["range"], theirs["loss"])


def feasible(pairs: list[Pair], request: dict[str, Any]) -> Recommendation | None:
    try:
        return recommend(pair_set(pairs), **request)
    except InfeasibleError:
        return None


@given(requests(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_invariants(request_: tuple[list[Pair], dict[str, Any]], random: Any) -> None:
    pairs, request = request_
    found = feasible(pairs, request)
    shuffled = random.sample(pairs, len(pairs))
    assert feasible(shuffled, request) == found
    if found is None:
        return
    records, k = sum(size for size, _ in pairs), request["k"]
    levels = sorted(found.approaches, key=lambda a: a.xk)
    assert [a.xk for a in levels] == list(range(levels[0].xk, k + 1))
    assert levels[-1].precision == 100 and levels[-1].added == 0 and levels[-1].label == "k"
    for a in levels:
        assert a.original + a.suppressed == records and a.total == a.original + a.added
        assert all(1 <= value <= len(levels) for value in vars(a.ranks).values())
    for lower, higher in pairwise(levels):
        assert lower.original >= higher.original and lower.added >= higher.added
        assert lower.precision <= higher.precision
    scores = [a.score for a in found.approaches]
    assert scores == sorted(scores, reverse=True)
    assert found.best.original > 0 and found.best.precision >= (request["min_precision"] or 0)
    assert len(found.recommended) == 1 or found.best.xk == k
    assert found.why and json.loads(json.dumps(found.as_dict()))["recommended"] == list(found.recommended)


@st.composite
def processed(draw: Any) -> tuple[Approach, int, Bounds, int, int, int, int, int]:
    """A level, and one release that some hierarchy and some data could have made of it."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=25))
    k = draw(st.integers(2, min(8, sum(sizes))))
    elected, hidden = draw(st.integers(1, 4)), draw(st.integers(0, 2))
    bounds = Bounds(k, elected + hidden + draw(st.integers(0, 15)), elected, hidden)
    found = recommend(PairSet(np.array(sizes)), k, elected)
    level = replace(draw(st.sampled_from(found.approaches)))
    kept, lacking, back = level.original, level.added, 0
    added, left = 0, level.suppressed
    while left:
        group = draw(st.integers(1, left))
        left -= group
        if lacking and draw(st.booleans()):  # it meets a pair that was kept, and fills places of it
            lacking, back = max(lacking - group, 0), back + group
        elif group >= level.xk:
            added, back = added + max(k - group, 0), back + group
    wholes = draw(st.integers(0, elected * back))
    halves = draw(st.integers(0, elected * back - wholes))
    cells = draw(st.integers(0, hidden * (kept + back)))
    return level, sum(sizes), bounds, kept + back, added + lacking, halves, wholes, cells


@given(processed())
@settings(max_examples=500, deadline=None)
def test_what_is_measured_lies_within_what_is_proven(made: Any) -> None:
    level, records, bounds, kept, added, halves, wholes, cells = made
    suppressed = records - kept
    loss = measured_loss(records, suppressed, halves + wholes + cells, bounds.columns)
    assert loss <= proven_loss(level.suppressed, level.original, bounds) + 1e-9
    if not bounds.hidden:
        assert loss <= maximum_loss(level.suppressed, records)
    if kept:
        low, high = proven_range(level.xk, level.suppressed, level.added, level.original, bounds)
        precision = measured_precision(kept, added, halves, wholes + cells, bounds.columns)
        assert low - 1e-9 <= precision <= high + 1e-9


def test_equation_1_is_an_estimate() -> None:
    """The page's counter-example: four unique records come back as two pairs of two."""
    pairs = PairSet(np.array([1, 1, 1, 1, 2, 2, 5]))
    best = recommend(pairs, 5, 3, columns=20, elected=1).best
    assert (best.label, best.precision_range) == ("1/3k", (55, 60))
    measured = measured_precision(13, best.added + 2 * 3, 0, 4, 20)
    assert measured == pytest.approx(51.2)
    assert best.proven_range[0] <= measured <= best.proven_range[1]
    crossed = recommend(PairSet(np.array([1] * 6 + [2, 2, 5])), 5, 3)
    assert (crossed.precision_range, crossed.flags) == ((61, 60), ("range contradicts itself",))


def test_equation_2_forgets_sensitive_cells() -> None:
    pairs = pair_set([(5, 1), (5, 2)])
    best = recommend(pairs, 5, 2, {"grade": 2}, sensitive_suppression=True, columns=4).best
    assert best.maximum_loss == 0
    assert measured_loss(10, 0, 5, 4) == 12.5 <= best.proven_loss == 25


def test_each_sensitive_column_has_its_own_diversity() -> None:
    sizes = np.array([5, 5, 6, 3])
    pairs = PairSet(sizes, {"grade": np.array([3, 1, 3, 3]), "score": np.array([2, 2, 1, 2])},
                    {"grade": 4, "score": 2})
    found = recommend(pairs, 5, 2, {"grade": 3, "score": 2})
    assert sorted(a.xk for a in found.approaches) == [3, 4, 5]
    assert {a.xk: (a.suppressed, a.added) for a in found.approaches} == {3: (11, 2), 4: (14, 0), 5: (14, 0)}
    relaxed = recommend(pairs, 5, 2, {"grade": 3, "score": 2}, sensitive_suppression=True)
    assert sorted(a.xk for a in relaxed.approaches) == [1, 2, 3, 4, 5]
    level = next(a for a in relaxed.approaches if a.xk == 3)
    assert level.precision_range[0] == precision_range(0, 2, 19, 2, dv=1)[0] + 1 - 3 - 2


def test_pairs_come_from_the_frequency_set() -> None:
    age = Hierarchy("age", (("20", "*"), ("30", "*"), (None, "*")))
    grade = Histogram(np.array([0, 0, 1, 2, 2]), np.array([0, 2, 1, 0, 1]), np.array([4, 1, 2, 1, 1]),
                      ("a", "b", None), np.array([5, 3, 1]))
    codes, counts = np.array([[0], [1], [2]], np.int32), np.array([5, 2, 2])
    frequency = FrequencySet((age,), codes, counts, {"grade": grade})
    pairs = pairs_of(frequency)
    assert pairs.sizes.tolist() == [5, 2, 2] and pairs.distinct["grade"].tolist() == [2, 1, 2]
    assert pairs.n_values == {"grade": 3} and pairs.n_records == 9
    assert [a.suppressed for a in recommend(pairs, 2, 1, {"grade": 2}).approaches] == [2]


def test_labels() -> None:
    assert [label(xk, 5) for xk in range(1, 6)] == ["1/4k", "1/3k", "1/2k", "3/4k", "k"]
    assert [label(xk, 3) for xk in range(1, 4)] == ["1/3", "2/3", "k"]


UNIQUE = PairSet(np.ones(20, np.int64), {"grade": np.ones(20, np.int64)}, {"grade": 4})
PLENTY = PairSet(np.array([6, 7, 8]), {"grade": np.array([4, 3, 1])}, {"grade": 4})


@pytest.mark.parametrize(("pairs", "request_", "said"), [
    (PLENTY, {"k": 1, "n_quasi": 2}, "k is 1; it must be at least 2"),
    (PLENTY, {"k": 22, "n_quasi": 2}, "at most the table's 21 records"),
    (PairSet(np.array([], np.int64)), {"k": 2, "n_quasi": 2}, "the table's 0 records"),
    (PLENTY, {"k": 5, "n_quasi": 0}, "No quasi-identifier is given"),
    (PLENTY, {"k": 5, "n_quasi": 2, "diversity": {"grade": 5}}, "at most the column's 4 different values"),
    (PLENTY, {"k": 5, "n_quasi": 2, "diversity": {"grade": 0}}, "The diversity of 'grade' is 0"),
    (PLENTY, {"k": 3, "n_quasi": 2, "diversity": {"grade": 4}}, "at most k, which is 3"),
    (PLENTY, {"k": 5, "n_quasi": 2, "diversity": {"mark": 2}}, "'mark', which is not among the sensitive"),
    (PLENTY, {"k": 5, "n_quasi": 2, "min_precision": 101}, "The minimum precision is 101"),
    (PLENTY, {"k": 5, "n_quasi": 2, "min_precision": float("nan")}, "The minimum precision is nan"),
    (PLENTY, {"k": 5, "n_quasi": 2, "prefer": "speed"}, "The preference is 'speed'"),
])
def test_wrong_requests_are_refused(pairs: PairSet, request_: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said) as refused:
        recommend(pairs, **request_)
    assert refused.value.remedy


@pytest.mark.parametrize(("request_", "said"), [
    ({"min_precision": 90}, "closest is 1/4k with 20.00%"),
    ({"diversity": {"grade": 2}}, "No pair of quasi-identifier values is diverse enough"),
])
def test_nothing_is_recommended_that_releases_nothing(request_: dict[str, Any], said: str) -> None:
    with pytest.raises(InfeasibleError, match=said):
        recommend(UNIQUE, 5, 2, **request_)


def test_every_record_unique() -> None:
    found = recommend(UNIQUE, 5, 2, prefer="precision")
    assert found.recommended == (1,)
    assert found.flags == ("plain k releases nothing",)


def test_only_plain_k_remains() -> None:
    found = recommend(PLENTY, 3, 2, {"grade": 3})
    assert (found.recommended, found.flags) == ((3,), ("only plain k remains",))
    fussy = recommend(PairSet(np.array([1, 2, 3, 4, 9])), 5, 2, min_precision=99)
    assert (fussy.recommended[0], fussy.flags) == (5, ("only plain k remains", "alternative below minimum"))
    assert fussy.approaches[0].xk == fussy.recommended[1]
    assert "below the minimum" in fussy.why


def test_nothing_to_repair() -> None:
    found = recommend(PLENTY, 5, 2)
    assert (found.recommended, found.flags) == ((5,), ("nothing to repair",))


@pytest.mark.parametrize(("histogram", "prefer", "recommended", "said"), [
    ([4009, 1728, 870, 539], "precision", (5, 4),
     "As high: 3/4k, 1/2k, 1/3k; the better precision and difference ranks together, then the precision"),
    ([2, 0, 1, 1], None, (3,), "As high: 1/3k, 3/4k; the better difference rank decides"),
    ([0, 0, 2, 0], "precision", (5, 4), "to compare plain k with is 3/4k, which comes to the same."),
])
def test_the_sentence_names_ties_and_alternatives(histogram: list[int], prefer: Any,
                                                  recommended: tuple[int, ...], said: str) -> None:
    found = recommend(PairSet(np.append(np.repeat([1, 2, 3, 4], histogram), 17769)), 5, 2, prefer=prefer)
    assert found.recommended == recommended
    assert said in found.why


@pytest.mark.parametrize(("histogram", "request_", "recommended"), [
    ([0, 1, 0, 1], {"prefer": "precision"}, (4,)),  # not k, whose precision rank is larger
    ([1, 0, 1, 0], {"prefer": "original"}, (3,)),  # not 1, whose original rank is larger
    ([0, 0, 1, 0], {"min_precision": 97}, (5, 4)),  # 3 ranks higher than 4, but below the minimum
])
def test_the_order_of_ties_and_of_the_minimum(histogram: list[int], request_: dict[str, Any],
                                              recommended: tuple[int, ...]) -> None:
    pairs = PairSet(np.append(np.repeat([1, 2, 3, 4], histogram), 50))
    assert recommend(pairs, 5, 2, **request_).recommended == recommended
