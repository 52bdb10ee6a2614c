"""Two releases together, and the order of the rows, against plain loops and planted faults."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import joined as oracle
from tests.oracles.joined import Row

import sfumato
from sfumato.attack.joined import joined
from sfumato.attack.order import order
from sfumato.errors import RequestError
from sfumato.measure.evidence import Measure
from sfumato.recipe import Recipe

RECIPE = Recipe.from_dict({
    "columns": {"age": {"role": "quasi"}, "town": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "criteria": [{"k-anonymity": {"k": 2}}], "seed": 3})


def covers(label: str, value: str) -> bool:
    if label == "*" or label == value:
        return True
    if not label.startswith("["):
        return False
    low, high = label[1:-1].split("..")
    return value.isdigit() and int(low) <= int(value) <= int(high)


def released(people: list[Row], draw: random.Random, width: int) -> list[Row]:
    """Ages in intervals of a width, or local ones; some towns and some whole records as *."""
    rows = []
    for (age, town), ill in people:
        low = int(age) // width * width - (draw.random() < 0.2)
        shown = (f"[{low}..{low + width - 1 + (draw.random() < 0.2)}]", town if width < 8 else "*")
        rows.append((("*", "*") if draw.random() < 0.05 else shown, ill))
    draw.shuffle(rows)
    return rows


def frame(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame([(*labels, ill) for labels, ill in rows], columns=["age", "town", "ill"], dtype=str)


def population(draw: random.Random, n: int) -> list[Row]:
    return [((str(draw.randint(1, 20)), draw.choice("AB")), draw.choice(["flu", "gout", "cold"]))
            for _ in range(n)]


def own(people: list[Row]) -> list[Row]:
    return people  # the private table is the release whose labels are the values


def found(later: Any, earlier: Any, table: Any, before: Any = None) -> Measure:
    [one] = joined(later, earlier, table, before, RECIPE, {})
    return one


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40))
def test_releases_of_one_table_are_linked(seed: int, n: int) -> None:
    draw = random.Random(seed)
    people = population(draw, n)
    later, earlier = released(people, draw, 5), released(people, draw, draw.choice([4, 8]))
    one = found(frame(later), frame(earlier), frame(people))
    assert one.name == "complementary.ill" and one.value == sum(oracle.linked(people, later, earlier, covers))
    least = oracle.fewest(people, [later, earlier], covers)
    crowds = [oracle.crowd(people, values, lambda a, b: a == b) for values, _ in people]
    assert one.before == sum(sum(c.values()) < least or len(c) == 1 for c in crowds) and one.high == n


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 40))
def test_a_grown_table_is_linked_and_subtracted(seed: int, n: int) -> None:
    draw = random.Random(seed)
    people = population(draw, n)
    were = people[:n // 2]
    later, earlier = released(people, draw, 10), released(were, draw, draw.choice([5, 10]))
    stay, come = (how(people, later, earlier, covers) for how in (oracle.linked, oracle.subtracted))
    left, expected, newcomers = Counter(were), 0, 0
    for n, person in enumerate(people):
        fresh = left[person] == 0
        left[person] -= not fresh
        newcomers += fresh
        expected += come[n] if fresh else stay[n]
    one = found(frame(later), frame(earlier), frame(people), frame(were))
    assert one.name == "temporal.ill" and one.value == expected
    assert f"{newcomers:,} people joined" in one.definition


def test_two_2_anonymous_releases_that_together_name_somebody() -> None:
    """One hides the town, the other the age; joined by the illness, each of the four stands alone."""
    people = [(("1", "A"), "flu"), (("1", "B"), "gout"), (("2", "A"), "gout"), (("2", "B"), "flu")]
    later = [((age, "*"), ill) for (age, _), ill in people]
    earlier = [(("*", town), ill) for (_, town), ill in people]
    assert found(frame(later), frame(earlier), frame(people)).value == 0  # flu and gout stay possible
    people = [(values, ill) for (values, _), ill in zip(people, ("flu", "cold", "gout", "burn"), strict=True)]
    later, earlier = ([((a, "*"), s) for (a, _), s in people], [(("*", t), s) for (_, t), s in people])
    assert found(frame(later), frame(earlier), frame(people)).value == 4


def test_newcomers_stand_out_from_those_who_were_there() -> None:
    were = [(("1", "A"), "flu"), (("2", "A"), "flu"), (("1", "A"), "gout")]
    people = [*were, (("2", "A"), "cold")]
    label = ("[1..2]", "A")
    one = found(frame([(label, s) for _, s in people]), frame([(label, s) for _, s in were]), frame(people),
                frame(were))
    assert one.value == 1  # three of four were there before: the fourth has the cold


def test_releases_are_joined_from_the_command_and_the_functions(tmp_path: Any) -> None:
    draw = random.Random(1)
    people = frame(population(draw, 200))
    recipe = {"columns": {"age": {"role": "quasi", "hierarchy": {"interval": [5, 10]}},
                          "town": {"role": "quasi", "hierarchy": "suppress"}, "ill": {"role": "sensitive"}},
              "criteria": [{"k-anonymity": {"k": 5}}], "seed": 1}
    wider = {"role": "quasi", "hierarchy": {"interval": [4, 8]}}
    other = {**recipe, "columns": {**recipe["columns"], "age": wider}}
    one, two = (sfumato.anonymize(people, each).release for each in (recipe, other))
    measures = {m.name: m.value for m in sfumato.measure(one, recipe, original=people, earlier=two).attacks}
    assert measures["unsorted_matching"] == 0 and "complementary.ill" in measures
    local = {**recipe, "method": {"name": "mondrian"}}
    mixed = sfumato.anonymize(people, local).release
    with pytest.raises(RequestError, match="mixes levels"):
        sfumato.measure(mixed, local, original=people)
    beside = sfumato.measure(mixed, local, original=people, earlier=two)
    assert not beside.utility and {"unsorted_matching", "complementary.ill"} <= {
        one.name for one in beside.attacks}
    with pytest.raises(RequestError, match="no table is named"):
        sfumato.measure(one, recipe, earlier=two)
    with pytest.raises(RequestError, match="no earlier release"):
        sfumato.measure(one, recipe, original=people, earlier_original=people)


def listed(rows: int = 400, seed: int = 5) -> pd.DataFrame:
    draw = random.Random(seed)
    return pd.DataFrame({"name": [f"n{draw.randint(0, 10**9)}" for _ in range(rows)],
                         "age": [str(draw.randint(1, 20)) for _ in range(rows)],
                         "town": [draw.choice("AB") for _ in range(rows)],
                         "ill": [draw.choice(["flu", "gout", "cold"]) for _ in range(rows)]})


def blurred(people: pd.DataFrame, by: Any) -> pd.DataFrame:
    """The release in an order of its own."""
    ordered = people.iloc[by]
    labels = [f"[{int(age) // 5 * 5}..{int(age) // 5 * 5 + 4}]" for age in ordered["age"]]
    return pd.DataFrame({"age": labels, "town": ordered["town"].tolist(), "ill": ordered["ill"].tolist()})


@pytest.mark.parametrize(("how", "said"), [
    ("as it stands", "the table's own tells most"), ("backward", "the table's own, backward tells most"),
    ("name", "by name tells most")])
def test_an_order_that_tells_is_found(how: str, said: str) -> None:
    people = listed()
    by = {"as it stands": list(range(400)), "backward": list(range(399, -1, -1)),
          "name": sorted(range(400), key=lambda n: people["name"][n])}[how]
    one = order(blurred(people, by), people, RECIPE, {})
    fits = sum(covers(f"[{int(a) // 5 * 5}..{int(a) // 5 * 5 + 4}]", b) and s == t and p == q
               for a, p, s in zip(people["age"], people["town"], people["ill"], strict=True)
               for b, q, t in zip(people["age"], people["town"], people["ill"], strict=True)) / 400
    assert said in one.definition and one.value == pytest.approx(400 - fits, abs=3)
    assert one.before == one.high == 400


def test_a_shuffled_release_tells_nothing() -> None:
    for seed in range(10):
        people, by = listed(seed=seed), list(range(400))
        random.Random(seed + 100).shuffle(by)
        one = order(blurred(people, by), people, RECIPE, {})
        assert one.value == 0 and "none of them tells anything" in one.definition


def test_an_order_is_found_also_where_records_are_left_out_or_starred() -> None:
    people = listed()
    release = blurred(people, list(range(400)))
    old = [n for n in range(400) if int(people["age"][n]) >= 20]
    assert 0 < len(old) < 60
    gone = order(release.drop(index=old), people, RECIPE, {})
    assert gone.value is not None and gone.value > 250 and gone.high == 400 - len(old)
    release.loc[old, ["age", "town"]] = "*"
    kept = order(release, people, RECIPE, {})
    assert kept.value is not None and kept.value > 250 and kept.high == 400
