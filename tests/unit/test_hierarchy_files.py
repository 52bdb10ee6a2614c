"""Hierarchies read, checked, written and shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy.check import assemble, check
from sfumato.hierarchy.core import Hierarchy
from sfumato.hierarchy.files import read, write_csv, write_yaml
from sfumato.hierarchy.show import outline, summary
from sfumato.hierarchy.spec import build

words = st.one_of(
    st.sampled_from(
        [
            "",
            "*",
            " a ",
            "[20,30[",
            "a;b",
            'say "so"',
            "no",
            "null",
            "~",
            "1",
            "2020-01-01",
            "é😀",
            "a\nb",
            "\ufeffx",
            "a|b\tc",
            "- a",
            "&a",
            "<<",
            "=",
            "? x: y",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
)


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any hierarchy: values, each level drawn as a function of the one below, missing or not."""
    level = draw(st.lists(words, min_size=1, max_size=8, unique=True))
    columns = [level]
    for _ in range(draw(st.integers(0, 3))):
        above = {label: draw(words.filter(bool)) for label in dict.fromkeys(level)}
        level = [above[label] for label in level]
        columns.append(level)
    columns.append([draw(st.sampled_from(["*", "all", "*****"]))] * len(level))
    return assemble("x", zip(*columns, strict=True), "drawn", missing=draw(st.booleans()))


def written(folder: Path, text: str | bytes, name: str = "h.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hierarchies())
def test_written_and_read_again_is_equal(tmp_path: Path, hierarchy: Hierarchy) -> None:
    write_csv(hierarchy, tmp_path / "h.csv")
    assert read(tmp_path / "h.csv", "x") == hierarchy
    write_yaml(hierarchy, tmp_path / "h.yaml")
    again = read(tmp_path / "h.yaml", "x")
    assert set(again.paths) == set(hierarchy.paths) and again.n_values == hierarchy.n_values


@pytest.mark.parametrize(
    "text",
    [
        "a;A;*\nb;B;*\n",
        "a,A,*\r\nb,B,*\r\n",
        "\ufeffa\tA\t*\n\n   \nb\tB\t*",
        "a|A|*\nb|B|*",
        'a;"A";*\n"b";B;*',
        "a;A;*\nb;B;*\na;A;*\n",
    ],
)
def test_dialects_of_csv(tmp_path: Path, text: str) -> None:
    assert read(written(tmp_path, text), "x").paths == (("a", "A", "*"), ("b", "B", "*"))


def test_labels_with_commas_do_not_mislead(tmp_path: Path) -> None:
    assert read(written(tmp_path, "29;[20,30[;*\n36;[30,40[;*\n"), "x").labels[1] == ("[20,30[", "[30,40[")
    assert read(written(tmp_path, "1;1,3;*\n2;1,3;*\n"), "x").n_levels == 3


def test_the_missing_value_of_a_file_gets_its_own_branch(tmp_path: Path) -> None:
    file = written(tmp_path, 'a;Other;*\n"";Other;*\n;Other;*\n')
    assert read(file, "x").paths == (("a", "Other", "*"), ("", "Other", "*"), (None, None, "*"))
    other_root = written(tmp_path, "a;A;all\nb;B;all\n")
    assert read(other_root, "x").n_levels == 3
    assert build("x", "h.csv", ["a", None], [1, 1], tmp_path).paths == (
        ("a", "A", "all", "*"),
        ("b", "B", "all", "*"),
        (None, None, None, "*"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;A;*\nb;*\nc;C;*\n", r"h\.csv, line 2: 2 cells where most rows have 3"),
        ("", "holds no rows"),
        ("a\nb\n", "without any level"),
        ("a;A;\nb;A;*\n", "line 1: the label of level 2 is empty"),
        ("a;A;*\na;B;*\n", "1 value twice.*'a', under 'A' > '\\*' and under 'B' > '\\*'"),
        ("a;A;B;*\nb;A;C;*\n", "not nested: at level 1 'A' stands under 'B' and under 'C'"),
        ("a;A;x\nb;B;y\n", "2 roots where one is needed: 'x', 'y'. Add a last level"),
        ("value;group;all\na;A;*\nb;B;*\n", "2 roots.*header, remove it"),
        ('a;"A;*\nb;B;*\n', "line 1: not well-formed CSV"),
        (b"a;\xe9;*\n", "not UTF-8 text: byte 0xe9 at position 2"),
        ("a;*\n".encode("utf-16"), "not UTF-8"),
        (b"a\0;*\n", "NUL bytes"),
        ("x" * 200_000 + ";*\n", "field larger"),
    ],
)
def test_faults_of_a_csv_file(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(HierarchyError, match=said):
        read(written(tmp_path, text), "x")


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    for place in ("none.csv", "none.yaml", "."):
        with pytest.raises(HierarchyError, match="cannot be read"):
            build("x", {"csv": place}, ["a"], [1], tmp_path)


def test_values_that_a_file_lacks_are_named_and_counted(tmp_path: Path) -> None:
    written(tmp_path, "a;*\n39;*\n")
    with pytest.raises(
        HierarchyError, match=r"h\.csv lacks 7 values of column 'x': 'b', 'c', 'd', 'e', 'f' and 2 more"
    ):
        build("x", "h.csv", [*"abcdefgh"], [1] * 8, tmp_path)
    with pytest.raises(HierarchyError, match=r"the table has '39.0', the hierarchy '39'"):
        build("x", "h.csv", ["a", "39.0"], [1, 1], tmp_path)
    assert build("x", "h.csv", ["a"], [1], tmp_path).n_values == 2


def test_a_yaml_tree_keeps_words_as_written(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "North:\n  NO: [no, 01, 2020-01-01]\n  plain:\nsouth: [on, {deep: [1.10]}]\n'null': [x, ~]\n",
        "h.yaml",
    )
    assert read(file, "x").paths == (
        ("no", "NO", "North", "*"),
        ("01", "NO", "North", "*"),
        ("2020-01-01", "NO", "North", "*"),
        ("plain", "plain", "North", "*"),
        ("on", "on", "south", "*"),
        ("1.10", "deep", "south", "*"),
        ("x", "x", "null", "*"),
        (None, None, None, "*"),
    )
    assert read(written(tmp_path, "all: {A: [a], B: [b]}", "h.yml"), "x").paths[0] == ("a", "A", "all")
    assert read(written(tmp_path, "[a, b]", "h.yml"), "x").paths == (("a", "*"), ("b", "*"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A: &a\n  B: *a\nC: [c]\n", "line 1: the tree contains itself"),
        ("A: &a [x]\nB: *a\n", "stands in two places"),
        ("A: [a]\nB: [a]\n", "1 value twice.*under 'A'.*under 'B'"),
        ("A: []\n", "line 1: a label has nothing under it"),
        ("A: {O: [a]}\nB: {O: [b]}\n", "'O' stands under 'A' and under 'B'"),
        ("A: a\n", "line 1: 'a' must stand in a list"),
        ("A: [[a], b]\n", "without a label"),
        ("", "holds no tree"),
        ("a\n", "holds no tree"),
        ("~: [a]\n", "must not be null"),
        ("A: [a\n", "line 2: not well-formed YAML"),
        ("*: [a]\n", "line 1: not well-formed YAML"),
        ("? [a]\n: [b]\n", "a label must be text"),
        ("[" * 100_000, "more than 100 levels"),
        ("{a: " * 100_000, "more than 100 levels"),
        ("---\na: [b]\n---\nc: [d]\n", "not well-formed YAML"),
    ],
)
def test_faults_of_a_yaml_tree(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(HierarchyError, match=said):
        read(written(tmp_path, text, "h.yaml"), "x")


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ((), "holds no values"),
        ((("a", "*"), ("b", "B", "*")), "gives 'a' 2 levels and 'b' 3"),
        ((("a", None, "*"), ("b", "B", "*")), "leaves labels out for 1 value: 'a'"),
        ((("a", "B", "*"), (None, "B", "*")), "joins the missing value with real ones"),
        ((("a", "all"), (None, "*")), "2 roots"),
        ((("a", "A", "*"), ("b", "A", "x")), "not nested"),
    ],
)
def test_a_hierarchy_made_by_hand_is_checked(paths: tuple[tuple[str | None, ...], ...], said: str) -> None:
    with pytest.raises(HierarchyError, match=said):
        check(Hierarchy("x", paths))


def test_a_hundred_thousand_values_are_checked() -> None:
    paths = tuple((f"{n:05}", *(f"{n:05}"[: 5 - k] for k in range(1, 5)), "*") for n in range(100_000))
    hierarchy = Hierarchy("x", paths)
    check(hierarchy, [path[0] for path in paths])
    with pytest.raises(HierarchyError, match="1 value"):
        check(hierarchy, [*(path[0] for path in paths), "a stranger"])


def test_the_outline_is_short_and_tells_what_it_leaves_out(tmp_path: Path) -> None:
    hierarchy = build(
        "x", {"tree": {"few": ["a", "b"], "many": [str(n) for n in range(42)]}}, [None, "a"], [1, 1], tmp_path
    )
    assert outline(hierarchy, 5) == [
        "* (45)",
        "├── few (2)",
        "│   └── a, b",
        "├── many (42)",
        "│   └── 0, 1, 2, 3, 4, 5, … 36 more",
        "└── (missing)",
    ]
    assert summary(hierarchy)[1:] == ["level 1: 3 labels  few, many, (missing)", "level 2: 1 label  *"]
    wide = build("x", {"prefix": 3}, [str(n) for n in range(1000, 10_000)], [1] * 9000, tmp_path)
    assert outline(wide, 4)[-1] == "└── … 5 more" and len(outline(wide)) < 130


FAULTY = {
    "adult_full_hierarchy_age.csv": "16 values twice",
    "informs_hierarchy_EDUCYEAR.csv": "line 2: 3 cells",
}


@pytest.mark.needs_shared
def test_published_hierarchies_read_or_tell_their_own_fault(shared: Path) -> None:
    patterns = (
        "adult/hierarchies/*",
        "adult/hierarchies-15/*",
        "informs/kaylode_hierarchies/*",
        "examples/arx/*_hierarchy_*",
    )
    found = [file for pattern in patterns for file in sorted((shared / "data").glob(pattern))]
    assert len(found) == 34
    for file in found:
        if file.name in FAULTY:
            with pytest.raises(HierarchyError, match=FAULTY[file.name]):
                read(file, "x")
        else:
            hierarchy = read(file, "x")
            rows = {row for row in file.read_text().replace('"', "").splitlines() if row.strip()}
            assert {";".join(map(str, path)) for path in hierarchy.paths} == rows


@pytest.mark.needs_shared
def test_the_adult_hierarchies_cover_the_adult_table(shared: Path) -> None:
    import csv

    with (shared / "data/adult/adult-9.csv").open() as file:
        table = list(csv.DictReader(file, delimiter=";"))
    for column in table[0]:
        values = sorted({row[column] for row in table})
        name = f"adult_hierarchy_{column}.csv"
        assert (
            build(column, name, values, [1] * len(values), shared / "data/adult/hierarchies").column == column
        )
