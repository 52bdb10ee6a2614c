"""The thesis's experiment on small samples of Adult: what grows with k, what falls, and that they cross."""

from __future__ import annotations

import pytest
from tests.conftest import SHARED

import sfumato

FOLDER = SHARED / "data" / "adult"
FOUR = ("age", "education", "race", "native-country")


def recipe(quasi: tuple[str, ...]) -> dict[str, object]:
    columns = {name: {"role": "quasi", "hierarchy": f"{FOLDER}/hierarchies/adult_hierarchy_{name}.csv"}
               for name in quasi}
    return {"columns": columns, "criteria": [{"k-anonymity": {"k": 2}}]}


@pytest.mark.needs_shared
@pytest.mark.parametrize("method", [{"name": "oka", "numeric": "mean"}, {"name": "mondrian"}],
                         ids=["oka", "mondrian"])
def test_with_k_privacy_rises_and_utility_falls(method: dict[str, object]) -> None:
    """As in Figure 4.10: the trend from one k to one much larger, with room for the samples' chance."""
    found = sfumato.balance(FOLDER / "adult-9.csv", recipe(FOUR), k=(2, 8, 20, 50), size=500, samples=4,
                            utility="stump.native-country", privacy="cells_suppressed_categorical",
                            method=method, jobs=1, seed=3)
    utility, privacy = ([getattr(point, name) for point in found.points] for name in ("utility", "privacy"))
    assert utility == sorted(utility, reverse=True) and utility[0] > 0.8 > 0.5 > utility[-1]
    assert privacy == sorted(privacy) and privacy[0] < 0.1 < 0.4 < privacy[-1]
    assert found.crossing.crosses and 2 < found.crossing.k < 50
    low, high = found.crossing.k_interval or (0, 0)
    assert low <= found.crossing.k <= high
