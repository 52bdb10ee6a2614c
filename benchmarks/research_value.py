"""How long does research-value search take, and what does it find?

Adult's 6,480 strings by each search, beside the proven optimum of the same values; then synthetic death
certificates of up to 36 columns with up to six levels, the paper's times beside ours, with the frequency sets
computed and the memory held. A method named in COMPARATORS joins the first table once the registry has it.

    python benchmarks/research_value.py                  # 3 to 36 columns, 200,000 records
    python benchmarks/research_value.py --columns 24 --k 3
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _adult import ADULT, QUASI, available, recipe_text

PAPER = {24: (25_764, None), 12: (49, 2_459), 8: (41, 270), 3: (8, 17)}  # seconds of global, m and r: k = 3
PAPER_K5 = {24: (None, 14_961), 12: (49, 2_498), 8: (41, 282), 3: (9, 13)}
LEVELS = (6, 6, 5, 4, 3, 6, 2, 4, 5, 3, 2, 6, 2, 4, 3, 5, 2, 3, 6, 2, 4, 3, 2, 5)  # of a column, * included
COMPARATORS = ("certainty-penalty",)  # Xu et al.'s local recoding, with which the paper compares


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="20,000 records of 12 columns")
    parser.add_argument("--columns", type=int, nargs="*", default=[3, 8, 12, 24, 36])
    parser.add_argument("--records", type=lambda text: int(text.replace("_", "")), default=200_000)
    parser.add_argument("--k", type=int, nargs="*", default=[3, 5])
    asked = parser.parse_args()
    if available():
        on_adult(2 if asked.smoke else 5, (5,) if asked.smoke else (5, 100))
    if asked.smoke:
        asked.columns, asked.records, asked.k = [12], 20_000, [5]
    print(f"\ncertificates, {asked.records:,} records; paper: its global search of m and r, other data")
    print(f"{'columns':>7} {'k':>2} {'search':12} {'strings':>9} {'kept':>9} {'sets':>6} {'value':>7} "
          f"{'roots':>5} {'held MB':>8} {'peak MB':>8} {'seconds':>8} {'paper s':>14} {'faster':>13}")
    for columns in asked.columns:
        frequency = certificates(asked.records, columns)
        for k in asked.k:
            for search in ("global", "local", "hybrid") if columns <= 8 else ("local", "distributed"):
                report(frequency, k, search)


def on_adult(repeat: int, ks: tuple[int, ...]) -> None:
    """Every search, in processor time, beside `optimal` with the same values and the comparators."""
    import numba  # noqa: F401  (chooses the compiled evaluator)

    from sfumato import table
    from sfumato.costs.measured import score
    from sfumato.costs.registry import make
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.methods.base import Problem
    from sfumato.methods.registry import METHODS
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    with table.open_table(ADULT) as opened:
        frequency = prepare(opened.table, Recipe.parse(recipe_text())).frequency
    cost = make("research-value", frequency, np.ones(len(QUASI)))
    ways: dict[str, dict[str, Any]] = {
        "optimal, same values": {"name": "optimal", "cost": "research-value"},
        **{name: {"name": "research-value", "search": name} for name in ("global", "local", "hybrid")},
        "global, paper's pruning": {"name": "research-value", "pruning": "paper"},
        "distributed, fits 100": {"name": "research-value", "search": "distributed", "fits": 100},
        **{name: {"name": name} for name in COMPARATORS if name in METHODS}}
    print(f"{'Adult':24} {'k':>4} {'suppression':>11} {'sets':>5} {'RV lost':>8} {'ms':>8} {'/ optimal':>10}")
    for suppression in (0.0, 0.05):
        for k in ks:
            first = None
            for name, said in ways.items():
                method = METHODS[said["name"]](**{key: one for key, one in said.items() if key != "name"})

                def solve(method: Any = method, k: int = k, share: float = suppression) -> Any:
                    problem = Problem(frequency, (KAnonymity(k=k),), share, np.ones(len(QUASI)))
                    return method.solve(problem, np.random.default_rng(0))

                seconds, found = processor(1 if name in COMPARATORS else repeat, solve)
                first = first or seconds
                told = found.notes.get("facts", {}).get("research", {})
                sets = told.get("frequency_sets") or (found.notes.get("search") or {}).get("checked", "")
                print(f"{name:24} {k:4} {suppression:11.0%} {sets:>5} {score(cost, frequency, found):8.4f} "
                      f"{seconds * 1e3:8.1f} {seconds / first:10.2f}", flush=True)


def processor(repeat: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The least processor time of several runs, after one that warms up where there are; the last answer."""
    found, times = work() if repeat > 1 else None, []
    for _ in range(repeat):
        started = time.process_time()
        found = work()
        times.append(time.process_time() - started)
    return min(times), found


def report(frequency: Any, k: int, search: str) -> None:
    """One search of the certificates, in seconds of the clock."""
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.errors import InfeasibleError
    from sfumato.methods.base import Problem
    from sfumato.methods.research_value import ResearchValue

    columns = frequency.n_quasi
    problem = Problem(frequency, (KAnonymity(k=k),), 0.0, np.ones(columns))
    started = time.perf_counter()
    try:
        solved = ResearchValue(search=search).solve(problem, np.random.default_rng(0))
    except InfeasibleError:
        print(f"{columns:7} {k:2} {search:12} finds nothing")
        return
    found, seconds = solved.notes["facts"]["research"], time.perf_counter() - started
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    paper = [one for one in (PAPER if k == 3 else PAPER_K5).get(columns, ()) if one]
    print(f"{columns:7} {k:2} {search:12} {found['strings']:9.2g} {found['strings_kept']:9.2g} "
          f"{found['frequency_sets']:6} {found['value']:7.4f} {found['roots']:5} "
          f"{found['held_bytes'] / 1e6:8.1f} {peak / 1e3:8.0f} {seconds:8.2f} "
          f"{' / '.join(f'{one:,}' for one in paper):>14} "
          f"{' / '.join(f'{one / seconds:,.0f}' for one in paper):>13}", flush=True)


def certificates(records: int, columns: int, seed: int = 1) -> Any:
    """Records of people of a few kinds; each column follows the kind to some degree, and has a long tail."""
    from sfumato.frequency import FrequencySet, distinct
    from sfumato.hierarchy.core import Hierarchy

    rng = np.random.default_rng(seed)
    kind = rng.choice(6, records, p=(0.4, 0.25, 0.15, 0.1, 0.06, 0.04))
    codes, hierarchies, widths = [], [], []
    for j in range(columns):
        levels = LEVELS[j % len(LEVELS)]
        width = 3 ** (levels - 1) if levels > 2 else 2
        tail = np.minimum(rng.geometric(0.35 + 0.5 * rng.random(), records) - 1, width - 1)
        codes.append(np.where(rng.random(records) < 0.75, (kind * (1 + j % 3)) % width, tail))
        labels = [[str(value // 3 ** level) for level in range(levels - 1)] for value in range(width)]
        paths = tuple((*(f"{n}.{label}" for n, label in enumerate(path)), "*") for path in labels)
        hierarchies.append(Hierarchy(f"c{j:02}", paths))
        widths.append(width)
    table = np.stack(codes, axis=1).astype(np.int32)
    class_of, first = distinct(table, widths)
    return FrequencySet(tuple(hierarchies), table[first], np.bincount(class_of).astype(np.int64))


if __name__ == "__main__":
    main()
