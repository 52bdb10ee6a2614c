"""Blocks: whatever a table is cut into, every class keeps every promise; and what is said of it."""

from __future__ import annotations

from typing import Any

import numba  # noqa: F401  (loaded, so that the kernels serve)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.local import keeps_its_promises
from tests.properties.cases import Case, cases

from sfumato.clusters import blocks
from sfumato.criteria.k_anonymity import KAnonymity
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import Hierarchy
from sfumato.methods.base import Method, Problem
from sfumato.methods.certainty_penalty import CertaintyPenalty
from sfumato.methods.mdav import MDAV
from sfumato.methods.oka import OKA
from sfumato.search import Clock, Progress

METHODS: tuple[type[Method], ...] = (CertaintyPenalty, MDAV, OKA)


@pytest.fixture(autouse=True)
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks as small as they are asked for."""
    monkeypatch.setattr(blocks, "ROOM", 1)


@settings(max_examples=150, deadline=None)
@given(cases(most_records=40), st.sampled_from(METHODS), st.integers(4, 12), st.integers(0, 10**6),
       st.sampled_from([0.0, 0.3]))
def test_every_class_of_every_block_keeps_every_promise(case: Case, method: type[Method], block: int,
                                                        seed: int, share: float) -> None:
    """Blocks far smaller than a recipe may ask for."""
    was = blocks.ROOM
    try:
        blocks.ROOM = 1
        keeps_its_promises(method.model_construct(block=block), case, seed, share)
    finally:
        blocks.ROOM = was


def grid(n: int = 40) -> FrequencySet:
    column = Hierarchy("v", tuple((str(v), "*") for v in range(n)))
    codes = np.array([[a, b] for a in range(n) for b in range(n)], np.int32)
    return FrequencySet((column, column), codes, np.ones(n * n, np.int64))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_blocks_are_counted_and_progress_is_told(method: type[Method]) -> None:
    frequency, told = grid(), []
    problem = Problem(frequency, (KAnonymity(k=3),), 0.0, np.ones(2), watch=told.append)
    found = method(block=400).solve(problem, np.random.default_rng(0))
    said = found.notes["facts"]["blocks"]
    assert said["largest"] <= 400 and 4 <= said["count"] <= 8 and said["smallest"] >= 200
    assert [(one.visited, one.open) for one in told] == [
        (n + 1, said["count"] - n - 1) for n in range(said["count"])]
    assert found.sizes(frequency).min() >= 3 and found.sizes(frequency).sum() == 1600


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("stopped", ["time", "key"])
def test_blocks_that_are_left_are_one_class_each(method: type[Method], stopped: str) -> None:
    """Time is up, or a key is pressed, after two blocks."""
    frequency, clock = grid(), Clock(interruptible=True)

    def stop(progress: Progress) -> None:
        if progress.visited == 2:
            clock.interrupted = True
            if stopped == "key":
                raise KeyboardInterrupt

    problem = Problem(frequency, (KAnonymity(k=3),), 0.0, np.ones(2), clock, stop)
    found = method(block=400, **truly(method)).solve(problem, np.random.default_rng(0))
    count = found.notes["facts"]["blocks"]["count"]
    sizes = np.sort(found.sizes(frequency))[::-1]
    assert "still to be grouped" in found.notes["facts"]["stopped"]
    assert (sizes >= 200).sum() >= count - 3 and sizes[count - 1:].max() < 20 and sizes.min() >= 3


def truly(method: type[Method]) -> dict[str, Any]:
    """No centres, which could be the same in several classes."""
    return {"numeric": "range"} if "numeric" in method.model_fields else {}
