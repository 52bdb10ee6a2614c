"""How much does local recoding lose, beside the other methods and beside what is possible?

Adult at several k, every method that makes classes: loss, gap to the proven bound, discernibility, classes,
seconds, memory; then other tables; then Adult resampled to a million records.

    python benchmarks/local_recoding.py                    # k = 2, 5, 10, 100
    python benchmarks/local_recoding.py --seconds 60       # local with a minute to search
    python benchmarks/local_recoding.py --rows 1_000_000   # only the resampled table
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from _adult import ADULT, SHARED, available, recipe_text

JAVA = {2: (0.0286, 0.86), 5: (0.0569, 1.64), 10: (0.0790, 2.50), 100: (0.1925, 7.43)}
METHODS = ("mondrian", "certainty-penalty", "oka", "mdav", "optimal")
HEAD = (f"{'method':26} {'k':>4} {'mean NCP':>9} {'over bound':>10} {'discern.':>10} {'classes':>8} "
        f"{'CPU s':>7} {'MB':>6}")


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("--seconds", type=float, help="for local, beside its steps")
    parser.add_argument("--smoke", action="store_true", help="one k, 50,000 rows, no other table")
    asked = parser.parse_args()
    if not available():
        print("The reference tables are absent: nothing to compare with.")
        return
    if not asked.rows:
        beside("Adult", adult(), (5,) if asked.smoke else (2, 5, 10, 100), asked.seconds)
        diverse()
        for name, frequency in () if asked.smoke else others():
            beside(name, frequency, (5, 50), asked.seconds, ("mondrian",))
    resampled(50_000 if asked.smoke else asked.rows or 1_000_000)


def adult() -> Any:
    """Adult as a frequency set."""
    from sfumato import table
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    with table.open_table(ADULT) as opened:
        return prepare(opened.table, Recipe.parse(recipe_text())).frequency


def others() -> Iterator[tuple[str, Any]]:
    """Other tables, with hierarchies by one rule for all: numbers in growing intervals, texts to `*`."""
    from sfumato import table
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    grown = {"interval": [5, 10, 20, 40]}
    wanted = {
        "releases/national2018.csv": {"AGEP": grown, "SEX": None, "RAC1P": None, "MSP": None, "EDU": None},
        "scale/us_military_2010.parquet": None,
        "scale/acs-income-2018-holdout.parquet": {
            "Age": grown, "Gender": None, "Race": None, "Marital Status": None, "Education": None,
            "Workclass": None},
    }
    for name, columns in wanted.items():
        with table.open_table(SHARED / "data" / name) as opened:
            there = opened.table.columns
            chosen = columns or {column: None for column in there}
            said = {c: {"role": "quasi", **({"hierarchy": h} if h else {})} for c, h in chosen.items()}
            recipe = Recipe.from_dict({"columns": said, "criteria": [{"k-anonymity": {"k": 5}}],
                                       "missing": ["N", "nan"]})
            yield name, prepare(opened.table, recipe).frequency


def solved(name: str, frequency: Any, criteria: tuple[Any, ...], **parameters: Any) -> tuple[Any, float]:
    """A method's recoding, and the processor's seconds; the second of two runs."""
    from sfumato.methods.base import Problem
    from sfumato.methods.registry import make

    for _ in range(2):
        started = time.process_time()
        problem = Problem(frequency, criteria, 0.0, np.ones(frequency.n_quasi))
        found = make({"name": name, **parameters}).solve(problem, np.random.default_rng(0))
        spent = time.process_time() - started
        if spent > 5:
            break
    return found, spent


def beside(title: str, frequency: Any, ks: tuple[int, ...], seconds: float | None,
           methods: tuple[str, ...] = METHODS) -> None:
    """All methods on one table."""
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.methods.registry import METHODS as KNOWN

    print(f"\n{title}: {frequency.n_records:,} records, {frequency.n_tuples:,} different, "
          f"{frequency.n_quasi} columns")
    print(HEAD)
    for k in ks:
        criteria = (KAnonymity(k=k),)
        run = partial(solved, frequency=frequency, criteria=criteria)
        proof, _ = run("local")
        bound = proof.notes["facts"]["certificate"]["bound"]
        jobs = [("local, swept and polished", "local", {"steps": 0, "certificate": False}),
                ("local, 50 steps", "local", {"steps": 50, "certificate": False})]
        jobs += [(f"local, {seconds:g} s", "local", {"seconds": seconds})] if seconds else []
        jobs += [(name, name, {}) for name in methods if name in KNOWN]
        for shown, name, parameters in jobs:
            found, spent = run(name, **parameters)
            bound = max(bound, found.notes.get("facts", {}).get("certificate", {}).get("bound", 0.0))
            line(shown, k, frequency, found, bound, spent)
        if title == "Adult":
            print(f"{'the Java tool':26} {k:4} {JAVA[k][0]:9.4f} {JAVA[k][0] / bound - 1:10.1%} "
                  f"{'':10} {'':8} {JAVA[k][1]:7.2f}")
        print(f"{'proven bound':26} {k:4} {bound:9.4f}", flush=True)


def line(shown: str, k: int, frequency: Any, found: Any, bound: float, spent: float) -> None:
    """One method's result."""
    from sfumato.costs.measured import score
    from sfumato.costs.registry import make

    weights = np.ones(frequency.n_quasi)
    ncp, dm = (score(make(name, frequency, weights), frequency, found) for name in ("ncp", "discernibility"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    over = f"{ncp / bound - 1:10.1%}" if bound and not found.narrower else f"{'(sets)' if bound else '':>10}"
    print(f"{shown:26} {k:4} {ncp:9.4f} {over} {dm:10.4g} {found.n_classes:8,} {spent:7.2f} {peak:6.0f}",
          flush=True)


def diverse() -> None:
    """k = 5 and two salaries in every class; the Java tool suppresses 11 %."""
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.criteria.l_diversity import LDiversity

    frequency = adult()
    criteria = (KAnonymity(k=5), LDiversity(column="salary-class", l=2))
    print("\nAdult, k = 5 and distinct l = 2 on salary-class (the Java tool: 0.234, 3,319 suppressed)")
    for steps in (0, 20):
        found, spent = solved("local", frequency, criteria, steps=steps, certificate=False)
        print(f"local, {steps:3} steps: mean NCP {found.notes['score']:.4f}, {found.suppressed(frequency)} "
              f"suppressed, {found.n_classes:,} classes, {spent:.2f} s", flush=True)


def resampled(rows: int) -> None:
    """Adult drawn with replacement, ages independent of the rest, as a frequency set."""
    from sfumato.criteria.k_anonymity import KAnonymity
    from sfumato.frequency import FrequencySet, distinct

    frequency, rng = adult(), np.random.default_rng(1)
    share = frequency.counts / frequency.n_records
    codes = frequency.codes[rng.choice(frequency.n_tuples, rows, p=share)]
    age = frequency.quasi.index("age")
    codes[:, age] = rng.permutation(codes[:, age])
    class_of, first = distinct(codes, [h.n_values for h in frequency.hierarchies])
    large = FrequencySet(frequency.hierarchies, np.ascontiguousarray(codes[first]),
                         np.bincount(class_of).astype(np.int64))
    print(f"\nAdult resampled, {rows:,} records, {large.n_tuples:,} different, k = 5")
    for shown, parameters in (("swept and polished", {"steps": 0, "certificate": False}),
                              ("with its certificate", {"steps": 0})):
        started = time.perf_counter()
        found, spent = solved("local", large, (KAnonymity(k=5),), **parameters)
        told = found.notes["facts"].get("certificate")
        proof = f", proven within {told['within']:.1%}" if told and told["within"] is not None else ""
        print(f"{shown}: mean NCP {found.notes['score']:.5f}, {found.n_classes:,} classes, {spent:.1f} s of "
              f"CPU{proof} (wall, twice at most: {time.perf_counter() - started:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
