"""A small private table with everything that can go wrong in it, as text, for the battery."""

from __future__ import annotations

import csv
import io
import random
from typing import Any

MISSING = ("", "?", "NA", " ")
COLUMNS = ("name", "age", "zip", "sex", "group", "illness", "id", "note")
NOTES = ("007", "1.50", "true", "a,b", 'say "hi"', "Zürich 🏥", "1e5", "2020-01-01", "", " padded ", "-",
         "NULL")
TOWNS = {"n": ("north", "all"), "m": ("north", "all"), "s": ("south", "all"), "t-s": ("south", "all")}


def records(n: int = 240, seed: int = 0) -> list[dict[str, str]]:
    """Rows of text; four spellings of missing in two quasi-identifiers and the sensitive column."""
    rng = random.Random(seed)

    def maybe(value: str, share: float = 0.08) -> str:
        return rng.choice(MISSING) if rng.random() < share else value

    return [{"name": f"person {i}", "age": maybe(str(rng.randrange(20, 60))),
             "zip": maybe(rng.choice(["01234", "01299", "8001", "80x"])), "sex": rng.choice("fm"),
             "group": rng.choice([*TOWNS]), "illness": maybe(rng.choice(["flu", "hiv", "flu-flu", "cold"])),
             "id": f"r{i}", "note": rng.choice(NOTES)} for i in range(n)]


def as_csv(rows: list[dict[str, str]], columns: tuple[str, ...] = COLUMNS) -> bytes:
    """The rows as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def recipe(**changes: Any) -> dict[str, Any]:
    """What is asked of the table."""
    return {
        "missing": ["?", "NA"],
        "columns": {
            "name": {"role": "identifying"},
            "age": {"role": "quasi", "hierarchy": {"interval": [5, 10, 20]}, "weight": 2},
            "zip": {"role": "quasi", "hierarchy": {"prefix": 5}},
            "sex": {"role": "quasi", "hierarchy": "suppress"},
            "group": {"role": "quasi", "hierarchy": {"tree": {"all": {"north": ["n", "m"],
                                                                      "south": ["s", "t-s"]}}}},
            "illness": {"role": "sensitive"},
        },
        "criteria": [{"k-anonymity": {"k": 4}}, {"l-diversity": {"column": "illness", "l": 2}}],
        "suppression": 0.1, "seed": 7, **changes}


def absent(value: Any) -> bool:
    """Whether a value is one of the spellings of missing, null and NaN included."""
    return value is None or value != value or (isinstance(value, str) and value.strip() in MISSING)
