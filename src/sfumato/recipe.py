"""The recipe: what is in the table, what must hold, what matters. A run is a function of
(table, recipe, seed)."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sfumato.errors import Fault, RecipeError, RequestError

if TYPE_CHECKING:
    from sfumato.criteria.base import Criterion
    from sfumato.yaml_text import Path as Place

Role = Literal["identifying", "quasi", "sensitive", "plain"]
Lines = Callable[["Place"], "int | None"]
LONGEST = 16_000_000  # bytes of a recipe


def _number(value: Any) -> Any:
    """A number must be written as one: neither true nor "0.05" will do."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("It should be a number")
    return value


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]


class Strict(BaseModel):
    """A model that knows all of its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(Strict):
    """One column: its role and, for a quasi-identifier, how it may be generalized."""

    role: Role = "plain"
    hierarchy: str | dict[str, Any] | None = None  # see hierarchy/spec.py for the forms
    weight: Annotated[Number, Field(ge=0)] = 1.0


class Recipe(Strict):
    """A recipe as written in YAML."""

    table: str | None = None
    missing: tuple[str, ...] = ()
    columns: Mapping[str, Column] = Field(default_factory=dict)
    criteria: tuple[Any, ...] = ()  # Criterion instances after parsing
    suppression: Annotated[Number, Field(ge=0, le=1)] = 0.0
    suppressed: Literal["keep", "drop"] = "keep"
    method: Mapping[str, Any] = Field(default_factory=lambda: {"name": "optimal"})
    research: Any = None  # a Research after parsing
    seed: Annotated[int, Field(ge=0, lt=2**63, strict=True)] | None = None
    folder: Path = Path()  # relative paths of hierarchies start here; not part of the file

    def named(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, in the recipe's order."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @property
    def promised(self) -> tuple[Criterion, ...]:
        """The criteria, and those that the method itself keeps."""
        from sfumato.methods.registry import make

        return (*self.criteria, *make(self.method).promises(self.named("sensitive")))

    @classmethod
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe's file; its hierarchies are sought beside it."""
        path = Path(path)
        try:
            with path.open("rb") as file:
                content = file.read(LONGEST + 1)
            text = content.decode("utf-8-sig")
        except OSError as error:
            raise RequestError(f"The recipe {str(path)!r} cannot be read: {error.strerror}.",
                               "Name a recipe's file, or write one with: sfumato init TABLE") from error
        except UnicodeDecodeError as error:
            raise RequestError(f"The recipe {str(path)!r} is not text in UTF-8.",
                               "Save it in UTF-8.") from error
        if len(content) > LONGEST:
            raise RequestError(f"The recipe {str(path)!r} is longer than {LONGEST:,} bytes: it is no recipe.",
                               "Name a recipe's file, or write one with: sfumato init TABLE")
        return cls.parse(text, source=path.name, folder=path.parent)

    @classmethod
    def parse(cls, text: str, source: str = "recipe", folder: str | Path = ".") -> Recipe:
        """Read a recipe's text; all of its faults are raised together, each with its line."""
        from sfumato.yaml_text import read

        document = read(text, _stays_text)
        if document.data is None and not document.faults:
            document.faults.append(Fault("the whole", "The recipe is empty. "
                                         "Write one with: sfumato init TABLE", 1))
        if document.data is None:
            raise RecipeError(source, document.faults)
        return _checked(document.data, folder, source, document.faults, document.line)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], folder: str | Path = ".",
                  source: str = "recipe") -> Recipe:
        """Read a recipe from plain values of the same shape as the file's."""
        return _checked(mapping, folder, source, [], lambda path: None)

    def with_(self, k: int | None = None, source: str = "recipe", **changes: Any) -> Recipe:
        """The same recipe with some fields replaced, checked again as a whole; None leaves a field.

        `k` replaces k-anonymity's, `columns` and `research` are laid over those that are there, and
        `method` keeps its parameters unless it names another.
        """
        data = self.to_dict()
        said = {name: value for name, value in changes.items() if value is not None}
        if "columns" in said:
            said["columns"] = {**data.get("columns", {}), **said["columns"]}
        if "research" in said:
            said["research"] = {**data.get("research", {}), **said["research"]}
        if said.get("method", {}).get("name", self.method.get("name")) == self.method.get("name"):
            said["method"] = {**self.method, **said.get("method", {})}
        if k is not None:
            others = [c for c in said.get("criteria", data.get("criteria", [])) if "k-anonymity" not in c]
            said["criteria"] = [{"k-anonymity": {"k": k}}, *others]
        return Recipe.from_dict({**data, **said}, folder=self.folder, source=source)

    def to_dict(self) -> dict[str, Any]:
        """The recipe as plain values, in the shape of the file."""
        data = self.model_dump(mode="json", exclude={"folder", "columns", "criteria", "research"},
                               exclude_defaults=True)
        data["columns"] = {name: {"role": column.role}
                           | _short(column.model_dump(mode="json", exclude_defaults=True))
                           for name, column in self.columns.items()}
        data["criteria"] = [{c.name: _short(c.model_dump(mode="json", exclude_none=True))}
                            for c in self.criteria]
        data["method"] = dict(self.method)
        data |= {"research": self.research.plain} if self.research else {}
        return {name: data[name] for name in Recipe.model_fields if name in data}

    def to_yaml(self) -> str:
        """The recipe as text that `parse` reads back."""
        from sfumato.yaml_text import write

        return write(self.to_dict())


def _short(values: dict[str, Any]) -> dict[str, Any]:
    """The same values, whole numbers written without a point."""
    whole = {name: int(value) for name, value in values.items()
             if isinstance(value, float) and value.is_integer() and abs(value) < 1e15}
    return values | whole


def _stays_text(path: Place) -> bool:
    """Names, markers and labels are text even where they look like a number."""
    ruled = path[0] == "research" and any(str(step).startswith("keep ") for step in path)
    named = path[0] == "research" and path[1] in ("target", "predictors")
    return path[0] in ("table", "missing") or path[-1] == "column" or "tree" in path[2:] or ruled or named


def _checked(mapping: Any, folder: str | Path, source: str, faults: list[Fault], lines: Lines) -> Recipe:
    """Check every part, then the parts against each other, and raise all that was found."""
    if not isinstance(mapping, Mapping):
        kind = "a list" if isinstance(mapping, list) else "plain text, perhaps a table"
        shape = f"A recipe is a mapping with columns and criteria; this is {kind}."
        raise RecipeError(source, [*faults, Fault("the whole", shape, lines(()))])
    reading = _Reading(lines, faults)
    recipe = reading.recipe({k: v for k, v in mapping.items() if v is not None}, Path(folder))
    faults.extend(reading.between(recipe))
    if faults:
        raise RecipeError(source, sorted(faults, key=lambda fault: fault.line or 0))
    return recipe


class _Reading:
    """One pass over a recipe's parts, noting every fault with its place."""

    def __init__(self, lines: Lines, faults: list[Fault]) -> None:
        self.lines = lines
        self.faults = faults
        self.unread = {fault.where for fault in faults}
        self.positions: list[int] = []  # of the criteria that could be read

    def fault(self, path: Place, what: str) -> Fault:
        from sfumato.yaml_text import place

        return Fault(place(path), what, self.lines(path))

    def note(self, path: Place, what: str) -> None:
        self.faults.append(self.fault(path, what))

    def recipe(self, data: dict[str, Any], folder: Path) -> Recipe:
        """The sound parts as a recipe; the others are noted and left out."""
        if "folder" in data:
            data = {name: value for name, value in data.items() if name != "folder"}
            self.note(("folder",), _unknown("folder", Recipe))
        criteria = self.criteria(data.pop("criteria", []))
        if "method" in data and not self.method(data["method"]):
            del data["method"]
        research = self.research(data.pop("research")) if "research" in data else None
        rest = {**data, "criteria": criteria, "research": research, "folder": folder}
        try:
            recipe = Recipe.model_validate(rest)
        except ValidationError as error:
            bad = self.mistyped(error, rest)
            recipe = Recipe.model_validate(_without(rest, bad))
        self.hierarchies(recipe)
        return recipe

    def mistyped(self, error: ValidationError, data: Mapping[str, Any]) -> list[Place]:
        """Note what pydantic found, once a place, and say which places they are."""
        from sfumato.yaml_text import place

        paths: dict[Place, str] = {}
        for found in error.errors():
            path = _existing(found["loc"], data)
            paths.setdefault(path, _sentence(found, path, Column if path[0] == "columns" else Recipe))
        for path, what in paths.items():
            if place(path) not in self.unread:
                self.note(path, what)
        return list(paths)

    def hierarchies(self, recipe: Recipe) -> None:
        """Note what is wrong with the shape of hierarchies."""
        from sfumato.hierarchy.spec import faults

        for name, column in recipe.columns.items():
            if column.hierarchy is not None:
                for what in faults(column.hierarchy):
                    self.note(("columns", name, "hierarchy"), what)

    def met(self, *paths: Place) -> bool:
        """Whether any of the places has a fault already."""
        from sfumato.yaml_text import place

        return not {place(path) for path in paths}.isdisjoint(fault.where for fault in self.faults)

    def criteria(self, items: Any) -> tuple[Criterion, ...]:
        """The criteria that can be read."""
        if not isinstance(items, Sequence) or isinstance(items, str):
            self.note(("criteria",), "It should be a list such as [{k-anonymity: {k: 5}}], and is "
                      f"{_shown(items)}.")
            return ()
        read = {n: self.criterion(item, ("criteria", n)) for n, item in enumerate(items)}
        sound = {n: criterion for n, criterion in read.items() if criterion is not None}
        self.positions = list(sound)
        return tuple(sound.values())

    def criterion(self, item: Any, path: Place) -> Criterion | None:
        from sfumato.criteria.registry import parse

        where = f"{path[0]}.{path[1]}"
        try:
            return parse(item, where)
        except RecipeError as error:
            for fault in error.faults:
                below = fault.where.removeprefix(where).strip(".").split(".")
                self.faults.append(Fault(fault.where, fault.what, self.lines((*path, *below))))
        return None

    def research(self, said: Any) -> Any:
        """What can be read of the rules and values of research."""
        from sfumato.research.said import Reading

        reading = Reading()
        research = reading.research(said)
        for steps, what in reading.faults:
            self.note(("research", *steps), what)
        return research

    def method(self, method: Any) -> bool:
        """Whether a method is written as one; its name and parameters are those of the registry."""
        from sfumato.methods.registry import METHODS

        if not isinstance(method, Mapping) or not isinstance(method.get("name"), str):
            self.note(("method",), "A method is a mapping with its name and parameters, such as "
                      f"{{name: optimal, cost: ncp}}; this is {_shown(method)}.")
            return False
        name = method["name"]
        if name not in METHODS:
            guess = difflib.get_close_matches(name, METHODS, 1, 0.5)
            self.note(("method", "name"), f"There is no method {name!r}.{_meant(guess)} "
                      f"It can be: {', '.join(METHODS)}.")
            return False
        try:
            METHODS[name].model_validate({key: value for key, value in method.items() if key != "name"})
        except ValidationError as error:
            for found in error.errors():
                path = _existing(("method", *found["loc"]), {"method": method})
                self.note(path, _sentence(found, path, METHODS[name]))
            return False
        return True

    def between(self, recipe: Recipe) -> Iterable[Fault]:
        """What is wrong between parts that are sound by themselves."""
        spoiled = {fault.where.split(".")[0] for fault in self.faults}
        quasi = recipe.named("quasi")
        if not quasi and "columns" not in spoiled:
            yield self.fault(("columns",), "No column is a quasi-identifier, so there is nothing to "
                             "generalize. Give at least one column the role quasi.")
        if quasi and not any(recipe.columns[name].weight for name in quasi):
            yield self.fault(("columns",), "Every quasi-identifier has weight 0, so no release is better "
                             "than another. Give at least one a weight above 0.")
        yield from self.about_method(recipe, spoiled)
        if recipe.research and "columns" not in spoiled:
            from sfumato.research.said import between

            weighted = [name for name in quasi if recipe.columns[name].weight != 1]
            for steps, what in between(recipe.research, quasi, weighted, recipe.named("sensitive")):
                yield self.fault(("research", *steps), what)
        own = "method" in spoiled or promises_itself(recipe.method) or recipe.promised
        if not recipe.criteria and "criteria" not in spoiled and not own:
            yield self.fault(("criteria",), "There is no criterion, so nothing is promised. "
                             "Add one, such as {k-anonymity: {k: 5}}.")
        for position, criterion in zip(self.positions, recipe.criteria, strict=True):
            yield from self.about(criterion, ("criteria", position, criterion.name), recipe)

    def about_method(self, recipe: Recipe, spoiled: set[str]) -> Iterable[Fault]:
        """What is wrong between the method and the columns, or the promise."""
        from sfumato.methods.registry import make

        if "method" in spoiled:
            return
        method = make(recipe.method)
        if "columns" not in spoiled:
            for name, what in method.faults(recipe.named("quasi"), recipe.named("sensitive")):
                yield self.fault(("method", name) if name else ("method",), what)
            specs = {name: recipe.columns[name].hierarchy for name in recipe.named("quasi")}
            for name, what in method.domain_faults(specs):
                yield self.fault(("columns", name, "hierarchy"), what)
        for position, criterion in zip(self.positions, recipe.criteria, strict=True):
            if (why := method.refuses(criterion)) is not None:
                yield self.fault(("criteria", position, criterion.name), why)
        if recipe.criteria and promises_itself(recipe.method):
            yield self.fault(("criteria",), f"The method {method.name} makes its own promise, which is not "
                             "about classes of records that look alike. Take the criteria out.")

    def about(self, criterion: Criterion, path: Place, recipe: Recipe) -> Iterable[Fault]:
        """What is wrong between one criterion and the rest."""
        for name in criterion.columns:
            role = recipe.columns[name].role if name in recipe.columns else "plain"
            if role != "sensitive" and not self.met(("columns", name), ("columns", name, "role")):
                known = ", ".join(map(repr, recipe.named("sensitive"))) or "none so far"
                yield self.fault(path, f"{criterion.name} is about the column {name!r}, whose role is "
                                 f"{role}; it must be sensitive. Sensitive columns: {known}. "
                                 "Change the role or the name.")
        if criterion.needs_whole and recipe.suppressed == "drop" and recipe.suppression > 0:
            yield self.fault(("suppressed",), f"{criterion.name} compares each class with the whole table, "
                             "and records that are dropped change the whole. Write suppressed: keep, or "
                             "suppression: 0.")


def promises_itself(method: Mapping[str, Any]) -> bool:
    """Whether a method's parameters say what its release promises, so that criteria have no place."""
    from sfumato.methods.registry import METHODS

    return METHODS[method["name"]].kind != "classes"


def _sentence(found: Any, path: Place, model: type[BaseModel]) -> str:
    """What pydantic found, as sentences: what is allowed, the value met, a guess where there is one."""
    kind, value = found["type"], found["input"]
    if kind == "extra_forbidden":
        return _unknown(str(found["loc"][-1]), model)
    if kind == "missing":
        return f"The parameter {found['loc'][-1]!r} is missing. Add it."
    if path[-1] == "hierarchy":
        allowed = "It should be a file's name, the word suppress, or a mapping such as {interval: [5, 10]}"
    elif kind in ("model_type", "model_attributes_type") and path[0] == "columns":
        allowed = "It should be a mapping such as {role: quasi, hierarchy: suppress}"
    elif kind == "tuple_type":
        allowed = "It should be a list, in brackets"
    else:
        allowed = str(found["msg"]).removeprefix("Value error, ").replace("Input should be", "It should be")
    if kind == "value_error" and repr(value) in allowed:  # it says the value met
        return f"{allowed.rstrip('.')}."
    guess = difflib.get_close_matches(str(value), re.findall(r"'([^']+)'", allowed), 1, 0.7)
    return f"{allowed.rstrip('.')}, and is {_shown(value)}.{_meant(guess)}"


def _unknown(key: str, model: type[BaseModel]) -> str:
    known = [name for name in model.model_fields if name != "folder"]
    guess = difflib.get_close_matches(key, known, 1, 0.7)
    return f"The key {key!r} is not known here.{_meant(guess)} Known are: {', '.join(known)}."


def _meant(guess: Sequence[str]) -> str:
    return f" Did you mean {guess[0]!r}?" if guess else ""


def _shown(value: Any) -> str:
    """A value as YAML would have it, cut where it is long."""
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _existing(location: Sequence[str | int], data: Any) -> Place:
    """The part of pydantic's location that leads through the data."""
    path: Place = ()
    for step in location:
        try:
            data = data[step]
        except (LookupError, TypeError):
            break
        path = (*path, step)
    return path


def _without(data: Mapping[str, Any], places: Iterable[Place]) -> dict[str, Any]:
    """The data without what stands at the places; of a faulty list nothing is left."""
    below: dict[str | int, list[Place]] = {}
    for place in places:
        below.setdefault(place[0], []).append(place[1:])
    kept = {}
    for key, value in data.items():
        if key not in below:
            kept[key] = value
        elif isinstance(value, Mapping) and all(below[key]):
            kept[key] = _without(value, below[key])
    return kept
