"""The plain twins of the kernels of clusters with centres."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.classes import Floats, Ints
from sfumato.clusters.space import MISSING, Space

if TYPE_CHECKING:
    from sfumato.clusters.crowd import Crowd


def apart(crowd: Crowd, record: int, clusters: Ints) -> Floats:
    """As `centre_kernels.apart`, from several centres."""
    space, total = crowd.space, np.zeros(len(clusters))
    for j, weight in enumerate(space.numeric):
        total += weight * np.minimum(np.abs(space.points[record, j] - crowd.centres[j, clusters]), 1.0)
    for j, weight in enumerate(space.other):
        total += weight * risen(space, j, int(space.codes[record, j]), crowd.modes[j, clusters])
    return total


def risen(space: Space, column: int, value: int, others: Ints) -> Floats:
    """As `centre_kernels.risen`, for several other values."""
    ladders = space.ladders
    first, width, height = (int(one[column]) for one in (ladders.first_node, ladders.widths, ladders.heights))
    levels = ladders.nodes[first:first + width * height].reshape(height, width)
    meet = levels[:, others] == levels[:, [value]]
    return np.asarray(meet.argmax(axis=0) / (height - 1))


def join(crowd: Crowd, records: Ints, limit: int) -> int:
    """As `Crowd.join`: every record is compared with every cluster."""
    for n, record in enumerate(records):
        among = np.flatnonzero(crowd.sizes < limit) if limit else np.arange(crowd.n_clusters)
        if not len(among):
            return n
        add(crowd, int(record), int(among[np.argmin(apart(crowd, int(record), among))]))
    return len(records)


def add(crowd: Crowd, record: int, cluster: int) -> None:
    """As `centre_kernels.add`."""
    space = crowd.space
    crowd.cluster_of[record] = cluster
    crowd.following[record], crowd.heads[cluster] = crowd.heads[cluster], record
    crowd.sizes[cluster] += 1
    members = crowd.cluster_of == cluster
    for j in range(len(space.numeric)):
        if space.points[record, j] < MISSING:
            crowd.sums[j, cluster] += space.points[record, j]
            crowd.reals[j, cluster] += 1
        known = int(crowd.reals[j, cluster])
        crowd.centres[j, cluster] = (crowd.sums[j, cluster] / known
                                     if 2 * known >= crowd.sizes[cluster] else MISSING)
    for j in range(len(space.other)):
        value = int(space.codes[record, j])
        count = int((space.codes[members, j] == value).sum())
        if value == crowd.modes[j, cluster] or count > crowd.tops[j, cluster]:
            crowd.modes[j, cluster], crowd.tops[j, cluster] = value, count
