"""Does the order of the released rows tell whose they are? (unsorted matching)

Sweeney, L. (2002). k-anonymity: a model for protecting privacy, section 4.1; as in Tandon & Jain 2010,
section 2.7.1. The attacker lays the release beside a list of people in an order that he knows (the table's
own, or by one of its columns) and takes rows in the same place for the same person.

Some rows fit by chance. An order tells something where more fit than in random orders, by more than FAR
standard deviations and FEW rows; what is beyond chance is counted as hit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sfumato.classes import Bools, Ints
from sfumato.measure.evidence import Measure, because

CITATION = ("Sweeney 2002, k-anonymity: a model for protecting privacy, Int J Uncertainty, Fuzziness and "
            "Knowledge-Based Systems 10(5), 557-570")
SHUFFLES = 200
FAR, FEW = 5.0, 3  # standard deviations, and rows besides: a few fit by luck where hardly any do

Fits = Callable[[Ints], Bools]  # people in an order -> per released row: could it be that person's?


def unsorted(fits: Fits, orders: Mapping[str, Ints], rng: np.random.Generator, rows: int) -> Measure:
    """The order that tells most, and the records that it gives away."""
    found = {name: float(fits(order).sum()) for name, order in orders.items()}
    every = np.unique(np.concatenate([*orders.values(), np.empty(0, dtype=np.int64)]))
    random = np.array([fits(rng.permutation(every)).sum() for _ in range(SHUFFLES if found else 0)])
    chance, spread = (float(random.mean()), float(random.std(ddof=1))) if found else (0.0, 0.0)
    telling = {name: round(fitting - chance) for name, fitting in found.items()
               if fitting - chance > FAR * spread + FEW}
    worst = max(telling, key=lambda name: telling[name], default=None)
    said = "none of them tells anything" if worst is None else f"{worst} tells most"
    value = None if not found else telling[worst] if worst is not None else 0
    return Measure(
        "unsorted_matching", "Unsorted matching", value, rows if found else None, "lower", 0, rows or None,
        "Records hit. Somebody lays the release beside a list of its people and takes rows in the same "
        f"place for the same person; counted are rows that fit beyond what fits in {SHUFFLES} random orders, "
        f"if they are more than {FAR:g} standard deviations and {FEW} rows beyond. Orders tried: "
        f"{len(found)}; {said}. Rows compared: {rows:,}. Before: the private table in its own order."
        + because(value, "no order of the two tables can be compared"), CITATION)
