"""Hierarchies as files: CSV in ARX's form (`value;level1;…;*`) and YAML trees.

CSV: the delimiter is found out among `; , tab |`; a row whose first cell is empty and unquoted is the
missing value, `""` is the empty text. YAML: nested mappings with lists of values at the end; every
leaf is text as written (`no`, `1`, `2020-01-01` stay what they are), a plain `null` or `~` is the
missing value, an only key on top is the root (else `*` is), and values that stand less deep than
others are repeated downwards. A tree groups values by family, so it may list them in another order.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sfumato.errors import HierarchyError
from sfumato.hierarchy.check import assemble
from sfumato.hierarchy.core import Hierarchy, Label
from sfumato.hierarchy.domain import Labels
from sfumato.hierarchy.tree import from_text, planted

DELIMITERS = ";,\t|"
SAMPLE = 1000
TREES = (".yaml", ".yml")


def read(path: Path, column: str) -> Hierarchy:
    """A hierarchy from a file, checked; trees are known by their ending."""
    return assemble(column, read_paths(path), str(path))


def read_paths(path: Path) -> list[Labels]:
    """The rows of a file as they stand there, from the value to the root."""
    return read_yaml(path) if path.suffix.lower() in TREES else read_csv(path)


def read_csv(path: Path) -> list[Labels]:
    """The rows of a CSV hierarchy."""
    text = content(path)
    delimiter = delimiter_of(text)
    found = list(rows(text, delimiter, str(path)))
    if not found:
        raise HierarchyError(f"{path} holds no rows.", "Write one row for each value: value;level1;…;*")
    widths = Counter(len(row) for _, row in found)
    width = widths.most_common(1)[0][0]
    for line, row in found:
        if len(row) != width:
            raise HierarchyError(f"{path}, line {line}: {len(row)} cells where most rows have {width} "
                                 f"(delimiter {delimiter!r}).", "Give every row as many cells; quote labels "
                                 "that contain the delimiter.")
        if row[0] is not None and "" in row[1:]:
            raise HierarchyError(f"{path}, line {line}: the label of level {row.index('', 1)} is empty.",
                                 "Give every value a label at every level.")
    return [row for _, row in found]


def rows(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[Label]]]:
    """Each row with the number of its first line; blank lines are passed over."""
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 0
    try:
        for row in reader:
            first = lines[line]
            line += 1
            if first.startswith(delimiter):
                yield line, [None, *row[1:]]
            elif row and first.strip():
                yield line, list(row)
            line = reader.line_num
    except csv.Error as fault:
        raise HierarchyError(f"{source}, line {line + 1}: not well-formed CSV ({fault}).",
                             'Double the quotes inside a quoted label: "say ""so""".') from fault


def delimiter_of(text: str) -> str:
    """The delimiter under which most rows are equally wide and end in the same root."""
    sample = "".join(line for line, _ in zip(io.StringIO(text, newline=""), range(SAMPLE), strict=False))

    def agreement(delimiter: str) -> int:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        ends = Counter((len(row), row[-1]) for row in reader if len(row) > 1)
        return max(ends.values(), default=0)

    try:
        return max(DELIMITERS, key=agreement)
    except csv.Error:  # `rows` says where
        return DELIMITERS[0]


def read_yaml(path: Path) -> list[Labels]:
    """The rows of a YAML tree."""
    return from_text(content(path), str(path))


def content(path: Path) -> str:
    """A file's text: UTF-8, with or without byte order mark."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        raise HierarchyError(f"The hierarchy file {path} cannot be read: {fault.strerror}.",
                             "Paths start at the folder of the recipe.") from fault
    except UnicodeDecodeError as fault:
        raise HierarchyError(f"{path} is not UTF-8 text: byte {fault.object[fault.start]:#04x} at position "
                             f"{fault.start:,}.", "Save it as UTF-8.") from fault
    if "\0" in text:
        raise HierarchyError(f"{path} contains NUL bytes, so it is not UTF-8 text.", "Save it as UTF-8.")
    return text


def write_csv(hierarchy: Hierarchy, path: Path) -> None:
    """Write `value;level1;…;root`, one line a value."""
    lines = (";".join(map(cell, labels)) + "\n" for labels in hierarchy.paths)
    path.write_text("".join(lines), encoding="utf-8", newline="")


def cell(label: Label) -> str:
    """A label as a cell: nothing for the missing value, quoted where it needs to be."""
    if label is None:
        return ""
    plain = label and label == label.strip() and not any(c in label for c in DELIMITERS + '"\r\n\ufeff')
    return label if plain else '"' + label.replace('"', '""') + '"'


def write_yaml(hierarchy: Hierarchy, path: Path) -> None:
    """Write the tree: the root on top, values as lists at the end."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump(planted(hierarchy), Dumper=dumper, allow_unicode=True, sort_keys=False,
                     default_flow_style=False)
    path.write_text(text, encoding="utf-8", newline="")
