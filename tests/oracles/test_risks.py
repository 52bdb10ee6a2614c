"""Singling out, linkability and inference: worked numbers, plain loops, what must come out, anonymeter."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles.apart import Apart, Unavailable
from tests.oracles.test_attacks import CLASSES, SLICED, covers, released, text
from tests.properties import hospital

import sfumato
from sfumato.attack import predicates as p
from sfumato.attack.intervals import risk, wilson
from sfumato.attack.redrawn import Scales, Space, redraw, space_of
from sfumato.attack.run import scene

ANONYMETER = Apart("anonymeter", "1.1.0", Path(__file__).with_name("anonymeter_answers.py"))
Z = 1.959964**2
NAMES = ("age", "town", "work")


def people(n: int, seed: int, copy: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Rows whose secret depends on what is known of them, and a number with missing values."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        age, town = rng.randrange(20, 80), rng.choice("abcd")
        work = rng.choice(["in", "out", "none"])
        ill = rng.choice(["flu", "cold"]) if rng.random() < 0.3 else f"{town}{age // 20}"
        rows.append({"age": age, "town": town, "work": work, "ill": ill})
    return rows


def asked(release: list[dict[str, Any]], own: list[dict[str, Any]], other: list[dict[str, Any]],
          **said: Any) -> dict[str, Any]:
    tables = (pa.Table.from_pylist(one) for one in (release, own, other))
    table, known, control = tables
    found = sfumato.risks(table, known=known, control=control, sensitive="ill", **said)
    return {one.name: one for one in found}


def test_the_worked_numbers_of_the_estimator() -> None:
    shares = [wilson(n, 500) for n in (60, 40, 10)]
    assert [round(one.rate, 5) for one in shares] == [0.1229, 0.0832, 0.02366]
    assert [round(one.error, 5) for one in shares] == [0.02852, 0.0239, 0.01276]
    found = risk("inference", 60, 500, (40, 500), (10, 500))
    assert (round(found.residual.low, 5), round(found.residual.high, 5)) == (0.00342, 0.08317)
    none, every = wilson(0, 500), wilson(500, 500)
    assert (round(none.rate, 5), round(none.error, 5)) == (0.00381, 0.00381)
    assert (round(every.rate, 5), round(every.error, 5)) == (0.99619, 0.00381)
    assert wilson(700, 500) == every  # a scaled count is clipped
    assert round(p.integral(1000, 0, 1), 12) == round(1 / 1001, 12)
    assert p.integral(1000, 0, 0.001) == pytest.approx(0.000264345, abs=1e-9)


def test_a_release_that_is_the_table_gives_its_people_away_and_another_tells_nothing() -> None:
    own, other, strangers = people(300, 1), people(300, 2), people(300, 3)
    given = asked(own, own, other, half="age", draws=3)
    assert given["inference"].value > 0.6 and given["singling-out"].value > 0.5
    assert all(one.stronger_than_guessing for one in given.values())
    none = asked(strangers, own, other, half="age", draws=3)
    assert all(one.residual.low == 0 for one in none.values())
    unlike = [row for row in own if sum(all(row[n] == one[n] for n in NAMES) for one in own) == 1]
    alone = asked(own, unlike, other, half="age", draws=3)["inference"]
    assert alone.successes == len(unlike) == alone.trials  # whoever is like nobody else finds oneself


def test_guesses_of_linkability_meet_as_often_as_chance_has_it() -> None:
    from sfumato.attack.risks import meets

    rng = np.random.default_rng(0)
    drawn = [np.stack([rng.choice(1000, 10, replace=False) for _ in range(20_000)]) for _ in range(2)]
    assert meets(*drawn).mean() == pytest.approx(0.0960, abs=0.006)
    assert not np.isclose(meets(*drawn).mean(), 0.0960 * 1.2, atol=0.006)


def plain_distance(left: dict[str, Any], right: dict[str, Any], spread: float) -> float:
    """Gower's sum: numbers by their range, anything else by being different; missing on one side is 1."""
    total = 0.0
    for name in NAMES:
        a, b = left[name], right[name]
        if name == "age" and a is not None and b is not None:
            total += abs(a - b) / spread
        else:
            total += a != b
    return total


def as_codes(space: Space, rows: list[dict[str, Any]]) -> Any:
    return np.array([[space.values[j].index(None if row[name] is None else str(row[name]))
                      for j, name in enumerate((*NAMES, "ill"))] for row in rows], dtype=np.int32)


@pytest.fixture(scope="module")
def ground() -> tuple[Any, ...]:
    rng = random.Random(4)
    rows, targets = people(90, 5), people(60, 6)
    for row in (*rows, *targets):
        if rng.random() < 0.1:
            row["age"] = None
    space = Space((*NAMES, "ill"), tuple(
        tuple(dict.fromkeys(None if row[name] is None else str(row[name]) for row in (*rows, *targets)))
        for name in (*NAMES, "ill")))
    both = as_codes(space, rows), as_codes(space, targets)
    return rows, targets, *both, Scales.of(space, *both)


def test_distances_and_neighbours_against_plain_loops(ground: tuple[Any, ...]) -> None:
    rows, targets, coded, aimed, scales = ground
    ages = [row["age"] for row in (*rows, *targets) if row["age"] is not None]
    spread = max(ages) - min(ages)
    columns = np.arange(3)
    off = scales.apart(aimed, coded, columns)
    nearest = scales.nearest(aimed, coded, columns, 3, np.random.default_rng(0))
    for i, target in enumerate(targets):
        plain = [plain_distance(target, row, spread) for row in rows]
        assert off[i].tolist() == pytest.approx(plain)
        assert sorted(plain[j] for j in nearest[i]) == pytest.approx(sorted(plain)[:3])


def test_rows_equally_near_are_drawn_evenly() -> None:
    space = Space(("a", "s"), (("x",), ("u", "v")))
    rows = np.array([[0, 0], [0, 1]] * 2, dtype=np.int32)
    scales, rng = Scales.of(space, rows), np.random.default_rng(1)
    drawn = Counter(scales.nearest(np.tile(rows[:1], (4000, 1)), rows, np.array([0]), 1, rng)[:, 0].tolist())
    assert set(drawn) == {0, 1, 2, 3} and max(drawn.values()) < 1150


@pytest.mark.parametrize("width", [1, 2, 3])
def test_predicates_against_plain_loops(ground: tuple[Any, ...], width: int) -> None:
    rows, targets, coded, aimed, scales = ground
    rng = np.random.default_rng(width)
    distinct = np.unique(coded, axis=0)
    drawn = (p.univariate(distinct, scales, rng) if width == 1
             else p.multivariate(distinct, scales, width, rng))
    found = p.unique(drawn, distinct, scales, 40)
    assert found and len(set(found)) == len(found)
    for predicate in (*found, *(p.guess(distinct, scales, width, rng) for _ in range(60))):
        for table, codes in ((rows, coded), (targets, aimed)):
            plain = 0
            for row in table:
                held = True
                for column, relation, value in predicate:
                    name, wanted = (*NAMES, "ill")[column], scales.space.values[column][value]
                    own = row[name]
                    if relation == p.EQUAL or name != "age" or wanted is None:
                        held &= (None if own is None else str(own)) == wanted
                    else:
                        held &= own is not None and (
                            own >= int(wanted) if relation == p.LEAST else own <= int(wanted))
                plain += held
            assert p.satisfied(predicate, codes, scales) == plain
    assert all(p.satisfied(one, distinct, scales) == 1 for one in found)


def test_the_control_is_scaled_to_the_number_of_people() -> None:
    """Rare predicates single somebody out more often the more people there are."""
    rng = np.random.default_rng(0)
    sizes = np.linspace(100, 1000, 10).astype(int)
    weight = 0.004
    assert p.fitted(sizes, np.array([3 * p.integral(int(n), 0, weight) for n in sizes])) == pytest.approx(
        weight, rel=0.05)
    own, other = people(600, 8), people(200, 9)
    space = Space((*NAMES, "ill"), tuple(tuple(dict.fromkeys(str(row[name]) for row in (*own, *other)))
                                         for name in (*NAMES, "ill")))
    codes = as_codes(space, own), as_codes(space, other)
    scales = Scales.of(space, *codes)
    found = p.unique(p.multivariate(codes[0], scales, 3, rng), np.unique(codes[0], axis=0), scales, 50)
    assert p.ratio(found, codes[1], scales, 200, rng) == 1.0
    assert p.ratio(found, codes[1], scales, 600, rng) != 1.0


@pytest.mark.parametrize("name", ["ranges", "slicing", "ul", "bucketization"])
def test_a_draw_says_nothing_that_the_release_does_not(name: str) -> None:
    """Values stand under their labels; in a bucket, each column group keeps its rows, each as often."""
    result = released({**CLASSES, **SLICED}[name], 3, 0, 240)
    known = hospital.records(n=400, seed=3)[:240]
    with scene([result], pa.Table.from_pylist(known), None, (), None, (), {}) as seen:
        [view] = seen.views
        space = space_of(view, (seen.known,))
        draws = [redraw(view, seen.known, space, np.random.default_rng(n)) for n in range(2)]
    assert len(draws[0]) == view.counts.sum() and (draws[0] != draws[1]).any()
    row = np.repeat(np.arange(len(view.counts)), view.counts)
    for drawn in draws:
        said, shown = defaultdict(list), defaultdict(list)
        for n, group in enumerate(view.groups):
            last = n == len(view.groups) - 1
            for at in range(len(drawn)):
                values = [space.values[view.names.index(name)][drawn[at, view.names.index(name)]]
                          for name in group]
                labels = [view.labels[view.names.index(name)][view.codes[row[at], view.names.index(name)]]
                          for name in group]
                secret = (space.values[-1][drawn[at, -1]] if last else "",
                          view.sensitive_labels[view.sensitive[row[at]]] if last else "")
                said[n, view.bucket_of[row[at]]].append((secret[0], values))
                shown[n, view.bucket_of[row[at]]].append((secret[1], labels))
        for where, labels in shown.items():
            names, left = view.groups[where[0]], list(labels)
            for secret, values in sorted(said[where], key=str):
                fits = [one for one in left if one[0] == secret and all(
                    map(covers, names, one[1], values))]
                assert fits  # some row of the bucket may say so
            assert len(said[where]) == len(labels)
            assert Counter(s for s, _ in said[where]) == Counter(s for s, _ in labels)


def test_missing_values_and_what_is_refused() -> None:
    records = hospital.records(n=400, seed=3)
    result = released(SLICED["slicing"], 3, 0, 240)
    own, other = (pa.Table.from_pylist(records[part]) for part in (slice(0, 240), slice(240, 400)))
    found = sfumato.risks(result, known=own, control=other, draws=2)
    assert {one.name: one.trials for one in found} == {"singling-out": found[0].trials, "linkability": 160,
                                                      "inference": 160}
    assert found == sfumato.risks(result, known=own, control=other, draws=2)
    assert text(records[0]["illness"]) is None or isinstance(text(records[0]["illness"]), str)
    for words, complaint in (({"half": ["sex", "nobody"]}, "One party"), ({"trials": 0}, "are none"),
                             ({"half": ["age", "zip", "sex", "group"]}, "not all")):
        with pytest.raises(sfumato.errors.RequestError, match=complaint):
            sfumato.risks(result, known=own, control=other, **words)
    with pytest.raises(sfumato.errors.RequestError, match="no column 'illness'"):
        sfumato.risks(result, known=own.drop(["illness"]), control=other)


@pytest.mark.slow
def test_beside_anonymeter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates on original values: ours and theirs lie within both intervals' reach, attack by attack.

    Of singling out theirs divides by the predicates that were asked for, ours by those that were found.
    """
    monkeypatch.setattr(p, "TRIES", 100)
    own, other = people(500, 11), people(500, 12)
    rng = random.Random(13)
    mixed = [dict(rng.choice([one, one, rng.choice(people(40, n))])) for n, one in enumerate(own)]
    releases = {"copy": own, "mixed": mixed, "others": people(500, 14)}
    questions = [{"people": own, "rows": rows, "control": other, "names": NAMES, "secret": "ill",
                  "trials": 400, "neighbours": 1} for rows in releases.values()]
    try:
        answers = ANONYMETER.ask(questions)
    except Unavailable as error:
        pytest.skip(str(error))
    for (kind, rows), theirs in zip(releases.items(), answers, strict=True):
        ours = asked(rows, own, other, half=["age", "work"], trials=400, draws=5)
        for name, one in ours.items():
            assert one.control is not None
            if name == "singling-out":
                assert one.trials <= 400
                wins = [round(share.rate * (one.trials + Z) - Z / 2) for share in (one.attack, one.control)]
                one = risk(name, wins[0], 400, (wins[1], 400), (0, 400))
                assert one.control is not None
            for what, share in (("attack", one.attack), ("control", one.control)):
                reach = 1.6 * share.error + 0.02
                assert abs(share.rate - theirs[name][what]) < reach, (kind, name, what, share, theirs[name])
            assert abs(one.value - theirs[name]["risk"]) < 1.6 * one.residual.error + 0.02
