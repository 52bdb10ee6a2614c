"""Where do utility and privacy balance on Adult, and what moves the balance?

The thesis's three experiments (Tandon & Jain 2010, Figures 4.10, 4.12 and 4.13): 1,000 records with four
and with five quasi-identifiers, 3,000 with five; utility is a decision stump's accuracy on native-country,
privacy the share of suppressed cells of the categorical columns. Its sample and hierarchies are unpublished:
the direction is what can be compared. Then the same on 1,000 records with ever more quasi-identifiers.

    python benchmarks/balance.py                  # 20 samples, k = 2 to 60
    python benchmarks/balance.py --method mondrian
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

from _adult import ADULT, available

PUBLISHED = {1: ("8-9", 60), 2: ("11-12", 52), 3: ("10-11", 50)}
METHODS = {"oka": {"name": "oka", "numeric": "mean"}}  # as in the thesis
FOUR = ("age", "education", "race", "native-country")
FIVE = ("age", "workclass", "education", "race", "native-country")


@dataclass(frozen=True)
class Experiment:
    """Records a sample, and the columns that could identify."""

    number: int
    size: int
    quasi: tuple[str, ...]


EXPERIMENTS = (Experiment(1, 1000, FOUR), Experiment(2, 1000, FIVE), Experiment(3, 3000, FIVE))
MORE = ("marital-status", "occupation", "sex")
COLUMNS = tuple(Experiment(0, 1000, (*FIVE, *MORE[:n])) for n in (1, 2, 3))


def main() -> None:
    """Run the experiments in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--method")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--smoke", action="store_true", help="three samples, every sixth k")
    asked = parser.parse_args()
    if not available():
        print("The reference table is not there.")
        return
    method = asked.method or "oka"
    ks = range(2, 63, 6) if asked.smoke else range(2, 61)
    print(f"method {method}\n{'experiment':28} {'balance':>9} {'k':>5} {'interval':>10} {'sd of one':>9} "
          f"{'at':>6} {'interval':>10} {'published':>12} {'seconds':>8}")
    for one in (*EXPERIMENTS, *(() if asked.smoke else COLUMNS)):
        run(one, method, ks, 3 if asked.smoke else asked.samples, asked.jobs)


def run(one: Experiment, method: str, ks: range, samples: int, jobs: int) -> None:
    """One experiment, printed beside the thesis's figures."""
    import sfumato

    started = time.perf_counter()
    found = sfumato.balance(ADULT, recipe(one.quasi), k=ks, utility="stump.native-country",
                            privacy="cells_suppressed_categorical", samples=samples, size=one.size,
                            method=METHODS.get(method, {"name": method}), jobs=jobs, seed=7)
    spent, cross = time.perf_counter() - started, found.crossing
    said = "{} at {}%".format(*PUBLISHED[one.number]) if one.number else ""
    name = f"{one.number or ' '}  {one.size:,} records, {len(one.quasi)} columns"
    if cross.k_interval is None or cross.utility_interval is None:
        print(f"{name:28} none ({found})", flush=True)
        return
    low, high = cross.utility_interval
    ends, heights = "{:.1f}-{:.1f}".format(*cross.k_interval), f"{100 * low:.1f}-{100 * high:.1f}"
    print(f"{name:28} {cross.between[0]:>5}-{cross.between[1]:<3} {cross.k:5.1f} {ends:>10} "
          f"{cross.deviation or 0:9.1f} {100 * cross.utility:5.1f}% {heights:>9}% {said:>12} {spent:8.1f}",
          flush=True)
    first, last = found.points[0], found.points[-1]
    print(f"{'':4}utility {first.utility:.1%} at k = {first.k}, {last.utility:.1%} at k = {last.k}; "
          f"privacy {first.privacy:.1%}, {last.privacy:.1%}")


def recipe(quasi: tuple[str, ...]) -> dict:
    """The reference hierarchies, k-anonymity alone, nothing suppressed."""
    folder = ADULT.parent / "hierarchies"
    columns = {name: {"role": "quasi", "hierarchy": f"{folder}/adult_hierarchy_{name}.csv"} for name in quasi}
    return {"columns": columns, "criteria": [{"k-anonymity": {"k": 2}}]}


if __name__ == "__main__":
    main()
