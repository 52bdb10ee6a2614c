"""The adaptable model asked about a table: approaches, the one to take, and the recipe that takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.errors import RequestError
from sfumato.prepare import pair_counts
from sfumato.recipe import Recipe
from sfumato.recommend.xk import Approach, PairSet, Preference, Recommendation
from sfumato.recommend.xk import recommend as recommended

KEYS = ("xk", "label", "suppressed", "added", "original", "total", "precision", "difference", "ranks",
        "score")


@dataclass(frozen=True)
class Advice:
    """What is recommended for a table, before anything is changed."""

    recommendation: Recommendation
    recipe: Recipe  # carries out the first recommended approach
    records: int
    pairs: int
    left: tuple[str, ...]  # columns that were not named: released as they are

    def as_dict(self) -> dict[str, Any]:
        """As the command line prints it in JSON."""
        told = self.recommendation
        approaches = [{key: value for key, value in asdict(one).items() if key in KEYS}
                      for one in told.approaches]
        return {"approaches": approaches, "recommended": list(told.recommended),
                "precision_range": list(told.precision_range), "maximum_loss": told.maximum_loss,
                "recipe": self.recipe.to_yaml()}

    @property
    def curve(self) -> list[Approach]:
        """All levels in their order, from the smallest xk to k."""
        return sorted(self.recommendation.approaches, key=lambda one: one.xk)

    def __str__(self) -> str:
        told, best = self.recommendation, self.recommendation.best
        low, high = told.precision_range
        return (f"{best.label} (xk = {best.xk}): precision {low} to {high} %, at most {told.maximum_loss} % "
                f"lost. {told.why}")

    __repr__ = __str__


def advise(table: Any, *, name: str | None, quasi: Mapping[str, Any], diversity: Mapping[str, int],
           sensitive: Sequence[str], identifying: Sequence[str], k: int, prefer: Preference | None,
           min_precision: float | None, sensitive_suppression: bool, missing: Sequence[str]) -> Advice:
    """Count the pairs in the engine, compare all levels, and write the recipe of the best."""
    if not quasi:
        raise RequestError("No quasi-identifier is named, and pairs are made of at least one.",
                           "Name the columns that could narrow down who a record is: --quasi age,sex")
    sizes, distinct, values = pair_counts(table, tuple(quasi), tuple(sensitive), missing)
    if not len(sizes):
        raise RequestError("The table has no records.", "Give a table with at least one record.")
    released = [one for one in table.columns if one not in identifying]
    found = recommended(PairSet(sizes, distinct, values), k, len(quasi), diversity, sensitive_suppression,
                        prefer, min_precision, columns=len(released), elected=1)
    best = found.best
    columns = {column: {"role": "quasi", **({"hierarchy": spec} if spec is not None else {})}
               for column, spec in quasi.items()}
    columns |= {column: {"role": "sensitive"} for column in sensitive}
    columns |= {column: {"role": "identifying"} for column in identifying}
    method: dict[str, Any] = {"name": "xk", "xk": best.xk}
    if sensitive_suppression and diversity:
        method["sensitive_suppression"] = True
    recipe = Recipe.from_dict({
        **({"table": name} if name else {}), "missing": list(missing), "columns": columns,
        "criteria": [{"k-anonymity": {"k": k}}, *({"l-diversity": {"column": column, "l": d}}
                                                  for column, d in diversity.items() if d > 1)],
        "suppression": best.suppressed / (best.suppressed + best.original), "suppressed": "drop",
        "method": method})
    left = tuple(one for one in released if one not in columns)
    return Advice(found, recipe, int(sizes.sum()), len(sizes), left)
