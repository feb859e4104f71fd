"""The outbox of alerts: each is taken, sent outside of any transaction, and marked.

    pending ──take: one more try, not due before its lease ends──► sending ──sent──► SENT
       ▲                                                             │ └──failed──► pause, then again
       └───────────────── the process died: the lease ends ──────────┘               └─ after TRIES_MAX: DEAD

A try is counted before it is made. So a process that dies between sending and marking makes one repeat,
never a loss, and what kills its sender is abandoned after TRIES_MAX tries too.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.back_off import back_off
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.alert import ALERTS, Alert, AlertState
from tidegate.scheduler.model.refused import Refused, UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.upkeep import UpkeepStore, UpkeepTransaction

TRIES_MAX = 8
"""With the pauses between them an hour: longer than most outages of a mail server."""

FIRST_PAUSE = timedelta(seconds=30)

LEASE = timedelta(minutes=2)
"""Longer than any channel takes to send (`tidegate.alerts`)."""

DIED = "the process that sent it ended without a result"


def take(store: UpkeepStore, project: str, now: datetime) -> Alert | None:
    """Return the alert of a project to send next, if one is due, and count the try."""
    with store.reading() as reader:
        if not reader.due_records(ALERTS, now, 1, project=project):
            return None
    with store.transaction() as transaction:
        for alert in transaction.due_records(ALERTS, now, 1, project=project):
            if alert.tries >= TRIES_MAX:
                _give_up(transaction, alert, alert.error or DIED, now)
                continue
            taken = msgspec.structs.replace(alert, tries=alert.tries + 1, next_at=now + LEASE)
            transaction.put_records(ALERTS, [taken])
            return taken
    return take(store, project, now)


def mark_sent(store: UpkeepStore, alert: Alert, now: datetime) -> None:
    """Mark a taken alert as sent."""
    with store.transaction() as transaction:
        for found in _same_try(transaction, alert):
            sent = msgspec.structs.replace(found, state=AlertState.SENT, next_at=None, ended_at=now, error="")
            transaction.put_records(ALERTS, [sent])


def mark_failed(store: UpkeepStore, alert: Alert, error: str, now: datetime) -> None:
    """Mark the try of a taken alert as failed."""
    with store.transaction() as transaction:
        for found in _same_try(transaction, alert):
            if found.tries >= TRIES_MAX:
                _give_up(transaction, found, error, now)
            else:
                again = now + back_off(FIRST_PAUSE, found.tries)
                transaction.put_records(ALERTS, [msgspec.structs.replace(found, error=error, next_at=again)])


def retry(
    transaction: UpkeepTransaction, project: str, ids: Collection[str] | None, now: datetime, by: By
) -> tuple[Alert, ...]:
    """Send alerts again that were abandoned, or at once those that wait for their next try.

    Args:
        ids: of alerts; None for all that were abandoned.

    Raises:
        UnknownName: there is no alert of an id.
        Refused: one of them was sent already.
    """
    if ids is None:
        found = transaction.alerts(project, states=(AlertState.DEAD,))
    else:
        found = transaction.alerts(project, ids=ids)
        unknown = sorted(set(ids) - {alert.id for alert in found})
        if unknown:
            raise UnknownName(f"there is no alert {unknown[0]}", "`tidegate alerts list` shows them")
    for alert in found:
        check_retry(transaction, alert, now)
    again = [
        msgspec.structs.replace(alert, state=AlertState.PENDING, tries=0, next_at=now, ended_at=None)
        for alert in found
    ]
    transaction.put_records(ALERTS, again)
    transaction.add_journal([_entry(alert, "retry", now, by.noted) for alert in again])
    return tuple(again)


def retry_one(transaction: UpkeepTransaction, alert: tuple[str, str], now: datetime, by: By) -> Alert:
    """Send an alert again, or at once.

    Args:
        alert: its project and its id.

    Raises:
        UnknownName: there is no such alert.
        Refused: it was sent already.
    """
    project, id_ = alert
    (again,) = retry(transaction, project, [id_], now, by)
    return again


def check_retry(_reader: EngineReader, alert: Alert, _now: datetime) -> None:
    """Refuse to send an alert again that `retry` would refuse.

    Raises:
        Refused: it was sent already.
    """
    if alert.state is AlertState.SENT:
        raise Refused(
            f"alert {alert.id} was sent already",
            f"`tidegate alerts test {alert.channel}` sends a message to the channel",
        )


def _same_try(transaction: UpkeepTransaction, alert: Alert) -> list[Alert]:
    """Return the alert as it is now; none if another process has taken it since."""
    found = transaction.alerts(alert.project, ids=(alert.id,), states=(AlertState.PENDING,))
    return [each for each in found if each.tries == alert.tries]


def _give_up(transaction: UpkeepTransaction, alert: Alert, error: str, now: datetime) -> None:
    dead = msgspec.structs.replace(alert, state=AlertState.DEAD, error=error, next_at=None, ended_at=now)
    transaction.put_records(ALERTS, [dead])
    transaction.add_journal([_entry(dead, "abandoned", now, {"message": error})])


def _entry(alert: Alert, action: str, now: datetime, more: dict[str, str]) -> Entry:
    data = {"action": action, "alert": alert.id, "channel": alert.channel, "on": alert.kind.value, **more}
    return Entry(at=now, kind=EntryKind.ALERT, schedule=alert.subject, data=data)
