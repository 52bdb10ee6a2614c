"""What makes a hierarchy: it covers the column's values, its levels are nested, it has one root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfumato.errors import HierarchyError
from sfumato.hierarchy.core import ROOT, Hierarchy, Label, with_missing
from sfumato.hierarchy.domain import Labels, counted, listed, number, quoted

MOST = 5


def assemble(column: str, paths: Iterable[Labels], source: str, missing: bool = False) -> Hierarchy:
    """A checked hierarchy from its paths.

    The missing value, where the column or the paths have it, gets a branch of its own under the root
    `*`, whatever its labels were; where the root is another word, `*` is put on top of it.
    """
    every = [tuple(path) for path in paths]
    real = list(dict.fromkeys(path for path in every if path[0] is not None))
    check_paths(real, source)
    if not missing and all(path[0] is not None for path in every):
        return Hierarchy(column, tuple(real))
    if real and real[0][-1] != ROOT:
        real = [(*path, ROOT) for path in real]
    levels = max((len(path) for path in real or every), default=2)
    return Hierarchy(column, with_missing(real, levels))


def check(hierarchy: Hierarchy, values: Iterable[Label] = (), source: str = "") -> None:
    """Refuse a hierarchy that is not nested, has no single root, or lacks some of the values."""
    source = source or f"The hierarchy of column {hierarchy.column!r}"
    if not hierarchy.paths:
        raise HierarchyError(f"{source} holds no values.", "Give it at least one.")
    check_paths([path for path in hierarchy.paths if path[0] is not None], source)
    branch = with_missing((), hierarchy.n_levels)[0]
    if any(path[0] is None and path != branch for path in hierarchy.paths):
        raise HierarchyError(f"{source} joins the missing value with real ones.",
                             f"Keep it missing at every level below the root {ROOT!r}.")
    check_root(hierarchy.paths, source)
    check_total(hierarchy, values, source)


def check_paths(paths: Sequence[Labels], source: str) -> None:
    """Refuse paths of real values that are not a chain of partitions with one root."""
    if not paths:
        return
    check_width(paths, source)
    check_labels(paths, source)
    check_values(paths, source)
    check_nested(paths, source)
    check_root(paths, source)


def check_width(paths: Sequence[Labels], source: str) -> None:
    """Every value has a label at each of the levels, of which there are two at least."""
    width = len(paths[0])
    odd = next((path for path in paths if len(path) != width), None)
    if odd is not None:
        raise HierarchyError(f"{source} gives {quoted(paths[0][0])} {width} levels and "
                             f"{quoted(odd[0])} {len(odd)}.", "Give every value as many.")
    if width < 2:
        raise HierarchyError(f"{source} holds values without any level above them.",
                             f"Add a last level that holds {ROOT!r} for every value.")


def check_labels(paths: Sequence[Labels], source: str) -> None:
    """No real value is labelled as missing."""
    gaps = [path[0] for path in paths if None in path]
    if gaps:
        raise HierarchyError(f"{source} leaves labels out for {counted(len(gaps), 'value')}: "
                             f"{listed(gaps, MOST)}.", "Give every value a label at every level.")


def check_values(paths: Sequence[Labels], source: str) -> None:
    """Every value stands once."""
    if len({path[0] for path in paths}) == len(paths):
        return
    first: dict[Label, Labels] = {}
    twice = [path for path in paths if first.setdefault(path[0], path) != path]
    value = twice[0][0]
    n_twice = len({path[0] for path in twice})
    raise HierarchyError(f"{source} places {counted(n_twice, 'value')} twice; the first is {quoted(value)}, "
                         f"under {way(first[value])} and under {way(twice[0])}.",
                         "Keep one place for each value.")


def check_nested(paths: Sequence[Labels], source: str) -> None:
    """Each label has one label above it."""
    columns = list(zip(*paths, strict=True))
    for level in range(1, len(columns) - 1):
        pairs = dict.fromkeys(zip(columns[level], columns[level + 1], strict=True))
        if len(pairs) == len(set(columns[level])):
            continue
        first: dict[Label, Label] = {}
        split = [(label, parent) for label, parent in pairs if first.setdefault(label, parent) != parent]
        label, parent = split[0]
        raise HierarchyError(f"{source} is not nested: at level {level} {quoted(label)} stands under "
                             f"{quoted(first[label])} and under {quoted(parent)} "
                             f"({counted(len({name for name, _ in split}), 'such label')}).",
                             "Give a label one parent, or another name under each.")


def check_root(paths: Sequence[Labels], source: str) -> None:
    """All values meet in one label."""
    roots = list(dict.fromkeys(path[-1] for path in paths))
    if len(roots) == 1:
        return
    header = len(roots) == 2 and paths[0][-1] != paths[1][-1] == paths[-1][-1] and len(paths) > 2
    raise HierarchyError(f"{source} has {len(roots):,} roots where one is needed: {listed(roots, MOST)}.",
                         "If its first row is a header, remove it." if header else
                         f"Add a last level that holds {ROOT!r} for every value.")


def check_total(hierarchy: Hierarchy, values: Iterable[Label], source: str) -> None:
    """Every value of the column is in the hierarchy."""
    lacking = [value for value in values if value not in hierarchy.code_of]
    if lacking:
        raise HierarchyError(f"{source} lacks {counted(len(lacking), 'value')} "
                             f"of column {hierarchy.column!r}: {listed(lacking, MOST)}.",
                             remedy_for(lacking, hierarchy))


def remedy_for(lacking: Sequence[Label], hierarchy: Hierarchy) -> str:
    """Add what is lacking; or write alike what differs in blanks, case or the form of a number only."""
    known = {bare(value): value for value in hierarchy.values}
    for value in lacking:
        if twin := known.get(bare(value)):
            return f"Write values alike: the table has {quoted(value)}, the hierarchy {quoted(twin)}."
    return "Add them, or name them under `missing` in the recipe if they mean that a value is missing."


def bare(value: Label) -> object:
    """A value without what tells mere spellings apart."""
    if value is None:
        return None
    parsed = number(value)
    return value.strip().casefold() if parsed is None else parsed


def way(path: Labels) -> str:
    """The labels above a value, as `a > b > *`."""
    return " > ".join(quoted(label) for label in path[1:])
