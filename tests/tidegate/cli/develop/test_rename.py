"""A rename in a project: what `plan`, `deploy`, `dev` and `watermarks` say, and what moves."""

import pytest

from tests.tidegate.project import SALES, Project
from tidegate.cli.develop.dev import redeploy
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.slow  # whole commands

READ = SALES.replace("reads: [orders]", "reads: [{dataset: orders, incremental: true}]").replace(
    "report: {partitions: {cycle: day, start: 2026-01-01}}",
    "report: {partitions: {cycle: day, start: 2026-01-01}, write: append}",
)
RENAMED = READ.replace("make_report:", "write_report:").replace(
    "program: make_report", "program: write_report"
)


@pytest.fixture
def read(project: Project) -> Project:
    """A deployed app whose program has read a day of orders."""
    project.write("sales", READ)
    project.run("deploy")
    opened = open_sql_store(load_settings().store_url)
    SqlCommitStepStore(opened.engine).set_watermark(
        ("sales/make_report", "sales/orders", "2026-03-09", 1), '{"files":{}}', "job 1"
    )
    opened.close()
    return project


def test_a_plan_shows_the_rename_and_the_watermarks_move_with_it(read: Project) -> None:
    read.arrive("2026-03-09")
    read.write("sales", RENAMED.replace("{run:", "{renamed_from: make_report, run:"))

    planned = read.run("plan", exit_code=2)
    assert "~ program sales/write_report (renamed from sales/make_report; everything" in planned
    assert "discarded" not in planned and "left behind" not in planned
    read.run("deploy")

    assert read.run("plan") == "No changes.\n"
    (moved,) = read.json("watermarks", "list")
    assert (moved["consumer"], moved["parts"]) == ("sales/write_report", 1)
    (found,) = read.json("why", "report_daily")
    assert found["trigger"]["summary"] == "1 of 2 new partitions of orders"


def test_without_renamed_from_the_watermarks_are_named_and_may_be_forgotten(read: Project) -> None:
    read.write("sales", RENAMED)
    deployed = read.run("deploy")
    assert (
        "warning: the watermarks of sales/make_report in sales/orders (1 part) are left behind\n"
        "    the next run of sales/write_report reads all of sales/orders again\n"
        "hint: if program write_report is make_report renamed, write `renamed_from: make_report` in it\n"
    ) in deployed
    names = ("sales/make_report", "sales/orders")
    assert "unused watermarks: sales/make_report in sales/orders" in read.run("commits", "fsck", exit_code=1)
    assert "1 watermark forgotten" in read.run("watermarks", "forget", *names, "--yes")
    assert "no problems found" in read.run("commits", "fsck")


def test_watermarks_of_a_deployed_program_are_not_forgotten(read: Project) -> None:
    refusal = read.refused("watermarks", "forget", "sales/make_report", "sales/orders", "--yes")
    assert refusal.message == "program sales/make_report is deployed and reads sales/orders incrementally"


def test_dev_deploys_a_rename_that_is_told_and_its_way_back(read: Project) -> None:
    read.arrive("2026-03-09")
    renamed = READ.replace("orders: {part", "purchases: {renamed_from: orders, part").replace(
        "dataset: orders", "dataset: purchases"
    )
    back = READ.replace("orders: {part", "orders: {renamed_from: purchases, part")
    for text, dataset in ((renamed, "purchases"), (back, "orders")):
        read.write("sales", text)
        assert redeploy(load_settings())
        (found,) = read.json("why", "report_daily")
        assert found["trigger"]["summary"] == f"1 of 2 new partitions of {dataset}"
        (moved,) = read.json("watermarks", "list")
        assert moved["source"] == f"sales/{dataset}"
