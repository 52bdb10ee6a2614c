"""The plain twins of the kernels of boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.classes import Bools, Floats, Ints

if TYPE_CHECKING:
    from sfumato.clusters.boxes import Boxes


def unions(boxes: Boxes, one: Ints, other: Ints) -> Floats:
    """As `box_kernels.unions`, for pairs of groups."""
    labels, total = boxes.labels, np.zeros(len(one))
    for j, kind in enumerate(labels.kinds):
        low = np.minimum(boxes.lows[j, one], boxes.lows[j, other]).astype(np.int64)
        high = np.maximum(boxes.highs[j, one], boxes.highs[j, other]).astype(np.int64)
        most = max(int(labels.widths[j]) - 1, 1)
        rooted = (high == labels.absent[j]) & (low != high)
        if kind == 0:
            loss = _of_nodes(boxes, j, low, high)
        elif kind == 1:
            loss = np.where(rooted, 1.0, (high - low) / most)
        else:
            rows = slice(int(labels.first_word[j]), int(labels.first_word[j + 1]))
            members = np.bitwise_count(boxes.words[rows][:, one] | boxes.words[rows][:, other]).sum(axis=0)
            loss = np.where(rooted, 1.0, (members.astype(np.int64) - 1) / most)
        total += labels.weights[j] * loss
    return total


def _of_nodes(boxes: Boxes, j: int, low: Ints, high: Ints) -> Floats:
    """The loss of the lowest node above each stretch."""
    labels, width = boxes.labels, int(boxes.labels.widths[j])
    end = labels.firsts[j + 1] if j + 1 < len(labels.firsts) else len(labels.nodes)
    nodes = labels.nodes[labels.firsts[j]:end].reshape(-1, width)
    losses = labels.losses[labels.firsts[j]:end].reshape(-1, width)
    level = (nodes[:, low] == nodes[:, high]).argmax(axis=0)
    return np.asarray(losses[level, low])


def closest(boxes: Boxes, wanted: Ints, most: int, alive: Bools, increase: bool) -> tuple[Ints, Floats]:
    """As `box_kernels.closest`."""
    n = boxes.n_groups
    found = np.full((len(wanted), most), -1, dtype=np.int64)
    keys = np.full((len(wanted), most), np.inf)
    for r, f in enumerate(wanted):
        others = (f + np.arange(1, n)) % n
        others = others[alive[others]]
        costs = cost(boxes, np.full(len(others), f), others, increase)
        best = np.argsort(costs, kind="stable")[:most]
        found[r, :len(best)], keys[r, :len(best)] = others[best], costs[best]
    return found, keys


def cost(boxes: Boxes, one: Ints, other: Ints, increase: bool) -> Floats:
    """As `box_kernels.cost`, for pairs of groups."""
    whole = (boxes.sizes[one] + boxes.sizes[other]) * unions(boxes, one, other)
    if not increase:
        return whole
    apart = boxes.sizes[one] * boxes.alone[one]
    return np.asarray(whole - apart - boxes.sizes[other] * boxes.alone[other])


def merge_in_turn(boxes: Boxes, wanted: Ints, least: int, increase: bool, alive: Bools, into: Ints) -> None:
    """As `Boxes.merge_in_turn`: every group is compared with every other."""
    for f in wanted:
        if not alive[f] or boxes.sizes[f] >= least:
            continue
        found, _ = closest(boxes, np.array([f]), 1, alive, increase)
        g = int(found[0, 0]) if found.shape[1] else -1
        if g < 0:
            break
        boxes.alone[g] = unions(boxes, np.array([f]), np.array([g]))[0]
        boxes.lows[:, g] = np.minimum(boxes.lows[:, f], boxes.lows[:, g])
        boxes.highs[:, g] = np.maximum(boxes.highs[:, f], boxes.highs[:, g])
        boxes.words[:, g] |= boxes.words[:, f]
        boxes.sizes[g] += boxes.sizes[f]
        alive[f], into[f] = False, g
