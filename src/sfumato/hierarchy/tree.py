"""Trees: families of families, with the values as leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.errors import HierarchyError
from sfumato.hierarchy.core import ROOT, Hierarchy, Label
from sfumato.hierarchy.domain import Labels, quoted

Node = Any  # of PyYAML, which is imported late
NULL = "tag:yaml.org,2002:null"
BOOL = "tag:yaml.org,2002:bool"
MOST_LEVELS = 100
FORM = "Nest mappings by label, with a list of values at the end: {Europe: [France, Spain], Asia: [Japan]}."


@dataclass(frozen=True)
class Branch:
    """A label with what stands under it; a value has nothing under it."""

    label: Label
    under: tuple[Branch, ...] = ()


def from_text(text: str, source: str) -> list[Labels]:
    """The paths of a YAML tree; every leaf stays the text that was written."""
    return _paths(text, Walk(source))


def from_mapping(tree: Mapping[Any, Any] | Sequence[Any], source: str) -> list[Labels]:
    """The paths of a tree that a YAML reader has already made into mappings and lists."""
    import yaml

    return _paths(yaml.safe_dump(tree, sort_keys=False, allow_unicode=True), Walk(source, converted=True))


def planted(hierarchy: Hierarchy) -> dict[Label, Any]:
    """A hierarchy as nested mappings that end in lists: every level written out."""
    tree: dict[Label, Any] = {}
    for value, *parents in hierarchy.paths:
        if value is None and len(parents) > 1:
            tree.setdefault(parents[-1], {})[None] = None
            continue
        family = tree
        for label in reversed(parents[1:]):
            family = family.setdefault(label, {})
        family.setdefault(parents[0], []).append(value)
    return tree


def _paths(text: str, walk: Walk) -> list[Labels]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if deepest(yaml.parse(text, Loader=loader)) > MOST_LEVELS:
            raise HierarchyError(f"{walk.source} is nested more than {MOST_LEVELS} levels deep.",
                                 "Use fewer levels.")
        node: Node = yaml.compose(text, Loader=loader)
        if node is None or node.id == "scalar":
            raise HierarchyError(f"{walk.source} holds no tree.", FORM)
        top = walk.under(node)
        found = list(ways(top, () if len(top) == 1 and top[0].under else (ROOT,)))
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        place = f"{walk.source}, line {mark.line + 1}" if mark else walk.source
        raise HierarchyError(f"{place}: not well-formed YAML ({getattr(fault, 'problem', None) or fault}).",
                             "Quote labels that start with *, &, !, % or @.") from fault
    depth = max(map(len, found))
    return [(way[0],) * (depth - len(way)) + way for way in found]


def deepest(events: Iterable[Any]) -> int:
    """How deep the collections of a YAML document are nested, told before anything recurses."""
    from yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = most = 0
    for event in events:
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        most = max(most, depth)
        if most > MOST_LEVELS:
            break
    return most


def ways(branches: Sequence[Branch], above: tuple[Label, ...]) -> Iterator[tuple[Label, ...]]:
    """Every leaf's labels, from itself upwards."""
    for branch in branches:
        way = (branch.label, *above)
        if branch.under:
            yield from ways(branch.under, way)
        else:
            yield way


@dataclass
class Walk:
    """One walk over the nodes of a YAML document, each entered once."""

    source: str
    converted: bool = False  # the text was made from values that YAML had already read
    above: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)

    def under(self, node: Node) -> tuple[Branch, ...]:
        """The branches in a mapping or a list."""
        if id(node) in self.above:
            raise self.fault("the tree contains itself (an anchor used inside its own branch)", node)
        if id(node) in self.seen:
            raise self.fault("a branch stands in two places (an anchor used again)", node)
        if not node.value:
            raise self.fault("a label has nothing under it", node)
        self.seen.add(id(node))
        self.above.add(id(node))
        grow = self.family if node.id == "mapping" else self.member
        found = tuple(branch for part in node.value for branch in grow(part))
        self.above.remove(id(node))
        return found

    def family(self, entry: tuple[Node, Node]) -> tuple[Branch, ...]:
        """A mapping's entry: a label with what stands under it, or a value with nothing."""
        key, child = entry
        if child.id != "scalar":
            label = self.label(key)
            if label is None:
                raise self.fault("a label above others must not be null", key)
            return (Branch(label, self.under(child)),)
        if child.tag != NULL:
            raise self.fault(f"{quoted(child.value)} must stand in a list", child)
        return (Branch(self.label(key)),)

    def member(self, node: Node) -> tuple[Branch, ...]:
        """A list's entry: a value, or a mapping with families of their own."""
        if node.id == "sequence":
            raise self.fault("a list stands directly in a list, without a label", node)
        return self.under(node) if node.id == "mapping" else (Branch(self.label(node)),)

    def label(self, node: Node) -> Label:
        """A scalar's text; None for a plain null."""
        if node.id != "scalar":
            raise self.fault("a label must be text", node)
        if self.converted and node.tag == BOOL:
            raise self.fault("YAML has read a label (yes, no, on, off, true or false) as a truth value; "
                             "put it in quotes", node)
        return None if node.tag == NULL else str(node.value)

    def fault(self, what: str, node: Node) -> HierarchyError:
        """The error, with the line where the text is the writer's own."""
        place = self.source if self.converted else f"{self.source}, line {node.start_mark.line + 1}"
        return HierarchyError(f"{place}: {what}.", FORM)
