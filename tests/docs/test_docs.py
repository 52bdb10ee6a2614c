"""README.md and docs/: every block runs, every link leads somewhere, every name of the code is explained.

A page runs from top to bottom in a folder of its own, with the files of `sfumato.samples` in place:

- ```console   lines that start with `$ ` are run by bash and must end with exit code 0; lines below a
               command, where there are any, are what it prints (`...` stands for anything)
- ```python    run in one namespace a page
- ```yaml NAME, ```csv NAME   written to the file NAME, for the blocks below it
- ```yaml      must be YAML
- ```text      free text

A block marked `no-run` is not run; NOT_RUN lists how many a page has, so that they cannot grow silently.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from sfumato import errors, samples
from sfumato.costs.registry import COSTS
from sfumato.criteria.registry import CRITERIA
from sfumato.hierarchy.dates import STEPS
from sfumato.hierarchy.spec import FORMS
from sfumato.methods.certainty_penalty import CertaintyPenalty
from sfumato.methods.local import Local
from sfumato.methods.mdav import MDAV
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.oka import OKA
from sfumato.methods.optimal import Optimal
from sfumato.methods.registry import METHODS
from sfumato.recipe import Recipe

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
LANGUAGES = {"console", "python", "yaml", "csv", "text"}
NOT_RUN = {"README.md": 2, "docs/spark.md": 2, "CONTRIBUTING.md": 1}
TABLED = ("research-value", "bucketization", "composition-style", "e-dp", "hybrid-style", "merging-style",
          "probabilistic-style", "slicing", "ul")
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```\s*$", re.M | re.S)
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the word after it, its text and its line."""

    language: str
    word: str
    body: str
    line: int

    @property
    def runs(self) -> bool:
        return self.word != "no-run"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[Block]:
    found = []
    for fence in FENCE.finditer(text):
        language, _, word = fence["info"].strip().partition(" ")
        body = re.sub(rf"^{fence['indent']}", "", fence["body"], flags=re.M)
        found.append(Block(language, word, body, text.count("\n", 0, fence.start()) + 1))
    return found


def commands(body: str) -> list[tuple[str, str]]:
    """Each command with the output written below it; a line that ends in a backslash goes on."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", part)
        assert command
        found.append((command[0], part[command.end():].strip()))
    return found


class Page:
    """Runs the blocks of one page, in order, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, Any] = {}
        programs = folder / ".programs"
        programs.mkdir()
        (programs / "sfumato").write_text(f"#!{sys.executable}\nfrom sfumato.cli import main\nmain()\n")
        (programs / "sfumato").chmod(0o755)
        source = str(Path(samples.__file__).parents[1])
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": source,
                            "COLUMNS": "100", "NO_COLOR": "1"}

    def run(self, block: Block) -> None:
        if block.language == "console" and block.runs:
            for command, expected in commands(block.body):
                self.console(command, expected, block.line)
        elif block.language == "python" and block.runs:
            exec(compile("\n" * block.line + block.body, "page", "exec"), self.namespace)
        elif block.word and block.runs:
            target = self.folder / block.word
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
        elif block.language == "yaml":
            yaml.safe_load(block.body)

    def console(self, command: str, expected: str, line: int) -> None:
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              timeout=300, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = done.stdout
        assert done.returncode == 0, f"line {line}: $ {command}\nexit code {done.returncode}\n{printed}"
        assert "Traceback (most recent call last)" not in printed, f"line {line}: $ {command}\n{printed}"
        if expected:
            agrees = doctest.OutputChecker().check_output(expected + "\n", printed.strip() + "\n", LENIENT)
            assert agrees, f"line {line}: $ {command}\nprinted:\n{printed}\nbut the page shows:\n{expected}"


EXPLAINED = {
    "docs/recipe.md": [f"`{name}`" for name in Recipe.model_fields if name != "folder"],
    "docs/criteria.md": [f"{{{name}: " for name in CRITERIA],
    "docs/costs.md": [f"| `{name}` |" for name in COSTS],
    "docs/hierarchies.md": ["`suppress`", *(f"{{{name}: " for name in FORMS if name != "suppress"),
                            *(f"`{step}`" for step in STEPS)],
    "docs/methods.md": [f"[`{name}`](methods/{name}.md)" for name in METHODS],
    "docs/methods/optimal.md": [f"| `{name}` |" for name in Optimal.model_fields],
    "docs/methods/mondrian.md": [f"| `{name}` |" for name in Mondrian.model_fields],
    "docs/methods/local.md": [f"| `{name}` |" for name in Local.model_fields],
    "docs/methods/certainty-penalty.md": [f"| `{name}` |" for name in CertaintyPenalty.model_fields],
    "docs/methods/mdav.md": [f"| `{name}` |" for name in MDAV.model_fields],
    "docs/methods/oka.md": [f"| `{name}` |" for name in OKA.model_fields],
    **{f"docs/methods/{name}.md": [f"| `{field}` |" for field in METHODS[name].model_fields]
       for name in TABLED},
    "docs/errors.md": [f"`{kind.__name__}`" for kind in vars(errors).values()
                       if isinstance(kind, type) and issubclass(kind, errors.SfumatoError)],
}


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.write_hospital(tmp_path_factory.mktemp("hospital")).parent


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_runs(page: Path, hospital: Path, tmp_path: Path,
                          monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(hospital, tmp_path / "page")
    monkeypatch.chdir(folder)
    runner = Page(folder)
    for block in blocks(page.read_text(encoding="utf-8")):
        runner.run(block)


def test_blocks_that_do_not_run_are_counted() -> None:
    counted = Counter(name_of(page) for page in PAGES for block in blocks(page.read_text()) if not block.runs)
    assert counted == NOT_RUN


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_its_language(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert {block.language for block in blocks(text)} <= LANGUAGES
    assert len(re.findall(r"^ *```", text, re.M)) == 2 * len(blocks(text)), "a fence is not closed"
    silent = [b.line for b in blocks(text) if b.language == "console" and not commands(b.body)]
    assert not silent, "console blocks without a `$ ` line"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s:]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        left.extend({(page.parent / link).resolve() for link in links} - reached)
    assert set(PAGES) <= reached


@pytest.mark.parametrize("page", EXPLAINED)
def test_every_name_is_explained(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(EXPLAINED[page]) > 1
    assert [name for name in EXPLAINED[page] if name not in text] == []


def test_every_citation_stands_in_the_bibliography() -> None:
    known = re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text(), re.M)
    cited = {key for page in PAGES for key in re.findall(r"\[@(\w+)", page.read_text(encoding="utf-8"))}
    assert len(known) == len(set(known))
    assert cited == set(known)


def test_the_readers_of_pages_find_faults(tmp_path: Path) -> None:
    text = "```console\n$ echo one \\\n  two\none two\n$ false\n```\n"
    [block] = blocks(text)
    assert commands(block.body) == [("echo one \\\n  two", "one two"), ("false", "")]
    runner = Page(tmp_path)
    runner.console("echo one two", "one ...", 1)
    with pytest.raises(AssertionError, match="but the page shows"):
        runner.console("echo one two", "one three", 1)
    with pytest.raises(AssertionError, match="Traceback"):
        runner.console(f"{sys.executable} -c '1 / 0' || true", "", 1)
    with pytest.raises(AssertionError, match="exit code 1"):
        runner.run(block)
    with pytest.raises(ZeroDivisionError):
        runner.run(Block("python", "", "1 / 0\n", 1))
