"""When tables are measured, and who asks for it."""

import msgspec
import pytest
from dagster import DagsterInstance, DagsterRunStatus

from tests.dagster_defs.instance import started
from tests.dagster_defs.maintenance.measuring.world import (
    WHEN,
    FakeSpark,
    measuring,
    work,
)
from tests.dagster_defs.maintenance.shop import MINUTE, SALES, Shop, shop_app
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import MEASURING
from tidegate.dagster_defs.deployed.tags import PROJECT, REASON
from tidegate.dagster_defs.maintenance import due as measuring_due
from tidegate.dagster_defs.maintenance.due import due
from tidegate.dagster_defs.maintenance.requests import ASKED_AGAIN
from tidegate.scheduler.intake.tables import forget_health
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Health, TableState

pytestmark = pytest.mark.dagster


def test_a_table_that_a_decision_waits_for_is_measured(waiting: Shop) -> None:
    (request,) = measuring(waiting)

    assert request.tags[PROJECT] == NO_PROJECT
    assert request.tags[REASON] == "measure 1 table(s)"


def test_with_nothing_to_measure_nothing_is_requested(instance: DagsterInstance) -> None:
    shop = Shop(instance, shop_app("shop/notes", WHEN))
    shop.tick()
    shop.measure("shop/notes", files=1)

    assert measuring(shop) == []


def test_two_apps_are_measured_by_one_request(instance: DagsterInstance) -> None:
    other = msgspec.structs.replace(shop_app("shop/notes", WHEN), name="other")
    shop = Shop(instance, shop_app(yaml=WHEN), other)

    assert len(measuring(shop)) == 1
    assert measuring(shop) == []


def test_a_request_that_got_lost_is_made_again_under_another_key(waiting: Shop) -> None:
    (first,) = measuring(waiting)
    assert measuring(waiting) == []

    waiting.now += ASKED_AGAIN

    (second,) = measuring(waiting)
    assert second.run_key != first.run_key


@pytest.mark.parametrize(
    ("project", "status", "asks"),
    [
        (NO_PROJECT, DagsterRunStatus.NOT_STARTED, False),
        (NO_PROJECT, DagsterRunStatus.STARTED, False),
        (NO_PROJECT, DagsterRunStatus.FAILURE, True),
        ("theirs", DagsterRunStatus.STARTED, True),
    ],
)
def test_one_run_measures_at_a_time(
    waiting: Shop, project: str, status: DagsterRunStatus, asks: bool
) -> None:
    started(waiting.instance, waiting.repository, MEASURING, {PROJECT: project}, status)

    assert bool(measuring(waiting)) is asks


def test_a_table_that_could_not_be_measured_is_measured_again_at_the_next_poll_and_then_more_rarely(
    waiting: Shop, faked: FakeSpark
) -> None:
    faked.measured = lambda _, now: Health(measured_at=now, failure="no answer")
    start, tried = waiting.now, list[int]()
    for minute in range(31):
        waiting.now = start + minute * MINUTE
        waiting.tick()
        if measuring(waiting):
            assert f"{SALES} could not be measured: no answer" in work(waiting)
            tried.append(minute)

    assert tried == [0, 1, 2, 4, 8, 13, 18, 23, 28]


def test_after_a_success_or_a_write_it_is_measured_at_the_next_poll_again(
    waiting: Shop, faked: FakeSpark
) -> None:
    faked.measured = lambda _, now: Health(measured_at=now, failure="no answer")
    for _ in range(3):
        waiting.now += MINUTE
        waiting.tick()
        work(waiting)
    assert health_of(waiting).failing_since == waiting.now - 2 * MINUTE
    with waiting.store.transaction() as transaction:
        forget_health(transaction, [SALES], waiting.now + MINUTE)
    waiting.now += 2 * MINUTE
    waiting.tick()
    assert len(measuring(waiting)) == 1
    work(waiting)
    assert health_of(waiting).failing_since == waiting.now
    faked.measured = lambda _, now: Health(measured_at=now, values={"files": 1})
    waiting.now += MINUTE
    waiting.tick()
    work(waiting)
    assert health_of(waiting).failing_since is None


def health_of(shop: Shop) -> Health:
    with shop.store.reading() as reader:
        (table,) = reader.records(MAINTAINED_TABLES, name=(SALES,))
    assert table.health is not None
    return table.health


def test_many_wanted_tables_of_another_project_do_not_hide_its_own(
    waiting: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring_due, "TABLES_LOOKED_AT", 2)
    others = [TableState(name=f"lake.raw.t{n}", wanted_at=waiting.now - MINUTE) for n in range(9)]
    with waiting.store.transaction() as transaction:
        transaction.put_records(MAINTAINED_TABLES, others)
    assert len(measuring(waiting)) == 1
    with waiting.store.reading() as reader:
        apps = [each.app for each in reader.records(APPS)]
        assert [table.name for table in measuring_due.tables_due(reader, apps, waiting.now)] == [SALES]
        assert measuring_due.tables_due(reader, [], waiting.now) == ()


def test_a_project_measures_the_tables_of_its_own_policies(waiting: Shop) -> None:
    waiting.deploy(msgspec.structs.replace(shop_app("shop/notes", WHEN), name="other"), project="theirs")
    waiting.tick()

    with waiting.store.reading() as reader:
        own = {each.app.name: each.app for each in reader.records(APPS)}
        found = [table.name for table in due(reader, [own["shop"]], NO_PROJECT, waiting.now).tables]
        theirs = [table.name for table in due(reader, [own["other"]], "theirs", waiting.now).tables]
    assert (found, theirs) == ([SALES], ["shop/notes"])
