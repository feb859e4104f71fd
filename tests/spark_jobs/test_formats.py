"""The registry of table formats, and the steps that they bring to `commit`."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tidegate.spark_jobs.commit.step import Effect
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.publication.formats import format_of, formats

STEP = {"kind": "drop_staging_tables", "table": ["app", "t"], "commit": "c1", "root": ""}
DECODE = """
import json, sys
from tidegate.spark_jobs.commit.step import decode_step, encode_step
print(json.dumps(encode_step(decode_step(json.loads(sys.argv[1])))))
"""


@pytest.mark.parametrize("name", ["parquet", "iceberg"])
def test_a_dataset_is_given_to_its_format(name: str) -> None:
    assert format_of(DatasetRef(app="a", name="t", format=name)) is formats()[name]


def test_a_format_that_this_version_does_not_know_is_refused() -> None:
    with pytest.raises(OutputError, match="this version supports the formats parquet and iceberg, got delta"):
        format_of(DatasetRef(app="a", name="t", format="delta"))


@pytest.mark.parametrize("name", ["parquet", "iceberg"])
def test_a_format_has_a_step_that_publishes(name: str) -> None:
    assert Effect.PUBLISHES in {step.effect for step in formats()[name].steps}


def test_a_step_of_a_format_is_decoded_where_only_commit_was_imported() -> None:
    run: Any = subprocess.run(
        [sys.executable, "-c", DECODE, json.dumps(STEP)], capture_output=True, text=True, check=True
    )

    assert json.loads(run.stdout) == STEP
