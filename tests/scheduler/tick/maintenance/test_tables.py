"""What a table that goes, and one that comes, does to operations that wait or run; the tables of datasets."""

import pytest

from tests.worlds.tables import EXPIRE, HEAD, UNMET, TableWorld, app_of, policy
from tests.worlds.world import at
from tidegate.scheduler.intake.tables import TableFound, report_tables
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS

# --- tables that go and come --------------------------------------------------------------


def test_a_table_that_is_gone_takes_its_waiting_job_along():
    world = TableWorld(policy(UNMET), "w.a.x", "w.a.y")
    world.tick("00:00")
    world.gone("00:00:30", "w.a.x")
    assert world.record("w.a.x") is None
    assert world.waiting() == {"w.a.y rewrite": "M-CONDITION"}
    assert world.table("w.a.x").gone
    assert {(job.state, job.reason) for job in world.jobs()} == {
        ("DISCARDED", "D-DELETED"),
        ("PENDING_CONSTRAINT", "M-CONDITION"),
    }
    world.gone("00:00:40", "w.a.x")
    assert len(world.jobs()) == 2


def test_one_that_comes_back_begins_as_never_run_and_its_old_runs_count_no_more():
    world = TableWorld(policy("{interval: 1m}"), "w.a.x")
    for minute in range(3):
        world.poll(f"00:0{minute}")
        world.end_all(f"00:0{minute}:30", "failed")
    assert world.reason("00:03", "w.a.x") == ("M-BACKOFF", "06:02")
    world.gone("00:03:10", "w.a.x")
    assert world.found("00:03:20", "w.a.x") == ("w.a.x",)
    assert world.poll("00:04") == ["w.a.x rewrite"]
    assert world.table("w.a.x").history.failures == 0


def test_a_run_from_before_it_was_gone_goes_on_and_counts_no_more():
    world = TableWorld(policy("{interval: 1m}"), "w.a.x")
    world.poll("00:00")
    world.gone("00:00:10", "w.a.x")
    world.found("00:00:20", "w.a.x")
    assert world.poll("00:01") == []
    assert world.reason("00:01", "w.a.x") == ("M-TABLE", None)
    world.end_all("00:01:30", "failed")
    assert world.table("w.a.x").history.recent == ()
    assert world.poll("00:02") == ["w.a.x rewrite"]


def test_a_run_on_a_table_that_stays_gone_is_recorded():
    world = TableWorld(policy("{interval: 1m}"), "w.a.x")
    world.poll("00:00")
    world.gone("00:00:10", "w.a.x")
    world.end_all("00:00:30", "failed")
    assert [run.ending for run in world.runs()] == ["failed"]
    assert (world.table("w.a.x").gone, world.table("w.a.x").history.recent) == (True, ())


def test_what_a_complete_list_leaves_out_is_gone():
    world = TableWorld(policy(), "w.a.x", "w.a.y", "v.a.z")
    assert world.found("00:00:10", "w.a.x", "w.a.n", listed=("w.",)) == ("w.a.n",)
    assert [name for name in ("w.a.x", "w.a.y", "v.a.z", "w.a.n") if world.table(name).gone] == ["w.a.y"]


# --- tables of datasets -------------------------------------------------------------------

OWN = "nightly: {tables: a/out, operations: {rewrite_data_files: {interval: 1h}}}"


def test_a_dataset_has_a_table_from_its_deployment_with_one_name():
    world = TableWorld(OWN)
    assert world.found("00:00", "tidegate.a.out") == ()
    assert world.poll("00:00") == ["a/out rewrite"]
    table = world.table("a/out")
    assert (table.catalog_name, table.dataset) == ("tidegate.a.out", "a/out")
    world.end_all("00:01")
    assert world.by_hand("00:02", "tidegate.a.out")[0].work.table == "a/out"


def test_a_pattern_of_catalog_names_matches_a_dataset():
    world = TableWorld(policy(tables="tidegate.a.*"))
    assert world.poll("00:00") == ["a/out rewrite", "a/raw rewrite", "a/whole rewrite"]


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("tidegate.a.*", {"a/landed", "a/parquet", "a/iceberg"}),
        ("*", {"a/landed", "a/parquet", "a/iceberg", "w.a.x"}),
        ("*.*.*", {"a/landed", "a/parquet", "a/iceberg", "w.a.x"}),
        ("parquet", {"a/parquet"}),
        ("a.landed", {"a/landed"}),
        ("a/parquet", {"a/parquet"}),
        ("w.*.*", {"w.a.x"}),
    ],
)
def test_a_dataset_of_any_format_has_a_catalog_name(pattern, matched):
    kinds = "landed: {path: in/landed}, parquet: {format: parquet}, iceberg: {format: iceberg}"
    head = f"app: a\ndatasets: {{{kinds}}}\n"
    world = TableWorld(policy(tables=pattern), "w.a.x", head=head)
    with world.store.reading() as reader:
        assert {record.table for record in reader.records(MAINTENANCE_RECORDS)} == matched


def test_the_table_of_a_dataset_that_goes_and_comes_back():
    world = TableWorld(OWN)
    world.poll("00:00")
    world.end_all("00:01")
    without = HEAD.replace("  whole: {}\n", "").replace("  w: {run: programs.w, writes: [whole]}\n", "")
    whole = OWN.replace("a/out", "a/whole")
    world.deploy("00:02", OWN + "\n" + whole.replace("nightly", "other"))
    world.deploy_apps("00:03", app_of(OWN, head=without))
    assert world.table("a/whole").gone
    world.deploy("00:04", OWN)
    assert not world.table("a/whole").gone


def test_one_that_is_gone_does_not_come_back_with_any_deploy():
    world = TableWorld(OWN)
    world.gone("00:00", "a/out")
    world.deploy("00:01", OWN.replace("1h", "2h"))
    assert world.table("a/out").gone
    assert world.record("a/out") is None
    assert world.found("00:02", "tidegate.a.out") == ("a/out",)
    assert world.poll("00:02") == ["a/out rewrite"]


def test_a_table_that_becomes_that_of_a_dataset_has_its_name_from_then_on():
    every = "nightly: {tables: 'tidegate.*.*', operations: {expire_snapshots: {interval: 1h}}}"
    world = TableWorld(every, "tidegate.b.d")
    assert "tidegate.b.d expire" in world.poll("00:00")
    world.deploy_apps("00:01", app_of(every), app_of("", head="app: b\ndatasets: {d: {}}\n"))
    assert world.table("tidegate.b.d").gone
    assert not world.table("b/d").gone
    assert world.by_hand("00:01", "tidegate.b.d", EXPIRE)[0].work.table == "b/d"


def test_what_is_measured_of_a_dataset_makes_it_known():
    world = TableWorld("", schedules="s: {program: q, trigger: {cron: '0 0 * * *'}}")
    world.measure("00:00", "a/out", "a/nothing", "w.a.unknown")
    assert world.table("a/out").health is not None
    with world.store.reading() as reader:
        assert [table.name for table in reader.records(MAINTAINED_TABLES)] == ["a/out"]


def test_what_is_measured_of_a_table_that_is_gone_is_ignored():
    world = TableWorld(policy(), "w.a.x")
    world.gone("00:00", "w.a.x")
    world.measure("00:01", "w.a.x")
    assert world.table("w.a.x").health is None


def test_a_table_may_be_reported_as_that_of_a_dataset():
    world = TableWorld(OWN)
    world.gone("00:00", "a/out")
    with world.store.transaction() as transaction:
        found = [TableFound(catalog_name="tidegate.a.out", dataset="a/out")]
        assert report_tables(transaction, found, at("00:01")) == ("a/out",)
