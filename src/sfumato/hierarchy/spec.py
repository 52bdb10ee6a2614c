"""A hierarchy as a recipe names it: a file, `suppress`, or a mapping with one of the forms below."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from sfumato.errors import HierarchyError
from sfumato.hierarchy import dates, files, numeric, text, tree
from sfumato.hierarchy.check import assemble, check_total
from sfumato.hierarchy.core import Hierarchy, Label
from sfumato.hierarchy.domain import Domain, Labels, Levels, domain

Spec = str | Mapping[str, Any] | None
Check = Callable[[Any], str]  # what is wrong with an argument, or nothing


@dataclass(frozen=True)
class Form:
    """One way to say a hierarchy: an example of it, what its argument may be, what makes it."""

    example: str
    wrong: Check
    levels: Callable[..., Levels] | None = None  # from domain, argument and options; None for files
    options: Mapping[str, Check] = field(default_factory=dict)


def _nothing(given: Any) -> str:
    return "" if given is None else f"{given!r} is more than it needs"


def _finite(given: Any) -> str:
    fine = isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e300
    return "" if fine else f"{given!r} is not a finite number"


def _positive(given: Any) -> str:
    return _finite(given) or ("" if given > 1e-300 else f"{given!r} is not above zero")


def _above_one(given: Any) -> str:
    return _finite(given) or ("" if given > 1 else f"{given!r} is not above 1")


def _whole(least: int, most: int) -> Check:
    def wrong(given: Any) -> str:
        fine = isinstance(given, int) and not isinstance(given, bool) and least <= given <= most
        return "" if fine else f"{given!r} is not a whole number from {least} to {most}"
    return wrong


def _first(faults: Sequence[str]) -> str:
    return next((fault for fault in faults if fault), "")


def _widths(given: Any) -> str:
    if not isinstance(given, list | tuple):
        return _positive(given)
    if not given:
        return "there is no width"
    if fault := _first([_positive(width) for width in given]):
        return fault
    return _first([f"{coarse} is not a multiple of {fine}, so levels would not be nested"
                   for fine, coarse in pairwise(given) if not numeric.divides(fine, coarse)])


def _bounds(given: Any) -> str:
    lists = [isinstance(level, list | tuple) for level in given] if isinstance(given, list | tuple) else []
    if not lists:
        return f"{given!r} is not a list of bounds"
    if any(lists) and not all(lists):
        return "bounds and lists of bounds are mixed"
    levels = numeric.several(given)
    if fault := _first([_finite(bound) for level in levels for bound in level]):
        return fault
    for level in levels:
        if not level or any(low >= high for low, high in pairwise(level)):
            return f"{list(level)} is not an ascending list"
    return _first([f"{bound} is no bound of the finer level, so levels would not be nested"
                   for fine, coarse in pairwise(levels) for bound in coarse if bound not in fine])


def _dates(given: Any) -> str:
    steps = dates.named(given) if isinstance(given, str | list | tuple) else []
    if not steps:
        return f"{given!r} is not a list of date levels"
    order = list(dates.STEPS)
    known = ", ".join(order)
    if strange := [step for step in steps if step not in order]:
        return f"{strange[0]!r} is not one of {known}"
    places = [order.index(step) for step in steps]
    return "" if places == sorted(set(places)) else f"levels must stand from fine to coarse: {known}"


def _text(given: Any) -> str:
    return "" if isinstance(given, str) and given else f"{given!r} is not a text"


def _tree(given: Any) -> str:
    if isinstance(given, str):
        return _text(given)
    if not isinstance(given, Mapping | list) or not given:
        return f"{given!r} is neither a file nor a tree"
    try:
        tree.from_mapping(given, "the tree")
    except HierarchyError as fault:
        return fault.message.removeprefix("the tree: ")
    return ""


FORMS: Mapping[str, Form] = {
    "suppress": Form("suppress", _nothing, text.suppress),
    "csv": Form("{csv: age.csv}", _text),
    "tree": Form("{tree: jobs.yaml}", _tree),
    "prefix": Form("{prefix: 5}", _whole(1, numeric.MOST_LEVELS), text.prefix),
    "suffix": Form("{suffix: 4}", _whole(1, numeric.MOST_LEVELS), text.suffix),
    "interval": Form("{interval: [5, 10, 20]}", _widths, numeric.widths),
    "quantiles": Form("{quantiles: 8}", _whole(2, numeric.MOST_CUTS), numeric.quantiles),
    "bounds": Form("{bounds: [18, 65]}", _bounds, numeric.bounds),
    "growing": Form("{growing: 10}", _positive, numeric.growing, {"factor": _above_one, "start": _finite}),
    "dates": Form("{dates: [month, year, decade]}", _dates, dates.dates, {"format": _text}),
    "frequency": Form("{frequency: 3}", _whole(1, numeric.MOST_LEVELS), text.frequency),
}


def build(column: str, spec: Spec, values: Sequence[Label], counts: Sequence[int], folder: Path) -> Hierarchy:
    """A column's hierarchy from its specification and its distinct values (None is the missing one)."""
    if wrong := faults(spec):
        raise HierarchyError(f"The hierarchy of column {column!r} cannot be built: {'; '.join(wrong)}.",
                             "Correct it in the recipe.")
    known = domain(column, values, counts)
    source, paths = _paths(spec, known, folder)
    if not paths and not values:
        raise HierarchyError(f"Column {column!r} has no values to build a hierarchy from.",
                             "Give a table with records, or a hierarchy file.")
    hierarchy = assemble(column, paths, source, missing=None in values)
    check_total(hierarchy, values, source)
    return hierarchy


def faults(spec: Spec) -> list[str]:
    """What is wrong with the form of a specification, without looking at files or values."""
    if isinstance(spec, str):
        return _word_faults(spec)
    if not isinstance(spec, Mapping | None):
        return [f"{spec!r} is neither a file nor a mapping; {KNOWN}"]
    forms = [key for key in spec or {} if key in FORMS]
    if spec is not None and len(forms) != 1:
        return [_one_form(list(spec), forms)]
    name, argument, options = _parsed(spec)
    form = FORMS[name]
    strange = [f"{name}: {option!r} is unknown; its options: {', '.join(form.options) or 'none'}"
               for option in options if option not in form.options]
    wrong = [(name, form.wrong(argument))]
    wrong += [(key, form.options[key](given)) for key, given in options.items() if key in form.options]
    return [f"{what}: {fault}" for what, fault in wrong if fault] + strange


def _parsed(spec: Spec) -> tuple[str, Any, dict[str, Any]]:
    """The name of the form, its argument and its options."""
    if spec is None or spec == "suppress":
        return "suppress", None, {}
    if isinstance(spec, str):
        return "tree" if Path(spec).suffix.lower() in files.TREES else "csv", spec, {}
    name = next(key for key in spec if key in FORMS)
    return name, spec[name], {key: given for key, given in spec.items() if key != name}


def _paths(spec: Spec, known: Domain, folder: Path) -> tuple[str, Sequence[Labels]]:
    """What to call the hierarchy in messages, and its paths."""
    name, argument, options = _parsed(spec)
    source = f"The hierarchy of column {known.column!r}"
    levels = FORMS[name].levels
    if levels is not None:
        return source, known.paths(levels(known, argument, **options))
    if not isinstance(argument, str):
        return source, tree.from_mapping(argument, source)
    path = folder / argument
    return str(path), files.read_csv(path) if name == "csv" else files.read_yaml(path)


def _word_faults(word: str) -> list[str]:
    """A word alone is `suppress` or a file; a form's name, or nearly one, is a slip."""
    near = difflib.get_close_matches(word, FORMS, n=1, cutoff=0.8)
    if word == "suppress" or (word and not near):
        return []
    return [f"{word!r} is no file" + (f"; did you mean {FORMS[near[0]].example}?" if near else f"; {KNOWN}")]


def _one_form(given: Sequence[Any], forms: Sequence[str]) -> str:
    """The fault of a mapping that names several forms, or none that is known."""
    if forms:
        return f"{' and '.join(forms)} exclude each other; keep one"
    near = [match for key in given for match in difflib.get_close_matches(str(key), FORMS, n=1, cutoff=0.6)]
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"{', '.join(map(repr, given)) or 'an empty mapping'} is no kind of hierarchy{hint}; {KNOWN}"


KNOWN = "known are a file (age.csv, jobs.yaml) and " + ", ".join(form.example for form in FORMS.values())
