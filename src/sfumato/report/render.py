"""Summary → page: HTML, Markdown, JSON, and a fragment for notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

ASSURANCE = ("Counted again from the written release alone, by code that shares nothing with the search that "
             "found it.")
MARKDOWN = re.compile(r"([\\`*_\[\]|#~])")
Summary = dict[str, Any]


def html(summary: Summary) -> str:
    """One self-contained page."""
    return _page(f"{summary.get('page', 'report')}.html", summary)


def notebook(summary: Summary) -> str:
    """The verdict and the main numbers, to be shown inside a notebook."""
    return _page("notebook.html", summary)


def markdown(summary: Summary) -> str:
    """The same as text."""
    page = _page(f"{summary.get('page', 'report')}.md", summary)
    return re.sub(r"\n{3,}", "\n\n", page).strip() + "\n"


def json_text(summary: Summary) -> str:
    """The summary itself."""
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


WRITERS = {"html": html, "md": markdown, "json": json_text}


def in_form_of(name: str, summary: Summary) -> str:
    """The report as a file's name asks: .md and .json as such, anything else as HTML."""
    return WRITERS.get(name.rpartition(".")[2].lower(), html)(summary)


def _page(template: str, summary: Summary) -> str:
    return _environment().get_template(template).render(s=summary)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader

    from sfumato.report import charts
    from sfumato.report.figures import percent

    made = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), trim_blocks=True,
                       lstrip_blocks=True, autoescape=lambda name: name is None or not name.endswith(".md"))
    made.filters.update(prose=prose, md=escaped, code=coded)
    made.globals.update(chart=charts, assurance=ASSURANCE, percent=percent, fenced=fenced, highest=highest,
                        named_shares=named_shares, said_of_all=said_of_all)
    return made


def prose(text: str) -> str:
    """Text whose percentages never break across lines."""
    return text.replace(" %", "\u00a0%")


def escaped(text: object) -> str:
    """Text that means nothing to Markdown nor to HTML, on one line."""
    plain = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return MARKDOWN.sub(r"\\\1", plain)


def coded(name: str) -> str:
    """A name as code that no backtick within it ends; in code Markdown leaves every other sign alone."""
    return f"`{' '.join(name.split()).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def fenced(code: str) -> str:
    """A block of code inside a fence longer than any within it."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}yaml\n{code.rstrip()}\n{fence}"


def said_of_all(rows: Sequence[Summary]) -> str:
    """The last sentences that the definitions of several measures share: said once, above them."""
    sentences = [one["definition"].split(". ")[::-1] for one in rows]
    together = zip(*sentences, strict=False) if len(sentences) > 1 else ()
    shared = [said[0] for said in takewhile(lambda said: len(set(said)) == 1, together)]
    return "".join(f" {sentence}" for sentence in reversed(shared))


def highest(column: Summary) -> float:
    """The largest share of a column, before or after: their common scale."""
    drawn = (row["share"] for side in ("before", "after") for row in column[side] if not row.get("rest"))
    return max(drawn, default=0.0) or 1.0


def named_shares(contributions: list[Summary]) -> list[Summary]:
    """Contributions as the rows of a chart."""
    return [{"label": one["column"], "share": one["share"]} for one in contributions]
