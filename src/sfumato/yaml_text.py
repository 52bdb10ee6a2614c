"""YAML without surprises: places of all values, no duplicate keys, and words that stay words.

Plain YAML 1.1 reads `no` as false, `12:30` as a number and `2024-01-01` as a date. Here a key is always
text, and a value is a number, true, false or null only where it is written as in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from sfumato.errors import Fault

Path = tuple[str | int, ...]
DEEPEST = 40  # levels of nesting
TAME = re.compile(r"\w[\w./-]*(?: [\w./-]+)*", re.ASCII)
ASTRAL = re.compile(r"(?<!\\)((?:\\\\)*)\\U([0-9A-F]{8})")
LONGEST_KEY = 120  # a longer key is written in YAML's explicit form

_TAG = "tag:yaml.org,2002:"
_PLAIN = {  # kind -> how it is written
    "null": re.compile(r"^(?:~|null|Null|NULL|)$"),
    "bool": re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    "int": re.compile(r"^[-+]?[0-9]{1,18}$"),
    "float": re.compile(r"^[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?"
                        r"|[0-9]+[eE][-+]?[0-9]+|\.inf|\.Inf|\.INF)$|^\.nan$|^\.NaN$|^\.NAN$"),
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes with the few plain kinds above."""

    yaml_implicit_resolvers: dict[str | None, Any] = {}  # noqa: RUF012


class _Dumper(yaml.SafeDumper):
    """Quotes whatever any reader, old or new, could take for something else than text."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True

    def text(self, value: str) -> yaml.ScalarNode:
        """Text bare where that is tame, else in double quotes with every oddity escaped."""
        style = None if TAME.fullmatch(value) else '"'
        return self.represent_scalar(_TAG + "str", value, style=style)


_Dumper.add_representer(str, _Dumper.text)

for _kind, _pattern in _PLAIN.items():
    _Loader.add_implicit_resolver(_TAG + _kind, _pattern, None)
    yaml.add_implicit_resolver(_TAG + _kind, _pattern, None, Loader=None, Dumper=_Dumper)


@dataclass
class Document:
    """A text as plain Python values, with the faults met and the line of every path."""

    data: Any = None
    faults: list[Fault] = field(default_factory=list)
    root: yaml.Node | None = None
    _known: dict[int, dict[str | int, tuple[yaml.Node, yaml.Node]]] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """The line of a path, or of the nearest thing around it."""
        node, line = self.root, self.root.start_mark.line + 1 if self.root else None
        for step in path:
            found = self._children(node).get(step)
            if found is None:
                break
            mark, node = found
            line = mark.start_mark.line + 1
        return line

    def _children(self, node: yaml.Node | None) -> dict[str | int, tuple[yaml.Node, yaml.Node]]:
        """Per step: the node that marks its place (the key, where it has one) and the node below it."""
        if id(node) not in self._known:
            steps: dict[str | int, tuple[yaml.Node, yaml.Node]] = {}
            if isinstance(node, yaml.MappingNode):
                steps = {key.value: (key, value) for key, value in reversed(node.value)
                         if isinstance(key, yaml.ScalarNode)}
            elif isinstance(node, yaml.SequenceNode):
                steps = {n: (item, item) for n, item in enumerate(node.value)}
            self._known[id(node)] = steps
        return self._known[id(node)]


def place(path: Path) -> str:
    """A path for people: columns.age.hierarchy, with quotes about names that need them."""
    steps = [str(step) if re.fullmatch(r"[\w -]+", str(step)) else repr(step) for step in path]
    return ".".join(steps) or "the whole"


def read(text: str, stays_text: Callable[[Path], bool]) -> Document:
    """Read one YAML document; scalars where `stays_text` are kept as they are written."""
    document = Document()
    try:
        document.root = yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        document.faults.append(Fault("the whole", "The text has a character that YAML does not allow: "
                                     f"{error.character!r}. Remove it.", line))
    except yaml.MarkedYAMLError as error:
        document.faults.append(_syntax_fault(error))
    if document.root is not None:
        document.data = _Builder(document, stays_text).build(document.root, ())
    return document


def _syntax_fault(error: yaml.MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    said = ", ".join(part for part in (error.context, error.problem) if part)
    return Fault("the whole", f"The text is not valid YAML ({said}). Mend the indentation, the brackets or "
                 "the quotes here.", mark.line + 1 if mark else None)


class _Builder:
    """Turns nodes into values and notes every fault on the way."""

    def __init__(self, document: Document, stays_text: Callable[[Path], bool]) -> None:
        self.document = document
        self.stays_text = stays_text
        self.seen: set[int] = set()

    def build(self, node: yaml.Node, path: Path) -> Any:
        if id(node) in self.seen or len(path) > DEEPEST:
            self.fault(node, path, "This repeats another part by a YAML alias, or is nested too deeply. "
                       "Write it out.")
            return None
        self.seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, n)) for n, item in enumerate(node.value)]
        return self.scalar(node, path)

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        built: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fault(key, path, "A key must be text, and this one is a list or a mapping.")
            elif key.value in first:
                self.fault(key, (*path, key.value), "This key stands twice (first in line "
                           f"{first[key.value]}). Keep one.")
            else:
                first[key.value] = key.start_mark.line + 1
                built[key.value] = self.build(value, (*path, key.value))
        return built

    def scalar(self, node: yaml.Node, path: Path) -> Any:
        kind, written = node.tag.removeprefix(_TAG), str(node.value)
        if kind != "str" and not (kind in _PLAIN and _PLAIN[kind].match(written)):
            self.fault(node, path, f"The tag {node.tag!r} is not known here. Leave it out.")
            return None
        if kind == "null" and (not written or not self.stays_text(path)):
            return None
        if kind == "str" or self.stays_text(path):
            return written
        if kind == "bool":
            return written.lower() == "true"
        return int(written) if kind == "int" else float(re.sub(r"\.(?=inf|nan)", "", written.lower()))

    def fault(self, node: yaml.Node, path: Path, what: str) -> None:
        self.document.faults.append(Fault(place(path), what, node.start_mark.line + 1))


def write(data: dict[str, Any]) -> str:
    """Write a mapping as YAML: one line for a plain value, for a mapping in a mapping, for an item."""
    lines: list[str] = []
    for key, value in data.items():
        if isinstance(value, dict) and any(isinstance(below, dict) for below in value.values()):
            lines += [f"{inline(key)}:", *(entry(*below) for below in value.items())]
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            lines += [f"{inline(key)}:", *(f"  - {inline(item)}" for item in value)]
        else:
            lines.append(entry(key, value, ""))
    return "\n".join(lines) + "\n"


def entry(key: str, value: Any, indent: str = "  ") -> str:
    """A key with its value on one line; on two where the key is very long."""
    written = inline(key)
    if len(written) > LONGEST_KEY:
        return f"{indent}? {written}\n{indent}: {inline(value)}"
    return f"{indent}{written}: {inline(value)}"


def inline(value: Any) -> str:
    """One value on one line, as it may stand inside brackets or braces."""
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**9,
                     default_flow_style=True)
    return ASTRAL.sub(_shown, str(text).removesuffix("...\n").strip())


def _shown(escaped: re.Match[str]) -> str:
    """A character beyond the first plane as itself; the writer escapes even those that can be seen."""
    character = chr(int(escaped[2], 16))
    return escaped[1] + character if character.isprintable() else escaped[0]
