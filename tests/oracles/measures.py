"""Random tables with their frequency sets and recodings, and plain loops for every measure."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.classes import Histogram
from sfumato.frequency import FrequencySet
from sfumato.hierarchy.core import ROOT, Hierarchy, Label, with_missing
from sfumato.recoding import Regrouping

Row = tuple[Label, ...]


@dataclass(frozen=True)
class Job:
    """A table row by row, what became of each row, and the same as sfumato's types."""

    rows: list[Row]  # quasi-identifiers
    sensitive: dict[str, list[Label]]
    cells: list[tuple[tuple[int, Label], ...] | None]  # per row: (level, label) per column; None: suppressed
    hierarchies: tuple[Hierarchy, ...]
    frequency: FrequencySet
    regrouping: Regrouping

    @property
    def labels(self) -> list[Row | None]:
        return [cell and tuple(label for _, label in cell) for cell in self.cells]

    @property
    def kept(self) -> list[int]:
        return [n for n, cell in enumerate(self.cells) if cell is not None]


def hierarchy(column: str, values: list[str], missing: bool, rng: random.Random) -> Hierarchy:
    """Merge random neighbours level by level up to the root."""
    levels = [[f"{value}" for value in values]]
    for level in range(1, rng.randint(1, 3)):
        most = max(1, len(values) // (level + 1))
        groups = {label: rng.randint(0, most) for label in dict.fromkeys(levels[-1])}
        levels.append([f"{column}{level}.{groups[label]}" for label in levels[-1]])
    levels.append([ROOT] * len(values))
    paths = tuple(zip(*levels, strict=True))
    return Hierarchy(column, with_missing(paths, len(levels)) if missing else paths)


def frequency_set(hierarchies: tuple[Hierarchy, ...], rows: list[Row],
                  sensitive: dict[str, list[Label]]) -> FrequencySet:
    """Count rows into tuples, and their sensitive values."""
    tuples = list(dict.fromkeys(rows))
    place = {row: n for n, row in enumerate(tuples)}
    counts = Counter(rows)
    codes = [[h.code_of[value] for h, value in zip(hierarchies, row, strict=True)] for row in tuples]
    histograms = {}
    for name, values in sensitive.items():
        labels = (*sorted({v for v in values if v is not None}), *([None] if None in values else []))
        code = {label: n for n, label in enumerate(labels)}
        triples = sorted(Counter((place[row], code[value])
                                 for row, value in zip(rows, values, strict=True)).items())
        whole = Counter(values)
        histograms[name] = Histogram(
            np.array([t for (t, _), _ in triples], dtype=np.int64),
            np.array([v for (_, v), _ in triples], dtype=np.int64),
            np.array([c for _, c in triples], dtype=np.int64),
            labels, np.array([whole[label] for label in labels], dtype=np.int64))
    return FrequencySet(hierarchies, np.array(codes, dtype=np.int32).reshape(len(tuples), len(hierarchies)),
                        np.array([counts[t] for t in tuples], dtype=np.int64), histograms)


def regrouping_of(frequency: FrequencySet, groups: list[list[int]], levels: list[list[int]]) -> Regrouping:
    """Classes made of groups of tuples at these levels; tuples in no group are suppressed."""
    class_of = np.full(frequency.n_tuples, -1, dtype=np.int64)
    nodes = []
    for n, (group, level) in enumerate(zip(groups, levels, strict=True)):
        class_of[group] = n
        nodes.append([int(h.nodes[at, frequency.codes[group[0], column]])
                      for column, (h, at) in enumerate(zip(frequency.hierarchies, level, strict=True))])
    shape = (len(groups), frequency.n_quasi)
    return Regrouping(class_of, np.array(levels, dtype=np.int32).reshape(shape),
                      np.array(nodes, dtype=np.int32).reshape(shape))


def full_domain(frequency: FrequencySet, levels: list[int], keep: Callable[[int], bool]) -> Regrouping:
    """Everybody at one node; groups whose size `keep` refuses are suppressed."""
    groups = defaultdict(list)
    for n, codes in enumerate(frequency.codes):
        key = tuple(h.nodes[at, c] for h, at, c in zip(frequency.hierarchies, levels, codes, strict=True))
        groups[key].append(n)
    kept = [g for g in groups.values() if keep(int(frequency.counts[g].sum()))]
    return regrouping_of(frequency, kept, [levels] * len(kept))


def local(frequency: FrequencySet, rng: random.Random) -> Regrouping:
    """Random groups, each at the lowest common labels or above; some groups are suppressed."""
    groups = defaultdict(list)
    for n in range(frequency.n_tuples):
        groups[rng.randint(0, max(1, frequency.n_tuples // 2))].append(n)
    kept = [g for g in groups.values() if rng.random() < 0.8]
    levels = []
    for group in kept:
        level = []
        for column, h in enumerate(frequency.hierarchies):
            lowest = next(at for at in range(h.n_levels)
                          if len({int(h.nodes[at, c]) for c in frequency.codes[group, column]}) == 1)
            level.append(rng.randint(lowest, h.n_levels - 1) if rng.random() < 0.3 else lowest)
        levels.append(level)
    return regrouping_of(frequency, kept, levels)


def job(seed: int, *, n_rows: int, n_quasi: int, n_values: int, kind: str) -> Job:
    """A random job: kind is full, local, nothing (all suppressed) or all (nothing suppressed)."""
    rng = random.Random(seed)
    hierarchies, columns = [], []
    for column in range(n_quasi):
        values = [f"v{n}" for n in range(rng.randint(1, n_values))]
        missing = rng.random() < 0.4
        hierarchies.append(hierarchy(f"q{column}", values, missing, rng))
        pool = values + [None] * missing
        columns.append([rng.choice(pool[:rng.randint(1, len(pool))]) for _ in range(n_rows)])
    rows = list(zip(*columns, strict=True))
    sensitive = {name: [rng.choice(["a", "b", "c", None]) for _ in range(n_rows)] for name in ("s", "u")}
    frequency = frequency_set(tuple(hierarchies), rows, sensitive)
    least = {"full": rng.randint(1, 4), "all": 1, "nothing": n_rows + 1}.get(kind, 0)
    node = [rng.randint(0, h.n_levels - 1) for h in hierarchies]
    regrouping = local(frequency, rng) if kind == "local" else full_domain(frequency, node, least.__le__)
    cells = cells_of(rows, frequency, regrouping)
    return Job(rows, sensitive, cells, tuple(hierarchies), frequency, regrouping)


def cells_of(rows: list[Row], frequency: FrequencySet,
             regrouping: Regrouping) -> list[tuple[tuple[int, Label], ...] | None]:
    """What is released of each row."""
    codes = {tuple(t): n for n, t in enumerate(frequency.codes.tolist())}
    cells: list[tuple[tuple[int, Label], ...] | None] = []
    for row in rows:
        place = codes[tuple(h.code_of[v] for h, v in zip(frequency.hierarchies, row, strict=True))]
        c = int(regrouping.class_of[place])
        cells.append(None if c < 0 else tuple(
            (int(level), h.paths[h.code_of[value]][level])
            for h, value, level in zip(frequency.hierarchies, row, regrouping.levels[c], strict=True)))
    return cells


def risks(rows: list[Row]) -> list[float]:
    """Each record's chance to be picked right."""
    return [1 / sum(other == row for other in rows) for row in rows]


def contribution(rows: list[Row], column: int) -> float | None:
    """Unique records that are not unique without the column."""
    unique = [row for row in rows if rows.count(row) == 1]
    without = [row[:column] + row[column + 1:] for row in rows]
    lost = [row for row in unique if without.count(row[:column] + row[column + 1:]) > 1]
    return len(lost) / len(unique) if unique else None


def separation(rows: list[Row]) -> float | None:
    """Pairs that differ."""
    pairs = [(i, j) for i in range(len(rows)) for j in range(i)]
    return sum(rows[i] != rows[j] for i, j in pairs) / len(pairs) if pairs else None


def leaves(h: Hierarchy, level: int, label: Label) -> list[Label]:
    """The values under a label."""
    return [path[0] for path in h.paths if path[level] == label]


def ncp(job: Job, column: int) -> float:
    """Mean certainty penalty of one column."""
    h, total = job.hierarchies[column], 0.0
    for cell in job.cells:
        if cell is None:
            total += h.n_values > 1
        elif h.n_values > 1:
            total += (len(leaves(h, *cell[column])) - 1) / (h.n_values - 1)
    return total / len(job.rows)


def kept_entropy(job: Job) -> float | None:
    """Each cell climbs through the levels present, losing bits among the cells that climb as far."""
    lost = whole = 0.0
    for column, h in enumerate(job.hierarchies):
        values = [row[column] for row in job.rows]
        level_of = [h.n_levels - 1 if cell is None else cell[column][0] for cell in job.cells]
        previous = 0
        for level in sorted(set(level_of)):
            climbing = [h.paths[h.code_of[v]] for v, at in zip(values, level_of, strict=True) if at >= level]
            low = Counter(path[previous] for path in climbing)
            high = Counter(path[level] for path in climbing)
            lost += sum(math.log2(high[path[level]] / low[path[previous]]) for path in climbing)
            previous = level
        counts = Counter(values)
        whole += sum(math.log2(len(values) / counts[v]) for v in values)
    return 1 - lost / whole if whole > 0 else None


def distortion(job: Job) -> float:
    """BinJubier 2024, Eq 2.3: values under the lowest common ancestor / all values, 0 for the value."""
    total = 0.0
    for cell in job.cells:
        for n, h in enumerate(job.hierarchies):
            level, label = (h.n_levels - 1, ROOT) if cell is None else cell[n]
            total += len(leaves(h, level, label)) / h.n_values if level else 0
    return total / (len(job.rows) * (len(job.hierarchies) + len(job.sensitive)))


def cramer(left: list[Label], right: list[Label]) -> float | None:
    """Bergsma's V, cell by cell over the full contingency table."""
    n = len(left)
    if n < 2:
        return None
    rows, columns = sorted(set(left), key=str), sorted(set(right), key=str)
    chi = 0.0
    for a in rows:
        for b in columns:
            expected = left.count(a) * right.count(b) / n
            seen = sum(x == a and y == b for x, y in zip(left, right, strict=True))
            chi += (seen - expected) ** 2 / expected
    r, c = len(rows), len(columns)
    phi = max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1))
    reach = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(phi / reach)) if reach > 1e-12 and phi > 1e-12 else 0.0


def answer(job: Job, wanted: dict[int, set[Label]]) -> int:
    """The private table's answer to a counting query; sensitive columns come after the others."""
    return sum(all(value in wanted.get(column, {value}) for column, value in enumerate(row))
               for row in zip(*zip(*job.rows, strict=True), *job.sensitive.values(), strict=True))


def guess(job: Job, wanted: dict[int, set[Label]]) -> float:
    """The release's answer to a counting query: sensitive values are released as they are."""
    total, own = 0.0, list(zip(*job.sensitive.values(), strict=True))
    for n, cell in enumerate(job.cells):
        share = 1.0
        for column, values in wanted.items():
            if column >= len(job.hierarchies):
                share *= own[n][column - len(job.hierarchies)] in values
                continue
            h = job.hierarchies[column]
            under = list(h.values) if cell is None else leaves(h, *cell[column])
            share *= sum(value in values for value in under) / len(under)
        total += share
    return total


def starred(job: Job, columns: list[int]) -> float | None:
    """Share of cells that show nothing."""
    cells = ["*" if cell is None else cell[column][1] for cell in job.cells for column in columns]
    return sum(cell == "*" for cell in cells) / len(cells) if cells else None
