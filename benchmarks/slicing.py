"""How fast are the methods that slice or draw, from a file to a proven release?

Adult's complete records through every such method, warm; the diversity check of ever more people over ever
more buckets; then whole commands on a million rows, in which nearly every combination differs.

    python benchmarks/slicing.py            # a million rows
    python benchmarks/slicing.py --smoke    # two methods, 50,000 rows
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _adult import ADULT, available
from full_domain import program
from scale import timed

COLUMNS = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
METHODS = {
    "slicing": {"k": 4, "l": 4}, "ul": {"k": 4, "l": 4, "lower": 0.05, "upper": 0.95},
    "merging-style": {"k": 4, "l": 4, "groups": "pairs"}, "bucketization": {"l": 4},
    "probabilistic-style": {"k": 4}, "composition-style": {"k": 4}, "hybrid-style": {"k": 4, "epsilon": 0.3}}


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=1_000_000)
    parser.add_argument("--smoke", action="store_true", help="two methods, 50,000 rows")
    asked = parser.parse_args()
    if available():
        on_adult(("slicing", "ul") if asked.smoke else tuple(METHODS))
    checks((2_000,) if asked.smoke else (10_000, 20_000, 40_000, 80_000))
    if asked.smoke:
        commands(50_000, ("ul",))
    else:
        commands(asked.rows, ("slicing", "ul", "bucketization"))


def recipe(method: str, quasi: tuple[str, ...], sensitive: str) -> object:
    """A recipe without hierarchies: values are what these methods keep."""
    from sfumato.recipe import Recipe

    columns = {**{name: {"role": "quasi"} for name in quasi}, sensitive: {"role": "sensitive"}}
    said = {"name": method, **METHODS[method]}
    return Recipe.from_dict({"missing": ["?"], "columns": columns, "method": said, "seed": 1})


def on_adult(methods: tuple[str, ...]) -> None:
    """The 30,162 complete records, occupation as sensitive: the whole line in one process, warm."""
    import pyarrow.csv as pc

    from sfumato.pipeline import anonymize

    table = pc.read_csv(ADULT, parse_options=pc.ParseOptions(delimiter=";"))
    kept = [name for name in table.column_names if name in (*COLUMNS, "occupation")]
    table = table.select(kept)
    print(f"{'Adult, ' + format(table.num_rows, ',') + ' records':22} {'first s':>8} {'warm s':>8} "
          f"{'cpu s':>8} {'classes':>8} {'mean NCP':>9}")
    for method in methods:
        asked, spent = recipe(method, tuple(n for n in kept if n != "occupation"), "occupation"), []
        for _ in range(3):
            wall, cpu = time.perf_counter(), time.process_time()
            result = anonymize(table, asked, report=False)
            spent.append((time.perf_counter() - wall, time.process_time() - cpu))
        print(f"{method:22} {spent[0][0]:8.2f} {min(spent)[0]:8.2f} {min(c for _, c in spent):8.2f} "
              f"{result.manifest['classes']:8,} {result.manifest['measures']['mean_ncp']:9.4f}", flush=True)


def checks(sizes: tuple[int, ...]) -> None:
    """p(t, s) of everybody: time per person and matching bucket should stay what it is."""
    from sfumato.methods.base import Problem
    from sfumato.methods.slicing import Sliced
    from sfumato.slices.matching import match

    print(f"\n{'diversity check, people':>24} {'buckets':>8} {'matching':>9} {'seconds':>8} "
          f"{'ns / (person x match)':>22}")
    for rows in sizes:
        frequency = differing(rows)
        slices = Sliced(k=8, l=2, groups=(("a", "b"), ("c",), ("d", "s"))).solve(
            Problem(frequency, (), 0.0, np.ones(4)), np.random.default_rng(0))
        everybody = np.arange(frequency.n_tuples)
        match(slices, frequency, everybody[:100])
        started = time.perf_counter()
        found = match(slices, frequency, everybody)
        spent = time.perf_counter() - started
        pairs = float(found.buckets.sum())
        print(f"{frequency.n_tuples:24,} {slices.n_classes:8,} {pairs / frequency.n_tuples:9.2f} "
              f"{spent:8.3f} {spent / pairs * 1e9:22.0f}", flush=True)


def differing(rows: int) -> object:
    """Random records of four columns and a sensitive one, nearly all different."""
    from sfumato.classes import Histogram
    from sfumato.frequency import FrequencySet, distinct
    from sfumato.hierarchy.core import Hierarchy

    rng = np.random.default_rng(1)
    widths = (90, 500, 40, 12)
    codes = np.stack([(rng.random(rows) ** 2 * width).astype(np.int32) for width in widths], axis=1)
    tuple_of, first = distinct(codes, widths)
    keys, counts = np.unique(tuple_of * 14 + rng.integers(0, 14, rows), return_counts=True)
    labels = tuple(str(v) for v in range(14))
    whole = np.bincount(keys % 14, weights=counts, minlength=14).astype(np.int64)
    histogram = Histogram(keys // 14, keys % 14, counts, labels, whole)
    hierarchies = tuple(Hierarchy(name, tuple((str(v), "*") for v in range(width)))
                        for name, width in zip("abcd", widths, strict=True))
    return FrequencySet(hierarchies, codes[first], np.bincount(tuple_of), {"s": histogram})


MAKE = """
import duckdb, sys
target, rows = sys.argv[1:]
duckdb.sql("SET enable_progress_bar = false; SELECT setseed(0.3)")
duckdb.sql(f"COPY (SELECT 17 + (random() ** 2 * 70)::INT AS age, (random() ** 3 * 9000)::INT AS place, "
           f"'j' || (random() * 15)::INT AS job, 's' || (random() ** 2 * 12)::INT AS status, "
           f"CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex, 'd' || (random() * 20)::INT AS ill, "
           f"range AS id FROM range({rows})) TO '{target}'")
"""


def commands(rows: int, methods: tuple[str, ...]) -> None:
    """The whole command on rows of which nearly all differ."""
    print(f"\n{'whole command':22} {'rows':>10} {'seconds':>8} {'peak MB':>8}   (asked of ul: 30 s, 3 GB a "
          "million)")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([sys.executable, "-c", MAKE, str(folder / "table.parquet"), str(rows)], check=True)
        for method in methods:
            asked = recipe(method, ("age", "place", "job", "status", "sex"), "ill")
            (folder / f"{method}.yaml").write_text(asked.to_yaml())
            spent, peak = timed([*program(), "anonymize", str(folder / "table.parquet"), "--recipe",
                                 str(folder / f"{method}.yaml"), "--out", str(folder / method), "--format",
                                 "parquet", "--no-report"])
            print(f"{method:22} {rows:10,} {spent:8.2f} {peak:8.0f}", flush=True)


if __name__ == "__main__":
    main()
