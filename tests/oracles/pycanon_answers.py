"""Run by the interpreter that has pycanon: tables as JSON on standard input, its numbers on the output."""

from __future__ import annotations

import json
import sys
from typing import Any

QUASI = ["a", "b"]


def answers(table: dict[str, list[Any]]) -> dict[str, float]:
    import pandas
    from pycanon import anonymity

    frame = pandas.DataFrame(table)  # a fresh index, 0 to n - 1: pycanon takes index labels for positions
    alpha, k = anonymity.alpha_k_anonymity(frame, QUASI, ["text"])
    found = {
        "k": anonymity.k_anonymity(frame, QUASI),
        "distinct": anonymity.l_diversity(frame, QUASI, ["text"]),
        "entropy": anonymity.entropy_l_diversity(frame, QUASI, ["text"]),
        "equal": anonymity.t_closeness(frame, QUASI, ["text"]),
        "ordered": anonymity.t_closeness(frame, QUASI, ["number"]),
        "alpha": alpha,
        "alpha k": k,
        "basic": anonymity.basic_beta_likeness(frame, QUASI, ["text"]),
        "enhanced": anonymity.enhanced_beta_likeness(frame, QUASI, ["text"]),
        "delta": anonymity.delta_disclosure(frame, QUASI, ["text"]),
    }
    return {name: float(value) for name, value in found.items()}


if __name__ == "__main__":
    json.dump([answers(table) for table in json.load(sys.stdin)], sys.stdout)
