"""The evidence for Adult beside the numbers that the reference tool printed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.oracles import measures as plain

from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.measure.collect import as_dict, collect
from sfumato.measure.released import pack, see
from sfumato.measure.risk.profile import profile
from sfumato.measure.utility.loss import losses
from sfumato.recoding import Regrouping

pytestmark = pytest.mark.needs_shared

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


@pytest.fixture(scope="module")
def adult(shared: Path) -> FrequencySet:
    folder = shared / "data" / "adult"
    with (folder / "adult-9.csv").open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    hierarchies = []
    for name in QUASI:
        with (folder / "hierarchies" / f"adult_hierarchy_{name}.csv").open() as file:
            hierarchies.append(Hierarchy(name, tuple(map(tuple, csv.reader(file, delimiter=";")))))
    return plain.frequency_set(tuple(hierarchies), [tuple(row[name] for name in QUASI) for row in rows],
                               {"salary-class": [row["salary-class"] for row in rows]})


def at_node(frequency: FrequencySet, levels: list[int], k: int) -> Regrouping:
    """Everybody at one node; classes below k are suppressed."""
    hierarchies = frequency.hierarchies
    nodes = np.stack([h.nodes[level][codes] for h, level, codes
                      in zip(hierarchies, levels, frequency.codes.T, strict=True)], axis=1)
    _, first, place = np.unique(pack(nodes, [h.n_values for h in hierarchies]),
                                return_index=True, return_inverse=True)
    large = np.bincount(place, weights=frequency.counts) >= k
    class_of = np.where(large, np.cumsum(large) - 1, -1)[place]
    return Regrouping(class_of, np.tile(np.array(levels, dtype=np.int32), (int(large.sum()), 1)),
                      nodes[first[large]])


def test_every_row_of_the_reference(adult: FrequencySet, shared: Path) -> None:
    golden = json.loads((shared / "golden" / "arx-adult.json").read_text())["full_domain"]
    assert len(golden) == 54
    for row in golden:
        regrouping = at_node(adult, row["levels"], row["k"])
        released = see(adult, regrouping)
        risk = profile(released.sizes, released.suppressed)
        numbers = {measure.name: measure.value for measure in losses(adult, regrouping)}
        assert (risk.classes, risk.suppressed) == (row["classes"], row["suppressed"])
        assert (risk.smallest, risk.largest) == (row["smallest_class"], row["largest_class"])
        assert round(risk.highest or 0, 4) == row["highest_risk"]
        assert round(risk.average or 0, 4) == row["average_risk"]
        assert risk.records / risk.classes == pytest.approx(row["average_class"], abs=0.0051)
        assert round(numbers["mean_ncp"] or 0, 4) == row["mean_ncp"]
        assert round(numbers["entropy_kept"] or 0, 3) == row["non_uniform_entropy"]


def test_of_the_private_table(adult: FrequencySet) -> None:
    found = collect(adult, at_node(adult, [0] * 8, 1), costs={}, least=5, rng=np.random.default_rng(0))
    assert (found.risk_before.records, found.risk_before.classes) == (30162, 18109)
    assert found.risk_before == found.risk_after
    numbers = as_dict(found)
    assert numbers["mean_ncp"] == numbers["query_error_mean"] == numbers["correlation_change"] == 0
    assert numbers["entropy_kept"] == 1
