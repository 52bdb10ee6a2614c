"""What the tests of methods that recode locally share: whole cases, and what a class must be."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
from tests.properties.cases import SETS, Case, promises

from sfumato.errors import InfeasibleError
from sfumato.frequency import Cells, FrequencySet
from sfumato.methods.base import Method, Problem
from sfumato.recoding import SUPPRESSED, Regrouping


def whole(case: Case) -> FrequencySet:
    """The case's frequency set with its records counted by all sensitive values together."""
    frequency = case.frequency
    coded = [tuple(h.code_of[v] for h, v in zip(frequency.hierarchies, r, strict=True)) for r in case.records]
    number = {tuple(codes): n for n, codes in enumerate(frequency.codes.tolist())}
    labels = [histogram.labels for histogram in frequency.sensitive.values()]
    values = [[one.index(v) for v in column] for one, column in zip(labels, (case.s, case.t), strict=True)]
    joint = Cells(np.array([number[c] for c in coded]), np.array(values).T, np.ones(len(coded), np.int64))
    return replace(frequency, joint=joint)


def dealt(frequency: FrequencySet, case: Case, found: Regrouping) -> list[int]:
    """Per record of the case its class: those of one cell are dealt out in the order of their portions."""
    cells = frequency.cells
    keys = [(int(t), *map(int, values)) for t, values in zip(cells.tuple_of, cells.values, strict=True)]
    waiting: dict[tuple[int, ...], list[int]] = {}
    if found.portions is None:
        for key, count in zip(keys, cells.counts, strict=True):
            waiting[key] = [int(found.class_of[key[0]])] * int(count)
    else:
        for cell, count, number in zip(found.portions.cell_of, found.portions.frequency.counts,
                                       found.class_of, strict=True):
            waiting.setdefault(keys[cell], []).extend([int(number)] * int(count))
    joint = frequency.joint
    assert joint is not None
    numbers = [waiting[int(t), *map(int, values)].pop()
               for t, values in zip(joint.tuple_of, joint.values, strict=True)]
    assert not any(waiting.values())
    return numbers


def keeps_its_promises(method: Method, case: Case, seed: int, affordable: float = 0.0) -> None:
    """Every class satisfies what the oracles ask, and its labels are true of its records, told apart."""
    rng = random.Random(seed)
    chosen = [promises(case, rng)[name] for name in rng.choice(SETS)]
    frequency, n = whole(case), len(case.records)
    problem = Problem(frequency, tuple(one for one, _ in chosen), affordable, np.array(case.weights))
    everyone = list(range(n))
    try:
        found = method.solve(problem, np.random.default_rng(seed))
    except InfeasibleError:
        assert not all(judge(everyone, n) for _, judge in chosen)
        return
    assert isinstance(found, Regrouping)
    classes = dealt(frequency, case, found)
    suppressed = [m for m in everyone if classes[m] == SUPPRESSED]
    assert len(suppressed) <= problem.affordable and len(suppressed) == found.suppressed(frequency)
    texts = [found.labelling(frequency, j).texts for j in range(frequency.n_quasi)]
    rows = Counter(zip(*texts, strict=True))
    assert set(rows.values()) <= {1} and set(classes) - {SUPPRESSED} == set(range(found.n_classes))
    for number in range(found.n_classes):
        members = [m for m in everyone if classes[m] == number]
        assert all(judge(members, n) for _, judge in chosen)
        for j in range(frequency.n_quasi):
            covers(frequency, found, j, number, {case.records[m][j] for m in members})


def covers(frequency: FrequencySet, found: Regrouping, j: int, number: int, values: set[str | None]) -> None:
    """The label stands for all of a class's values; it shows the only one, and missing meets only `*`."""
    hierarchy, labelling = frequency.hierarchies[j], found.labelling(frequency, j)
    codes = [hierarchy.code_of[value] for value in values]
    for code in codes:
        stands = labelling.under(np.eye(hierarchy.n_values)[code])[number]
        assert stands == 1
    level, node = found.levels[number, j], found.nodes[number, j]
    assert all(hierarchy.nodes[level][code] == node for code in codes)
    text = labelling.texts[number]
    if len(values) == 1:
        assert text == next(iter(values))
    elif None in values:
        assert text == "*"
