"""What do rounds of ρ-Gain keep, beside the paper's figures, and how many rounds pay?

Adult with seven and with eight quasi-identifiers, k = 5, two salaries a class, no limit on suppression: the
paper's numbers (its hierarchies are not known, so they cannot be the same) beside ours, figure by figure;
then what each further round would save, by cost; then the whole command.

    python benchmarks/rho_gain.py
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from _adult import ADULT, QUASI, available, recipe_text
from full_domain import program
from scale import timed

# Vural & Aydos 2017, Figures 3, 5, 7 and 11: ADULT, k = 5, l = 2, three rounds
PAPER: dict[str, tuple[float, float, float]] = {
    "records": (30162, 13181, 7796), "classes": (1183, 479, 118), "kept": (16981, 5385, 1736),
    "suppressed": (13181, 7796, 6060), "average_class": (14.35418, 11.24217, 14.71186),
    "average_class_with_outliers": (25.47466, 27.46042, 65.51261), "largest_class": (80, 80, 72),
    "smallest_class": (5, 5, 5), "lowest_risk": (1.25, 1.25, 1.38889),
    "records_at_lowest_risk": (0.47111, 1.48561, 4.14747), "average_risk": (6.96661, 8.89508, 6.79724),
    "highest_risk": (20, 20, 20), "records_at_highest_risk": (4.24003, 4.27112, 2.88018)}
TOGETHER = (1780, 24102, 6060, 13.54045)  # Table IV(a): classes, records, outliers, average class
SEVEN, COSTS = QUASI[:7], ("aecs", "ncp", "discernibility", "loss")


def main() -> None:
    """Run the questions in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="seven columns, one cost")
    smoke = parser.parse_args().smoke
    if not available():
        print("skipped: the reference table Adult is not beside the project (../shared)")
        return
    for columns in (SEVEN,) if smoke else (SEVEN, QUASI):
        figures(columns)
    gains(COSTS[:1] if smoke else COSTS)
    command()


def run(columns: tuple[str, ...], **said: Any) -> tuple[Any, Any, float]:
    """One run: the recoding, the frequency set, and the seconds of the search."""
    from sfumato import table
    from sfumato.criteria.registry import parse
    from sfumato.methods.base import Problem
    from sfumato.methods.rho_gain import RhoGain
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    recipe = Recipe.parse(recipe_text()).with_(columns={name: {"role": "plain"} for name in QUASI
                                                        if name not in columns})
    with table.open_table(ADULT) as opened:
        frequency = prepare(opened.table, recipe).frequency
    criteria = (parse({"k-anonymity": {"k": 5}}), parse({"l-diversity": {"column": "salary-class", "l": 2}}))
    started = perf_counter()
    found = RhoGain(**said).solve(Problem(frequency, criteria, 1.0, np.ones(len(columns))),
                                  np.random.default_rng(0))
    return found, frequency, perf_counter() - started


def figures(columns: tuple[str, ...]) -> None:
    """The paper's figures, round by round, the paper's number above ours."""
    found, frequency, seconds = run(columns, rounds=2)
    rounds = found.notes["facts"]["rounds"]
    print(f"\n{len(columns)} quasi-identifiers, {seconds:.2f} s: {'paper':>15} {'ours':>40}")
    print(f"{'':30}" + "".join(f"{f'round {n}':>13}" for n in (1, 2, 3)) * 2)
    for name, paper in PAPER.items():
        share = 100 if "risk" in name else 1
        ours = [one[name] if name in one else share * one["measures"][name] for one in rounds]
        row = "".join(f"{value:13,.5g}" if value < 1000 else f"{value:13,.0f}" for value in (*paper, *ours))
        print(f"{name + (' %' if share == 100 else ''):30}{row}")
    sizes = found.sizes(frequency)
    ours_together = (len(sizes), int(sizes.sum()), found.suppressed(frequency), sizes.mean())
    for name, one, other in zip(("classes", "records kept", "outliers left", "average class"), TOGETHER,
                                ours_together, strict=True):
        print(f"together: {name:20}{one:39,.6g}{other:39,.6g}")


def gains(costs: tuple[str, ...]) -> None:
    """What each round saves of the cost of the whole release, and where `auto` stops."""
    print(f"\n{'auto, seven columns':20} {'rho':>4} {'seconds':>8}  saved by each round (brackets: not run)")
    for cost in costs:
        found, _, seconds = run(SEVEN, rounds="auto", cost=cost)
        facts = found.notes["facts"]
        saved = [(f"{one['gain']:.1%}", one["taken"]) for one in facts["gains"][1:]]
        curve = [text if taken else f"({text})" for text, taken in saved]
        print(f"{cost:20} {facts['rho']:4} {seconds:8.2f}  {', '.join(curve)}")


def command() -> None:
    """The whole command from CSV to verified release."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder, "recipe.yaml")
        recipe.write_text(recipe_text(suppression=1.0).replace("name: optimal, cost: ncp", "name: rho-gain"))
        spent, peak = timed([*program(), "anonymize", str(ADULT), "--recipe", str(recipe), "--out",
                             f"{folder}/out", "--no-report"])
    print(f"\nwhole command, eight columns, k = 5: {spent:.2f} s, {peak:.0f} MB")


if __name__ == "__main__":
    main()
