"""`tidegate run`: a program on real Spark, published once, and not beside a job that writes the same."""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.tidegate.project import Project
from tests.worlds.by import ME
from tidegate.cli.commits import project as opened
from tidegate.domain.error import WrongUsage
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.spark

SHOP = """\
app: shop
datasets:
  orders: {partitions: {cycle: day, start: 2026-01-01}, path: landing/orders}
  sums: {partitions: {cycle: day, start: 2026-01-01}}
  notes: {}
  checked:
    partitions: {cycle: day, start: 2026-01-01}
    checks: [{rows: {min: 2}}, {range: {quantity: {max: 1}}, severity: warn}]
programs:
  add_up_checked: {run: by_hand_programs.add_up, reads: [orders], writes: [checked]}
  add_up: {run: by_hand_programs.add_up, reads: [orders], writes: [sums]}
  fails: {run: by_hand_programs.fails, writes: [notes]}
schedules:
  daily:
    program: add_up
    for_each: day
    trigger: {partitions: {dataset: orders}}
    args: {factor: 2, day: "{{ key }}"}
    status: active
"""

PROGRAMS = '''\
"""Programs of the test."""

from pyspark.sql import functions as sf


def add_up(spark, inputs, params):
    """One row for each day, with the arguments that the run got."""
    factor = sf.lit(params.args["factor"])
    said = sf.lit(params.args["day"] + " " + params.job)
    sums = inputs["orders"].groupBy("day").agg(sf.sum("quantity").alias("quantity"))
    return sums.withColumn("quantity", sf.col("quantity") * factor).withColumn("said", said)


def fails(spark, inputs, params):
    """A program with a mistake."""
    raise KeyError("no such column")
'''

DAY, NEXT = "2026-03-09", "2026-03-10"


@pytest.fixture
def shop(project: Project, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project with landed orders, whose commands use the Spark session of the tests."""
    (project.folder / "schedules/sales.yaml").unlink()
    project.write("shop", SHOP)
    (project.folder / "by_hand_programs.py").write_text(PROGRAMS)
    for day, quantity in ((DAY, 3), (NEXT, 5)):
        folder = project.folder / "landing/orders" / f"day={day}"
        folder.mkdir(parents=True)
        (folder / "a.json").write_text(json.dumps({"quantity": quantity}))
        spark.read.json(str(folder / "a.json")).write.mode("append").parquet(str(folder))
        (folder / "a.json").unlink()
    monkeypatch.setattr(opened.CommitsProject, "spark", lambda self: spark)
    monkeypatch.setattr(sys, "path", [*sys.path])
    project.run("deploy")
    yield project
    sys.modules.pop("by_hand_programs", None)


def sums(project: Project, spark: SparkSession) -> dict[str, tuple[int, str]]:
    """The published rows, by day, as a reader from outside finds them."""
    rows = spark.read.parquet(str(project.folder / "warehouse/shop/sums/current")).collect()
    return {str(row["day"]): (row["quantity"], row["said"].split()[0]) for row in rows}


def test_a_key_is_published_with_the_arguments_of_the_schedule(shop: Project, spark: SparkSession) -> None:
    printed = shop.run("run", "add_up", "--key", DAY, "--reason", "a look")

    assert printed.startswith(f"shop/sums {DAY}: 1 rows, ")
    assert sums(shop, spark) == {DAY: (6, DAY)}
    assert shop.json("commits", "list") == []
    (event,) = shop.json("events", "list")
    assert (event["key"], event["partition"], event["rows"]) == ("partition:shop/sums", DAY, 1)
    store = shop.store()
    with store.reading() as reader:
        (entry,) = (each for each in reader.journal() if each.kind is EntryKind.RUN_BY_HAND)
    store.close()
    assert entry.run_id is not None and entry.run_id in printed
    assert (entry.data["program"], entry.data["keys"], entry.data["by"], entry.data["why"]) == (
        "shop/add_up",
        [DAY],
        ME,
        "a look",
    )


def test_arguments_are_given_and_a_request_publishes_once(shop: Project, spark: SparkSession) -> None:
    call = ("run", "shop/add_up", "--key", DAY, "--key", NEXT, "--arg", "day=both", "--request", "r1")
    first = shop.json(*call, "--arg", "factor=10")
    again = shop.json(*call, "--arg", "factor=99")

    assert first["args"] == {"factor": 10, "day": "both"}
    assert [part["key"] for part in first["published"]] == [DAY, NEXT]
    assert (again["run"], again["published"]) == (first["run"], first["published"])
    assert sums(shop, spark) == {DAY: (30, "both"), NEXT: (50, "both")}


def test_a_dry_run_shows_what_it_would_read_and_write_and_runs_nothing(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(self: object) -> None:
        raise AssertionError("a dry run starts no Spark")

    monkeypatch.setattr(opened.CommitsProject, "spark", never)
    printed = shop.run("run", "add_up", "--key", DAY, "--dry-run")
    assert "nothing was run" in printed and f"those of {DAY}" in printed
    found = shop.json("run", "add_up", "--key", DAY, "--dry-run", "--arg", "factor=7")
    assert found["args"] == {"factor": 7, "day": DAY}
    assert [(each["dataset"], each["partitions"], each["mode"]) for each in found["writes"]] == [
        ("shop/sums", [DAY], "overwrite_partitions")
    ]
    assert not Path(shop.folder, "warehouse/shop/sums").exists()


def test_it_does_not_run_beside_a_job_that_writes_the_same_partition(shop: Project) -> None:
    shop.run("report", "orders", "--key", DAY, "--anyway")
    store, now = shop.store(), datetime.now(UTC) + timedelta(seconds=1)
    tick(store, now)
    with store.transaction() as transaction:
        (request,) = offer_launches(transaction, now, "shop")
    store.close()

    refused = shop.refused("run", "add_up", "--key", DAY)
    assert request.job in refused.message and "writes what shop/add_up would write" in refused.message
    assert shop.run("run", "add_up", "--key", NEXT).startswith(f"shop/sums {NEXT}: 1 rows")


def test_a_failure_names_the_line_of_the_program_and_publishes_nothing(shop: Project) -> None:
    line = 1 + PROGRAMS.splitlines().index('    raise KeyError("no such column")')

    refused = shop.refused("run", "fails")

    assert refused.message == f"shop/fails failed: KeyError: 'no such column' (by_hand_programs.py:{line})"
    assert shop.json("events", "list") == []


def test_what_is_wrong_is_said_before_anything_runs(shop: Project) -> None:
    assert shop.refused("run", "ad_up").hint == 'did you mean "add_up"?'
    assert "no --key says which to write" in shop.refused("run", "add_up").message
    assert shop.refused("run", "add_up", "--key", "9.3.2026").hint == 'write "2026-03-09", the nearest key'
    assert "have no partitions" in shop.refused("run", "fails", "--key", DAY).message
    assert isinstance(shop.refused("run", "add_up", "--key", DAY, "--arg", "factor"), WrongUsage)


def test_a_failed_check_withholds_the_publish_and_says_what_releases_it(shop: Project) -> None:
    call = ("run", "add_up_checked", "--key", DAY, "--arg", "factor=1", "--arg", "day=x", "--request", "r9")

    shown = shop.run_with_errors(*call, exit_code=1)
    refused = shop.refused(*call)

    assert f"check rows of shop/checked failed: {DAY}: 1 row, at least 2 rows" in shown
    assert "check range_quantity of shop/checked warns: 1 of 1 row: quantity is not at most 1" in shown
    assert "is withheld, since 1 of 2 checks failed: shop/checked, check rows" in refused.message
    assert "tidegate commits release hand-" in refused.hint
    assert not (shop.folder / "warehouse/shop/checked/current").exists()
