"""The recipe: the shape of the issue, round trips, and every fault in one go with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import RecipeError, RequestError
from sfumato.recipe import Recipe

WHOLE = """\
table: adult.csv                  # the command line may name another
missing: ["?", "NA"]
columns:                          # a column not listed is plain
  name:   {role: identifying}
  age:    {role: quasi, hierarchy: hierarchies/age.csv, weight: 2}
  zip:    {role: quasi, hierarchy: {prefix: 5}}
  height: {role: quasi, hierarchy: {interval: [5, 10, 20]}}
  born:   {role: quasi, hierarchy: {dates: [month, year, decade]}}
  job:    {role: quasi, hierarchy: {tree: jobs.yaml}}
  town:   {role: quasi, hierarchy: {frequency: 3}}
  sex:    {role: quasi, hierarchy: suppress}
  income: {role: sensitive}
criteria:
  - {k-anonymity: {k: 5}}
  - {l-diversity: {column: income, l: 2, kind: distinct}}
suppression: 0.05
method: {name: optimal, cost: ncp}
seed: 7
"""
LEAST = "columns: {a: {role: quasi}, s: {role: sensitive}}\ncriteria: [{k-anonymity: {k: 2}}]\n"


def faults(text: str) -> dict[str, tuple[int | None, str]]:
    """The faults of a text: where -> (line, what)."""
    with pytest.raises(RecipeError) as caught:
        Recipe.parse(text)
    return {fault.where: (fault.line, fault.what) for fault in caught.value.faults}


def only_fault(text: str) -> tuple[str, int | None, str]:
    """The one fault of a text."""
    found = faults(text)
    assert len(found) == 1, found
    [(where, (line, what))] = found.items()
    return where, line, what


def test_the_shape_of_the_issue() -> None:
    recipe = Recipe.parse(WHOLE)
    assert recipe.table == "adult.csv"
    assert recipe.missing == ("?", "NA")
    assert recipe.named("quasi") == ("age", "zip", "height", "born", "job", "town", "sex")
    assert recipe.named("identifying") == ("name",)
    assert recipe.columns["age"].weight == 2
    assert recipe.columns["height"].hierarchy == {"interval": [5, 10, 20]}
    assert recipe.criteria[0].promise == "k = 5"
    assert recipe.criteria[1].columns == ("income",)
    assert (recipe.suppression, recipe.suppressed, recipe.seed) == (0.05, "keep", 7)
    assert dict(recipe.method) == {"name": "optimal", "cost": "ncp"}


def test_round_trip_through_yaml_and_dict() -> None:
    recipe = Recipe.parse(WHOLE)
    assert Recipe.parse(recipe.to_yaml()) == recipe
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert "folder" not in recipe.to_dict()


NAMES = st.text(min_size=0, max_size=12) | st.sampled_from(
    [
        "no",
        "yes",
        "on",
        "~",
        "null",
        "1e5",
        "0x1F",
        "12:30",
        "2024-01-01",
        "a: b",
        "# x",
        "it's",
        '"q"',
        "😀",
        "line\nbreak",
        " lead",
        "a" * 1500,
        "-",
        "?",
        "=",
        "<<",
        "!tag",
        "&a",
        "*a",
        "%",
        "@",
        "`",
    ]
)


@given(
    st.lists(
        NAMES.filter(lambda t: not any(0xD800 <= ord(c) < 0xE000 for c in t)),
        min_size=1,
        max_size=6,
        unique=True,
    )
)
@settings(max_examples=150, deadline=None)
def test_any_name_survives_yaml(names: list[str]) -> None:
    recipe = Recipe.from_dict(
        {
            "missing": names,
            "columns": {name: {"role": "quasi"} for name in names},
            "criteria": [{"k-anonymity": {"k": 3}}],
        }
    )
    again = Recipe.parse(recipe.to_yaml())
    assert again == recipe
    assert list(again.columns) == names and again.missing == tuple(names)


def test_words_stay_words() -> None:
    recipe = Recipe.parse("""\
missing: [no, yes, on, -1, 999, 1e5, ~, 12:30, 2024-01-01, "", true]
columns:
  no: {role: quasi}
  on: {role: sensitive}
  2024: {role: plain}
criteria: [{k-anonymity: {k: 2}}, {l-diversity: {column: on, l: 2}}]
""")
    assert recipe.missing == ("no", "yes", "on", "-1", "999", "1e5", "~", "12:30", "2024-01-01", "", "true")
    assert list(recipe.columns) == ["no", "on", "2024"]
    assert recipe.criteria[1].columns == ("on",)


def test_all_faults_at_once_with_their_lines() -> None:
    found = faults("""\
table: t.csv
colour: red
columns:
  age: {role: qasi, hierarchy: {interval: [5, 7]}}
  zip: {role: quasi, weight: -1}
  zip: {role: plain}
  sex: {role: quasi, hierachy: suppress}
criteria:
  - {k-anonymity: {k: 0}}
  - {m-anonymity: {k: 3}}
  - {l-diversity: {column: age, l: 2}}  # age has no sound role: no second fault about it
suppression: 1.5
suppressed: dropp
method: {cost: ncp}
seed: -3
""")
    lines = {where: line for where, (line, _) in found.items()}
    assert lines == {
        "colour": 2,
        "columns.age.role": 4,
        "columns.age.hierarchy": 4,
        "columns.zip": 6,
        "columns.zip.weight": 5,
        "columns.sex.hierachy": 7,
        "criteria.0.k-anonymity.k": 9,
        "criteria.1": 10,
        "suppression": 12,
        "suppressed": 13,
        "method": 14,
        "seed": 15,
    }
    assert "Did you mean 'quasi'?" in found["columns.age.role"][1]
    assert "Did you mean 'hierarchy'?" in found["columns.sex.hierachy"][1]
    assert "Did you mean 'drop'?" in found["suppressed"][1]
    assert "less than or equal to 1, and is 1.5" in found["suppression"][1]
    assert "first in line 5" in found["columns.zip"][1]


@pytest.mark.parametrize(
    ("text", "where", "line", "part"),
    [
        ("", "the whole", 1, "empty"),
        ("# only words\n", "the whole", 1, "empty"),
        ("a: [1, 2\nb: 3\n", "the whole", 2, "not valid YAML"),
        ("columns:\n\ta: 1\n", "the whole", 2, "not valid YAML"),
        ("x: \x00\n", "the whole", 1, "does not allow"),
        ("- a\n- b\n", "the whole", 1, "is a mapping"),
        ("a: 1\n---\nb: 2\n", "the whole", 2, "not valid YAML"),
        (LEAST + "missing: NA\n", "missing", 3, 'a list, in brackets, and is "NA"'),
        (LEAST + "missing:\n  - a\n  -\n", "missing.1", 5, "string, and is nothing"),
        (LEAST + "suppression: true\n", "suppression", 3, "a number, and is true"),
        (LEAST + 'suppression: "0.5"\n', "suppression", 3, 'a number, and is "0.5"'),
        (LEAST + "suppression: .nan\n", "suppression", 3, "finite"),
        (LEAST + "suppression: -0.1\n", "suppression", 3, "greater than or equal to 0"),
        (LEAST + "seed: 1.5\n", "seed", 3, "integer"),
        (LEAST + "seed: yes\n", "seed", 3, "integer"),
        (LEAST + "method: optimal\n", "method", 3, "mapping with its name"),
        (LEAST + "folder: /tmp\n", "folder", 3, "not known here"),
        (LEAST + "table: !!python/object:os.system x\n", "table", 3, "tag"),
        (LEAST + "[a, b]: 1\n", "the whole", 3, "key must be text"),
        (LEAST + "table: &a x\nmissing: [*a]\n", "missing.0", 3, "alias"),
        ("columns: {a: quasi}\ncriteria: [{k-anonymity: {k: 2}}]\n", "columns.a", 1, "such as {role: quasi"),
        (
            "columns: {a: {role: quasi, hierarchy: 5}}\ncriteria: [{k-anonymity: {k: 2}}]\n",
            "columns.a.hierarchy",
            1,
            "such as {interval",
        ),
        (
            "columns: {a: {role: plain}}\ncriteria: [{k-anonymity: {k: 2}}]\n",
            "columns",
            1,
            "quasi-identifier",
        ),
        ("columns: {a: {role: quasi}}\n", "criteria", 1, "no criterion"),
        ("columns: {a: {role: quasi}}\ncriteria: {k-anonymity: {k: 2}}\n", "criteria", 2, "a list"),
        (
            "columns: {a: {role: quasi, weight: 0}}\ncriteria: [{k-anonymity: {k: 2}}]\n",
            "columns",
            1,
            "weight 0",
        ),
        (
            "columns: {a: {role: quasi}, s: {}}\n"
            "criteria:\n- {k-anonymity: {k: 2}}\n- {l-diversity: {column: s, l: 2}}\n",
            "criteria.1.l-diversity",
            4,
            "must be sensitive",
        ),
    ],
)
def test_each_fault(text: str, where: str, line: int, part: str) -> None:
    found = only_fault(text)
    assert found[:2] == (where, line)
    assert part in found[2]


def test_dropping_changes_the_whole_that_t_closeness_compares_with() -> None:
    criteria = (
        "columns: {a: {role: quasi}, s: {role: sensitive}}\ncriteria: [{t-closeness: {column: s, t: 0.2}}]\n"
    )
    where, line, what = only_fault(criteria + "suppressed: drop\nsuppression: 0.1\n")
    assert (where, line) == ("suppressed", 3) and "keep" in what
    assert Recipe.parse(criteria + "suppressed: drop\nsuppression: 0\n").suppressed == "drop"
    assert Recipe.parse(criteria + "suppressed: keep\nsuppression: 0.1\n").suppression == 0.1
    assert Recipe.parse(LEAST + "suppressed: drop\nsuppression: 0.1\n").suppressed == "drop"


def test_bombs_and_depth_are_refused() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{n}: &{n} [*{p}, *{p}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert any("alias" in what for _, what in faults(bomb + LEAST).values())
    deep = "table: " + "[" * 300 + "]" * 300 + "\n" + LEAST
    assert any("nested too deeply" in what for _, what in faults(deep).values())


def test_load_finds_hierarchies_beside_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_bytes(b"\xef\xbb\xbf" + LEAST.encode())
    assert Recipe.load(tmp_path / "r.yaml").folder == tmp_path
    with pytest.raises(RequestError, match="cannot be read"):
        Recipe.load(tmp_path / "none.yaml")
    with pytest.raises(RequestError, match="cannot be read"):
        Recipe.load(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("table: é".encode("latin-1"))
    with pytest.raises(RequestError, match="UTF-8"):
        Recipe.load(tmp_path / "latin.yaml")


def test_overrides_are_checked_as_a_whole(tmp_path: Path) -> None:
    recipe = Recipe.parse(WHOLE, folder=tmp_path)
    other = recipe.with_(
        k=10, suppression=0.0, seed=None, method={"cost": "loss"}, columns={"sex": {"role": "plain"}}
    )
    assert other.criteria[0].promise == "k = 10" and len(other.criteria) == 2
    assert (other.suppression, other.seed, other.folder) == (0.0, 7, tmp_path)
    assert dict(other.method) == {"name": "optimal", "cost": "loss"}
    assert "sex" not in other.named("quasi") and "age" in other.named("quasi")
    with pytest.raises(RecipeError, match=r"criteria\.1\.l-diversity.*must be sensitive"):
        recipe.with_(columns={"income": {"role": "plain"}})
    with pytest.raises(RecipeError, match="suppression"):
        recipe.with_(suppression=2)


def test_from_dict_takes_what_is_not_yaml() -> None:
    with pytest.raises(RecipeError) as caught:
        Recipe.from_dict(
            {
                "columns": {5: {"role": "quasi"}, "a": {"role": None}},
                "criteria": 3,
                "missing": [None],
                "method": {"name": 3},
            }
        )
    assert {fault.where for fault in caught.value.faults} == {
        "columns.5",
        "columns.a.role",
        "criteria",
        "missing.0",
        "method",
    }


def test_wide_recipes_are_read_and_judged_quickly() -> None:
    rows = "".join(f"  c{n}: {{role: oops}}\n" for n in range(3_000))
    assert len(faults("columns:\n" + rows + "criteria: [{k-anonymity: {k: 2}}]\n")) == 3_000


@pytest.mark.parametrize(
    ("method", "where", "part"),
    [
        ("{name: optimum}", "method.name", "Did you mean 'optimal'?"),
        ("{name: optimal, cots: ncp}", "method.cots", "Did you mean 'cost'?"),
        ("{name: optimal, cost: 3}", "method.cost", "and is 3."),
    ],
)
def test_methods_are_those_of_the_registry(method: str, where: str, part: str) -> None:
    found = only_fault(LEAST + f"method: {method}\n")
    assert found[:2] == (where, 3) and part in found[2]
