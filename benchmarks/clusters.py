"""How fast are the methods that form groups of records, and how much do they lose?

Each on Adult at several k, beside Mondrian: mean NCP with hierarchy labels and with ranges and sets, classes,
CPU time, and ratios to Mondrian's of the same run. Then rows resampled from it, each form in its own process.

    python benchmarks/clusters.py                     # Adult, then 300,000 and a million rows
    python benchmarks/clusters.py --rows 100_000      # Adult, then that many
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from _adult import ADULT, QUASI, available, recipe_text

FORMS: dict[str, dict[str, Any]] = {
    "mondrian": {"name": "mondrian"},
    "oka": {"name": "oka"},
    "mdav": {"name": "mdav"},
    "penalty, upwards": {"name": "certainty-penalty"},
    "penalty, downwards": {"name": "certainty-penalty", "direction": "top-down"},
}
NODES = {"numeric": "hierarchy", "categorical": "hierarchy"}
SETS = {"numeric": "range", "categorical": "set"}


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("--smoke", action="store_true", help="one k, 3,000 records")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # a form, run alone: its seconds and megabytes
    asked = parser.parse_args()
    if not available():
        print("The Adult table is not there.")
        return
    if asked.one:
        alone(asked.one, asked.rows)
        return
    on_adult((5,) if asked.smoke else (2, 5, 10, 100), 3000 if asked.smoke else None)
    for rows in () if asked.smoke else [asked.rows] if asked.rows else [300_000, 1_000_000]:
        print(f"\n{f'{rows:,} rows':22} {'mean NCP':>9} {'classes':>8} {'blocks':>7} {'seconds':>8} "
              f"{'peak MB':>8}", flush=True)
        for name in FORMS:
            subprocess.run([sys.executable, __file__, "--one", name, "--rows", str(rows)], check=True)


def on_adult(ks: tuple[int, ...], records: int | None) -> None:
    """The reference table, every form, in nodes and in ranges and sets."""
    frequency = adult(records)
    print(f"{f'Adult, {frequency.n_records:,} records':22} {'k':>4} {'mean NCP':>9} {'ranges, sets':>12} "
          f"{'classes':>8} {'CPU s':>8} {'NCP / Mondrian':>14} {'time / Mondrian':>15}")
    beside: dict[int, tuple[float, float]] = {}
    for name, form in FORMS.items():
        for k in ks:
            shaped = {**NODES, **form}
            solve(frequency, shaped, k)
            started = time.process_time()
            found = solve(frequency, shaped, k)
            seconds, score = time.process_time() - started, found.notes["score"]
            narrow = solve(frequency, {**form, **SETS}, k).notes["score"]
            loss, spent = beside.setdefault(k, (score, seconds))
            print(f"{name:22} {k:4} {score:9.4f} {narrow:12.4f} {found.n_classes:8,} {seconds:8.3f} "
                  f"{score / loss:14.2f} {seconds / spent:15.1f}", flush=True)


def alone(name: str, rows: int) -> None:
    """One form on resampled rows, with the memory of this process."""
    frequency = adult(rows)
    solve(adult(3000), {**NODES, **FORMS[name]}, 5)  # the kernels are loaded
    started = time.perf_counter()
    found = solve(frequency, {**NODES, **FORMS[name]}, 5)
    spent = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    blocks = found.notes["facts"].get("blocks", {}).get("count", 1)
    print(f"{name:22} {found.notes['score']:9.4f} {found.n_classes:8,} {blocks:7} {spent:8.2f} {peak:8.0f}",
          flush=True)


def adult(records: int | None = None) -> Any:
    """Adult's frequency set; of fewer records a sample, of more a sample with repetitions."""
    from sfumato import table
    from sfumato.frequency import FrequencySet
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    with table.open_table(ADULT) as opened:
        frequency = prepare(opened.table, Recipe.parse(recipe_text())).frequency
    if records is None:
        return frequency
    rng, n = np.random.default_rng(5), frequency.n_records
    of_record = np.repeat(np.arange(frequency.n_tuples), frequency.counts)
    drawn = of_record[rng.integers(0, n, records) if records > n else rng.permutation(n)[:records]]
    tuples, counts = np.unique(drawn, return_counts=True)
    return FrequencySet(frequency.hierarchies, frequency.codes[tuples], counts.astype(np.int64))


def solve(frequency: Any, form: dict[str, Any], k: int) -> Any:
    """One release, as a recoding."""
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.methods.base import Problem
    from sfumato.methods.registry import make

    problem = Problem(frequency, (KAnonymity(k=k),), 0.0, np.ones(len(QUASI)))
    return make(form).solve(problem, np.random.default_rng(0))


if __name__ == "__main__":
    main()
