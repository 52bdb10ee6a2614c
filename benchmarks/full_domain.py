"""How long does the proven best full-domain release of Adult take?

Prints, for every setting of the reference results, our warm search beside the reference tool's and as a
multiple of one DuckDB GROUP BY over the same columns; then the whole command from CSV to verified release.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _adult import ADULT, QUASI, SHARED, available, recipe_text

NAMES = {"lossAM": "ncp", "dm": "discernibility"}


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a few settings, one repetition")
    smoke = parser.parse_args().smoke
    if not available():
        print("skipped: the reference table Adult is not beside the project (../shared)")
        return
    searches(3 if smoke else 7, smoke)
    commands(1 if smoke else 5)


def searches(repeat: int, smoke: bool) -> None:
    """The warm search in memory, setting by setting."""
    import numba  # noqa: F401  (chooses the compiled evaluator)
    import numpy as np

    from sfumato import table
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.methods.base import Problem
    from sfumato.methods.optimal import Optimal
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    rows = json.loads((SHARED / "golden" / "arx-adult.json").read_text())["full_domain"]
    with table.open_table(ADULT) as opened:
        prepared = prepare(opened.table, Recipe.parse(recipe_text()))
        columns = opened.table.select(list(QUASI))
        grouped = best(repeat, lambda: columns.group_by(list(QUASI)).agg(n=columns.count()).to_pyarrow())
    print(f"one GROUP BY over the eight columns: {grouped * 1e3:.1f} ms\n")
    print(f"{'cost':15} {'limit':>5} {'k':>4} {'score':>14} {'checked':>8} {'ours ms':>8} "
          f"{'reference ms':>12} {'ratio':>6} {'GROUP BYs':>9}")
    for row in rows[::9] if smoke else rows:
        cost = NAMES.get(row["metric"], row["metric"])

        def solve(row: dict = row, cost: str = cost) -> object:
            problem = Problem(prepared.frequency, (KAnonymity(k=row["k"]),), row["suppression_limit"],
                              np.ones(len(QUASI)))
            return Optimal(cost=cost).solve(problem, np.random.default_rng(0))

        seconds, notes = best(repeat, solve), solve().notes
        print(f"{cost:15} {row['suppression_limit']:5.0%} {row['k']:4} {notes['score']:14.4f} "
              f"{notes['search']['checked']:8} {seconds * 1e3:8.1f} {row['warm_min_ms']:12} "
              f"{seconds * 1e3 / row['warm_min_ms']:6.2f} {seconds / grouped:9.1f}")


def commands(repeat: int) -> None:
    """The whole command, interpreter start included; the reference tool's process took 1.57 s."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder, "adult.yaml")
        recipe.write_text(recipe_text())
        for name, options in (("without report", ["--no-report"]), ("with report", [])):
            command = [*program(), "anonymize", str(ADULT), "--recipe", str(recipe), "--out",
                       str(Path(folder, "out")), *options]
            seconds = best(repeat, lambda c=command: subprocess.run(c, check=True, capture_output=True))
            print(f"\nwhole command, {name}: {seconds:.2f} s (reference process, neither proof nor report: "
                  "1.57 s)")


def program() -> list[str]:
    """The command as it is installed beside this interpreter."""
    found = shutil.which("sfumato", path=str(Path(sys.executable).parent))
    return [found] if found else [sys.executable, "-m", "sfumato.cli"]


def best(repeat: int, work: object) -> float:
    """The least of several times, after one that warms up."""
    work()
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


if __name__ == "__main__":
    main()
