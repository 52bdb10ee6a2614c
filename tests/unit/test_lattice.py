"""The lattice against its definitions, node by node."""

from __future__ import annotations

import itertools
from operator import ge, le

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.lattice import Lattice

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


@settings(deadline=None, max_examples=60)
@given(shapes, st.integers(0, 2 ** 32))
def test_addresses_heights_and_closures(shape: tuple[int, ...], seed: int) -> None:
    lattice = Lattice(shape)
    nodes = list(itertools.product(*map(range, shape)))
    assert lattice.size == len(nodes) and nodes[lattice.top] == tuple(n - 1 for n in shape)
    assert [tuple(levels) for levels in lattice.levels(np.arange(lattice.size)).tolist()] == nodes
    assert [lattice.node(levels) for levels in nodes] == list(range(lattice.size))
    assert lattice.heights.tolist() == [sum(levels) for levels in nodes]
    values = np.random.default_rng(seed).integers(0, 50, lattice.size)
    wide = np.stack([values, -values], axis=1)
    up, down, both = lattice.spread_up(values), lattice.spread_down(values), lattice.spread_up(wide)
    for here, levels in enumerate(nodes):
        below = [n for n, other in enumerate(nodes) if all(map(le, other, levels))]
        above = [n for n, other in enumerate(nodes) if all(map(ge, other, levels))]
        assert up[here] == values[below].max() == both[here, 0]
        assert down[here] == values[above].max()
        assert both[here, 1] == -values[below].min()
        direct = {n for n in below if sum(levels) - sum(nodes[n]) == 1}
        assert set(lattice.below(here).tolist()) == direct


@pytest.mark.parametrize("shape", [(3,), (1,), (1, 1)])
def test_spreading_changes_nothing_it_was_given(shape: tuple[int, ...]) -> None:
    values = np.arange(Lattice(shape).size)
    kept = values.copy()
    Lattice(shape).spread_down(values)
    assert (values == kept).all()
