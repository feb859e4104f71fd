"""`tidegate plan` and `deploy`: what a deployment changes for the tables of the policies."""

import pytest

from tests.tidegate.tables import EVENTS, ORDERS, REPORT, TableProject

pytestmark = pytest.mark.slow  # whole commands


def test_new_and_lost_tables_and_operations_that_another_policy_takes_over(tables: TableProject) -> None:
    tables.found("warehouse.analytics.clicks", "lake.raw.hits")
    yaml = tables.yaml.replace("tables: warehouse.analytics.orders", "tables: [lake.*.*, warehouse.*.e*]")
    tables.project.write("shop", yaml)
    printed = tables.project.run("plan", exit_code=2)
    assert "~ policy hot" in printed
    _, _, tail = printed.partition("Tables of the policies:\n")
    assert tail == (
        "  policy shop/hot: 2 tables, 2 new, 1 lost\n"
        f"      new: lake.raw.hits, {EVENTS}\n"
        f"      lost: {ORDERS}\n"
        f"  rewrite_data_files of {ORDERS}: by policy shop/nightly, before by shop/hot\n"
        f"  rewrite_data_files of {EVENTS}: by policy shop/hot, before by shop/nightly\n"
        "order: rename, policies, schedules, events, journal\n"
    )
    assert tables.project.run("deploy").endswith(tail)
    assert "Tables of the policies" not in tables.project.run("plan")


def test_as_json_it_has_every_table(tables: TableProject) -> None:
    tables.found(*(f"warehouse.analytics.t{number}" for number in range(10)))
    tables.project.write("shop", tables.yaml.replace("warehouse.analytics.*, shop", "shop"))
    found = tables.project.json("plan", exit_code=2)["maintenance"]
    (nightly,) = found["policies"]
    assert (nightly["policy"], nightly["tables"], len(nightly["lost"])) == ("shop/nightly", 1, 12)
    assert {each["after"] for each in found["moved"]} == {None}
    printed = tables.project.run("plan", exit_code=2)
    assert f"lost: {EVENTS}, {ORDERS}, warehouse.analytics.t0, " in printed
    assert "and 7 more" in printed
    assert ": by no policy, before by shop/nightly" in printed


def test_waiting_jobs_that_are_discarded_are_counted(tables: TableProject) -> None:
    tables.poll()
    waiting = [job for job in tables.jobs() if job.waiting and job.work.policy == "shop/nightly"]
    tables.project.write("shop", tables.yaml.replace("  nightly:", "  nightly:\n    enabled: false"))
    assert f"-> {len(waiting)} waiting jobs are discarded with D-DELETED" in tables.project.run(
        "plan", exit_code=2
    )
    printed = tables.project.run("deploy")
    assert "policy shop/nightly: 0 tables, 3 lost" in printed
    discarded = [job for job in tables.jobs() if job.reason == "D-DELETED"]
    assert len(discarded) == len(waiting) > 0


def test_an_exact_pattern_without_a_table_is_a_warning_of_every_plan(tables: TableProject) -> None:
    yaml = tables.yaml.replace(
        "tables: warehouse.analytics.orders", f"tables: [{ORDERS}, warehouse.sales.gone, lost]"
    )
    tables.project.write("shop", yaml)
    printed = tables.project.run("plan", exit_code=2)
    for pattern in ("warehouse.sales.gone", "lost"):
        assert f"warning: policy shop/hot: no known table matches the exact pattern {pattern}\n" in printed
    assert ORDERS not in printed.partition("warning")[2]
    tables.project.run("deploy")
    assert tables.project.json("plan")["maintenance"]["unmatched"] == [
        {"policy": "shop/hot", "pattern": "warehouse.sales.gone"},
        {"policy": "shop/hot", "pattern": "lost"},
    ]


def test_a_policy_that_only_moved_in_its_file_changes_nothing(tables: TableProject) -> None:
    tables.project.write("shop", "# a comment\n" + tables.yaml)
    assert tables.project.run("plan").startswith("No changes.")
    assert tables.project.json("plan")["maintenance"] == {"policies": [], "moved": [], "unmatched": []}


def test_a_renamed_dataset_keeps_its_waiting_jobs(tables: TableProject) -> None:
    tables.poll()
    yaml = tables.yaml.replace("shop/report", "shop/daily").replace("writes: [report]", "writes: [daily]")
    yaml = yaml.replace("  report: {", "  daily: {renamed_from: report, ")
    tables.project.write("shop", yaml)
    (nightly,) = tables.project.json("plan", exit_code=2)["maintenance"]["policies"]
    assert (nightly["tables"], nightly["new"], nightly["lost"], nightly["discarded"]) == (3, [], [], 0)
    tables.project.run("deploy")
    assert [job for job in tables.jobs() if job.reason == "D-DELETED"] == []
    assert tables.project.json("maintenance", "status", "shop/daily")["operations"]
    assert tables.project.refused("maintenance", "status", REPORT).message.startswith("E-TABLE")


def test_tables_on_which_nothing_is_started_are_named(tables: TableProject) -> None:
    yaml = tables.yaml.replace("shop/report]", "shop/report, shop/raw, shop/sums]").replace(
        "programs:\n", "  sums: {}\nprograms:\n"
    )
    tables.project.write("shop", yaml)
    said = (
        "      never published, nothing is started on it: shop/sums\n"
        "      landed files, nothing is started on it: shop/raw\n"
    )
    assert said in tables.project.run("plan", exit_code=2)
    assert said in tables.project.run("deploy")
    status = tables.project.run("maintenance", "status", "shop/sums")
    assert "it was never published: operations are due from its first publish on" in status
    (first, *_) = tables.project.json("maintenance", "status", "shop/raw")["operations"]
    assert (first["due"], first["untouched"], first["next"]) == (False, "landed files", None)
    assert "there is nothing to maintain" in tables.project.run("why", "shop/raw")
