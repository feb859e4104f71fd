"""`checks: passed`: the event of a materialisation comes when its checks have passed, by whomever."""

import msgspec
import pytest
from dagster import (
    AssetCheckEvaluation,
    AssetCheckSeverity,
    AssetMaterialization,
    DagsterInstance,
)

from tests.dagster_defs.ingest.checked_house import DAY, DEMAND, NEXT, House, failed
from tidegate.scheduler.intake.report_partitions import Landed, report_partitions
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS

pytestmark = pytest.mark.dagster


@pytest.fixture
def house(disk_instance: DagsterInstance) -> House:
    return House(disk_instance)


@pytest.fixture
def small(instance: DagsterInstance) -> House:
    return House(instance)


def test_a_materialisation_whose_checks_pass_in_its_run_comes_when_the_run_has_ended(house: House) -> None:
    run = house.run("two", DAY)

    assert house.checked() == [("demand", DAY)]
    (event,), (plain,) = house.events(), house.events("partition:")
    assert (event.time, event.rows, event.run_id) == (plain.time, 3, run.run_id)
    assert event.arrived == house.now > event.time
    assert house.withheld() == {}


def test_a_failed_check_withholds_and_names_itself_until_a_later_evaluation_passes(house: House) -> None:
    made = house.run("two", DAY, positive=failed("3 rows below zero"))

    assert house.checked() == []
    assert house.lacking() == {"positive": (False, "3 rows below zero")}
    (held,) = house.withheld().values()
    assert (held.run_id, held.ended, held.checks["positive"].run_id) == (made.run_id, True, made.run_id)

    again = house.run("checks", positive=failed("2 rows below zero"))
    assert house.checked() == []
    assert house.lacking() == {"positive": (False, "2 rows below zero")}
    assert house.withheld()[DAY].checks["positive"].run_id == again.run_id

    house.run("checks")
    assert house.checked() == [("demand", DAY)]
    (event,), (plain,) = house.events(), house.events("partition:")
    assert (event.time, event.arrived, event.run_id) == (plain.time, house.now, made.run_id)
    house.run("checks", positive=failed())
    assert house.checked() == [("demand", DAY)], "what was released stays so"


def test_a_failed_check_of_severity_warn_withholds_nothing(small: House) -> None:
    small.run("two", DAY, positive=failed("odd", AssetCheckSeverity.WARN))
    assert small.checked() == [("demand", DAY)]


def test_a_check_that_could_not_be_evaluated_is_missing_until_it_is(small: House) -> None:
    run = small.run("two", DAY, raises=True)
    assert not run.success

    assert small.checked() == []
    assert small.lacking() == {"positive": (None, "")}

    small.run("checks")
    assert small.checked() == [("demand", DAY)]


def test_a_run_that_fails_after_the_materialisation_leaves_its_later_checks_missing(small: House) -> None:
    assert not small.run("flat_job", raises=True).success

    assert small.checked() == []
    assert small.lacking("") == {"never": (None, "")}, "the check before the materialisation counts"

    small.run("flat_job")
    assert small.checked() == [("flat", "")]
    assert len(small.events("partition:")) == 2


def test_without_a_run_or_without_planned_checks_the_event_comes_at_once(small: House) -> None:
    small.instance.report_runless_asset_event(AssetMaterialization(DEMAND, partition=DAY))
    assert small.checked() == [("demand", DAY)]

    small.run("plain", NEXT)
    assert small.checked() == [("demand", DAY), ("demand", NEXT)]


def test_a_report_of_ours_comes_at_once(small: House) -> None:
    with small.store.transaction() as transaction:
        landed = [Landed(key=DAY, rows=4)]
        report_partitions(transaction, "", "core", "demand", landed, small.now, By(actor="rest"), "r1")

    assert [(each.partition, each.rows) for each in small.events()] == [(DAY, 4)]


def test_a_newer_materialisation_of_the_partition_replaces_a_withheld_one(small: House) -> None:
    small.run("two", DAY, positive=failed("old"))
    small.read()
    second = small.run("two", DAY, complete=failed("new"))

    assert small.checked() == []
    assert small.lacking() == {"complete": (False, "new")}
    assert small.withheld()[DAY].run_id == second.run_id

    small.run("checks")
    assert small.checked() == [("demand", DAY)]
    assert small.events()[0].run_id == second.run_id, "the older one never comes"


def test_an_unpartitioned_check_aims_at_the_newest_materialisation_of_any_partition(small: House) -> None:
    small.run("two", DAY, positive=failed())
    small.run("two", NEXT, positive=failed())
    small.run("checks")

    assert small.checked() == [("demand", NEXT)]
    assert set(small.withheld()) == {DAY}


def test_a_check_with_partitions_is_about_its_partition(small: House) -> None:
    small.run("one_day", DAY, of_day=failed("too few"))
    small.run("one_day", NEXT, of_day=failed("too few"))
    assert small.checked() == []

    small.run("check_day", DAY)
    assert small.checked() == [("demand", DAY)]
    assert set(small.withheld()) == {NEXT}


def test_an_evaluation_without_a_run_releases_if_it_aims_at_the_materialisation(small: House) -> None:
    small.run("two", DAY, positive=failed())
    assert small.checked() == []
    aimed = small.instance.get_latest_materialization_event(DEMAND)
    assert aimed is not None
    small.instance.report_runless_asset_event(
        AssetCheckEvaluation(asset_key=DEMAND, check_name="positive", passed=True)
    )
    assert small.checked() == [], "it aims at nothing"

    small.instance.report_runless_asset_event(
        AssetCheckEvaluation(asset_key=DEMAND, check_name="positive", passed=True, partition=DAY)
    )
    assert small.checked() == [("demand", DAY)]


def test_what_nothing_waits_for_is_neither_withheld_nor_released(small: House) -> None:
    small.instance.report_runless_asset_event(AssetMaterialization("unheard"))
    small.read()

    assert [each.key for each in small.events("")] == ["partition:core/unheard"]
    with small.store.reading() as reader:
        assert reader.records(WITHHELD_EVENTS) == ()


def test_rows_that_are_read_again_by_anyone_change_nothing(house: House) -> None:
    house.run("two", DAY, positive=failed())
    house.read()
    house.run("two", DAY)
    house.run("two", NEXT, complete=failed("late"))
    assert house.checked() == [("demand", DAY)]
    before = (house.events(), house.withheld())

    epoch = house.instance.run_storage.get_run_storage_id()
    with house.store.transaction() as transaction:
        transaction.set_cursor(f"dagster-events:{epoch}", None)
    other = House(house.instance, house.store)
    other.now = house.now
    other.read()

    found = {
        key: msgspec.structs.replace(each, withheld_since=None) for key, each in house.withheld().items()
    }
    assert found == {
        key: msgspec.structs.replace(each, withheld_since=None) for key, each in before[1].items()
    }
    assert house.events() == before[0]


def test_the_end_of_a_run_that_the_log_does_not_tell_is_found_by_reconciliation(small: House) -> None:
    run = small.run("two", DAY)
    small.read()
    held = small.record(DAY)
    with small.store.transaction() as transaction:
        transaction.take_back_events([f"checked:{held.event}"])
        lost = msgspec.structs.replace(held, ended=False, released_at=None, withheld_since=small.now)
        transaction.put_records(WITHHELD_EVENTS, [lost])
    assert small.checked() == []

    small.look_again()

    assert small.checked() == [("demand", DAY)]
    assert small.events()[0].run_id == run.run_id


def test_what_no_schedule_waits_for_any_more_is_forgotten(small: House) -> None:
    small.run("two", DAY, positive=failed())
    small.read()
    with small.store.transaction() as transaction:
        transaction.delete_schedules(["core/demand"])

    small.look_again()

    assert small.withheld() == {}
