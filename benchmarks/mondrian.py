"""How fast is Mondrian, and how much does it lose?

Adult at several k in each form, beside the times and losses of a Python peer; a million rows that nearly all
differ; then whole commands on resampled rows.

    python benchmarks/mondrian.py                     # commands on 300,000, 1 and 10 million rows
    python benchmarks/mondrian.py --rows 1_000_000    # a command on that many
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from _adult import ADULT, QUASI, available, recipe_text
from full_domain import best, program
from scale import make, timed

PEER_SECONDS, PEER_NCP = 22.0, 0.032
BESIDE = {300_000: (95.0, 1300, "the Python peer lighthouse"), 1_000_000: (5.0, None, "the bound asked for"),
          10_000_000: (60.0, 3000, "the bound asked for")}  # seconds and megabytes of as many rows
FORMS = {"nodes": {}, "nodes, relaxed": {"relaxed": True}, "ranges and nodes": {"numeric": "range"},
         "ranges and sets": {"numeric": "range", "categorical": "set"},
         "ranges and sets, relaxed": {"numeric": "range", "categorical": "set", "relaxed": True}}


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("--smoke", action="store_true", help="one k, 100,000 rows")
    asked = parser.parse_args()
    if available():
        on_adult((5,) if asked.smoke else (2, 5, 10, 100))
    differing(50_000 if asked.smoke else 1_000_000)
    jobs = [100_000] if asked.smoke else [asked.rows] if asked.rows else list(BESIDE)
    print(f"\n{'whole command, rows':>20} {'seconds':>8} {'peak MB':>8} {'time ratio':>10} {'memory':>7}")
    for rows in jobs:
        with tempfile.TemporaryDirectory() as folder:
            command(Path(folder), rows)


def on_adult(ks: tuple[int, ...]) -> None:
    """The reference table, every form."""
    from sfumato import table
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.methods.base import Problem
    from sfumato.methods.mondrian import Mondrian
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    with table.open_table(ADULT) as opened:
        frequency = prepare(opened.table, Recipe.parse(recipe_text())).frequency
    print(f"{'Adult, labels':26} {'k':>4} {'mean NCP':>9} {'classes':>8} {'seconds':>8} {'peer/ours':>9}")
    for name, form in FORMS.items():
        for k in ks:
            def solve(form: dict = form, k: int = k) -> object:
                problem = Problem(frequency, (KAnonymity(k=k),), 0.0, np.ones(len(QUASI)))
                return Mondrian(**form).solve(problem, np.random.default_rng(0))

            seconds, found = best(3, solve), solve()
            ratio = f"{PEER_SECONDS / seconds:9.0f}" if k == 5 else f"{'':>9}"
            print(f"{name:26} {k:4} {found.notes['score']:9.4f} {found.n_classes:8,} {seconds:8.3f} {ratio}")
    print(f"(the Python peer, anonypy: {PEER_SECONDS:.0f} s, mean NCP {PEER_NCP}, at k = 5)")


def differing(rows: int) -> None:
    """Rows of eight columns that nearly all differ: the tuples are as many as the rows."""
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.frequency import FrequencySet, distinct
    from sfumato.hierarchy.core import Hierarchy
    from sfumato.methods.base import Problem
    from sfumato.methods.mondrian import Mondrian

    rng = np.random.default_rng(1)
    widths = (100, 1000, 2, 16, 41, 7, 14, 5)
    codes = np.stack([(rng.random(rows) ** 2 * width).astype(np.int32) for width in widths], axis=1)
    class_of, first = distinct(codes, widths)
    hierarchies = tuple(Hierarchy(f"c{j}", tuple((str(v), str(v // 10), "*") for v in range(width)))
                        for j, width in enumerate(widths))
    frequency = FrequencySet(hierarchies, codes[first], np.bincount(class_of).astype(np.int64))
    problem = Problem(frequency, (KAnonymity(k=5),), 0.0, np.ones(len(widths)))
    Mondrian().solve(problem, np.random.default_rng(0))
    started = time.perf_counter()
    found = Mondrian().solve(problem, np.random.default_rng(0))
    print(f"\n{rows:,} rows with {frequency.n_tuples:,} different tuples, k = 5: "
          f"{time.perf_counter() - started:.2f} s, {found.n_classes:,} classes, "
          f"mean NCP {found.notes['score']:.4f}")


def command(folder: Path, rows: int) -> None:
    """The whole command on resampled rows: reading, search, writing, proof."""
    recipe = make(folder, rows, "parquet")
    recipe.write_text(recipe.read_text().replace("optimal, cost: ncp", "mondrian"))
    spent, peak = timed([*program(), "anonymize", str(folder / "table.parquet"), "--recipe", str(recipe),
                         "--out", str(folder / "out"), "--format", "parquet", "--no-report"])
    seconds, megabytes, whose = BESIDE.get(rows, (None, None, ""))
    time_ratio = f"{seconds / spent:10.1f}" if seconds else f"{'':>10}"
    memory = f"{megabytes / peak:7.1f}" if megabytes else f"{'':>7}"
    print(f"{rows:20,} {spent:8.2f} {peak:8.0f} {time_ratio} {memory}"
          + (f"  (of {whose}: {seconds:.0f} s)" if whose else ""), flush=True)


if __name__ == "__main__":
    main()
