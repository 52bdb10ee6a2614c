"""What does a short command cost, and the arithmetic around a search?

Prints `sfumato --help` as a multiple of a bare interpreter, and the evidence of one release as a multiple of
the search that found it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from _adult import ADULT, available, recipe_text
from full_domain import best, program


def main() -> None:
    """Both questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="one repetition")
    repeat = 1 if parser.parse_args().smoke else 7
    bare = best(repeat, lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    asked = best(repeat, lambda: subprocess.run([*program(), "--help"], check=True, capture_output=True))
    print(f"sfumato --help {asked:.3f} s: {asked / bare:.1f} bare interpreters")
    if not available():
        print("skipped the rest: the reference table Adult is not beside the project (../shared)")
        return
    evidence(repeat)


def evidence(repeat: int) -> None:
    """All measures of the proven best release of Adult."""
    import numba  # noqa: F401  (chooses the compiled evaluator)
    import numpy as np

    from sfumato import table
    from sfumato.measure.collect import collect
    from sfumato.methods.base import Problem
    from sfumato.methods.optimal import Optimal
    from sfumato.prepare import prepare
    from sfumato.recipe import Recipe

    with table.open_table(ADULT) as opened:
        prepared = prepare(opened.table, Recipe.parse(recipe_text()))
    frequency, rng = prepared.frequency, np.random.default_rng(0)

    def solve() -> object:
        problem = Problem(frequency, prepared.criteria, 0.05, prepared.weights)
        return Optimal(cost="ncp").solve(problem, rng)

    searched, found = best(repeat, solve), solve()
    measured = best(repeat, lambda: collect(frequency, found, costs={}, least=5, rng=rng))
    print(f"evidence {measured * 1e3:.1f} ms: {measured / searched:.1f} searches of {searched * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
