"""The tables of the composition experiment, and its report: one figure for each question."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _adult import SHARED

ADULT = SHARED / "data" / "adult" / "adult.data"
NAMES = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
         "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
         "salary-class")
QUASI = ("age", "workclass", "marital-status", "relationship", "sex", "salary-class")
YEARS = tuple(SHARED / "data" / "releases" / f"national{year}.csv" for year in (2018, 2019))
SURVEY = ("AGEP", "SEX", "MSP", "RAC1P", "OWN_RENT", "EDU")
NUMBERS = {"AGEP": {"interval": [5, 10, 20]}, "EDU": {"interval": [2, 4]}}
DRAWS, SLACK = 2000, 0.85
PUBLISHED = ("e-DP", "UL", "hybrid-style", "merging-style", "probabilistic-style", "composition-style",
             "Mondrian")
ALONE = {"risks": "occupation, one release", "linkage": "occupation, one release"}
OTHERS = ("slicing", "bucketization")
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Table:
    """Where two tables are drawn from, and what is asked of their columns."""

    years: tuple[pa.Table, pa.Table]
    columns: dict[str, Any]
    sensitive: str
    bounds: dict[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> list[str]:
        """The sensitive column's values."""
        return sorted(set(self.years[0][self.sensitive].to_pylist())
                      | set(self.years[1][self.sensitive].to_pylist()))

    @property
    def most_l(self) -> float:
        """The largest whole l that leaves some room above the most frequent value's share."""
        counts = Counter(value for year in self.years for value in year[self.sensitive].to_pylist())
        return float(int(SLACK * counts.total() / max(counts.values())))


def adult(sensitive: str, identity: bool = False) -> Table:
    """The complete records of Adult, six quasi-identifiers, and one sensitive column; whose record it is."""
    with ADULT.open(encoding="utf-8") as lines:
        read = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
    rows = [dict(zip(NAMES, row, strict=True)) for row in read if "?" not in row]
    folder = SHARED / "data" / "adult" / "hierarchies-15"
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": str(
        folder / f"adult_full_hierarchy_{name}.csv")} for name in QUASI}
    columns["age"]["hierarchy"] = {"interval": [5, 10, 20, 40]}
    table = pa.table({name: [row[name] for row in rows] for name in (*QUASI, sensitive)})
    if identity:
        table = table.append_column("person", pa.array(range(len(rows))))
    table = table.set_column(0, "age", pa.array([int(row["age"]) for row in rows]))
    return Table((table, table), {**columns, sensitive: {"role": "sensitive"}}, sensitive, {"age": (17, 100)})


def survey() -> Table:
    """Two years of survey records with an income, its decile being sensitive."""
    years = []
    for path in YEARS:
        with path.open(encoding="utf-8") as lines:
            rows = [row for row in csv.DictReader(lines) if row["PINCP_DECILE"] != "N"]
        years.append(pa.table({name: [row[name] for row in rows] for name in (*SURVEY, "PINCP_DECILE")}))
    domains = {name: sorted({value for year in years for value in year[name].to_pylist()}) for name in SURVEY}
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": NUMBERS.get(name) or {"tree": {"*": domains[name]}}}
        for name in SURVEY}
    return Table((years[0], years[1]), {**columns, "PINCP_DECILE": {"role": "sensitive"}}, "PINCP_DECILE",
                 {"AGEP": (0, 100), "EDU": (0, 14)})


# The report


@dataclass(frozen=True)
class Question:
    """One figure: a number of every approach."""

    title: str
    name: str
    unit: str
    better: str


QUESTIONS = (
    Question("How many shared people are told exactly their value?", "drr_certain", "% of people", "lower"),
    Question("How many matches of a person and a possible value are true?", "drr_matches", "% of matches",
             "lower"),
    Question("How often is the likeliest value the right one?", "guessed", "share of people", "lower"),
    Question("How much likelier is that than for strangers?", "over_control", "share of people", "lower"),
    Question("How many people have a value likelier than 1/l?", "likelier", "share of people", "lower"),
    Question("How much of the cells is distorted?", "distortion_ratio", "distortion ratio", "lower"),
    Question("How much does singling out win beyond the control?", "singling-out", "residual risk", "lower"),
    Question("How much does linkability?", "linkability", "residual risk", "lower"),
    Question("How much does inference?", "inference", "residual risk", "lower"),
    Question("How many records are linked to the right person?", "linked_right", "share of records", "lower"),
    Question("How far off are counts?", "query_error_mean", "mean relative error", "lower"),
)


def interval(values: list[float]) -> tuple[float, float, float]:
    """The mean over seeds and its 95 % bootstrap interval."""
    array = np.array(values, dtype=float)
    drawn = np.random.default_rng(0).choice(array, (DRAWS, len(array))).mean(axis=1)
    return float(array.mean()), float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def chosen(rows: Rows, **said: Any) -> Rows:
    """The rows in which the named things are so."""
    return [row for row in rows if all(row[name] == value for name, value in said.items())]


def values_of(rows: Rows, name: str) -> dict[int, float]:
    """A number by seed, where it is defined."""
    return {row["seed"]: float(row[name]) for row in rows if row.get(name) is not None}


def known(rows: Rows) -> list[str]:
    """The approaches in the published order, then the others."""
    there = {row["approach"] for row in rows}
    return [name for name in (*PUBLISHED, *OTHERS) if name in there]


def called(family: str) -> str:
    """A family's name for people."""
    return ALONE.get(family, family)


def settings(rows: Rows, name: str) -> list[tuple[str, int, int]]:
    """Family, k and overlap where a number is defined: the largest overlap of each."""
    found = []
    rows = [row for row in rows if row.get(name) is not None]
    for family in dict.fromkeys(row["family"] for row in rows):
        for k in sorted({row["k"] for row in chosen(rows, family=family)}):
            overlap = max(row["overlap"] for row in chosen(rows, family=family, k=k))
            found.append((family, k, overlap))
    return found


def write_report(rows: Rows, out: Path) -> str:
    """The report as Markdown and as a page; what was written."""
    markdown, page = [INTRODUCTION], [f"<p>{escape(INTRODUCTION)}</p>"]
    for question in QUESTIONS:
        table = tabled(rows, question)
        if not table:
            continue
        markdown += [f"\n## {question.title}\n", *table]
        page += [f"<h2>{escape(question.title)}</h2>", figure(rows, question)]
    for heading, lines in (("By the number of shared people", by_overlap(rows)),
                           ("The published order of risk, pair by pair", ordering(rows))):
        markdown += [f"\n## {heading}\n", *lines]
    (out / "report.md").write_text("\n".join(markdown) + "\n", encoding="utf-8")
    (out / "report.html").write_text(PAGE.replace("BODY", "\n".join(page)), encoding="utf-8")
    return f"Written: {out / 'report.md'}, {out / 'report.html'}"


INTRODUCTION = ("Two independent releases by the same approach share people; intervals are 95 %, "
                "bootstrapped over seeds.")
PAGE = """<!doctype html><meta charset="utf-8"><title>Composition</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
svg{display:block;margin:.5rem 0 1.5rem;width:100%}text{font:12px system-ui,sans-serif;fill:#333}
.head{font-weight:600}.line{stroke:#4a6fa5;stroke-width:2}.dot{fill:#1f3b66}.axis{stroke:#ccc}
</style><h1>Two releases together</h1>
BODY
"""


def cell(values: dict[int, float]) -> str:
    """Mean and interval."""
    if not values:
        return "not defined"
    mean, low, high = interval(list(values.values()))
    return f"{mean:.4g} ({low:.4g}–{high:.4g})"


def tabled(rows: Rows, question: Question) -> list[str]:
    """A line for each approach, a column for each setting."""
    every = settings(rows, question.name)
    if not every:
        return []
    heads = [f"{called(family)}, k = {k}, {n} shared" for family, k, n in every]
    lines = [f"{question.unit}; {question.better} is better\n", "| approach | " + " | ".join(heads) + " |",
             "| --- |" + " --- |" * len(every)]
    for approach in known(rows):
        cells = []
        for family, k, overlap in every:
            some = chosen(rows, family=family, k=k, overlap=overlap, approach=approach)
            cells.append("infeasible" if some and all(row.get("infeasible") for row in some)
                         else cell(values_of(some, question.name)))
        lines.append(f"| {approach} | " + " | ".join(cells) + " |")
    return lines


def by_overlap(rows: Rows) -> list[str]:
    """People told exactly their value, by how many are shared."""
    overlaps = sorted({row["overlap"] for row in rows})
    lines = ["% of shared people told exactly their value\n",
             "| family, k, approach | " + " | ".join(map(str, overlaps)) + " |",
             "| --- |" + " --- |" * len(overlaps)]
    for family, k, _ in settings(rows, "drr_certain"):
        for approach in known(rows):
            some = chosen(rows, family=family, k=k, approach=approach)
            if some:
                lines.append(f"| {family}, {k}, {approach} | " + " | ".join(
                    cell(values_of(chosen(some, overlap=n), "drr_certain")) for n in overlaps) + " |")
    return lines


def ordering(rows: Rows) -> list[str]:
    """Each neighbouring pair of the published order: in how many seeds it holds, and the mean difference."""
    lines = []
    for name in ("drr_certain", "drr_matches", "guessed"):
        every = settings(rows, name)
        lines += [f"\n`{name}`: in how many seeds the first has less; mean of second - first\n",
                  "| pair | " + " | ".join(f"{family}, k = {k}" for family, k, _ in every) + " |",
                  "| --- |" + " --- |" * len(every)]
        for first, second in pairwise([one for one in PUBLISHED if one in known(rows)]):
            lines.append(f"| {first} < {second} | " + " | ".join(
                compared(chosen(rows, family=family, k=k, overlap=n), first, second, name)
                for family, k, n in every) + " |")
    return lines


def compared(rows: Rows, first: str, second: str, name: str) -> str:
    """One pair in one setting, seed by seed."""
    one, other = (values_of(chosen(rows, approach=each), name) for each in (first, second))
    off = {seed: other[seed] - one[seed] for seed in sorted(one.keys() & other.keys())}
    return f"{sum(value > 0 for value in off.values())} of {len(off)}; {cell(off)}" if off else ""


def figure(rows: Rows, question: Question) -> str:
    """Dots with their intervals, one panel for each setting."""
    every, names = settings(rows, question.name), known(rows)
    parts, height = [], 0
    name = question.name
    top = max((float(row[name]) for row in rows if row.get(name) is not None), default=1.0) or 1.0
    for family, k, overlap in every:
        parts.append(f'<text class="head" x="0" y="{height + 14}">{escape(called(family))}, k = {k}, '
                     f'{overlap} shared</text>')
        for n, approach in enumerate(names):
            some = chosen(rows, family=family, k=k, overlap=overlap, approach=approach)
            values = values_of(some, name)
            y = height + 34 + 18 * n
            parts.append(f'<text x="0" y="{y + 4}">{escape(approach)}</text>'
                         f'<line class="axis" x1="150" x2="620" y1="{y}" y2="{y}"/>')
            if not values:
                parts.append(f'<text x="630" y="{y + 4}">not defined</text>')
                continue
            mean, low, high = interval(list(values.values()))
            at = [150 + 470 * value / top for value in (low, mean, high)]
            parts.append(f'<line class="line" x1="{at[0]:.1f}" x2="{at[2]:.1f}" y1="{y}" y2="{y}"/>'
                         f'<circle class="dot" cx="{at[1]:.1f}" cy="{y}" r="3.5"/>'
                         f'<text x="630" y="{y + 4}">{mean:.4g} ({low:.4g}–{high:.4g})</text>')
        height += 34 + 18 * len(names) + 14
    return (f'<svg role="img" viewBox="0 0 800 {height}"><title>{escape(question.title)}</title>'
            + "".join(parts) + f'</svg><p>{escape(question.unit)}; {question.better} is better</p>')
