"""What cannot be kept even by one class of all records."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.errors import InfeasibleError


def require_feasible(problem: Any, method: str) -> None:
    """Refuse criteria that the whole table as one class does not satisfy.

    Every criterion is mergeable: were there classes that satisfy it, so would their union.
    """
    frequency = problem.frequency
    stats = frequency.regroup(np.zeros(frequency.n_tuples, dtype=np.int64), 1)
    failing = [c for c in problem.criteria if not c.holds(stats).all()]
    if not failing:
        return
    named = " and ".join(f"{c.name} ({c.promise})" for c in failing)
    least = max(criterion.least for criterion in problem.criteria)
    raise InfeasibleError(
        f"No classes of all {frequency.n_records:,} records satisfy {named}: not even one of them all, with "
        "every column at its highest level, and "
        f"{method} suppresses no record to reach it.",
        f"Relax the criterion: no method makes a class of {least:,} records in so small a table."
        if least > frequency.n_records else
        "Relax the criterion, or let the method `optimal` suppress records.")
