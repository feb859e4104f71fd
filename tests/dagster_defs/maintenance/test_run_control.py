"""What a running operation asks the store between its commits, and how often."""

from datetime import timedelta

import pytest

from tests.dagster_defs.maintenance.shop import Shop
from tidegate.dagster_defs.maintenance.operation_run import ASK_SECONDS, RunControl
from tidegate.domain.model import Priority
from tidegate.scheduler.launch.run_report import end_operation
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.maintenance import Ended, Ending
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import ALL_RUNS
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.protocol import Store

pytestmark = pytest.mark.dagster


class Asked:
    """The control of the shop's running operation, with a clock for its pace."""

    def __init__(self, shop: Shop) -> None:
        shop.request()
        self.shop = shop
        self.seconds = 0.0
        self.away = False
        self.opened = 0
        closes_at = shop.now + timedelta(minutes=10)
        job = shop.job().id
        self.control = RunControl(self.open, job, 1, closes_at, lambda: shop.now, lambda: self.seconds)

    def open(self) -> Store:
        self.opened += 1
        if self.away:
            raise StoreAway("the server does not answer")
        return self.shop.store


@pytest.fixture
def asked(shop: Shop) -> Asked:
    return Asked(shop)


def wait_for_a_slot(shop: Shop, priority: Priority) -> None:
    """A ready job of a pipeline lacks a slot that the operation holds."""
    waiting = Job(
        id="shop.often-1",
        schedule="shop/often",
        state=JobState.PENDING_CONSTRAINT,
        reason=Reason.W_LOAD,
        priority=priority,
        opened_at=shop.now,
        blocked_on=ALL_RUNS,
    )
    with shop.store.transaction() as transaction:
        transaction.put_jobs([waiting])


def test_it_goes_on_until_its_time_is_over(asked: Asked) -> None:
    assert not asked.control.should_stop()
    asked.shop.now += timedelta(minutes=9, seconds=59)
    assert not asked.control.should_stop()
    asked.shop.now += timedelta(seconds=1)
    assert asked.control.should_stop()


def test_it_stops_once_its_job_has_ended_without_it(asked: Asked) -> None:
    with asked.shop.store.transaction() as transaction:
        ended = Ended(ending=Ending.FAILED, detail="it died")
        assert end_operation(transaction, asked.shop.job().id, 1, ended, asked.shop.now)

    assert asked.control.should_stop()


@pytest.mark.parametrize(("priority", "yields"), [(Priority.HIGH, True), (Priority.NORMAL, False)])
def test_it_makes_room_for_a_job_of_high_priority(asked: Asked, priority: Priority, yields: bool) -> None:
    assert not asked.control.should_yield()
    wait_for_a_slot(asked.shop, priority)
    asked.seconds += ASK_SECONDS

    assert asked.control.should_yield() is yields


def test_the_store_is_asked_at_most_once_a_second(asked: Asked) -> None:
    for _ in range(100):
        asked.control.should_yield()
    assert asked.opened == 1

    asked.seconds += ASK_SECONDS
    asked.control.should_yield()
    assert asked.opened == 2


def test_while_the_store_is_away_it_goes_on_to_the_end_of_its_time(asked: Asked) -> None:
    asked.away = True

    assert not asked.control.should_stop()
    assert not asked.control.should_yield()
    asked.shop.now += timedelta(minutes=10)
    assert asked.control.should_stop()
