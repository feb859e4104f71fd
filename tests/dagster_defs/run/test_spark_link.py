"""The log of a run links to what Spark shows of it."""

from types import SimpleNamespace
from typing import Any

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.run.test_program_op import execute
from tests.dagster_defs.sample import location_of
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.run import program_op
from tidegate.spark_jobs import runner as spark_runner

pytestmark = pytest.mark.dagster

LINKS = ("http://driver:4040", "http://driver:4041")


def test_a_run_links_to_each_application_of_spark_once(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (SimpleNamespace(sparkContext=SimpleNamespace(uiWebUrl=link)) for link in LINKS)
    started = iter([first, first, second])

    def run_program(spark: Any, *_given: object, **_named: object) -> tuple[()]:
        for _ in range(3):
            spark()
        return ()

    monkeypatch.setattr(program_op, "session", lambda _settings: next(started))
    monkeypatch.setattr(spark_runner, "run_program", run_program)

    result = execute(location_of(store), instance, "clean", partition="2023-03-09")

    assert result.success and next(started, None) is None
    said = [entry.message for entry in instance.all_logs(result.run_id)]
    assert [each for each in said if each.startswith("Spark: ")] == [f"Spark: {link}" for link in LINKS]
