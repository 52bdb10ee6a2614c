"""Every command, every exit code, in this process."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import RECIPE, SECRET
from tests.unit.test_table_hostile import CASES, Case
from typer.testing import Result

import sfumato
from sfumato.cli.options import names

Run = Callable[..., Result]


def left(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_anonymize_writes_release_manifest_and_report(work: Path, run: Run) -> None:
    answer = run("anonymize", "people.csv", "--recipe", "people.yaml", "--out", "release")
    assert answer.exit_code == 0, answer.output
    assert left(work / "release") == ["manifest.json", "release.csv", "report.html"]
    assert "The promise holds" in answer.stdout and "k-anonymity" in answer.stdout
    assert "release/release.csv" in answer.stdout
    with open(work / "release" / "release.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300 and "name" not in rows[0]


def test_the_recipe_may_name_the_table_from_its_own_folder(work: Path, run: Run,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "elsewhere").mkdir()
    monkeypatch.chdir(work / "elsewhere")
    assert run("anonymize", "--recipe", "../people.yaml", "--out", "r", "--no-report").exit_code == 0
    assert left(work / "elsewhere" / "r") == ["manifest.json", "release.csv"]


def test_json_is_the_manifest_and_nothing_else(work: Path, run: Run) -> None:
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report", "--json")
    facts = json.loads(answer.stdout)
    assert facts == json.loads((work / "r" / "manifest.json").read_text())
    assert set(facts) >= {"levels", "classes", "records", "cost", "measures", "verdict", "seed", "sha256",
                          "timings"}
    assert set(facts["records"]) == {"received", "kept", "suppressed", "added"}
    assert set(facts["cost"]) == {"name", "score"} and "mean_ncp" in facts["measures"]
    assert facts["verdict"]["holds"] is True
    assert all({"name", "holds", "worst"} <= set(one) for one in facts["verdict"]["criteria"])
    assert set(facts["sha256"]) == {"table", "recipe", "release"} and facts["seed"] == 7


@pytest.mark.parametrize(("format", "name"), [
    ("csv", "release.csv"), ("tsv", "release.tsv"), ("parquet", "release.parquet"),
    ("arrow", "release.arrow"),
    ("feather", "release.feather"), ("json", "release.json"), ("excel", "release.xlsx")])
def test_every_format_is_written_and_checked_again(work: Path, run: Run, format: str, name: str) -> None:
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report", "--format", format)
    assert answer.exit_code == 0, answer.output
    assert left(work / "r") == ["manifest.json", name]
    assert run("check", "r").exit_code == 0
    assert run("check", f"r/{name}", "--recipe", "people.yaml", "--k", 200).exit_code == 1


def test_what_is_said_beside_the_recipe_wins(work: Path, run: Run) -> None:
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report", "--json", "--k", 20,
                 "--suppression", 0.5, "--cost", "aecs", "--seed", 11)
    facts = json.loads(answer.stdout)
    assert facts["seed"] == 11 and facts["cost"]["name"] == "aecs"
    promised = {one["name"]: one["promise"] for one in facts["verdict"]["criteria"]}
    assert promised["k-anonymity"] == "k = 20" and "l-diversity" in promised


def test_words_alone_make_a_recipe_with_suggested_hierarchies(work: Path, run: Run) -> None:
    answer = run("anonymize", "people.csv", "--quasi", "age,town", "--k", 5, "--out", "r", "--no-report",
                 "--suppression", 0.05)
    assert answer.exit_code == 0, answer.output
    assert "age: hierarchy {interval:" in answer.stderr
    assert "name: released as it is, but it looks identifying" in answer.stderr
    named = run("anonymize", "people.csv", "--quasi", "age,town", "--k", 5, "--out", "r", "--no-report",
                "--identifying", "name", "--sensitive", "illness", "--l", 2, "--json")
    assert "looks identifying" not in named.stderr
    assert json.loads(named.stdout)["columns"]["name"]["role"] == "identifying"


def test_into_a_database_too(work: Path, run: Run) -> None:
    said = ("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report", "--to", "out.sqlite")
    assert run(*said).exit_code == 2
    assert run(*said, "--as", "people").exit_code == 0
    with sqlite3.connect(work / "out.sqlite") as file:
        assert file.execute("SELECT count(*) FROM people").fetchone() == (300,)
    assert run("check", "out.sqlite", "--recipe", "people.yaml").exit_code == 0
    again = run("anonymize", "--recipe", "people.yaml", "--out", "r2", "--no-report", "--to", "out.sqlite",
                "--as", "people")
    assert again.exit_code == 2 and "already has a table 'people'" in again.stderr
    assert not (work / "r2").exists()
    assert run(*said, "--as", "people", "--replace").exit_code == 0


def test_check_answers_by_exit_code(work: Path, run: Run) -> None:
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report").exit_code == 0
    holds = run("check", "r/release.csv", "--recipe", "people.yaml")
    assert holds.exit_code == 0 and "The promise holds" in holds.stdout
    fails = run("check", "people.csv", "--quasi", "age,town", "--k", 5, "--sensitive", "illness", "--l", 2)
    assert fails.exit_code == 1 and "does NOT hold" in fails.stdout and "FAILS" in fails.stdout
    assert run("check", "people.csv", "--quasi", "age,town", "--k", "5", "--t", 0.2).exit_code == 2
    assert run("check", "people.csv", "--quasi", "agee", "--k", 5).exit_code == 2
    assert run("check", "people.csv").exit_code == 2
    assert run("check", "nowhere.csv").exit_code == 2
    assert run("check", "people.csv", "--quasi", "age").exit_code == 2  # nothing is promised


def test_check_tells_every_criterion(work: Path, run: Run) -> None:
    said = ("--quasi", "town", "--sensitive", "illness", "--k", 5, "--l", 2, "--kind", "entropy", "--t", 0.5)
    facts = json.loads(run("check", "people.csv", *said, "--json").stdout)
    assert facts["holds"] and [one["name"] for one in facts["criteria"]] == [
        "k-anonymity", "l-diversity", "t-closeness"]
    assert facts["records"] == 300 and facts["classes"] == 3 and facts["suppressed"] == 0


def test_an_identifying_column_breaks_the_promise(work: Path, run: Run) -> None:
    (work / "leak.csv").write_text(f"name,age,town,illness\n{SECRET},*,*,a\n" + f"{SECRET},*,*,b\n" * 9)
    answer = run("check", "leak.csv", "--recipe", "people.yaml")
    assert answer.exit_code == 1 and "identifying column 'name' is still there" in answer.stdout
    (work / "clean.csv").write_text("age,town,illness\n*,*,a\n" + "*,*,b\n" * 9)
    assert run("check", "clean.csv", "--recipe", "people.yaml").exit_code == 0


def test_few_suppressed_rows_stand_out(work: Path, run: Run) -> None:
    (work / "r.csv").write_text("age,town\n" + "*,A\n" * 9 + "*,*\n" * 2)
    answer = run("check", "r.csv", "--quasi", "age,town", "--k", 5)
    assert answer.exit_code == 0 and "suppressed: drop" in answer.stdout


def test_a_release_that_was_changed_is_noticed(work: Path, run: Run) -> None:
    run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report")
    path = work / "r" / "release.csv"
    assert "hash differs" not in run("check", "r").stdout
    path.write_text(path.read_text() + "50,Z,x,1\n")
    changed = run("check", "r")
    assert changed.exit_code == 1 and "hash differs" in changed.stdout


def test_measure_a_table_and_a_release(work: Path, run: Run) -> None:
    run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report")
    before = json.loads(run("measure", "people.csv", "--recipe", "people.yaml", "--json").stdout)
    after = json.loads(run("measure", "r", "--json").stdout)
    assert before["risk"]["unique"] > 0 == after["risk"]["unique"]
    assert after["measures"]["prosecutor_highest"]["value"] <= 0.2
    assert after["measures"]["prosecutor_highest"]["definition"]
    shown = run("measure", "people.csv", "--quasi", "age,town")
    assert shown.exit_code == 0 and "Unique records" in shown.stdout


def test_measure_finds_the_recoding_of_a_release(work: Path, run: Run) -> None:
    facts = json.loads(run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report", "--json",
                           "--k", 20).stdout)
    answer = run("measure", "r", "--original", "people.csv", "--recipe", "people.yaml", "--json",
                 "--report", "e.html", shows_frequent_values=True)
    assert answer.exit_code == 0, answer.output
    measured = json.loads(answer.stdout)["measures"]
    for name, value in facts["measures"].items():
        assert measured[name]["value"] == pytest.approx(value), name
    assert "<html" in (work / "e.html").read_text()
    assert run("measure", "r", "--report", "e2.html").exit_code == 2


def test_measure_says_what_cannot_be_measured(work: Path, run: Run) -> None:
    (work / "mixed.csv").write_text("age,town,illness\n" + "30,A,x\n" * 3 + "[20..40),A,y\n" * 3)
    answer = run("measure", "mixed.csv", "--recipe", "people.yaml", "--original", "people.csv")
    assert answer.exit_code == 2 and "column 'age' cannot be measured" in answer.stderr


def test_init_writes_a_recipe_that_runs(work: Path, run: Run) -> None:
    answer = run("init", "people.csv", "--out", "draft.yaml")
    assert answer.exit_code == 0 and "identifying" in answer.stdout
    assert sfumato.Recipe.load(work / "draft.yaml").named("quasi")
    again = run("init", "people.csv", "--out", "draft.yaml")
    assert again.exit_code == 2 and "--force" in again.stderr
    forced = json.loads(run("init", "people.csv", "--out", "draft.yaml", "--force", "--json").stdout)
    assert {one["column"] for one in forced["columns"]} == {"name", "age", "town", "illness", "visits"}
    assert run("anonymize", "--recipe", "draft.yaml", "--out", "r", "--no-report").exit_code in (0, 3)


def test_hierarchies_are_built_shown_and_checked(work: Path, run: Run) -> None:
    build = ("hierarchy", "build", "people.csv", "age")
    assert run(*build, "--interval", "5,10", "-o", "age.csv").exit_code == 0
    assert run(*build, "-o", "age.yaml").exit_code == 0
    shown = run("hierarchy", "show", "age.csv")
    assert "level 1" in shown.stdout and "└── " in shown.stdout
    assert json.loads(run("hierarchy", "show", "age.yaml", "--json").stdout)["levels"][-1] == 1
    assert run("hierarchy", "check", "age.csv", "people.csv", "age").exit_code == 0
    lacking = run("hierarchy", "check", "age.csv", "people.csv", "town")
    assert lacking.exit_code == 2 and "'A'" in lacking.stderr
    both = run(*build, "--interval", "5", "--prefix", "2")
    assert both.exit_code == 2 and "exclude each other" in both.stderr
    assert run(*build, "--interval", "five").exit_code == 2


def test_infeasible_names_criterion_node_and_remedy(work: Path, run: Run) -> None:
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "deep/r", "--k", 301)
    assert answer.exit_code == 3
    assert "k-anonymity (k = 301)" in answer.stderr and "age at level" in answer.stderr
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "deep/r", "--l", 99)
    assert answer.exit_code == 3
    assert "l-diversity (distinct l = 99" in answer.stderr and "age at level" in answer.stderr
    assert "suppression limit" in answer.stderr
    assert not (work / "deep").exists()


@pytest.mark.parametrize("spoil", [
    ("  age:", "  agee:"), ("k: 5", "k: 1"), ("interval", "intervall"), ("seed: 7", "seed: x"),
    ("l: 2", "l: x")])
def test_a_faulty_recipe_leaves_nothing(work: Path, run: Run, spoil: tuple[str, str]) -> None:
    (work / "people.yaml").write_text(RECIPE.replace(*spoil))
    answer = run("anonymize", "people.csv", "--recipe", "people.yaml", "--out", "r")
    assert answer.exit_code == 2 and answer.stderr.startswith("sfumato: ")
    assert not (work / "r").exists()


def test_a_destination_that_cannot_be_written(work: Path, run: Run) -> None:
    before = left(work)
    blocked = run("anonymize", "--recipe", "people.yaml", "--out", "people.csv/r")
    assert blocked.exit_code == 2 and "cannot be written" in blocked.stderr
    assert left(work) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_destination_without_permission(work: Path, run: Run) -> None:
    (work / "locked").mkdir(mode=0o500)
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "locked/r")
    assert answer.exit_code == 2 and "may not be written" in answer.stderr


def test_what_stood_there_stays_after_a_failure(work: Path, run: Run) -> None:
    run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report")
    before = {one.name: one.read_bytes() for one in (work / "r").iterdir()}
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--k", 301).exit_code == 3
    assert {one.name: one.read_bytes() for one in (work / "r").iterdir()} == before


def test_an_unexpected_fault_shows_no_value(work: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("sfumato.pipeline.prepare", fail)
    answer = run("anonymize", "--recipe", "people.yaml", "--out", "r")
    assert answer.exit_code == 70
    assert "KeyError in pipeline.py" in answer.stderr and "--debug" in answer.stderr
    assert not (work / "r").exists()


def test_wrong_usage_is_exit_code_2(run: Run) -> None:
    for said in (("nonsense",), ("check",), ("anonymize", "--formatt", "csv"),
                 ("anonymize", "--format", "odt")):
        assert run(*said).exit_code == 2
    assert run("--version").stdout == f"sfumato {sfumato.__version__}\n"


@pytest.mark.parametrize("command", ["init", "anonymize", "check", "measure", "hierarchy build",
                                     "hierarchy show", "hierarchy check", "value"])
def test_help_has_an_example(run: Run, command: str) -> None:
    answer = run(*command.split(), "--help")
    assert answer.exit_code == 0
    assert f"sfumato {command}" in " ".join(answer.stdout.split("Example")[1].split())


SAYABLE = {"delimiter", "quote", "encoding", "table"}
HOSTILE = [case for case in CASES if case.file and set(case.said) <= SAYABLE and case.name != "a folder"][::4]


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_hostile_tables_through_the_command(case: Case, work: Path, run: Run) -> None:
    folder = work / "hostile"
    folder.mkdir()
    source = case.make(folder)
    said = [part for name, value in case.said.items() for part in (f"--{name}", value)]
    before = left(work)
    answer = run("anonymize", source, "--recipe", "people.yaml", "--out", "r", *said)
    assert answer.exit_code == 2 and answer.stderr.startswith("sfumato: ")
    assert case.phrase in answer.stderr
    assert left(work) == before


def test_names_that_mean_something_elsewhere(work: Path, run: Run) -> None:
    names = ["select", 'a "quote"', "günther 🎉", "[red]x", "a;b"]
    rows = [[str(n % 5), "x", "y", "z", str(n % 3)] for n in range(60)]
    with open(work / "odd.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    said = [part for name in names for part in ("--quasi", name)]
    answer = run("anonymize", "odd.csv", *said, "--k", 4, "--out", "r", "--no-report")
    assert answer.exit_code == 0, answer.output
    assert "[red]x" in answer.stdout and "günther 🎉" in answer.stdout


@pytest.mark.parametrize(("form", "start"), [("html", "<!doctype html"), ("md", "# "), ("json", "{")])
def test_the_report_takes_the_form_asked(work: Path, run: Run, form: str, start: str) -> None:
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--report-as", form).exit_code == 0
    assert left(work / "r") == ["manifest.json", "release.csv", f"report.{form}"]
    assert (work / "r" / f"report.{form}").read_text().lower().startswith(start)


def test_balance_says_where_the_curves_cross(work: Path, run: Run) -> None:
    command = ("balance", "--recipe", "people.yaml", "--k", "2:20:6", "--samples", 2, "--size", 150,
               "--jobs", 1, "--method", "mondrian", "--utility", "mean_ncp")
    answer = run(*command, "--report", "b.html", "--json")
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.stdout)
    assert [point["k"] for point in facts["points"]] == [2, 8, 14, 20] and facts["seed"] == 7
    assert facts["size"] == 150 and facts["records"] == 300 and facts["method"] == {"name": "mondrian"}
    page = (work / "b.html").read_text()
    assert "<polyline" in page and SECRET not in page
    told = run(*command)
    assert told.exit_code == 0 and "utility" in told.stdout and "random samples of 150" in told.stdout


@pytest.mark.parametrize("k", ["2:", "a", "9:2", "2:9:1:1", "2:90000", "1:5", "3"])
def test_balance_refuses_ks_that_are_none(work: Path, run: Run, k: str) -> None:
    answer = run("balance", "--recipe", "people.yaml", "--k", k, "--samples", 1)
    assert answer.exit_code == 2 and "k" in answer.stderr


@pytest.mark.parametrize("command", [
    ("recommend", "people.csv", "--quasi", "age,town"),
    ("balance", "--recipe", "people.yaml", "--k", "2:3", "--samples", 1, "--jobs", 1),
    ("measure", "r", "--original", "people.csv", "--recipe", "people.yaml")])
def test_a_report_never_takes_the_place_of_a_table(work: Path, run: Run, command: tuple[object, ...]) -> None:
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report").exit_code == 0
    before = (work / "people.csv").read_bytes()
    answer = run(*command, "--report", "people.csv")
    assert answer.exit_code == 2 and "is no report" in answer.stderr
    assert (work / "people.csv").read_bytes() == before
    for name in ("x.html", "x.md", "x.json"):
        for _ in range(2):  # one of its own is written anew
            assert run(*command, "--report", name).exit_code == 0


def test_columns_with_commas_are_named_in_quotes() -> None:
    assert names(['"a, b",c', ' d , "e"']) == ("a, b", "c", "d", "e")
    assert names(['2nd "q",', "", "f\ng,h"]) == ('2nd "q"', "f\ng", "h")


def test_balance_refuses_samples_larger_than_the_table(work: Path, run: Run) -> None:
    answer = run("balance", "--recipe", "people.yaml", "--size", 301)
    assert answer.exit_code == 2 and "from a table of 300" in answer.stderr


def test_measure_counts_the_records_that_attacks_hit(work: Path, run: Run) -> None:
    assert run("anonymize", "--recipe", "people.yaml", "--out", "r", "--no-report").exit_code == 0
    answer = run("measure", "r", "--original", "people.csv", "--recipe", "people.yaml", "--report", "e.html",
                 "--json", shows_frequent_values=True)
    measures = json.loads(answer.stdout)["measures"]
    hit = measures["homogeneity.illness"]
    assert hit["value"] == 0 < hit["before"] and hit["high"] == 300  # l = 2 was promised
    page = (work / "e.html").read_text()
    assert "What a class gives away" in page and "<code>homogeneity.illness</code>" in page
    told = run("measure", "people.csv", "--quasi", "age,town", "--sensitive", "illness")
    assert "Homogeneity: illness" in told.stdout
    for n, hits in ((2, 0), (3, 300)):  # every town has all four illnesses
        told = run("measure", "people.csv", "--quasi", "town", "--sensitive", "illness", "--json",
                   "--attacker", f"ruled_out={n}")
        assert json.loads(told.stdout)["measures"]["background.illness"]["value"] == hits


@pytest.mark.parametrize("said", ["ruled_out=two", "strength=3", "rho=0.5", "rho=0.6:0.5", "times=0",
                                  "delta=2"])
def test_measure_refuses_attackers_that_cannot_be(work: Path, run: Run, said: str) -> None:
    answer = run("measure", "people.csv", "--quasi", "town", "--sensitive", "illness", "--attacker", said)
    assert answer.exit_code == 2 and "Say " in answer.stderr


def test_value_shows_the_price_of_every_level(work: Path, run: Run) -> None:
    recipe = (work / "people.yaml").read_text()
    rules = ("research: {rules: [{column: age, keep boundary: 65, importance: 50}, "
             "{column: town, keep together: [A, B]}], values: {age: [0.5, 0.4, 0.3, 0.2, 0]}}\n")
    (work / "people.yaml").write_text(recipe + rules)
    shown = run("value", "--recipe", "people.yaml")
    assert shown.exit_code == 0 and "keep a boundary at 65 (50)" in shown.stdout
    assert "keep A or B together as a group (1)" in shown.stdout
    listed = json.loads(run("value", "people.csv", "--recipe", "people.yaml", "--json").stdout)
    assert [one["value"] for one in listed[0]["levels"]] == [0.5, 0.4, 0.3, 0.2, 0.0]
    bare = run("value", "people.csv", "--quasi", "age,town")
    assert bare.exit_code == 0 and "breaks" in bare.stdout
    (work / "people.yaml").write_text(recipe + rules.replace("[A, B]", "[A, Q]").replace("65", "95"))
    refused = run("anonymize", "people.csv", "--recipe", "people.yaml", "--out", "r")
    assert refused.exit_code == 2 and not (work / "r").exists()
    assert "no value 'Q'" in refused.stderr and "no value at or above the boundary 95" in refused.stderr
    (work / "people.yaml").write_text(recipe + rules)
    done = run("anonymize", "--recipe", "people.yaml", "--out", "r", "--method", "research-value")
    assert done.exit_code == 0 and "research value" in done.stdout
    assert run("check", "r").exit_code == 0
    assert run("measure", "r", "--original", "people.csv").exit_code == 0
