"""The attacks on sensitive columns as the report shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sfumato.measure.evidence import SUPPRESSED_GONE, SUPPRESSED_TOO, Measure
from sfumato.report.figures import label, number, percent, rounded, several

Plain = dict[str, Any]


def by_attack(measures: Iterable[tuple[Measure, Plain]]) -> list[Plain]:
    """The attacks on sensitive columns, each with the records that it hits, column by column."""
    found: dict[str, Plain] = {}
    for one, drawn in measures:
        name, _, column = one.name.partition(".")
        title = one.title.removesuffix(f": {column}")
        records = int(one.high or 0)
        found.setdefault(name, {"name": name, "title": title, "citation": one.citation, "rows": []})
        drawn["definition"] = drawn["definition"].replace(SUPPRESSED_TOO, "").replace(SUPPRESSED_GONE, "")
        found[name]["rows"].append({
            **drawn, "column": label(column), "share": rounded(share_of(one.value, records)),
            "value_text": hits(one.value, records), "before_text": hits(one.before, records)})
    return list(found.values())


def sentence(measures: Sequence[Measure]) -> str:
    """What the attacks come to, in a sentence a column."""
    said = ["Not to be told apart is not enough: if the records of a class say the same, whoever finds the "
            "class has learnt it without finding the person."]
    for one in measures:
        attack, _, column = one.name.partition(".")
        if attack == "homogeneity" and one.value is not None:
            records = int(one.high or 0)
            said.append(f"Somebody who knows a person's other columns learns {label(column)} for certain of "
                        f"{hits(one.value, records)} of {several(records, 'record')} (before: "
                        f"{hits(one.before, records)}).")
    notes = {note.strip() for one in measures for note in (SUPPRESSED_TOO, SUPPRESSED_GONE)
             if note in one.definition}
    return " ".join([*said, *sorted(notes)])


def share_of(count: float | None, records: int) -> float | None:
    """A count as a share of the private table's records."""
    return count / records if count is not None and records else None


def hits(count: float | None, records: int) -> str:
    """Records hit, and which share of all they are."""
    return number(count) if count is None else f"{number(count)} ({percent(share_of(count, records))})"
