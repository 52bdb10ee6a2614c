"""Profiles, shapes and suggestions: right numbers, the roles a steward expects, recipes that load."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.concepts import concept_of
from sfumato.errors import TableError
from sfumato.profile import ColumnProfile, TableProfile, profile
from sfumato.recipe import Recipe
from sfumato.roles import Suggestion, interval_widths, suggest, write_recipe
from sfumato.shapes import shares

ibis = pytest.importorskip("ibis")


def seen(columns: dict[str, list[Any]], missing: tuple[str, ...] = ()) -> TableProfile:
    """The profile of a small table."""
    return profile(ibis.memtable(pa.table(columns)), missing)


def suggested(columns: dict[str, list[Any]]) -> dict[str, Suggestion]:
    """The suggestions for a small table, by column."""
    return {suggestion.column: suggestion for suggestion in suggest(seen(columns))}


def written(found: TableProfile, name: str = "t.csv") -> str:
    """The recipe that is suggested."""
    return write_recipe(suggest(found), found, name)


def told_apart(rows: list[tuple[Any, ...]]) -> tuple[float, float]:
    """Distinction and separation by a plain loop over pairs."""
    pairs = list(combinations(rows, 2))
    return len(set(rows)) / len(rows), sum(a != b for a, b in pairs) / max(len(pairs), 1)


CELLS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", "?", None])] * 4), min_size=1, max_size=25)


@given(CELLS)
@settings(max_examples=25, deadline=None)
def test_distinction_and_separation_as_by_hand(rows: list[tuple[str | None, ...]]) -> None:
    names = ["w", "x", "y", "z"]
    table = pa.table({name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(names)})
    found = profile(ibis.memtable(table), ["?"])
    rows = [tuple(None if cell == "?" else cell for cell in row) for row in rows]
    for n, column in enumerate(found.columns):
        values = [row[n] for row in rows]
        assert (column.distinction, column.separation) == pytest.approx(told_apart([(v,) for v in values]))
        assert column.missing == values.count(None)
        assert column.distinct == len(set(values) - {None})
    for combination in found.combinations:
        at = [names.index(name) for name in combination.columns]
        expected = told_apart([tuple(row[n] for n in at) for row in rows])
        assert (combination.distinction, combination.separation) == pytest.approx(expected)


def test_pairs_and_triples_are_tried() -> None:
    found = seen(
        {name: [n // place % 3 for n in range(27)] for name, place in zip("abc", (1, 3, 9), strict=True)}
    )
    assert {c.columns for c in found.combinations} == {("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")}
    best = found.best("a")
    assert best is not None and best.columns == ("a", "b", "c") and best.distinction == 1


def test_kinds_ranges_and_markers() -> None:
    found = seen(
        {
            "n": ["1", "20", "?"],
            "code": ["01", "02", "03"],
            "r": [1.5, 2.0, None],
            "w": [1.0, 2.0, 3.0],
            "d": ["2020-01-31", "1999-12-01", None],
            "mixed": ["N", *"12"],
            "b": [True, False, None],
            "t": ["x", "yy", ""],
        }
    )
    column = {c.name: c for c in found.columns}
    assert {n: c.kind for n, c in column.items()} == {
        "n": "integer",
        "code": "text",
        "r": "real",
        "w": "integer",
        "d": "date",
        "mixed": "text",
        "b": "boolean",
        "t": "text",
    }
    assert (column["n"].low, column["n"].high) == (1, 20)
    assert (column["d"].low, column["d"].high) == (1999, 2020)
    assert column["r"].missing == 1 and found.markers == ("?", "")
    assert (column["t"].shortest, column["t"].longest) == (0, 2)
    assert seen({"n": ["1", "20", "?"]}, ("?",)).markers == ()


def test_markers_are_found_among_many_values() -> None:
    values = [f"v{n}" for n in range(5_000)] + ["?"]
    assert seen({"t": values}).markers == ("?",)
    assert seen({"t": values}) == seen({"t": values[::-1]})


def test_odd_tables() -> None:
    with pytest.raises(TableError, match="5,000 columns"):
        seen({f"c{n}": [1] for n in range(5_000)})
    for columns in ({"a": []}, {"a": [None, None]}, {"a": [1]}, {"a": ["x"], "b": [None]}):
        table = pa.table(
            {
                name: pa.array(values, pa.string() if None in values else None)
                for name, values in columns.items()
            }
        )
        found = profile(
            ibis.memtable(table)
            if table.num_rows
            else ibis.memtable(table.cast(pa.schema([("a", pa.string())])))
        )
        assert Recipe.parse(written(found)).named("quasi")


@pytest.mark.parametrize(
    ("shape", "right", "wrong"),
    [
        ("e-mail address", "ada@example.org", "ada at example.org"),
        ("IBAN", "DE89 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
        ("payment card number", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("US social security number", "123-45-6789", "000-45-6789"),
        ("German tax number", "86095742719", "86095742718"),
        ("Dutch citizen number", "111222333", "111222334"),
        ("Swedish personal number", "811228-9874", "811228-9875"),
        ("Polish personal number", "44051401359", "44051401358"),
        ("Belgian national number", "85.07.30-033.28", "85.07.30-033.29"),
        ("French national number", "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
        ("Spanish identity number", "12345678Z", "12345678A"),
        ("Finnish personal code", "131052-308T", "131052-308U"),
        ("NHS number", "943 476 5919", "943 476 5918"),
        ("IP address", "2001:db8::1", "10:30"),
        ("IP address", "192.168.0.1", "192.168.0.256"),
        ("UUID", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("phone number", "+49 (0)30 901820", "2020-01-31"),
        ("web address", "https://example.org/a", "example"),
        ("date", "31.12.1999", "31.13.1999"),
        ("postcode", "SW1A 1AA", "Town"),
        ("coordinate", "52.5200, 13.4050", "52"),
        ("diagnosis code", "E11.9", "11"),
        ("free text", "the patient came back on Monday", "never married"),
    ],
)
def test_shapes(shape: str, right: str, wrong: str) -> None:
    assert shares([right]).get(shape) == 1
    assert shape not in shares([wrong])
    assert shares([right, wrong])[shape] == 0.5


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("AGEP", "age"),
        ("Age at admission", "age"),
        ("SEX", "sex"),
        ("ZIPCode", "postcode"),
        ("zip_code", "postcode"),
        ("DOBYY", "birth"),
        ("date-of-birth", "birth"),
        ("RAC1P", "race or ethnicity"),
        ("marital.status", "marital status"),
        ("native-country", "origin"),
        ("education-num", "education"),
        ("ICD9CODX", "health"),
        ("salaryClass", "income and wealth"),
        ("firstName", "person's name"),
        ("patient_id", "person or record number"),
        ("E-Mail", "e-mail"),
        ("fnlwgt", "survey weight"),
        ("instance_weight", "survey weight"),
        ("weight", "body"),
        ("religion", "belief"),
        ("phone2", "phone"),
        ("Gave birth to child", "health"),
        ("country_of_birth_father", "origin"),
        ("hospital name", "name"),
        ("page", None),
        ("message", None),
        ("package", None),
        ("stage", None),
        ("sextant", None),
        ("voltage", None),
        ("", None),
        ("🙂", None),
    ],
)
def test_names(name: str, what: str | None) -> None:
    concept = concept_of(name)
    assert (concept and concept.what) == what


def test_roles_a_steward_expects() -> None:
    n = range(60)
    found = suggested(
        {
            "contact": [f"p{i}@example.org" for i in n],
            "x1": [f"DE{i}" for i in n],
            "no": list(range(1, 61)),
            "age": [20 + i for i in n],
            "Geschlecht": ["m", "w"] * 30,
            "zip": [f"{47000 + i}" for i in n],
            "seen": [f"2020-0{1 + i % 9}-{10 + i % 19}" for i in n],
            "seen2": [f"{10 + i % 19}.0{1 + i % 9}.2020" for i in n],
            "diagnosis": ["flu", "cold", "asthma"] * 20,
            "constant": ["x"] * 60,
            "shoe": [36 + i % 10 for i in n],
            "col7": ["Husband", "Wife", "Own-child"] * 20,
            "remark": [f"the patient said that day {i} was bad" for i in n],
        }
    )
    assert {name: s.role for name, s in found.items()} == {
        "contact": "identifying",
        "x1": "identifying",
        "no": "identifying",
        "age": "quasi",
        "Geschlecht": "quasi",
        "zip": "quasi",
        "seen": "quasi",
        "seen2": "quasi",
        "diagnosis": "sensitive",
        "constant": "plain",
        "shoe": "plain",
        "col7": "quasi",
        "remark": "identifying",
    }
    assert "100% of its values look like: e-mail address" in found["contact"].reason
    assert "its name contains 'age'; 60 values (distinct ratio 1.00)" in found["age"].reason
    assert found["age"].hierarchy == {"interval": [5, 10, 20, 40]}
    assert found["zip"].hierarchy == {"prefix": 5}
    assert found["Geschlecht"].hierarchy == "suppress"
    assert found["seen"].hierarchy == {"dates": ["month", "year", "decade"]} and found["seen"].open is None
    assert found["seen2"].hierarchy == {"frequency": 3} and "format" in str(found["seen2"].open)
    assert found["shoe"].open and found["remark"].open and found["x1"].open
    assert all(s.reason for s in found.values())


@pytest.mark.parametrize(
    ("low", "high", "kind", "widths"),
    [
        (17, 90, "integer", [5, 10, 20, 40]),
        (0, 1_000_000, "integer", [50_000, 100_000, 200_000, 400_000]),
        (1, 12, "integer", [2, 4, 8]),
        (0, 1, "real", [0.05, 0.1, 0.2, 0.4]),
        (1, 2, "integer", [2]),
        (3, 3, "real", [1]),
    ],
)
def test_widths_fit_the_range_and_are_nested(low: float, high: float, kind: Any, widths: list[float]) -> None:
    from sfumato.hierarchy.spec import faults

    column = ColumnProfile("c", kind, 50, 0, 1, 3, low, high, {}, (), 1.0, 1.0)
    assert interval_widths(column) == widths
    assert not faults({"interval": widths})


NASTY = [
    "it's",
    'say "x"',
    "a: b",
    "# no comment",
    "two\nlines",
    "tab\there",
    "no",
    "on",
    "~",
    "2020",
    " lead ",
    "日本",
    "😀",
    "{x}",
    "[y]",
    "&a",
    "*b",
    "!t",
    "%d",
    "\u2028",
    "\x85",
    "SELECT",
    "a" * 1_200,
    "back\\slash",
    "\\U0001F600",
]


def test_any_column_name_survives() -> None:
    found = seen({name: ["a", "b"] for name in NASTY} | {"age": [30, 40]})
    text = written(found, "odd\nname: #.csv")
    recipe = Recipe.parse(text)
    assert list(recipe.columns) == [*NASTY, "age"]
    assert recipe.table == "odd\nname: #.csv"
    assert Recipe.parse(recipe.to_yaml()) == recipe
    assert all(f"# {line}".isprintable() for line in text.split("\n"))


def test_no_value_is_written() -> None:
    secrets = [f"zqx{n}secret" for n in range(40)]
    found = seen({"name": secrets, "town": secrets[:20] * 2, "disease": secrets[:10] * 4})
    assert "secret" not in written(found) + repr(found)


def test_every_column_stands_with_its_reason_and_the_recipe_explains_itself() -> None:
    found = seen({"town": ["a", "b", "?"] * 5, "disease": ["x", "x", "y"] * 5, "income": [1, 2, 3] * 5})
    text = written(found)
    lines = text.splitlines()
    for name in ("town", "income", "disease"):
        at = next(n for n, line in enumerate(lines) if line.startswith(f"  {name}: "))
        assert lines[at - 1].startswith("  # ")
    recipe = Recipe.parse(text)
    assert recipe.missing == ("?",)
    assert [c.name for c in recipe.criteria] == ["k-anonymity", "l-diversity"]
    assert recipe.criteria[1].columns == ("income",)  # spread more evenly than disease
    assert "# - {l-diversity: {column: disease, l: 2, kind: distinct}}" in text
    Recipe.parse(text.replace("  # - {l-div", "  - {l-div"))


def test_what_is_dropped_anyway_is_not_combined() -> None:
    found = seen({"user_id": [1, 2, 3, 4] * 5, "aa": [1, 2] * 10, "bb": [1, 1, 2, 2] * 5})
    assert {c.columns for c in found.combinations} == {("aa", "bb")}


def test_a_postcode_that_passes_a_check_digit_stays_a_postcode() -> None:
    numbers = ["111222333", "123456782"] * 10
    assert suggested({"zip": numbers, "age": [1, 2] * 10})["zip"].role == "quasi"
    assert suggested({"zap": numbers, "age": [1, 2] * 10})["zap"].role == "identifying"


def test_nothing_quasi_promotes_what_tells_most_apart() -> None:
    found = suggested({"aa": [1, 2, 3, 4] * 5, "bb": [1, 1, 1, 2] * 5, "name": ["x", "y"] * 10})
    assert found["aa"].role == "quasi" and found["name"].role == "identifying"
    assert "needs a quasi-identifier" in found["aa"].reason and found["aa"].open


@pytest.mark.needs_shared
def test_adult_with_and_without_names(shared: Path) -> None:
    connection = ibis.duckdb.connect()
    named = profile(connection.read_csv(str(shared / "data/adult/adult-9.csv"), delim=";"))
    recipe = Recipe.parse(written(named))
    assert recipe.named("sensitive") == ("salary-class",) and len(recipe.named("quasi")) == 8
    bare = profile(connection.read_csv(str(shared / "data/adult/adult.data"), header=False))
    recipe = Recipe.parse(written(bare))
    assert {recipe.columns[f"column{n:02}"].role for n in (0, 3, 5, 6, 7, 8, 9, 13)} == {"quasi"}
    assert recipe.columns["column14"].role == "sensitive" and recipe.columns["column02"].role == "plain"
