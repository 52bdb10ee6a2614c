"""The plain twins of the kernels that cut a group in two: boxes are sets of elements here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.clusters.boxes import Boxes, Labels
from sfumato.clusters.plain_boxes import unions
from sfumato.hierarchy.core import Codes


def grown(labels: Labels, places: Codes, box: Sequence[int], others: Ints) -> Floats:
    """As `half_kernels.grown`: the loss per record of some elements with each of others."""
    both = np.concatenate([np.asarray(box, dtype=np.int64), others])
    group_of = np.concatenate([np.zeros(len(box), np.int64), 1 + np.arange(len(others))])
    boxes = Boxes.of(labels, places[both], np.ones(len(both), np.int64), group_of, 1 + len(others))
    return unions(boxes, np.zeros(len(others), np.int64), 1 + np.arange(len(others)))


def far_apart(labels: Labels, places: Codes, members: Ints, draw: float, rounds: int) -> tuple[int, int]:
    """As `half_kernels.far_apart`."""
    v = u = min(int(draw * len(members)), len(members) - 1)
    for _ in range(rounds):
        u = v
        off = grown(labels, places, [int(members[u])], members)
        if off.max() > 0:
            v = int(np.argmax(off))
        if v == u:
            break
    return u, v


def bisect(labels: Labels, order: Ints, starts: Ints, draws: Floats, rounds: int, by_seed: bool, least: int,
           places: Codes, counts: Ints, sides: Ints) -> None:
    """As `half_kernels.bisect`."""
    for p in range(len(starts) - 1):
        members = order[starts[p]:starts[p + 1]]
        side = sides[starts[p]:starts[p + 1]]
        side[:] = 0
        u, v = far_apart(labels, places, members, float(draws[p]), rounds)
        if u != v:
            _deal(labels, places, counts, members, u, v, by_seed, side)
            _top_up(labels, places, counts, members, least, side)


def _deal(labels: Labels, places: Codes, counts: Ints, members: Ints, u: int, v: int, by_seed: bool,
          side: Ints) -> None:
    boxes, size = [[int(members[u])], [int(members[v])]], [int(counts[members[u]]), int(counts[members[v]])]
    seeds = [list(box) for box in boxes]
    side[v] = 1
    for m, element in enumerate(members):
        if m in (u, v):
            continue
        records = int(counts[element])
        loss = [float(grown(labels, places, (seeds if by_seed else boxes)[s], members[m:m + 1])[0])
                * (1 if by_seed else size[s] + records) for s in range(2)]
        s = int(loss[1] < loss[0])
        side[m] = s
        size[s] += records
        boxes[s].append(int(element))


def _top_up(labels: Labels, places: Codes, counts: Ints, members: Ints, least: int, side: Ints) -> None:
    size = np.bincount(side, weights=counts[members], minlength=2).astype(np.int64)
    s = 0 if size[0] < size[1] else 1
    if size[s] >= least:
        return
    others = np.flatnonzero(side != s)
    off = grown(labels, places, [int(e) for e in members[side == s]], members[others])
    for m in others[np.argsort(off, kind="stable")]:
        records = int(counts[members[m]])
        if size[s] < least and size[1 - s] - records >= least:
            side[m] = s
            size[s] += records
            size[1 - s] -= records
