"""What a caller asks for, as a recipe: a file or a mapping, a few words beside it, or the words alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import RequestError
from sfumato.recipe import Recipe
from sfumato.table import Source

if TYPE_CHECKING:
    from sfumato.profile import ColumnProfile
    from sfumato.roles import Suggestion

Said = Recipe | Mapping[str, Any] | str | os.PathLike[str] | None
Names = str | Iterable[str]  # one column or several; a mapping of quasi-identifiers names their hierarchies
OURS = "The request"


def as_recipe(said: Recipe | Mapping[str, Any] | str | os.PathLike[str]) -> Recipe:
    """A recipe from its file, from plain values, or as it is."""
    if isinstance(said, Recipe):
        return said
    return Recipe.from_dict(said) if isinstance(said, Mapping) else Recipe.load(Path(said))


def requested(said: Said, *, quasi: Names = (), sensitive: Names = (), identifying: Names = (),
              k: int | None = None, l: float | None = None, kind: str | None = None,  # noqa: E741
              c: float | None = None, t: float | None = None, missing: Names = (),
              **changes: Any) -> Recipe:
    """The recipe with what is said beside it laid over; a new one where there is none."""
    if said is None and not quasi:
        raise RequestError("Neither a recipe nor quasi-identifiers are named.",
                           "Name a recipe (sfumato init TABLE writes one), or the quasi-identifiers and k.")
    base = None if said is None else as_recipe(said)
    columns = {name: {"role": "quasi", "hierarchy": spec} for name, spec in specs(quasi).items()}
    columns |= {name: {"role": "sensitive"} for name in listed(sensitive)}
    columns |= {name: {"role": "identifying"} for name in listed(identifying)}
    protected = listed(sensitive) or (base.named("sensitive") if base else ())
    method = changes.get("method") or (base.method if base else {})
    if own_promise(method):
        changes |= {"method": {**method, **its_own(method, k=k, l=l, kind=kind, c=c, t=t)}}
    else:
        changes["criteria"] = criteria(base, protected, k, l, kind, c, t)
    changes |= {"columns": columns or None, "missing": listed(missing) or None}
    changes = {name: value for name, value in changes.items() if value is not None}
    if base is None:
        return Recipe.from_dict(changes, source=OURS)
    return base.with_(source=OURS, **changes) if changes else base


def own_promise(method: Mapping[str, Any]) -> bool:
    """Whether a method's parameters are its promise (an unknown method is told of later)."""
    from sfumato.methods.registry import METHODS

    known = METHODS.get(method.get("name", ""))
    return known is not None and known.kind != "classes"


def its_own(method: Mapping[str, Any], **said: Any) -> dict[str, Any]:
    """What is said of k and l, as the method's parameters."""
    from sfumato.methods.registry import METHODS

    given = {name: value for name, value in said.items() if value is not None}
    unknown = [name for name in given if name not in METHODS[method["name"]].model_fields]
    if unknown:
        raise RequestError(f"The method {method['name']} makes its own promise, which has no "
                           f"{' and no '.join(unknown)}.", "Leave it out, or choose another method.")
    return given


def criteria(base: Recipe | None, protected: Sequence[str], k: int | None, l: float | None,  # noqa: E741
             kind: str | None, c: float | None, t: float | None) -> list[dict[str, Any]] | None:
    """The criteria asked for, over those of the recipe that they replace; None where none is asked for."""
    said: list[dict[str, Any]] = [] if k is None else [{"k-anonymity": {"k": k}}]
    if not protected and (l is not None or t is not None):
        raise RequestError("l and t are about a sensitive column, and none is named.", "Name one: sensitive.")
    if l is None and (kind is not None or c is not None):
        raise RequestError("A kind of l-diversity is named, but no l.", "Say l, for example 2.")
    for column in protected:
        if l is not None:
            parameters = {"column": column, "l": l, "kind": kind or "distinct", "c": c}
            said.append({"l-diversity": {key: value for key, value in parameters.items()
                                         if value is not None}})
        if t is not None:
            said.append({"t-closeness": {"column": column, "t": t}})
    if not said:
        return None
    replaced = {_about(item) for item in said}
    kept = base.to_dict()["criteria"] if base else []
    return [*said, *(item for item in kept if _about(item) not in replaced)]


def _about(item: Mapping[str, Any]) -> tuple[str, str | None]:
    """What a criterion is and which column it is about."""
    [(name, parameters)] = item.items()
    return name, parameters.get("column")


def listed(names: Names) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def specs(quasi: Names) -> dict[str, Any]:
    """Quasi-identifiers with the hierarchies said for them, if any."""
    return dict(quasi) if isinstance(quasi, Mapping) else dict.fromkeys(listed(quasi))


def completed(opened: Source, recipe: Recipe, quasi: Names) -> tuple[Recipe, list[str]]:
    """Suggest hierarchies for named quasi-identifiers that came without, and say what was not decided.

    Columns that the request leaves out but that look identifying are named among the notes.
    """
    from sfumato.profile import profile
    from sfumato.roles import suggest
    from sfumato.table import require_columns

    require_columns(opened, recipe.columns)
    bare = [name for name, spec in specs(quasi).items() if spec is None]
    seen = profile(opened.table, recipe.missing, combined=False)
    notes, columns = [], {}
    for column, found in zip(seen.columns, suggest(seen), strict=True):
        if found.column in bare:
            spec = fitting(found, column)
            columns[found.column] = {**recipe.to_dict()["columns"][found.column], "hierarchy": spec}
            notes.append(f"{found.column}: hierarchy {spec_text(spec)} (suggested)")
        elif found.column not in recipe.columns and found.role == "identifying":
            notes.append(f"{found.column}: released as it is, but it looks identifying ({found.reason}). "
                         "To drop it, name it as identifying.")
    return recipe.with_(source=OURS, columns=columns) if columns else recipe, notes


def suggested_spec(opened: Any, column: str, missing: Names) -> Any:
    """A hierarchy that fits one column."""
    from sfumato.profile import profile
    from sfumato.roles import suggest

    seen = profile(opened.select(column), listed(missing), combined=False)
    return fitting(suggest(seen)[0], seen.columns[0])


def fitting(found: Suggestion, column: ColumnProfile) -> Any:
    """The hierarchy suggested for a column, whatever role it was thought to have."""
    from sfumato.roles import hierarchy_for

    kind = {"integer": "number", "real": "number", "date": "date"}.get(column.kind, "category")
    return found.hierarchy or hierarchy_for(column, kind)[0]


def spec_text(spec: Any) -> str:
    """A hierarchy as a recipe writes it."""
    from sfumato.yaml_text import inline

    return inline(spec)


def table_of(recipe: Recipe) -> str | Path:
    """The table that a recipe names: an address as it is, a path from the recipe's folder."""
    from sfumato.table.databases import is_url

    if recipe.table is None:
        raise RequestError("No table is named.", "Name it, or write `table:` into the recipe.")
    return recipe.table if is_url(recipe.table) else recipe.folder / recipe.table
