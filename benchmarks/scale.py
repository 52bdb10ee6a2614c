"""What does a whole job cost, as a multiple of copying the same file?

Resamples Adult (or, where it is absent, the synthetic hospital stays) to the size asked, copies the file
with DuckDB, and runs the whole command on it, release verified: seconds, ratio and peak memory.

    python benchmarks/scale.py                      # 10 million rows of Parquet, 1 million of CSV
    python benchmarks/scale.py --rows 100_000_000   # Parquet of that many
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _adult import ADULT, available, recipe_text
from full_domain import program


def main() -> None:
    """Make, copy, anonymize, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("--smoke", action="store_true", help="200,000 rows")
    asked = parser.parse_args()
    jobs = [(10_000_000, "parquet"), (1_000_000, "csv")]
    if asked.smoke:
        jobs = [(200_000, "parquet"), (200_000, "csv")]
    elif asked.rows:
        jobs = [(asked.rows, "parquet")]
    print(f"{'rows':>12} {'format':8} {'copy s':>7} {'job s':>7} {'job/copy':>8} {'1.5 copy + 2':>12} "
          f"{'peak MB':>8}")
    for rows, format in jobs:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder), rows, format)


def run(folder: Path, rows: int, format: str) -> None:
    """One size, one format."""
    source, recipe = folder / f"table.{format}", make(folder, rows, format)
    copied, _ = timed([sys.executable, "-c", COPY, str(source), str(folder / f"copy.{format}")])
    command = [*program(), "anonymize", str(source), "--recipe", str(recipe), "--out", str(folder / "out"),
               "--format", format, "--no-report"]
    spent, peak = timed(command)
    print(f"{rows:12,} {format:8} {copied:7.2f} {spent:7.2f} {spent / copied:8.2f} {1.5 * copied + 2:12.2f} "
          f"{peak:8.0f}", flush=True)


COPY = """
import duckdb, sys, time
source, target = sys.argv[1:]
duckdb.sql("SET enable_progress_bar = false")
read = f"read_csv('{source}', all_varchar=true)" if source.endswith("csv") else f"'{source}'"
started = time.perf_counter()
duckdb.sql(f"COPY (SELECT * FROM {read}) TO '{target}'")
print(time.perf_counter() - started)
"""


def make(folder: Path, rows: int, format: str) -> Path:
    """The resampled table and its recipe, made in a process of its own."""
    from sfumato.samples import write_hospital

    target = folder / f"table.{format}"
    if available():
        recipe, source = folder / "adult.yaml", ADULT
        recipe.write_text(recipe_text())
    else:
        recipe = write_hospital(folder)
        source = folder / "stays.csv"
    subprocess.run([sys.executable, "-c", MAKE, str(source), str(target), str(rows)], check=True)
    return recipe


MAKE = """
import duckdb, sys
source, target, rows = sys.argv[1:]
duckdb.sql("SET enable_progress_bar = false; SET memory_limit = '2GB'")
duckdb.sql(f"CREATE TABLE t AS SELECT row_number() OVER () AS r, * "
           f"FROM read_csv('{source}', all_varchar=true)")
n = duckdb.sql("SELECT count(*) FROM t").fetchall()[0][0]
duckdb.sql("SELECT setseed(0.7)").fetchall()
duckdb.sql(f"COPY (SELECT t.* EXCLUDE (r) FROM (SELECT (random() * {n - 1})::INT + 1 AS r "
           f"FROM range({rows})) JOIN t USING (r)) TO '{target}'")
"""


def timed(command: list[str]) -> tuple[float, float]:
    """How long a command takes (its own word for it, else the wall clock), and its peak memory in MB."""
    with tempfile.TemporaryFile("w+") as said:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=said)
        _, status, usage = os.wait4(process.pid, 0)
        spent = time.perf_counter() - started
        if status:
            raise SystemExit(f"{command[0]} failed")
        said.seek(0)
        own = said.read().strip()
    return float(own) if own.replace(".", "", 1).isdigit() else spent, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
