"""The outbox: what is due is sent, what fails waits longer each time, and a death repeats at most once."""

import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tests.alerts.receivers import Web, web_server
from tests.alerts.samples import NOON, alert
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.alerts.channel import Command, Webhook
from tidegate.alerts.deliver import Delivery, deliver
from tidegate.domain.error import UserError
from tidegate.scheduler.alerts.outbox import LEASE, TRIES_MAX, mark_failed, mark_sent, retry, take
from tidegate.scheduler.model.records.alert import ALERTS, Alert, AlertState
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

pytestmark = pytest.mark.slow  # processes that send

LATER = timedelta(days=1)


@pytest.fixture
def web() -> Generator[Web]:
    with web_server() as got:
        yield got


@pytest.fixture
def store() -> Store:
    store = ReferenceStore()
    put(store, alert())
    return store


def put(store: Store, *alerts: Alert) -> None:
    with store.transaction() as transaction:
        transaction.put_records(ALERTS, alerts)


def only(store: Store) -> Alert:
    with store.reading() as reader:
        (found,) = reader.alerts("p")
    return found


def sent(store: Store, web: Web, now: datetime = NOON) -> int:
    return deliver(store, "p", {"ops": Webhook(url=web.url)}, lambda: now)


def test_what_is_due_is_sent_once(store: Store, web: Web) -> None:
    put(store, alert(id="a2"), msgspec.structs.replace(alert(id="a3"), next_at=NOON + LATER))
    assert sent(store, web) == 2
    assert sent(store, web) == 0
    assert [body["id"] for body in web.bodies] == ["a1", "a2"]


def test_a_try_that_fails_is_made_again_later_and_given_up_at_last(store: Store, web: Web) -> None:
    web.code, now, waited = 500, NOON, []
    while only(store).state is AlertState.PENDING:
        assert sent(store, web, now) == 0
        assert only(store).error == "the receiver answered 500: no thanks"
        due = only(store).next_at
        if due is not None:
            waited.append(due - now)
            now = due
    assert len(web.bodies) == TRIES_MAX
    assert waited == sorted(waited)
    assert waited[0] < waited[-1]
    dead = only(store)
    assert (dead.state, dead.next_at, dead.ended_at) == (AlertState.DEAD, None, now)
    with store.reading() as reader:
        (entry,) = reader.journal(schedule="sales/report")
    assert (entry.kind, entry.data["action"], entry.data["channel"]) == ("alert", "abandoned", "ops")


def test_a_dead_alert_is_sent_again_on_request(store: Store, web: Web) -> None:
    for _ in range(TRIES_MAX):
        taken = take(store, "p", NOON + LATER)
        assert taken is not None
        mark_failed(store, taken, "no", NOON)
    with store.transaction() as transaction:
        assert [each.id for each in retry(transaction, "p", None, NOON, by=CLI)] == ["a1"]
    assert sent(store, web) == 1
    assert only(store).state is AlertState.SENT
    with store.transaction() as transaction, pytest.raises(UserError, match="sent already"):
        retry(transaction, "p", ["a1"], NOON, by=CLI)
    with store.transaction() as transaction, pytest.raises(UserError, match="no alert x"):
        retry(transaction, "p", ["x"], NOON, by=CLI)


def test_an_alert_to_a_channel_that_the_settings_lack_says_so(store: Store) -> None:
    deliver(store, "p", {}, lambda: NOON)
    assert "no channel ops" in only(store).error


def test_one_channel_that_fails_does_not_stop_the_others(store: Store, web: Web) -> None:
    put(store, alert("broken", "a0"))
    channels = {"ops": Webhook(url=web.url), "broken": Command(command=("/nowhere",))}
    assert deliver(store, "p", channels, lambda: NOON) == 1


def test_a_late_answer_of_another_try_changes_nothing(store: Store) -> None:
    first = take(store, "p", NOON)
    assert first is not None
    assert take(store, "p", NOON) is None, "its lease holds"
    second = take(store, "p", NOON + LEASE)
    assert second is not None
    mark_failed(store, first, "late", NOON)
    assert only(store).error == ""
    mark_sent(store, second, NOON)
    assert only(store).state is AlertState.SENT


def test_what_kills_its_sender_each_time_is_given_up(store: Store) -> None:
    now = NOON
    for _ in range(TRIES_MAX):
        assert take(store, "p", now) is not None
        now += LEASE
    assert take(store, "p", now) is None
    assert (only(store).state, only(store).error) == (
        AlertState.DEAD,
        "the process that sent it ended without a result",
    )


@pytest.mark.parametrize(("dies", "received"), [("before", 1), ("after", 2)])
def test_a_sender_that_is_killed_repeats_at_most_and_loses_nothing(
    tmp_path: Path, web: Web, dies: str, received: int
) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    put(store, alert())
    sender = [sys.executable, "-m", "tests.alerts.sender", url, web.url]
    killed = subprocess.run([*sender, dies], check=False, cwd=Path(__file__).parents[2])
    assert killed.returncode == -signal.SIGKILL
    assert sent(store, web, NOON) == 0, "the lease of the killed process holds"
    assert sent(store, web, NOON + LEASE) == 1
    assert sent(store, web, NOON + LATER) == 0
    assert [body["id"] for body in web.bodies] == ["a1"] * received
    assert {headers["Idempotency-Key"] for headers in web.headers} == {"a1"}
    store.close()


def test_one_pass_at_a_time_works_beside_the_loop() -> None:
    began, ends, done = threading.Event(), threading.Event(), threading.Event()
    log: list[str] = []
    delivery = Delivery()

    def work() -> None:
        began.set()
        ends.wait(60)
        done.set()
        raise ValueError("x")

    delivery.start(work, log.append)
    assert began.wait(60)
    delivery.start(lambda: log.append("a second one"), log.append)
    ends.set()
    assert done.wait(60)
    again = threading.Event()
    while not again.wait(0.01):
        delivery.start(again.set, log.append)
    assert log == ["alerts were not sent: ValueError: x"]
