"""The synthetic hospital: the same for the same seed, believable, clearly invented, ready to run."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import yaml

from sfumato import samples
from sfumato.samples import hospital_stays, write_hospital


@pytest.fixture(scope="module")
def stays() -> pa.Table:
    return hospital_stays()


def column(table: pa.Table, name: str) -> np.ndarray:
    return np.array(table[name].to_pylist(), dtype=object)


def test_same_seed_same_table_another_seed_another(stays: pa.Table) -> None:
    assert hospital_stays().equals(stays)
    assert not hospital_stays(seed=8).equals(stays)


@pytest.mark.parametrize("records", [1, 2, 100])
def test_any_number_of_records(records: int) -> None:
    table = hospital_stays(records)
    assert table.num_rows == records
    assert table.schema.equals(hospital_stays(3).schema)


def test_one_row_a_patient_in_no_order(stays: pa.Table) -> None:
    ids = stays["patient_id"].to_pylist()
    assert len(set(ids)) == stays.num_rows == 20_000
    assert ids != sorted(ids)


def test_missing_values_are_null_and_marked(stays: pa.Table) -> None:
    assert {name for name in stays.column_names if stays[name].null_count} == {"postcode", "occupation"}
    assert 0.03 < stays["occupation"].null_count / stays.num_rows < 0.05
    assert 0.015 < (column(stays, "marital_status") == "?").mean() < 0.025


def test_age_sex_and_diagnosis_belong_together(stays: pa.Table) -> None:
    age, sex, diagnosis = (column(stays, name) for name in ("age", "sex", "diagnosis"))
    childbirth = diagnosis == samples.OF_WOMEN_ONLY
    assert set(sex[childbirth]) == {"female"}
    assert age[childbirth].min() >= 18 and age[childbirth].max() <= 44
    heart, lung = (age[diagnosis == name].mean() for name in ("I00-I99 circulatory", "J00-J99 respiratory"))
    assert heart > lung + 15
    assert set(diagnosis) == set(samples.DIAGNOSES)


def test_children_are_unmarried_and_do_not_work(stays: pa.Table) -> None:
    child = column(stays, "age") < 18
    assert set(column(stays, "marital_status")[child]) == {"never married", "?"}
    assert set(column(stays, "occupation")[child]) == {"preschool child", "pupil", None}


def test_dearer_when_longer(stays: pa.Table) -> None:
    days, charge = stays["days"].to_numpy(), stays["charge"].to_numpy()
    assert days.min() >= 1
    assert np.corrcoef(days, charge)[0, 1] > 0.5


def test_hierarchies_cover_every_value(stays: pa.Table) -> None:
    jobs = {name for groups in samples.OCCUPATIONS.values() for names in groups.values() for name in names}
    assert set(stays["occupation"].to_pylist()) - {None} == jobs
    assert set(stays["marital_status"].to_pylist()) - {"?"} == set(samples.MARITAL_STATUS)


def test_names_are_shared_by_many(stays: pa.Table) -> None:
    assert len(samples.GIVEN_NAMES) <= 12
    assert min(Counter(stays["name"].to_pylist()).values()) > 50


def test_written_files_are_those_that_the_recipe_names(tmp_path: Path) -> None:
    recipe_path = write_hospital(tmp_path, records=200)
    recipe = yaml.safe_load(recipe_path.read_text())
    table = pyarrow.csv.read_csv(tmp_path / recipe["table"])
    assert table.num_rows == 200
    assert set(recipe["columns"]) == set(table.column_names) - {"days", "charge"}
    assert (tmp_path / recipe["columns"]["marital_status"]["hierarchy"]).is_file()
    assert (tmp_path / recipe["columns"]["occupation"]["hierarchy"]["tree"]).is_file()
    assert all("#" in line for line in recipe_path.read_text().splitlines() if "suppression" in line)


def test_runs_as_a_module(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "sfumato.samples", str(tmp_path / "demo")], check=True,
                   env={"PYTHONPATH": str(Path(samples.__file__).parents[1])})
    assert sorted(p.name for p in (tmp_path / "demo").iterdir()) == ["hierarchies", "stays.csv", "stays.yaml"]
