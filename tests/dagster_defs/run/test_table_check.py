"""The recovery job looks for tables that have lost rows, and doctor, status and an alert say so."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.dagster_defs.sample import DAILY, NOW, deploy, location_of
from tests.doubles.reference.store import ReferenceStore
from tests.spark_jobs.staging import begin, stage_rows
from tidegate.alerts.texts import title
from tidegate.cli.operate.health.findings import Engine, Finding, Health, engine_findings
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.dispatch.alarms import lost_rows
from tidegate.dagster_defs.run.table_check import check_tables, is_due
from tidegate.domain.model import App, Dataset, Program
from tidegate.scheduler.alerts.collect import collect
from tidegate.scheduler.intake.table_checks import CHECK_AGAIN, CHECK_EVERY, TableChecks, table_checks
from tidegate.scheduler.model.records.alert import AlertRules
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.publication.table import sequence_of
from tidegate.spark_jobs.repair import fsck as repair

pytestmark = pytest.mark.dagster

OUT = Dataset(name="out", partitions=DAILY, write="append")
APP = App(
    name="feeds",
    datasets={"raw": Dataset(name="raw", partitions=DAILY, path="raw"), "out": OUT},
    programs={
        "load": Program(name="load", run="x.y", reads=("raw",), writes=("out",), incremental={"raw": True})
    },
)
DAY = "2023-03-09"


@pytest.fixture
def location(store: ReferenceStore, tmp_path: Path) -> Location:
    deploy(store, APP)
    found = location_of(store, tmp_path)
    load(found)
    return found


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore()


def load(location: Location) -> None:
    """A run of the program has published, and moved its watermark."""
    commits, ref = location.open_commits(), dataset_ref("feeds", OUT)
    token = begin(commits, "c1", [ref.id])
    table = stage_rows(location.warehouse, ref, {DAY: [1]}, commit="c1", token=token)
    moved = SetWatermark(
        consumer="feeds/load", source="feeds/raw", part=DAY, number=1, position='{"files":{}}', commit="c1"
    )
    context = CommitContext(files=location.warehouse.files, spark=no_spark)
    publish(sequence_of("c1", token, [table], [moved]), commits, context)


def no_spark() -> Any:
    raise AssertionError("Parquet tables need no session")


def check(location: Location) -> int:
    return check_tables(location, location.open_commits(), no_spark, lambda _: None)


def tables_of(location: Location) -> Finding:
    with location.open_store().reading() as reader:
        noted = table_checks(reader, location.project)
    engine = Engine(apps=["feeds"], ticked_at=NOW, host=None, tables=noted)
    return next(one for one in engine_findings(engine, NOW, 5) if one.part == "tables")


def test_lost_rows_are_said_until_the_watermark_is_reset(location: Location) -> None:
    store = location.open_store()
    assert check(location) == 0
    assert tables_of(location).health is Health.OK
    assert lost_rows(store, location.project, NOW) == {}

    shutil.rmtree(dataset_ref("feeds", OUT).root(location.warehouse))
    assert check(location) == 1

    said = tables_of(location)
    assert said.health is Health.WRONG
    assert "that of feeds/load in feeds/raw 2023-03-09: it is at" in said.text
    assert "tidegate watermarks reset feeds/load feeds/raw" in said.remedy
    rules = AlertRules(default={"blocked_commit": ("ops",)})
    assert collect(store, location.project, rules, NOW, lost_rows(store, location.project, NOW)) == 1
    with store.reading() as reader:
        (alert,) = reader.alerts(location.project)
    assert alert.subject == "feeds/out"
    assert title(alert.message) == "feeds/out has lost rows that a watermark has passed"

    location.open_commits().set_watermark(("feeds/load", "feeds/raw", DAY, 2), "", "reset")
    assert check(location) == 0
    assert lost_rows(store, location.project, NOW) == {}


def test_it_is_due_some_hours_after_the_last_round_and_soon_while_something_is_wrong(
    location: Location,
) -> None:
    commits = location.open_commits()

    def due(after: Any) -> bool:
        return is_due(replace(location, clock=lambda: NOW + after), commits)

    assert not due(CHECK_EVERY * 0), "the first question only begins to count"
    assert not due(CHECK_AGAIN)
    assert due(CHECK_EVERY)
    shutil.rmtree(dataset_ref("feeds", OUT).root(location.warehouse))
    check(location)
    assert due(CHECK_AGAIN)


def test_a_project_without_watermarks_is_not_checked(tmp_path: Path) -> None:
    store = ReferenceStore()
    deploy(store, APP)
    location = location_of(store, tmp_path)
    assert not any(is_due(location, location.open_commits()) for _ in range(2))
    with store.reading() as reader:
        assert table_checks(reader, location.project) is None


def test_a_round_over_many_programs_goes_on_where_the_last_one_ended() -> None:
    before = TableChecks(at=NOW)
    after = before.with_programs({}, ["a/x", "a/y"], "a/x", NOW)
    assert (after.after, after.is_due(NOW + CHECK_AGAIN)) == ("a/x", True)


def test_fsck_says_the_same(location: Location) -> None:
    shutil.rmtree(dataset_ref("feeds", OUT).root(location.warehouse))
    examined = repair.Examined(
        apps=(APP,),
        warehouse=location.warehouse,
        store=location.open_commits(),
        context=CommitContext(files=location.warehouse.files, spark=no_spark),
        now=NOW,
    )
    assert [one.where for one in repair.fsck(examined)] == ["feeds/load in feeds/raw 2023-03-09"]
