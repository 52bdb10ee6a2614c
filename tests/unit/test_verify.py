"""The verdict: faults planted in releases are seen, from the labels alone."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from sfumato import kinds, pipeline
from sfumato.criteria.registry import parse
from sfumato.errors import UnprovenError
from sfumato.recipe import Recipe
from sfumato.table import fetch, open_table
from sfumato.verify import Verdict, verify
from sfumato.verify_slices import verify_slices

Rows = list[dict[str, Any]]
K3, L2 = {"k-anonymity": {"k": 3}}, {"l-diversity": {"column": "s", "l": 2}}
NONE = float("nan")


def judged(rows: Rows, *criteria: dict[str, Any], missing: tuple[str, ...] = ()) -> Verdict:
    import pyarrow as pa

    with open_table(pa.Table.from_pylist(rows)) as opened:
        return verify(opened.table, ("a", "b"), ("s",), [parse(c) for c in criteria], missing)


def release(*classes: tuple[str | None, str | None, str]) -> Rows:
    """Rows from (label, label, sensitive values, one letter each; - for a missing one)."""
    return [{"a": a, "b": b, "s": None if s == "-" else s} for a, b, letters in classes for s in letters]


GOOD = (("1*", "m", "xyx"), ("2*", "f", "xxyz"), ("*", "*", "x"))


def test_a_good_release_holds() -> None:
    verdict = judged(release(*GOOD), K3, L2)
    assert verdict.holds
    assert (verdict.records, verdict.classes, verdict.suppressed) == (8, 2, 1)
    assert [finding.worst for finding in verdict.findings] == [3, 2]


@pytest.mark.parametrize(("planted", "failing"), [
    (("3*", "m", "xy"), "k-anonymity"),  # a class too small
    (("3*", "m", "xxx"), "l-diversity"),  # a class with one sensitive value
    (("3*", "m", "---"), "l-diversity"),  # missing is one value, not three
    ((None, "m", "xy"), "k-anonymity"),  # a missing label is a label: its group is counted
    ((None, None, "xy"), "k-anonymity"),
    (("*", "m", "x"), "k-anonymity"),  # a record suppressed in part only
    (("1*", "*", "x"), "k-anonymity"),
    (("* ", "*", "x"), "k-anonymity"),
], ids=str)
def test_a_planted_class_fails(planted: tuple[str | None, str | None, str], failing: str) -> None:
    verdict = judged(release(*GOOD, planted), K3, L2)
    assert not verdict.holds and not verdict
    assert failing in [finding.name for finding in verdict.findings if not finding.holds]
    assert verdict.classes == 3


def test_one_misplaced_record_fails() -> None:
    rows = release(*GOOD)
    rows[0]["b"] = "f"
    assert not judged(rows, K3).holds


def test_missing_labels_are_one_and_never_a_real_value() -> None:
    """Null, nothing, blanks and markers together make a class of four; 'x' stays apart."""
    rows = release((None, "m", "x"), ("", "m", "y"), (" ", "m", "x"), ("?", "m", "y"), ("x", "m", "xyx"))
    verdict = judged(rows, {"k-anonymity": {"k": 3}}, missing=("?",))
    assert verdict.holds and verdict.classes == 2
    assert judged(rows, {"k-anonymity": {"k": 4}}, missing=("?",)).findings[0].failing == 1


def test_rows_of_stars_only_are_a_class() -> None:
    verdict = judged(release(("*", "*", "xyz")), K3, L2)
    assert verdict.holds and verdict.classes == 1 and verdict.suppressed == 0
    assert not judged(release(("*", "*", "xy")), K3).holds


def test_suppressed_records_belong_to_the_whole_table() -> None:
    """t-closeness compares with all records: without the suppressed one, both classes would be perfect."""
    rows = release(("1*", "m", "xy"), ("2*", "m", "xy"), ("*", "*", "xxxx"))
    finding = judged(rows, {"t-closeness": {"column": "s", "t": 0.2}}).findings[0]
    assert not finding.holds and finding.worst == pytest.approx(0.25)


@pytest.mark.parametrize("values", [[1, 2, 10], [1.0, 2.0, 10.0], ["1", "2", "10"],
                                    [Decimal("1.00"), Decimal("2.00"), Decimal("10.00")]], ids=str)
def test_numbers_are_ordered_as_numbers(values: list[Any]) -> None:
    """Whatever their type: 10 is last, so a class of 1s is farther from the whole than one of 2s."""
    rows = [{"a": label, "b": "m", "s": value} for label, value in
            zip("pppqqqrrr", [values[0]] * 3 + [values[1]] * 3 + [values[2]] * 3, strict=True)]
    ordered = {"t-closeness": {"column": "s", "t": 0.6, "distance": "ordered"}}
    assert judged(rows, ordered).findings[0].worst == pytest.approx(0.5)
    protected = {"alpha-k-anonymity": {"column": "s", "alpha": 0.5, "k": 2, "values": [1]}}
    assert judged(rows, protected).findings[0].worst == 1, "the protected value is found under its text"


def test_not_a_number_is_missing_and_breaks_no_order() -> None:
    rows = [{"a": "p", "b": "m", "s": value} for value in (NONE, 3.0, 1.0, None)]
    assert judged(rows, {"l-diversity": {"column": "s", "l": 3}}).holds
    assert not judged(rows, {"l-diversity": {"column": "s", "l": 4}}).holds


RECIPE = Recipe.from_dict({
    "columns": {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}},
    "criteria": [K3], "suppression": 0.2, "seed": 3})
TABLE = release(("p", "m", "xyz"), ("q", "m", "xyz"), ("r", "f", "x"))


@pytest.mark.parametrize("fault", [
    lambda t: t.limit(6),  # a record lost
    lambda t: t.union(t.limit(1)),  # a record invented
    lambda t: t.mutate(row=1),  # a hidden column
    lambda t: t.mutate(a=(t.a == "*").ifelse("p", t.a)),  # a suppressed record shows a label
], ids=["lost", "invented", "hidden column", "half suppressed"])
def test_a_tampered_release_is_withdrawn(fault: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch,
                                         tmp_path: Any) -> None:
    """The line checks what was written, whichever stage before it erred; nothing is left behind."""
    import pyarrow as pa

    original = kinds.classes.released_table
    monkeypatch.setattr(kinds.classes, "released_table", lambda *said: fault(original(*said)))
    with pytest.raises(UnprovenError) as caught:
        pipeline.anonymize(pa.Table.from_pylist(TABLE), RECIPE, tmp_path / "out", report=False)
    assert caught.value.exit_code == 1
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UnprovenError):
        pipeline.anonymize(pa.Table.from_pylist(TABLE), RECIPE, report=False)
    monkeypatch.undo()
    assert pipeline.anonymize(pa.Table.from_pylist(TABLE), RECIPE, report=False).verdict.holds


@pytest.mark.parametrize("broken, holds", [("ffxx", True), ("fxxx", True), ("mmxx", False), ("ffmx", False),
                                           ("mxxx", False)])
def test_a_rule_that_fewer_records_break_makes_up_for_no_other(broken: str, holds: bool) -> None:
    import pyarrow as pa

    rows = [{"bucket": 0, "sex": sex, "group": "a", "ill": str(n)} for n, sex in enumerate(broken)]
    rules = [{"sex": "f", "group": "a"}, {"sex": "m", "group": "a"}]
    with open_table(pa.Table.from_pylist(rows)) as opened:
        found = verify_slices(opened.table, (("sex", "group"), ("ill",)), 1, 1.0, (), fetch, rules, (2, 0))
    assert found.holds == holds and found.findings[-1].failing == (0 if holds else broken.count("m"))
