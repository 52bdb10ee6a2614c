"""Adult as the benchmarks use it: the reference table where it stands beside the project, else a
synthetic table of the same shape."""

from __future__ import annotations

from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared"
ADULT = SHARED / "data" / "adult" / "adult-9.csv"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


def available() -> bool:
    """Whether the reference table is there."""
    return ADULT.is_file()


def recipe_text(k: int = 5, suppression: float = 0.05, cost: str = "ncp") -> str:
    """The recipe of the reference results."""
    folder = ADULT.parent / "hierarchies"
    columns = "\n".join(f"  {name}: {{role: quasi, hierarchy: '{folder}/adult_hierarchy_{name}.csv'}}"
                        for name in QUASI)
    return (f"columns:\n{columns}\n  salary-class: {{role: sensitive}}\ncriteria:\n"
            f"  - {{k-anonymity: {{k: {k}}}}}\nsuppression: {suppression}\n"
            f"method: {{name: optimal, cost: {cost}}}\nseed: 7\n")
