"""What is optional stays unloaded until it is used, and is asked for politely where it is absent."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow.csv
from tests.engines.jobs import RANDOM, random_table

JOB = """
import sys
from pathlib import Path
from sfumato.pipeline import anonymize
from sfumato.recipe import Recipe
anonymize(sys.argv[1], Recipe.parse(Path(sys.argv[2]).read_text()), Path(sys.argv[3]))
loaded = {"pyspark", "py4j", "pandas", "polars"} & {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded))
"""

WITHOUT_PYSPARK = """
import sys
sys.modules["pyspark"] = None
class DataFrame: pass
DataFrame.__module__ = "pyspark.sql.dataframe"
from sfumato.errors import MissingExtraError
from sfumato.table import open_table
try:
    open_table(DataFrame())
except MissingExtraError as fault:
    print(fault)
"""


def _printed(program: str, *arguments: object) -> str:
    answer = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
                            capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def test_a_job_on_a_file_loads_no_data_frame_library(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(random_table(1), tmp_path / "table.csv")
    (tmp_path / "recipe.yaml").write_text(RANDOM)
    assert _printed(JOB, tmp_path / "table.csv", tmp_path / "recipe.yaml", tmp_path / "out") == "[]"


def test_without_pyspark_the_extra_is_named() -> None:
    printed = _printed(WITHOUT_PYSPARK)
    assert printed.startswith("A Spark data frame needs the optional packages of sfumato[spark].")
    assert "pip install 'sfumato[spark]'" in printed
