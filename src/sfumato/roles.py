"""Roles suggested for a table's columns, each with its reason and what is left for a person to decide.

The order of evidence: what the values are (check digits, patterns), what the column is called, how well
it tells records apart. Nothing is decided silently: every column is listed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.concepts import FREE, Concept, concept_of
from sfumato.profile import ColumnProfile, TableProfile
from sfumato.recipe import Role
from sfumato.yaml_text import entry, inline

Spec = str | dict[str, Any]

MOST = 0.8  # share of values from which a shape speaks for the column
SOME = 0.6  # the same for lists of words, which are never complete
FEW = 6  # values that need no level between themselves and the root
NEARLY_ALL = 0.95  # distinct values among the records: nearly a key
STEPS = 16  # intervals of the finest level over a column's range, about
MANY = 12  # quasi-identifiers from which on a release keeps little detail
PROMOTED = 3  # columns taken as quasi-identifiers where nothing else speaks for one

CONTACT = ("e-mail address", "UUID", "IBAN", "payment card number", "IP address", "hardware address",
           "web address", "US social security number", "UK national insurance number", "German tax number",
           "Dutch citizen number", "Swedish personal number", "Polish personal number",
           "Belgian national number", "French national number", "Spanish identity number",
           "Finnish personal code", "NHS number", "phone number")
UNNAMED = re.compile(r"(column|col|field|f|c|v|x|var|unnamed)?[ _:]*\d+", re.IGNORECASE)
WORDS = ("sex", "marital status", "race", "education", "country", "work", "relationship")
MOSTLY_NUMBERS = ("Most values are numbers, but not all: name the others under missing, then write "
                  "{interval: [5, 10, 20]} with widths of your own.")
LINKED = "Can someone who knows a person find this value elsewhere? If so, make it quasi."


@dataclass(frozen=True)
class Suggestion:
    """What one column may be, why, and what a person has to decide."""

    column: str
    role: Role
    reason: str
    hierarchy: Spec | None = None
    open: str | None = None


def suggest(profile: TableProfile) -> list[Suggestion]:
    """One suggestion a column, in the table's order; at least one is a quasi-identifier."""
    suggested = [_one(column, profile) for column in profile.columns]
    if any(suggestion.role == "quasi" for suggestion in suggested):
        return suggested
    return _promoted(suggested, profile)


def _one(column: ColumnProfile, profile: TableProfile) -> Suggestion:
    """The first kind of evidence that speaks for a role."""
    concept = concept_of(column.name)
    for judge in (_by_constancy, _by_shape, _by_name, _by_words, _by_distinction):
        suggestion = judge(column, profile, concept)
        if suggestion is not None:
            return suggestion
    return Suggestion(column.name, "plain", _sentence("nothing in its name or values speaks for another role",
                                                      _numbers(column, profile)), None, LINKED)


def _by_constancy(column: ColumnProfile, profile: TableProfile, concept: Concept | None) -> Suggestion | None:
    if profile.rows == 0:
        return None
    if column.distinct == 0:
        return Suggestion(column.name, "plain", "all of its values are missing")
    if column.distinct == 1 and not column.missing and profile.rows > 1:
        return Suggestion(column.name, "plain", "it has the same value in every record")
    return None


def _by_shape(column: ColumnProfile, profile: TableProfile, concept: Concept | None) -> Suggestion | None:
    """Values that are somebody's address, number or diagnosis, whatever the column is called."""
    for shape in CONTACT:
        if column.share(shape) >= MOST and not (concept and concept.role == "quasi"):
            return Suggestion(column.name, "identifying",
                              _sentence(_shaped(column, shape), _named(concept), _numbers(column, profile)))
    if column.share("diagnosis code") >= MOST:
        return Suggestion(column.name, "sensitive",
                          _sentence(_shaped(column, "diagnosis code"), _named(concept)))
    if concept and concept.role != "plain":
        return None
    for shape, what in (("date", "date"), ("coordinate", "place")):
        if column.share(shape) >= MOST or (column.kind == "date" and shape == "date"):
            reason = _shaped(column, shape) if shape in column.shapes else "it is stored as a date"
            return _quasi(column, profile, what, reason)
    if column.share("postcode") >= NEARLY_ALL and column.kind == "text":
        return _quasi(column, profile, "postcode", _shaped(column, "postcode"))
    return None


def _by_name(column: ColumnProfile, profile: TableProfile, concept: Concept | None) -> Suggestion | None:
    """What a column is called."""
    if concept is None:
        return None
    reason = _sentence(_named(concept), _numbers(column, profile))
    if concept.role == "quasi":
        return _quasi(column, profile, concept.kind, _named(concept), concept.open)
    if concept.role == "identifying" and column.distinct <= FEW and profile.rows > 10 * FEW:
        return Suggestion(column.name, "identifying", reason, None,
                          f"It has only {column.distinct} values: is it a person's at all?")
    return Suggestion(column.name, concept.role, reason, None, concept.open)


def _by_words(column: ColumnProfile, profile: TableProfile, concept: Concept | None) -> Suggestion | None:
    """Values that are known words for what people are."""
    for shape in WORDS:
        if column.share(shape) >= SOME and column.distinct <= 300:
            return _quasi(column, profile, "category", _shaped(column, shape))
    if column.share("money class") >= MOST:
        return Suggestion(column.name, "sensitive", _sentence(_shaped(column, "money class"),
                                                              _numbers(column, profile)))
    if UNNAMED.fullmatch(column.name) and _may_be_age(column):
        return _quasi(column, profile, "number", "it has no name, and its range is that of ages",
                      "Is it an age? If not, and nobody can know it, make it plain.")
    return None


def _may_be_age(column: ColumnProfile) -> bool:
    low, high = column.low, column.high
    return column.kind == "integer" and low is not None and high is not None and (
        low >= 0 and 60 <= high <= 120 and column.distinct >= 0.8 * (high - low))


def _by_distinction(column: ColumnProfile, profile: TableProfile,
                    concept: Concept | None) -> Suggestion | None:
    """Columns that tell nearly every record from every other."""
    if column.share("free text") >= SOME and column.distinct > 50 and column.distinction > 0.1:
        return Suggestion(column.name, "identifying",
                          _sentence(_shaped(column, "free text"), _numbers(column, profile)), None,
                          FREE)
    if column.kind == "integer" and _is_running(column, profile):
        return Suggestion(column.name, "identifying",
                          _sentence("it numbers the records one by one", _numbers(column, profile)))
    if column.distinction < NEARLY_ALL or profile.rows < 20 or column.kind == "real":
        return None
    return Suggestion(column.name, "identifying",
                      _sentence("nearly every record has its own value", _numbers(column, profile)), None,
                      "If it is a measurement and no name or number of a person, make it plain or sensitive.")


def _is_running(column: ColumnProfile, profile: TableProfile) -> bool:
    if column.low is None or column.high is None or profile.rows < 5:
        return False
    return column.distinct == profile.rows and column.high - column.low + 1 == column.distinct


def _quasi(column: ColumnProfile, profile: TableProfile, kind: str, reason: str | None,
           left: str | None = None) -> Suggestion:
    """A quasi-identifier with a hierarchy that fits its values."""
    spec, asked = hierarchy_for(column, kind)
    asked = " ".join(part for part in (asked, left) if part) or None
    said = _sentence(reason, _numbers(column, profile), _added(column, profile))
    return Suggestion(column.name, "quasi", said, spec, asked)


def hierarchy_for(column: ColumnProfile, kind: str) -> tuple[Spec, str | None]:
    """A hierarchy for a quasi-identifier, and what is left to decide about it."""
    if kind == "postcode" and column.longest is not None and column.distinct > 2:
        return {"prefix": min(column.longest, 50)}, None
    if column.distinct <= FEW:
        return "suppress", MOSTLY_NUMBERS if column.mixed and kind != "category" else None
    if kind == "date" and column.kind == "date":
        return _dates(column)
    if kind != "category" and column.kind in ("integer", "real"):
        return {"interval": interval_widths(column)}, None
    if column.mixed and kind != "category":
        return {"frequency": 3}, MOSTLY_NUMBERS
    return {"frequency": 3}, "A tree of meanings keeps more than folding rare values: {tree: file.yaml}."


def _dates(column: ColumnProfile) -> tuple[Spec, str | None]:
    spec = {"dates": ["month", "year", "decade"]}
    if column.share("ISO date") == 1:
        return spec, None
    return {"frequency": 3}, ("The dates are not written like 2020-01-31: say their form, as in "
                              "{dates: [month, year, decade], format: '%d.%m.%Y'}.")


def interval_widths(column: ColumnProfile) -> list[int | float]:
    """Widths 1, 2, 4 and 8 times a round number that cuts the range into about STEPS."""
    span = (column.high or 0.0) - (column.low or 0.0)
    if span <= 0:
        return [1]
    tens = 10.0 ** math.floor(math.log10(span / STEPS))
    base = min((factor * tens for factor in (1, 2, 5, 10)),
               key=lambda width: abs(math.log(width * STEPS / span)))
    if column.kind == "integer":
        base = max(base, 2)
    widths = [base * factor for factor in (1, 2, 4, 8) if base * factor < span] or [base]
    return [int(width) if width >= 1 else float(f"{width:.6g}") for width in widths]


def _promoted(suggested: Sequence[Suggestion], profile: TableProfile) -> list[Suggestion]:
    """Where nothing speaks for a quasi-identifier: the columns that tell most records apart."""
    known = {column.name: column for column in profile.columns}
    free = [s for s in suggested if s.role == "plain"] or [s for s in suggested if s.role == "sensitive"][1:]
    free = free or list(suggested)
    free.sort(key=lambda s: (-known[s.column].separation, s.column))
    chosen = {s.column for s in free[:PROMOTED]}
    return [_promote(s, known[s.column]) if s.column in chosen else s for s in suggested]


def _promote(suggestion: Suggestion, column: ColumnProfile) -> Suggestion:
    kind = "number" if column.kind in ("integer", "real") else "date" if column.kind == "date" else "category"
    return replace(suggestion, role="quasi", hierarchy=hierarchy_for(column, kind)[0],
                   reason=f"{suggestion.reason}; but a recipe needs a quasi-identifier, and this is among "
                          "the columns left that tell most records apart",
                   open="Nothing here looks like a quasi-identifier. Which columns could someone know?")


def _sentence(*parts: str | None) -> str:
    return "; ".join(part for part in parts if part)


def _named(concept: Concept | None) -> str | None:
    if concept is None:
        return None
    meaning = "" if concept.word == concept.what else f" ({concept.what})"
    return f"its name contains {concept.word!r}{meaning}"


def _shaped(column: ColumnProfile, shape: str) -> str:
    return f"{column.share(shape):.0%} of its values look like: {shape}"


def _numbers(column: ColumnProfile, profile: TableProfile) -> str:
    values = "1 value" if column.distinct == 1 else f"{column.distinct:,} values"
    missing = f", {column.missing / max(profile.rows, 1):.0%} missing" if column.missing else ""
    return (f"{values} (distinct ratio {_ratio(column.distinction)}){missing}, "
            f"tells apart {_percent(column.separation)} of record pairs")


def _added(column: ColumnProfile, profile: TableProfile) -> str | None:
    """What the column adds to the combination with others that tells most records apart."""
    best = profile.best(column.name)
    if best is None:
        return None
    others = tuple(name for name in best.columns if name != column.name)
    without = _ratio(profile.distinction(others))
    return (f"added to {' and '.join(map(repr, others))} it raises the distinct ratio from {without} "
            f"to {_ratio(best.distinction)}")


def _ratio(share: float) -> str:
    return f"{share:.2f}" if share >= 0.005 or share == 0 else "below 0.01"


def _percent(share: float) -> str:
    text = f"{share:.1%}"
    return "over 99.9%" if text == "100.0%" and share < 1 else text


HEADER = """\
A recipe suggested for {table}: {rows} records, {columns} columns. Nothing has been decided for you.
What to do next:
  1. Read every line below: the reason is beside the role. Lines marked TO DECIDE need a person who knows
     the data. Roles: identifying (dropped), quasi (known to others, generalized), sensitive (kept, and
     protected by the criteria), plain (kept as it is).
  2. Set what must hold under criteria, and how many records may be suppressed.
  3. Run: sfumato anonymize TABLE --recipe THIS_FILE --out DIRECTORY"""


def write_recipe(suggestions: Sequence[Suggestion], profile: TableProfile, table_name: str) -> str:
    """The suggestions as a recipe with comments, which loads as it stands."""
    header = HEADER.format(table=table_name, rows=f"{profile.rows:,}", columns=len(profile.columns))
    parts = [_comment(header), entry("table", table_name, "")]
    if profile.markers:
        parts += [_comment("Found among the values and taken to mean missing: remove what is a real value."),
                  entry("missing", list(profile.markers), "")]
    quasi = sum(suggestion.role == "quasi" for suggestion in suggestions)
    parts += ["", "columns:"]
    if quasi > MANY:
        parts.append(_comment(f"{quasi} columns are quasi-identifiers, and each costs detail in the others: "
                              "make plain those that nobody can know.", "  "))
    for suggestion in suggestions:
        parts += _column_lines(suggestion)
    parts += ["", *_criteria_lines(suggestions, profile), "", CLOSING]
    return "\n".join(parts) + "\n"


CLOSING = """\
# At most this share of the records may be left out of the classes to keep the others finer.
suppression: 0.05
# The release with the least loss; ncp is the mean share of the hierarchy that a released label covers.
method: {name: optimal, cost: ncp}
seed: 1"""


def _column_lines(suggestion: Suggestion) -> list[str]:
    """A column with its reason above it, and what is to be decided."""
    value: dict[str, Any] = {"role": suggestion.role}
    if suggestion.hierarchy is not None:
        value["hierarchy"] = suggestion.hierarchy
    lines = [_comment(suggestion.reason, "  ")]
    if suggestion.open:
        lines.append(_comment(f"TO DECIDE: {suggestion.open}", "  "))
    return [*lines, entry(suggestion.column, value)]


def _criteria_lines(suggestions: Sequence[Suggestion], profile: TableProfile) -> list[str]:
    """k-anonymity, and distinct l-diversity of the sensitive column that is spread most evenly."""
    lines = [_comment("Every released combination of quasi-identifiers is shared by at least k records."),
             "criteria:", "  - {k-anonymity: {k: 5}}"]
    known = {column.name: column for column in profile.columns}
    sensitive = [s.column for s in suggestions if s.role == "sensitive" and known[s.column].distinct > 1]
    sensitive.sort(key=lambda name: -known[name].separation)
    for place, column in enumerate(sensitive):
        item = f"- {inline({'l-diversity': {'column': column, 'l': 2, 'kind': 'distinct'}})}"
        if place == 0:
            lines += [_comment("In every class at least l different values of a sensitive column; a larger l "
                               "costs detail.", "  "), f"  {item}"]
        else:
            lines.append(f"  # {item}")
    if len(sensitive) > 1:
        lines.append(_comment("Remove the # to protect the other sensitive columns too.", "  "))
    return lines


def _comment(text: str, indent: str = "") -> str:
    """Text as comment lines; characters that could end a line are written out."""
    shown = ("".join(c if c.isprintable() else repr(c)[1:-1] for c in line) for line in text.split("\n"))
    return "\n".join(f"{indent}# {line}" for line in shown)
