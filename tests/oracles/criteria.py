"""The criteria again, by plain loops over records: (class, sensitive value) pairs, None for missing.

Nothing here is shared with the package. Every function answers {class: measured value}; `earth_mover`
solves the transport problem itself, by its definition, for any distance between values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

Record = tuple[str, str | None]
Answer = dict[str, float]
Shares = dict[str | None, Fraction]
Distance = Callable[[str | None, str | None], Fraction]
Way = list[tuple[str | None, str | None]]


def classes_of(records: list[Record]) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for name, value in records:
        found.setdefault(name, []).append(value)
    return found


def shares(values: list[str | None]) -> Shares:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def per_class(records: list[Record], one: Callable[[list[str | None]], float]) -> Answer:
    return {name: one(values) for name, values in classes_of(records).items()}


def sizes(records: list[Record]) -> Answer:
    return per_class(records, len)


def distinct(records: list[Record]) -> Answer:
    return per_class(records, lambda values: len(set(values)))


def linked(records: list[Record], whole: list[str | None], d: int, size: int) -> Answer:
    """Every other class of so many drawn values, written out: is the class left with d common values?"""
    p = shares(whole)
    drawn = [(set(values), math.prod((p[v] for v in values), start=Fraction(1)))
             for values in product(p, repeat=size)]

    def one(values: list[str | None]) -> float:
        return float(min(sum((weight for others, weight in drawn
                              if len((others & set(values)) - {own}) + 1 >= d), Fraction(0))
                         for own in set(values)))

    return per_class(records, one)


def entropy(records: list[Record]) -> Answer:
    def one(values: list[str | None]) -> float:
        return sum(-float(share) * math.log(share) for share in shares(values).values())
    return per_class(records, one)


def recursive_holds(records: list[Record], c: Fraction, least: int) -> dict[str, bool]:
    def one(values: list[str | None]) -> bool:
        r = sorted(Counter(values).values(), reverse=True)
        return len(r) >= least and r[0] < c * sum(r[least - 1:])
    return per_class(records, one)


def highest_share(records: list[Record], protected: set[str | None]) -> Answer:
    def one(values: list[str | None]) -> float:
        return max((float(share) for value, share in shares(values).items() if value in protected), default=0)
    return per_class(records, one)


def beta_holds(records: list[Record], whole: list[str | None], beta: Fraction,
               enhanced: bool) -> dict[str, bool]:
    p = shares(whole)

    def one(values: list[str | None]) -> bool:
        for value, q in shares(values).items():
            bound = min(float(beta), -math.log(p[value])) if enhanced else float(beta)
            if q > p[value] and float((q - p[value]) / p[value]) > bound + 1e-12:
                return False
        return True
    return per_class(records, one)


def largest_gain(records: list[Record], whole: list[str | None]) -> Answer:
    p = shares(whole)

    def one(values: list[str | None]) -> float:
        return float(max((q - p[value]) / p[value] for value, q in shares(values).items()))
    return per_class(records, one)


def delta(records: list[Record], whole: list[str | None]) -> Answer:
    p = shares(whole)

    def one(values: list[str | None]) -> float:
        q = shares(values)
        if set(q) != set(p):
            return math.inf
        return max(abs(math.log(q[value] / p[value])) for value in p)
    return per_class(records, one)


def closeness(records: list[Record], whole: list[str | None], distance: Distance) -> Answer:
    return per_class(records, lambda values: float(earth_mover(shares(values), shares(whole), distance)))


def ordered_formula(records: list[Record], whole: list[str | None]) -> Answer:
    """The paper's formula; first, the missing surplus or deficit is exchanged as the whole table is mixed."""
    p = shares(whole)
    order = sorted(value for value in p if value is not None)

    def one(values: list[str | None]) -> float:
        q = shares(values)
        stay_q, stay_p = 1 - q.get(None, Fraction(0)), 1 - p.get(None, Fraction(0))
        moved, running = abs(stay_q - stay_p), Fraction(0)
        for value in order:
            running += q.get(value, Fraction(0)) - p[value] / stay_p * stay_q
            moved += abs(running) / max(len(order) - 1, 1)
        return min(float(moved), 1.0)
    return per_class(records, one)


def hierarchical_formula(records: list[Record], whole: list[str | None],
                         path: Callable[[str | None], tuple[str | None, ...]]) -> Answer:
    """Li et al.: the sum of height(N) / H · min(surpluses, deficits of its children) over all nodes N."""
    p = shares(whole)
    height = len(path(whole[0])) - 1

    def one(values: list[str | None]) -> float:
        q, cost = shares(values), Fraction(0)
        for level in range(1, height + 1):
            extra: dict[tuple[str | None, ...], dict[tuple[str | None, ...], Fraction]] = {}
            for value in p:
                up = path(value)
                children = extra.setdefault(up[level:], {})
                children[up[level - 1:]] = (children.get(up[level - 1:], Fraction(0))
                                            + q.get(value, Fraction(0)) - p[value])
            for children in extra.values():
                surplus = sum(e for e in children.values() if e > 0)
                deficit = sum(-e for e in children.values() if e < 0)
                cost += Fraction(level, height) * min(surplus, deficit)
        return float(cost)
    return per_class(records, one)


def earth_mover(source: Shares, target: Shares, distance: Distance) -> Fraction:
    """The least cost of turning one distribution into the other: cheapest augmenting paths, exactly."""
    left = {value: share for value, share in source.items() if share}
    right = {value: share for value, share in target.items() if share}
    flow: dict[tuple[str | None, str | None], Fraction] = {}
    while any(left.values()):
        path = cheapest_path(left, right, flow, set(source), set(target), distance)
        forward = path[::2]  # source → target edges; the ones between give flow back
        room = min([left[path[0][0]], right[path[-1][1]], *(flow[edge] for edge in path[1::2])])
        left[path[0][0]] -= room
        right[path[-1][1]] -= room
        for edge in forward:
            flow[edge] = flow.get(edge, Fraction(0)) + room
        for edge in path[1::2]:
            flow[edge] -= room
    return sum((share * distance(a, b) for (a, b), share in flow.items()), Fraction(0))


def cheapest_path(left: Shares, right: Shares, flow: dict[tuple[str | None, str | None], Fraction],
                  sources: set[str | None], targets: set[str | None],
                  distance: Distance) -> Way:
    """Bellman and Ford: edges (source, target), alternately used forwards and backwards."""
    at_source = {a: (Fraction(0), []) for a in sources if left.get(a)}
    at_target: dict[str | None, tuple[Fraction, Way]] = {}
    changed = True
    while changed:
        changed = False
        for a, (cost, way) in list(at_source.items()):
            for b in targets:
                reached = cost + distance(a, b)
                if b not in at_target or reached < at_target[b][0]:
                    at_target[b] = (reached, [*way, (a, b)])
                    changed = True
        for b, (cost, way) in list(at_target.items()):
            for a in sources:
                if flow.get((a, b)) and (a not in at_source or cost - distance(a, b) < at_source[a][0]):
                    at_source[a] = (cost - distance(a, b), [*way, (a, b)])
                    changed = True
    return min((at_target[b] for b in targets if right.get(b)), key=lambda found: found[0])[1]
