"""The best local recoding by looking at every partition of the records; labels and losses in plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracles.lattice import Judge, Label

Path = tuple[Label, ...]


def partitions(records: list[int]) -> Iterator[list[list[int]]]:
    """Every way to part the records into classes."""
    if not records:
        yield []
        return
    first, others = records[0], records[1:]
    for rest in partitions(others):
        for n, members in enumerate(rest):
            yield [*rest[:n], [first, *members], *rest[n + 1:]]
        yield [[first], *rest]


def penalty(paths: Sequence[Path], values: set[Label]) -> float:
    """(leaves - 1) / (D - 1) of the lowest node above the values of one column."""
    known = {path[0]: path for path in paths}
    for level in range(len(paths[0])):
        labels = {known[value][level] for value in values}
        if len(labels) == 1:
            under = sum(path[level] in labels for path in paths)
            return (under - 1) / max(len(paths) - 1, 1)
    raise AssertionError("a hierarchy ends in one root")


def span(paths: Sequence[Path], values: set[Label]) -> float:
    """The share of a column of numbers that the range of the values spans; with missing, all of it."""
    line = sorted(float(path[0]) for path in paths if path[0] is not None)
    if len(values) == 1:
        return 0.0
    if None in values:
        return 1.0
    at = [line.index(float(value)) for value in values if value is not None]
    return (max(at) - min(at)) / max(len(paths) - 1, 1)


def loss(records: Sequence[Path], columns: Sequence[Sequence[Path]], weights: Sequence[float],
         members: Sequence[int], ranged: bool = False) -> float:
    """What a class costs: the weighted mean penalty of its label, once a record."""
    total = 0.0
    for j, paths in enumerate(columns):
        values = {records[m][j] for m in members}
        total += weights[j] * (span(paths, values) if ranged else penalty(paths, values))
    return len(members) * total / sum(weights)


def cheapest(records: Sequence[Path], columns: Sequence[Sequence[Path]], weights: Sequence[float],
             judges: Sequence[Judge], ranged: bool = False) -> float | None:
    """The least mean loss of any partition whose classes all satisfy the judges; None where there is none."""
    n, best = len(records), None
    priced: dict[tuple[int, ...], float | None] = {}

    def price(members: list[int]) -> float | None:
        key = tuple(sorted(members))
        if key not in priced:
            good = all(judge(list(key), n) for judge in judges)
            priced[key] = loss(records, columns, weights, key, ranged) if good else None
        return priced[key]

    for classes in partitions(list(range(n))):
        prices = [price(members) for members in classes]
        known = [one for one in prices if one is not None]
        if len(known) == len(prices) and (best is None or sum(known) / n < best):
            best = sum(known) / n
    return best
