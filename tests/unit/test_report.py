"""The report: what it says, and that every page is whole, self-contained and safe to open."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.measure.evidence import ColumnPicture, Correlations, Evidence, Measure, RiskProfile
from sfumato.measure.utility import distribution
from sfumato.report import charts, figures, render, sentences, summary
from sfumato.report.summary import summarize

HOSTILE = "<script>alert('x')</script> \"a\" & `b` | *c* 🎨\n\x00\u202e{{ 7 * 7 }}"
VOID = {"meta", "br", "link", "img", "hr", "input"}
Plain = dict[str, Any]


def profile(**changes: Any) -> RiskProfile:
    """A risk profile; the private table's unless told otherwise."""
    fields: Plain = dict(
        records=30162,
        classes=18109,
        unique=14021,
        suppressed=0,
        lowest=1 / 45,
        average=0.6004,
        highest=1.0,
        smallest=1,
        largest=45,
        at_lowest=0.0015,
        at_highest=0.465,
        at_risk={"> 50 %": 0.465, "> 20 %": 0.729},
        sizes={"1": 0.465, "5-9": 0.126, "100+": 0.0},
    )
    return RiskProfile(**{**fields, **changes})


def measure(name: str, value: float | None, **changes: Any) -> Measure:
    """A measure; a share unless told otherwise."""
    fields: Plain = dict(
        name=name,
        title=f"Title of {name}",
        value=value,
        before=None,
        better="lower",
        low=0,
        high=1,
        definition=f"Definition of {name}.",
        citation="Somebody 2001, Something, Journal",
    )
    return Measure(**{**fields, **changes})


def picture(column: str, role: str = "quasi", **changes: Any) -> ColumnPicture:
    """A column's picture."""
    fields: Plain = dict(
        column=column,
        role=role,
        level=1,
        levels=2,
        loss=0.3,
        contribution=0.2,
        distinction=0.1,
        separation=0.9,
        before={"37": 0.4, "38": 0.5, "(other)": 0.1},
        after={"20-39": 0.96, "*": 0.04},
    )
    return ColumnPicture(**{**fields, **changes})


@pytest.fixture
def evidence() -> Evidence:
    """Evidence by hand, with numpy numbers among it as the measures may leave them."""
    return Evidence(
        risk_before=profile(),
        risk_after=profile(
            records=28914,
            classes=384,
            unique=0,
            suppressed=1248,
            average=0.0133,
            highest=0.2,
            smallest=5,
            largest=1141,
            at_risk={"> 50 %": 0.0, "> 20 %": 0.0},
            sizes={"1": 0.0, "5-9": 0.03, "100+": 0.782},
        ),
        risk=(
            measure("prosecutor_highest", 0.2, before=1.0),
            measure("journalist", None, definition="No population is named."),
        ),
        utility=(
            measure("mean_ncp", np.float64(0.26176), before=0.0),
            measure("discernibility", 50410000.0, high=None),
        ),
        columns=(
            picture("age"),
            picture(
                "income",
                "sensitive",
                level=None,
                levels=None,
                loss=None,
                contribution=None,
                before={"<=50K": 0.75, ">50K": 0.25},
                after={"<=50K": 0.74, ">50K": 0.26},
            ),
        ),
        correlations=Correlations(
            ("age", "income"),
            ((1.0, 0.3), (0.3, 1.0)),
            ((1.0, None), (None, 1.0)),
            0.1,
            "How closely two columns go together.",
            "Bergsma 2013",
        ),
        definitions={"at_risk": "What at_risk means."},
    )


@pytest.fixture
def manifest() -> Plain:
    """A manifest by hand."""
    return {
        "sfumato": "0.1.0",
        "table": "adult.csv",
        "levels": {"age": 3, "sex": 0},
        "classes": 384,
        "records": {"received": 30162, "kept": 28914, "suppressed": 1248, "added": 0},
        "suppressed_rows": "keep",
        "cost": {"name": "ncp", "score": 0.2618},
        "search": {
            "status": "optimal",
            "bound": 0.2618,
            "gap": 0.0,
            "nodes": 6480,
            "checked": 300,
            "seconds": 0.03,
        },
        "measures": {"mean_ncp": 0.2618},
        "verdict": {"holds": True, "criteria": [finding()]},
        "seed": 7,
        "sha256": {"table": "a" * 64, "recipe": "b" * 64, "release": "c" * 64},
        "timings": {"read": 0.1, "search": 0.03},
        "columns": {
            "name": {"role": "identifying", "level": None, "levels": None, "weight": 1.0},
            "income": {"role": "sensitive", "level": None, "levels": None, "weight": 1.0},
            "age": {"role": "quasi", "level": 3, "levels": 5, "weight": 2.0},
            "sex": {"role": "quasi", "level": 0, "levels": 2, "weight": 1.0},
        },
        "story": ["30,162 records were read from adult.csv.", "1,248 records were suppressed."],
        "recipe": "table: adult.csv\ncriteria:\n  - {k-anonymity: {k: 5}}\n",
    }


def finding(**changes: Any) -> Plain:
    """k-anonymity that holds, unless told otherwise."""
    return {
        "name": "k-anonymity",
        "promise": "k = 5",
        "holds": True,
        "worst": 5.0,
        "threshold": 5.0,
        "failing": 0,
        **changes,
    }


@pytest.fixture
def examples() -> list[Plain]:
    """Released combinations."""
    return [
        {"labels": {"age": "20-39", "sex": "Male"}, "records": 1112, "tuples": 37},
        {"labels": {"age": None, "sex": "Female"}, "records": 5, "tuples": 1},
    ]


@pytest.fixture
def told(manifest: Plain, evidence: Evidence, examples: list[Plain]) -> Plain:
    """The summary of it all."""
    return summarize(manifest, evidence, examples)


class Reader(HTMLParser):
    """Reads a page as a browser does: its tags must balance, its text is collected."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice in <{tag}>"
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if "head" not in self.open and data.strip():
            self.text.append(data.strip())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a kind."""
        return [attributes for name, attributes in self.seen if name == tag]


def loads(page: str) -> list[str]:
    """Whatever a page would fetch from somewhere else."""
    reader = Reader(page)
    named = [
        value or ""
        for _, attributes in reader.seen
        for name, value in attributes.items()
        if name in {"src", "href", "srcset", "data", "action", "xlink:href", "poster"}
    ]
    styles = re.findall(r"url\(([^)]*)\)", page) + re.findall(r"@import[^;]*", page)
    return [target for target in (*named, *styles) if not target.strip("'\" ").startswith("#")]


# --- the summary -----------------------------------------------------------------------------------


def test_verdict_in_plain_words(told: Plain) -> None:
    assert told["verdict"]["headline"] == "The promise holds"
    assert told["verdict"]["sentence"].startswith(
        "Every combination of age and sex in this release is shared by at least 5 people"
    )
    assert [one["holds"] for one in told["verdict"]["criteria"]] == [True]


def test_broken_promise_is_named_with_its_worst_class(manifest: Plain, evidence: Evidence) -> None:
    manifest["verdict"] = {
        "holds": False,
        "criteria": [
            finding(holds=False, worst=3, failing=2),
            finding(name="l-diversity", promise="l = 2", worst=2, threshold=2),
        ],
    }
    verdict = summarize(manifest, evidence)["verdict"]
    assert verdict["headline"] == "The promise does not hold"
    assert "1 of 2 promises is broken: k-anonymity (k = 5)." in verdict["sentence"]
    assert "2 classes of records break it: the worst reaches 3 where 5 is asked." in verdict["sentence"]
    assert "Do not hand this release on" in verdict["sentence"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_contradiction_is_never_good_news(manifest: Plain, evidence: Evidence, whole: bool) -> None:
    manifest["verdict"] = {"holds": whole, "criteria": [finding(holds=not whole, worst=3, failing=1)]}
    verdict = summarize(manifest, evidence)["verdict"]
    assert verdict["holds"] is False
    assert verdict["headline"] == "The promise does not hold"
    assert "Do not hand this release on" in verdict["sentence"]


def test_without_criteria_nothing_is_said_to_hold(manifest: Plain, evidence: Evidence) -> None:
    manifest["verdict"] = {"holds": True, "criteria": []}
    told = summarize(manifest, evidence)
    assert told["verdict"]["holds"] is None
    assert "Nothing was promised" in render.html(told)
    assert "The promise holds" not in render.html(told)


def test_release_without_classes(manifest: Plain, evidence: Evidence) -> None:
    manifest["verdict"]["criteria"] = [finding(worst=None)]
    manifest["records"] |= {"kept": 0, "suppressed": 30162}
    nothing = profile(
        records=0,
        classes=0,
        unique=0,
        suppressed=30162,
        lowest=None,
        average=None,
        highest=None,
        smallest=None,
        largest=None,
        at_lowest=0.0,
        at_highest=0.0,
        at_risk={},
        sizes={},
    )
    told = summarize(manifest, Evidence(profile(), nothing, (), (), (), None, {}))
    assert "No class of records was released" in told["verdict"]["sentence"]
    assert told["risk"]["sentence"].endswith("In the release every record is suppressed.")
    assert {row["label"]: row["after"] for row in told["risk"]["at_risk"]} == {"> 50 %": 0, "> 20 %": 0}
    Reader(render.html(told))


def test_unproven_search_is_never_called_the_best(manifest: Plain, evidence: Evidence) -> None:
    manifest["search"] |= {"status": "best found", "bound": 0.25}
    sentence = summarize(manifest, evidence)["utility"]["sentence"]
    assert sentence.startswith("Best found, not proven best")
    assert "Nothing below 0.25 is possible." in sentence


def test_nothing_lost_needs_no_proof() -> None:
    found = {"score": 0.0, "bound": 0.0, "within": None}
    assert sentences.certified(found, {"name": "ncp", "score": 0.0}, 12).startswith("Nothing was lost")
    found["score"] = 0.2
    assert sentences.certified(found, {"name": "ncp", "score": 0.2}, 12).startswith("No bound above 0")


def test_what_is_missing_is_left_out(manifest: Plain, evidence: Evidence) -> None:
    for key in ("search", "cost", "seed", "timings", "story", "recipe", "levels"):
        manifest[key] = None
    told = summarize(manifest, evidence)
    assert told["utility"]["sentence"] == ""
    assert told["reproduce"]["seed_text"] == "none"
    Reader(render.html(told))
    render.markdown(told)


def test_columns_in_order_with_what_happened(told: Plain) -> None:
    rows = {row["column"]: row["change"] for row in told["changes"]["columns"]}
    assert list(rows) == ["age", "sex", "income", "name"]
    assert rows == {
        "age": "level 3 of 4",
        "sex": "values as they were",
        "income": "not generalized",
        "name": "left out of the release",
    }
    assert sentences.column_change({"role": "quasi", "level": 4, "levels": 5}) == "nothing left but *"


def test_limits_follow_the_release(manifest: Plain, evidence: Evidence) -> None:
    def titles() -> list[str]:
        return [limit["title"] for limit in summarize(manifest, evidence)["limits"]]

    assert "What all members of a class share" in titles()
    assert "Suppressed records are a group of their own" in titles()
    manifest["suppressed_rows"] = "drop"
    manifest["verdict"]["criteria"].append(finding(name="l-diversity", promise="l = 2"))
    assert "Guesses at sensitive values" in titles()
    assert "Records left out" in titles()


def test_identifying_column_is_never_drawn(manifest: Plain, evidence: Evidence) -> None:
    secret = picture("name", "identifying", before={"Ada Lovelace": 1.0}, after={})
    held = Evidence(
        evidence.risk_before,
        evidence.risk_after,
        evidence.risk,
        evidence.utility,
        (*evidence.columns, secret),
        None,
        {},
    )
    assert "Ada Lovelace" not in render.json_text(summarize(manifest, held))


def test_sums_are_called_as_the_evidence_calls_them(told: Plain) -> None:
    assert summary.REST == distribution.OTHER
    before = told["utility"]["columns"][0]["before"]
    assert [row["rest"] for row in before] == [False, False, True]


def test_every_criterion_has_a_meaning() -> None:
    from sfumato.criteria import registry

    names = {
        criterion.name
        for criterion in vars(registry).values()
        if isinstance(criterion, type) and isinstance(getattr(criterion, "name", None), str)
    }
    assert names, "the registry names no criterion"
    assert names <= set(sentences.MEANINGS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not defined"),
        (float("nan"), "not defined"),
        (float("inf"), "∞"),
        (0, "0"),
        (5.0, "5"),
        (1234567, "1,234,567"),
        (50410000.4, "50,410,000"),
        (78.3377, "78.34"),
        (0.26176, "0.2618"),
        (0.00001, "< 0.0001"),
        (-0.5, "−0.5"),
        (999.96, "1,000"),
        (1.0001, "1"),
        (12.3456, "12.35"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert figures.number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (None, "not defined"),
        (0, "0 %"),
        (1, "100 %"),
        (0.2, "20 %"),
        (0.26176, "26.2 %"),
        (0.00001, "< 0.1 %"),
        (0.99999, "> 99.9 %"),
        (12.5, "1,250 %"),
    ],
)
def test_percentages(share: float | None, text: str) -> None:
    assert figures.percent(share) == text


def test_listing() -> None:
    assert figures.listing(["a"]) == "a"
    assert figures.listing(["a", "b", "c"]) == "a, b and c"
    assert figures.listing([str(n) for n in range(1000)]) == "0, 1, 2, 3, 4, 5, 6 and 993 more columns"


# --- the pages -------------------------------------------------------------------------------------


def test_page_starts_with_the_verdict(told: Plain) -> None:
    page = Reader(render.html(told))
    assert page.text[0] == "The promise holds"
    assert page.text[1].startswith("Every combination of age and sex")
    assert page.all("html")[0]["lang"] == "en"


def test_page_loads_nothing(told: Plain) -> None:
    page = render.html(told)
    assert loads(page) == []
    assert not Reader(page).all("script")
    assert "http://" not in page and "https://" not in page


def test_a_load_would_be_found() -> None:
    assert loads('<img src="https://a.b/c.png">') == ["https://a.b/c.png"]
    assert loads("<style>p { background: url(//a.b) }</style>") == ["//a.b"]


def test_page_is_accessible(told: Plain) -> None:
    page = Reader(render.html(told))
    assert all(
        ("role" in svg and svg["aria-label"]) or svg.get("aria-hidden") == "true" or svg in keys(page)
        for svg in page.all("svg")
    )
    assert all(header.get("scope") in {"row", "col"} for header in page.all("th"))
    ids = [attributes["id"] for _, attributes in page.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [link["href"] or "" for link in page.all("a")]
    assert links and all(link.removeprefix("#") in ids for link in links)


def keys(page: Reader) -> list[dict[str, str | None]]:
    """The swatches of the legend, which stand in a hidden paragraph beside their words."""
    return [svg for svg in page.all("svg") if svg.get("viewbox") == "0 0 34 16"]


def test_page_knows_dark_and_print(told: Plain) -> None:
    page = render.html(told)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page and "size: A4" in page


def test_colours_can_be_read() -> None:
    css = (Path(render.__file__).parent / "templates/style.css").read_text()
    light, dark = css.split("@media screen and (prefers-color-scheme: dark)")
    for scheme in (light, dark.split("* {")[0]):
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", scheme.split("}")[0]))
        tones = re.findall(r"--tone: (#[0-9a-f]{6})", scheme)
        assert len(tones) == 3
        for ground in (colours["paper"], colours["sheet"]):
            for text in (colours["ink"], colours["soft"], colours["after"], *tones):
                assert contrast(text, ground) >= 4.5, (text, ground)
        for shade in np.linspace(0.05, 1, 96):  # the cells of a heat map
            cell = mixed(colours["paper"], colours["cell"], shade)
            text = colours["on"] if shade > 0.645 else colours["off"]
            assert contrast(text, cell) >= 4.4, (shade, text)


def rgb(colour: str) -> list[int]:
    """A colour's parts."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    return [int(digits[n : n + 2], 16) for n in (0, 2, 4)]


def mixed(under: str, over: str, opacity: float) -> str:
    """A colour laid over another."""
    parts = zip(rgb(under), rgb(over), strict=True)
    return "#" + "".join(f"{round(a * (1 - opacity) + b * opacity):02x}" for a, b in parts)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""

    def luminance(colour: str) -> float:
        parts = [part / 255 for part in rgb(colour)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_broken_promise_is_told_by_word_and_shape(manifest: Plain, evidence: Evidence) -> None:
    good = render.html(summarize(manifest, evidence))
    manifest["verdict"] = {"holds": False, "criteria": [finding(holds=False, worst=3, failing=2)]}
    bad = render.html(summarize(manifest, evidence))
    assert Reader(bad).text[0] == "The promise does not hold"
    seals = [re.search(r'<svg class="seal".*?</svg>', page, re.DOTALL) for page in (good, bad)]
    assert seals[0] and seals[1] and seals[0].group() != seals[1].group()
    assert '<body class="fails">' in bad and '<body class="holds">' in good


def test_missing_values_and_undefined_numbers_are_said(told: Plain) -> None:
    text = " ".join(Reader(render.html(told)).text)
    assert "(missing)" in text
    assert "not defined" in text and "No population is named." in text


def hostile(manifest: Plain, evidence: Evidence) -> Plain:
    """A summary in which every text that comes from a user is hostile."""
    bad = copy.deepcopy(manifest)
    bad["table"] = bad["recipe"] = HOSTILE
    bad["story"] = [HOSTILE]
    bad["columns"] = {
        HOSTILE: {"role": "quasi", "level": 1, "levels": 3, "weight": 1.0},
        "x" * 5000: {"role": "plain", "level": None, "levels": None, "weight": 1.0},
    }
    bad["verdict"]["criteria"] = [finding(promise=f"k = 5 for {HOSTILE}")]
    shown = picture(HOSTILE, before={HOSTILE: 0.5, "y" * 5000: 0.5}, after={HOSTILE: 1.0})
    held = Evidence(
        evidence.risk_before,
        evidence.risk_after,
        evidence.risk,
        evidence.utility,
        (shown,),
        Correlations(
            (HOSTILE, "漢字" * 40), ((1.0, -0.5), (-0.5, 1.0)), ((1.0, 0.0), (0.0, 1.0)), 0.5, "d", "c"
        ),
        {},
    )
    return summarize(bad, held, [{"labels": {HOSTILE: HOSTILE}, "records": 5, "tuples": 5}])


def test_text_from_users_is_only_text(manifest: Plain, evidence: Evidence) -> None:
    told = hostile(manifest, evidence)
    for page in (render.html(told), render.notebook(told)):
        reader = Reader(page)
        assert not reader.all("script")
        assert "<script" not in page and "49" not in " ".join(reader.text[:3])
        assert "alert('x')" in " ".join(reader.text)
    page = render.html(told)
    assert "\x00" not in page and "\u202e" not in page
    assert "🎨" in page
    assert "x" * 200 not in page and "y" * 200 not in page


def test_markdown_of_hostile_text(manifest: Plain, evidence: Evidence) -> None:
    page = render.markdown(hostile(manifest, evidence))
    outside = re.sub(r"(?ms)^````*yaml\n.*?^````*$", "", page)
    assert "<script" not in outside
    assert tables(page)


def tables(page: str) -> list[list[str]]:
    """The tables of a Markdown page, each with equally many cells in every row."""
    found = [block.splitlines() for block in re.findall(r"(?:^\|.*\n?)+", page, re.MULTILINE)]
    for rows in found:
        widths = {len(re.split(r"(?<!\\)\|", row.strip())) for row in rows}
        assert len(widths) == 1, rows[:2]
        assert re.fullmatch(r"\|( -{3}:? \|)+", rows[1].strip()), rows[1]
    return found


def test_markdown(told: Plain) -> None:
    page = render.markdown(told)
    assert page.startswith("# The promise holds\n\nEvery combination of age and sex")
    assert len(tables(page)) == 8
    assert "| 1,112 | 37 | 20-39 | Male |" in page
    assert "\n\n\n" not in page


def test_json(told: Plain) -> None:
    assert json.loads(render.json_text(told)) == told


def test_json_knows_no_infinity(manifest: Plain, evidence: Evidence) -> None:
    manifest["verdict"]["criteria"] = [
        finding(name="beta-likeness", worst=float("inf"), holds=False, failing=1)
    ]
    manifest["search"]["gap"] = float("inf")
    told = json.loads(render.json_text(summarize(manifest, evidence)))
    assert told["verdict"]["criteria"][0]["worst"] is None
    assert told["verdict"]["criteria"][0]["worst_text"] == "∞"
    assert told["reproduce"]["search"]["gap"] is None


def test_notebook_is_a_fragment(told: Plain) -> None:
    page = render.notebook(told)
    assert Reader(page).text[0] == "The promise holds"
    assert "<html" not in page and "<style" not in page and loads(page) == []
    assert len(page) < 6000


def test_what_all_definitions_say_is_said_once() -> None:
    rows = [{"definition": f"{what}. After: of those kept; others apart."} for what in ("A", "B", "B. C")]
    assert render.said_of_all(rows) == " After: of those kept; others apart."
    assert render.said_of_all(rows[:1]) == "" and render.said_of_all([]) == ""
    assert render.said_of_all([{"definition": "All of it."}, {"definition": "None of it."}]) == ""


def test_same_summary_same_page(told: Plain) -> None:
    assert render.html(told) == render.html(copy.deepcopy(told))


# --- the charts ------------------------------------------------------------------------------------


def test_charts_are_whole_and_say_what_they_show() -> None:
    rows = [
        {"label": HOSTILE.translate(figures.DISTURBING), "before": 0.5, "after": None, "share": 0.5},
        {"label": "(other)", "before": 0.0, "after": 1.0, "share": 0.5, "rest": True},
    ]
    drawn = [
        charts.before_after("Risk", rows),
        charts.shares("Age", rows, "before"),
        charts.shares("None", [], "after"),
        charts.heat("Both", ["a", "b"], [[1.0, -0.25], [None, 1.0]]),
        charts.ladder(2, 5),
    ]
    for chart in drawn:
        root = ElementTree.fromstring(str(chart))
        assert root.get("role") == "img"
        assert root.get("aria-label") == root.findtext("title")
    assert "(other): 0 % before, 100 % after" in drawn[0]
    assert "b and a: –" in drawn[3] and "−.25" in drawn[3]


def test_bars_are_in_proportion() -> None:
    rows = [{"label": "a", "share": 0.2}, {"label": "b", "share": 0.1}, {"label": "c", "share": 0.0}]
    widths = [
        float(bar.get("width", ""))
        for bar in ElementTree.fromstring(str(charts.shares("x", rows, "after")))
        if bar.tag == "rect"
    ]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.02)
    assert widths[2] == 0


def test_labels_are_cut_by_width() -> None:
    assert charts.fitted("short", 16) == "short"
    assert charts.fitted("x" * 17, 16) == "x" * 15 + "…"
    assert charts.fitted("漢" * 9, 16) == "漢" * 7 + "…"


def test_gauge_only_where_the_range_is_closed() -> None:
    assert charts.gauge(0.5, None, 0, None) == "" and charts.gauge(None, 0.5, 0, 1) == ""
    assert 'cx="50"' in charts.gauge(0.5, 1.0, 0, 1)


# --- start-up --------------------------------------------------------------------------------------


def test_rendering_imports_nothing_heavy() -> None:
    code = (
        "import sys, sfumato.report.summary, sfumato.report.render; print('jinja2' in sys.modules); "
        "sfumato.report.render._environment(); "
        "print([name for name in ('numpy', 'altair', 'pandas', 'ibis', 'duckdb') if name in sys.modules])"
    )
    source = str(Path(render.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    assert done.stdout.split("\n")[:2] == ["False", "[]"]


def test_example_rows_are_headed_as_what_they_are(manifest: Plain, evidence: Evidence,
                                                  examples: list[Plain]) -> None:
    assert "Each line is one class" in render.html(summarize(manifest, evidence, examples))
    drawn = summary.changes({**manifest, "drawn": {}}, evidence, examples)["examples"]["said"]
    assert "No row is known to be anybody's" in drawn["line"] and drawn["records"] == "Rows"
    sliced = summary.changes({**manifest, "column_groups": []}, evidence, examples)["examples"]["said"]
    assert sliced["sizes"] == "Records in a bucket of … records" and "nobody's" in sliced["line"]
    assert "Worst class" in render.html(summarize(manifest, evidence, examples))
    assert (sliced["one"], sliced["many"]) == ("bucket", "Buckets")


def test_without_a_level_there_is_no_ladder(manifest: Plain, evidence: Evidence) -> None:
    assert "The ring marks" in render.html(summarize(manifest, evidence))
    bare = copy.deepcopy(manifest)
    for column in bare["columns"].values():
        column["level"] = None
    page = render.html(summarize(bare, evidence))
    assert "The ring marks" not in page and ">Blur<" not in page
