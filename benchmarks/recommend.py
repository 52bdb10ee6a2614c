"""What does a recommendation cost, as a multiple of counting the same table?

A table of learners in Parquet is counted over five quasi-identifiers as every job counts it, one GROUP BY
whose combinations are fetched, and then recommended for: process time of all threads, best of three, so that
a busy machine does not count. On the right the same with a sensitive column that must be diverse.

    python benchmarks/recommend.py            # 250,000 and 10 million rows
    python benchmarks/recommend.py --smoke    # 250,000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUASI = ("course", "forum", "gender", "yob", "country")


def main() -> None:
    """Make the tables, count, recommend, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="250,000 rows")
    asked = parser.parse_args()
    print(f"{'rows':>12} {'pairs':>10} {'counting':>10} {'recommend':>10} {'ratio':>6} "
          f"{'counting':>10} {'diverse':>10} {'ratio':>6}")
    for rows in (250_000,) if asked.smoke else (250_000, 10_000_000):
        with tempfile.TemporaryDirectory() as folder:
            run(make(Path(folder), rows), rows)


def make(folder: Path, rows: int) -> Path:
    """Learners of a few courses, with missing values in every spelling."""
    import duckdb

    path = folder / "table.parquet"
    duckdb.execute("SELECT setseed(0.5)")
    duckdb.execute(f"""
        COPY (SELECT 'course ' || (16 * random() * random())::INT AS course,
                     (-2 * ln(random() + 1e-9))::INT AS forum,
                     ['f', 'm', 'm', '', 'NA', '-'][1 + (5 * random())::INT] AS gender,
                     1990 - (-12 * ln(random() + 1e-9))::INT AS yob,
                     'country ' || (34 * random() * random() * random())::INT AS country,
                     (9 * random())::INT AS grade, (random() * 1000)::INT AS events
              FROM range({rows})) TO '{path}' (FORMAT parquet)""")
    return path


def run(path: Path, rows: int) -> None:
    """One line: what counting and recommending take."""
    import sfumato
    from sfumato.prepare import count
    from sfumato.table import open_table

    def counting(*names: str) -> None:
        with open_table(path) as opened:
            count(opened.table, names)

    def recommending(**said: Any) -> Any:
        return sfumato.recommend(path, quasi=QUASI, missing=["NA", "-"], **said)

    counted, plain = spent(lambda: counting(*QUASI)), spent(recommending)
    diverse = spent(lambda: recommending(sensitive="grade", diversity=2))
    both = spent(lambda: counting(*QUASI, "grade"))
    print(f"{rows:12,} {recommending().pairs:10,} {counted:9.2f}s {plain:9.2f}s {plain / counted:6.2f} "
          f"{both:9.2f}s {diverse:9.2f}s {diverse / both:6.2f}")


def spent(work: Callable[[], Any]) -> float:
    """Process time of all threads, the best of three; the first run, which imports, is not counted."""
    work()
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
