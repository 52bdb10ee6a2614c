"""Results → a plain dict that the renderers draw: rounded for people, with sentences, ready for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from sfumato.measure.evidence import ColumnPicture, Correlations, Evidence, Measure, RiskProfile
from sfumato.report import attacks, sentences
from sfumato.report.figures import clean, label, number, percent, rounded, several
from sfumato.report.patterns import patterns
from sfumato.report.prices import alternatives, price_list
from sfumato.report.rounds import rounds
from sfumato.report.xk import repair

MOST_COLUMNS = 60  # rows of the table of columns
MOST_PICTURES = 30  # columns whose distributions are drawn
MOST_CORRELATED = 20  # columns of a heat map
MOST_EXAMPLES = 12
ROOT = "*"  # what a value becomes of which nothing is left
REST = "(other)"  # how the evidence names what it sums up of a distribution
ROLES = {"quasi": "could identify, together with others", "sensitive": "sensitive",
         "identifying": "identifies directly", "plain": "other"}
Plain = dict[str, Any]


def summarize(manifest: Mapping[str, Any], evidence: Evidence,
              examples: Sequence[Mapping[str, Any]] = ()) -> Plain:
    """Everything a report shows, in its order."""
    return {
        "sfumato": manifest["sfumato"],
        "table": label(manifest["table"]),
        "verdict": verdict(manifest),
        "facts": facts(manifest, evidence),
        "changes": changes(manifest, evidence, examples),
        "risk": risk(evidence, manifest),
        "utility": utility(manifest, evidence),
        "limits": sentences.limits(manifest),
        "reproduce": reproduce(manifest),
        "glossary": [dict(entry) for entry in sentences.GLOSSARY],
        "sources": sources(evidence),
    }


def sources(evidence: Evidence) -> list[str]:
    """What the measures cite, each once."""
    cited = [one.citation for one in evidence.measures]
    if evidence.correlations is not None:
        cited.append(evidence.correlations.citation)
    if evidence.patterns is not None:
        cited.append(evidence.patterns.citation)
    return list(dict.fromkeys(citation for citation in cited if citation))


def verdict(manifest: Mapping[str, Any]) -> Plain:
    """Whether the promise holds, criterion by criterion."""
    found = manifest["verdict"]
    return {
        "holds": sentences.holds(found),
        "headline": sentences.headline(found),
        "sentence": sentences.opening(manifest),
        "criteria": [criterion(one, manifest) for one in found["criteria"]],
    }


def criterion(found: Mapping[str, Any], manifest: Mapping[str, Any]) -> Plain:
    """One criterion: what was promised, what was found, what it means."""
    return {
        "name": found["name"], "promise": label(found["promise"]), "holds": bool(found["holds"]),
        "worst": rounded(found["worst"]), "worst_text": number(found["worst"]),
        "threshold": rounded(found["threshold"]), "threshold_text": number(found["threshold"]),
        "failing": int(found["failing"]), "failing_text": f"{int(found['failing']):,}",
        "sentence": sentences.finding(found, manifest), "meaning": sentences.meaning(found["name"], manifest),
    }


def facts(manifest: Mapping[str, Any], evidence: Evidence) -> list[Plain]:
    """The four or five numbers to remember."""
    if "drawn" in manifest:
        return of_drawn(manifest, evidence)
    records, before, after = manifest["records"], evidence.risk_before, evidence.risk_after
    kept = percent(records["kept"] / max(records["received"], 1))
    added = f"; {records['added']:,} added" if records["added"] else ""
    drawn = [
        {"value": kept, "title": "of the records are kept",
         "note": f"{records['kept']:,} of {records['received']:,}; "
                 f"{records['suppressed']:,} suppressed{added}"},
        *(of_slices(manifest, evidence) if "column_groups" in manifest else [
            {"value": f"{manifest['classes']:,}", "title": "classes of records that look alike",
             "note": f"before: {before.classes:,}"},
            {"value": percent(after.highest), "title": "highest risk of being recognized",
             "note": f"before: {percent(before.highest)}"},
            {"value": f"{after.unique:,}", "title": "records stand alone with their combination",
             "note": f"before: {before.unique:,}"}]),
    ]
    blur = next((one for one in evidence.utility if one.name == "mean_ncp"), None)
    if blur is not None and blur.value is not None:
        drawn.append({"value": percent(blur.value), "title": "of the detail given up",
                      "note": "mean over columns that could identify; 100 % = all of it"})
    return drawn


def of_slices(manifest: Mapping[str, Any], evidence: Evidence) -> list[Plain]:
    """What a sliced release says of people."""
    named = {one.name: one for one in evidence.risk}
    highest, true = named["matching_probability"], named["matching_probability_true"]
    return [
        {"value": f"{manifest['classes']:,}", "title": "buckets of records",
         "note": "from {smallest:,} to {largest:,} records each".format(**manifest["buckets"])},
        {"value": percent(highest.value), "title": "highest chance of any sensitive value of anybody",
         "note": f"before: {percent(highest.before)}"},
        {"value": percent(true.value), "title": "chance of a person's own sensitive value, on average",
         "note": f"before: {percent(true.before)}"}]


def of_drawn(manifest: Mapping[str, Any], evidence: Evidence) -> list[Plain]:
    """What a release of drawn rows is, and what it says of people."""
    drawn, named = manifest["drawn"], {one.name: one for one in (*evidence.risk, *evidence.utility)}
    true, error, noise = named["told_probability_true"], named["query_error_mean"], drawn.get("noise")
    return [
        {"value": f"{drawn['records']:,}", "title": "rows were drawn",
         "note": f"from {manifest['records']['received']:,} records"},
        {"value": percent(drawn["rate"]), "title": "of the records were to be drawn",
         "note": "each with this probability, by itself"} if drawn["rate"] < 1 else
        {"value": number(manifest["classes"]), "title": "combinations of labels",
         "note": f"of {number(drawn.get('combinations', manifest['classes']))} in the partition"},
        *([{"value": number(noise["scale"]), "title": "scale of the noise on counts",
            "note": f"{noise['kind']}, ε = {noise['epsilon']:.4g}"}] if noise else []),
        {"value": percent(true.value), "title": "share of a person's own sensitive value, on average",
         "note": f"before: {percent(true.before)}"},
        {"value": percent(error.value), "title": "mean error of counting questions", "note": "0 % is exact"}]


def changes(manifest: Mapping[str, Any], evidence: Evidence, examples: Sequence[Mapping[str, Any]]) -> Plain:
    """What was done to the table."""
    columns = by_role(manifest)
    pictures = {picture.column: picture for picture in evidence.columns}
    return {
        "story": [clean(sentence) for sentence in manifest.get("story") or ()],
        "records": {name: int(count) for name, count in manifest["records"].items()},
        "columns": [changed(name, column, pictures.get(name))
                    for name, column in islice(columns.items(), MOST_COLUMNS)],
        "columns_left": max(len(columns) - MOST_COLUMNS, 0),
        "rounds": rounds(manifest),
        **({"repair": repair(manifest)} if "adaptable" in manifest else {}),
        "rates": [one_rate(pair, row) for pair, rows in rates_of(manifest) for row in rows],
        "alternatives": alternatives(manifest),
        "prices": [line for one in manifest.get("research_values", ()) for line in price_list(one, columns)],
        "examples": {**shown_examples(examples), "said": sentences.examples(manifest)},
    }


def by_role(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The columns, those that were worked on first."""
    order = list(ROLES)
    columns = manifest.get("columns", {})
    return dict(sorted(columns.items(), key=lambda item: order.index(item[1]["role"])))


def changed(name: str, column: Mapping[str, Any], picture: ColumnPicture | None) -> Plain:
    """One column: its role and what happened to it."""
    return {
        "column": label(name), "role": column["role"], "role_text": ROLES[column["role"]],
        "level": column.get("level"), "levels": column.get("levels"),
        "change": sentences.column_change(column),
        "weight": rounded(column.get("weight")),
        "loss": rounded(picture.loss) if picture else None,
        "loss_text": percent(picture.loss) if picture and picture.loss is not None else "",
    }


def rates_of(manifest: Mapping[str, Any]) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Of each protected pair of columns: its name, and what every swap rate would select."""
    cells = manifest.get("cells") or {}
    return [(", ".join(map(label, pair)), rows) for pair, rows
            in zip(cells.get("groups", ()), cells.get("rates", ()), strict=True)]


def one_rate(pair: str, row: Mapping[str, Any]) -> Plain:
    """What one swap rate would select of one pair of columns."""
    names = ("rare_cells", "rare_records", "certain_cells", "certain_records")
    return {"pair": pair, "rate_text": f"{percent(row['rate'])} / {percent(1 - row['rate'])}",
            **{name: int(row[name]) for name in names},
            **{f"{name}_text": f"{row[name]:,}" for name in names}}


def shown_examples(examples: Sequence[Mapping[str, Any]]) -> Plain:
    """Released combinations with how many records share each."""
    rows = [{"labels": [label(text) for text in one["labels"].values()],
             "records": int(one["records"]), "records_text": f"{one['records']:,}",
             "tuples": int(one["tuples"]), "tuples_text": f"{one['tuples']:,}"}
            for one in examples[:MOST_EXAMPLES]]
    return {"columns": [label(name) for name in examples[0]["labels"]] if examples else [], "rows": rows}


def risk(evidence: Evidence, manifest: Mapping[str, Any]) -> Plain:
    """The risk of being recognized, before and after."""
    sliced = "column_groups" in manifest
    before, after = evidence.risk_before, evidence.risk_after
    due = sorted(((one.contribution, one.column) for one in evidence.columns if one.contribution is not None),
                 key=lambda pair: -pair[0])
    return {
        "sentence": (sliced_sentence(evidence) if sliced else drawn_sentence(evidence) if "drawn" in manifest
                     else risk_sentence(before, after)),
        "profile": profile(before, after, *(("Buckets", "bucket") if sliced else ("Classes", "class"))),
        "at_risk": paired(before.at_risk, after.at_risk),
        "sizes": paired(before.sizes, after.sizes),
        "contributions": [{"column": label(column), "share": rounded(share)}
                          for share, column in due[:MOST_PICTURES]],
        "measures": [measured(one, one.low == 0 and one.high == 1) for one in evidence.risk],
        "attacks": attacks.by_attack([(one, measured(one)) for one in evidence.attacks]),
        "attacked": attacks.sentence(evidence.attacks),
        "definitions": defined(evidence, "at_risk", "sizes", "contribution"),
    }


def defined(evidence: Evidence, *fields: str) -> dict[str, str]:
    """What the drawn fields mean."""
    return {field: evidence.definitions.get(field, "") for field in fields}


def risk_sentence(before: RiskProfile, after: RiskProfile) -> str:
    """The whole story of risk in two sentences."""
    private = (f"In the private table {before.unique:,} of {several(before.records, 'record')} stood alone "
               "with their combination of values: anybody who knew it would have found them.")
    if not after.records:
        return f"{private} In the release every record is suppressed."
    alone = "nobody stands" if after.unique == 0 else f"{after.unique:,} still stand"
    return (f"{private} In the release {alone} alone, and a guess at which record belongs to a person is "
            f"right with a chance of at most {percent(after.highest)}, on average {percent(after.average)} "
            f"(before: {percent(before.highest)} and {percent(before.average)}).")


def sliced_sentence(evidence: Evidence) -> str:
    """The risk in a sliced release in two sentences."""
    before, true = evidence.risk_before, next(one for one in evidence.risk
                                              if one.name == "matching_probability_true")
    return (f"In the private table {before.unique:,} of {several(before.records, 'record')} stood alone with "
            "their combination of values. In the release no row is a record; somebody who knows a person's "
            "combination finds the person's bucket, and gives the person's own sensitive value a chance of "
            f"{percent(true.value)} on average (before: {percent(true.before)}).")


def drawn_sentence(evidence: Evidence) -> str:
    """The risk in a drawn release in two sentences."""
    before, true = evidence.risk_before, next(one for one in evidence.risk
                                              if one.name == "told_probability_true")
    return (f"In the private table {before.unique:,} of {several(before.records, 'record')} stood alone with "
            "their combination of values. In the release no row is known to be anybody's; among the rows "
            "that fit a person, the person's own sensitive value has a share of "
            f"{percent(true.value)} on average (before: {percent(true.before)}).")


def profile(before: RiskProfile, after: RiskProfile, classes: str = "Classes",
            one_class: str = "class") -> list[Plain]:
    """The risk profiles side by side."""
    def row(title: str, field: str, text: Callable[[float | None], str]) -> Plain:
        one, other = getattr(before, field), getattr(after, field)
        return {"title": title, "before": rounded(one), "after": rounded(other),
                "before_text": text(one), "after_text": text(other)}

    return [
        row("Records", "records", number), row("Suppressed records, counted apart", "suppressed", number),
        row(classes, "classes", number), row(f"Smallest {one_class}", "smallest", number),
        row(f"Largest {one_class}", "largest", number),
        row(f"Records alone in their {one_class}", "unique", number),
        row("Highest risk of any record", "highest", percent),
        row("Share of records at the highest risk", "at_highest", percent),
        row("Average risk", "average", percent),
        row("Lowest risk", "lowest", percent),
        row("Share of records at the lowest risk", "at_lowest", percent),
    ]


def paired(before: Mapping[str, float], after: Mapping[str, float]) -> list[Plain]:
    """Two labelled series as one, in drawing order."""
    return [{"label": label(name),
             "before": rounded(before.get(name, 0.0)), "after": rounded(after.get(name, 0.0))}
            for name in dict.fromkeys([*before, *after])]


def measured(measure: Measure, as_percent: bool = False) -> Plain:
    """One number with everything needed to read it."""
    text = percent if as_percent else number
    low, high = text(measure.low) if measure.low is not None else "−∞", "∞"
    if measure.high is not None:
        high = text(measure.high)
    return {
        "name": measure.name, "title": measure.title,
        "value": rounded(measure.value), "value_text": text(measure.value),
        "before": rounded(measure.before),
        "before_text": text(measure.before) if measure.before is not None else "",
        "better": measure.better, "low": rounded(measure.low), "high": rounded(measure.high),
        "range_text": f"{low} to {high}", "definition": measure.definition, "citation": measure.citation,
    }


def utility(manifest: Mapping[str, Any], evidence: Evidence) -> Plain:
    """What of the table's use is left."""
    drawn = [one for one in evidence.columns if one.role != "identifying" and (one.before or one.after)]
    return {
        "sentence": sentences.search(manifest),
        "measures": [measured(one) for one in evidence.utility],
        "definitions": defined(evidence, "before", "after"),
        "columns": [distribution(one) for one in drawn[:MOST_PICTURES]],
        "columns_left": max(len(drawn) - MOST_PICTURES, 0),
        "correlations": correlated(evidence.correlations),
        "patterns": patterns(evidence.patterns),
    }


def distribution(picture: ColumnPicture) -> Plain:
    """A column's most frequent labels before and after, as shares."""
    return {"column": label(picture.column), "role": picture.role,
            "same_labels": set(picture.after) - {REST, ROOT} <= set(picture.before),
            "before": bars(picture.before), "after": bars(picture.after)}


def bars(shares: Mapping[str, float]) -> list[Plain]:
    """The labels of one distribution; what is summed up sets no scale."""
    return [{"label": label(name), "share": rounded(share), "rest": name == REST}
            for name, share in shares.items()]


def correlated(found: Correlations | None) -> Plain | None:
    """How columns go together, before and after."""
    if found is None:
        return None
    drawn = slice(MOST_CORRELATED)

    def matrix(rows: Sequence[Sequence[float | None]]) -> list[list[float | int | None]]:
        return [[rounded(value) for value in row[drawn]] for row in rows[drawn]]

    return {"columns": [label(name) for name in found.columns[drawn]],
            "columns_left": max(len(found.columns) - MOST_CORRELATED, 0),
            "before": matrix(found.before), "after": matrix(found.after),
            "change": matrix([[None if b is None or a is None else abs(a - b)
                               for b, a in zip(*rows, strict=True)]
                              for rows in zip(found.before, found.after, strict=True)]),
            "largest_change": rounded(found.largest_change),
            "largest_change_text": number(found.largest_change),
            "definition": found.definition, "citation": found.citation}


def reproduce(manifest: Mapping[str, Any]) -> Plain:
    """What it takes to get the same release again."""
    seed, timings = manifest.get("seed"), manifest.get("timings") or {}
    return {
        "recipe": "\n".join(clean(line) for line in (manifest.get("recipe") or "").split("\n")),
        "seed": seed, "seed_text": "none" if seed is None else str(seed),
        "hashes": [{"of": name, "sha256": digest} for name, digest in (manifest.get("sha256") or {}).items()],
        "search": finite(manifest.get("search")), "cost": finite(manifest.get("cost")),
        "timings": [{"stage": stage, "seconds": rounded(seconds), "text": f"{seconds:.2f} s"}
                    for stage, seconds in timings.items()],
    }


def finite(numbers: Mapping[str, Any] | None) -> Plain | None:
    """A mapping with its floats rounded, None where they are not finite."""
    if numbers is None:
        return None
    return {name: rounded(value) if isinstance(value, float) else value for name, value in numbers.items()}
