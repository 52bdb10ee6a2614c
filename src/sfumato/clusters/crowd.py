"""Clusters that records join one after the other, each with a centre that moves as they come."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.classes import Bools, Floats, Ints
from sfumato.clusters.cuts import compiled_pays
from sfumato.clusters.space import MISSING, Space

BATCH = 256  # records whose nearest clusters are sought at once
NEAREST = 12  # clusters kept for each: enough that some was not touched meanwhile


class Crowd:
    """Some clusters of the records of a space, with their centres."""

    def __init__(self, space: Space, n_clusters: int) -> None:
        self.space, self.n_clusters = space, n_clusters
        n, numbers, others = len(space.points), len(space.numeric), len(space.other)
        self.centres = np.full((numbers, n_clusters), MISSING)
        self.sums = np.zeros((numbers, n_clusters))
        self.reals = np.zeros((numbers, n_clusters), dtype=np.int64)  # records that have a number
        self.modes = np.full((others, n_clusters), -1, dtype=np.int32)
        self.tops = np.zeros((others, n_clusters), dtype=np.int64)  # records that have the mode
        self.sizes = np.zeros(n_clusters, dtype=np.int64)
        self.heads = np.full(n_clusters, -1, dtype=np.int64)  # the last record that joined
        self.following = np.full(n, -1, dtype=np.int64)  # per record: the one that joined before it
        self.cluster_of = np.full(n, -1, dtype=np.int64)
        self.touched: Bools = np.zeros(n_clusters, dtype=bool)

    def put(self, records: Ints, clusters: Ints) -> None:
        """Records join the clusters that are named."""
        if compiled_pays(len(self.space.points)):
            _kernels().add_all(records, clusters, self.space.points, self.space.codes, *self._state)
            return
        from sfumato.clusters.plain_centres import add

        for record, cluster in zip(records, clusters, strict=True):
            add(self, int(record), int(cluster))

    def join(self, records: Ints, limit: int = 0) -> int:
        """Each record in turn joins the nearest cluster that has fewer than `limit`; answers how many did."""
        if not compiled_pays(len(self.space.points)):
            from sfumato.clusters.plain_centres import join

            return join(self, records, limit)
        done = 0
        while done < len(records):
            among = np.flatnonzero(self.sizes < limit) if limit else np.arange(self.n_clusters)
            if not len(among):
                break
            done += self._batch(records[done:done + BATCH], among, limit)
        return done

    def distances(self, records: Ints) -> Floats:
        """Each record's distance from the centre of its own cluster."""
        clusters = self.cluster_of[records]
        if compiled_pays(len(self.space.points)):
            return np.asarray(_kernels().own(records, clusters, self.space.points, self.space.codes,
                                             *self._metric, self.centres, self.modes))
        from sfumato.clusters.plain_centres import apart

        found = [apart(self, int(r), np.array([c]))[0] for r, c in zip(records, clusters, strict=True)]
        return np.array(found)

    @property
    def _metric(self) -> tuple[Any, ...]:
        ladders = self.space.ladders
        return (self.space.numeric, self.space.other, ladders.nodes, ladders.first_node, ladders.widths,
                ladders.heights)

    @property
    def _state(self) -> tuple[Any, ...]:
        return (self.centres, self.modes, self.sums, self.reals, self.tops, self.sizes, self.heads,
                self.following, self.cluster_of)

    def _batch(self, records: Ints, among: Ints, limit: int) -> int:
        """The nearest clusters of some records, sought by all cores; then the records join in turn."""
        from sfumato.compiled import by_all_cores

        space, metric, kernels = self.space, self._metric, _kernels()
        centres, modes = self.centres[:, among], self.modes[:, among]
        found = np.empty((len(records), NEAREST), dtype=np.int64)
        keys = np.full((len(records), NEAREST), np.inf)

        def seek(part: slice) -> None:
            kernels.nearest(records[part], space.points, space.codes, centres, modes, *metric, found[part],
                            keys[part])

        by_all_cores(seek, len(records))
        return int(kernels.join_in_turn(records, found, keys, among, limit, space.points, space.codes,
                                        *metric, *self._state, self.touched))


def _kernels() -> Any:
    from sfumato.clusters import centre_kernels

    return centre_kernels
