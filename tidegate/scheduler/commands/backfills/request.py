"""The request of a backfill, as the store keeps it, and how far it is.

A backfill has a number. Its instances are jobs of the same queue; those of a later lot wait until the lots
before are all successful. `scheduler.tick.upstream` gates them, and the constraint `partition` keeps them
apart from the others that write the same partitions, or are about the same key.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tidegate.domain.model import Priority
from tidegate.domain.value import Value
from tidegate.scheduler.decision.instances.actions import status_in
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.upstream import backfill_cursor

NEWEST = "backfills"
"""Name of the cursor that holds the number of the newest backfill."""

Which = Literal["missing", "failed", "stale", "all"]


class Backfill(Value, kw_only=True):
    """The request of a backfill.

    Attributes:
        number: from 1, in the order of the requests.
        task: the task or schedule that was asked for; None for all tasks of an app.
        app: its app.
        tasks: all tasks and schedules ("app/name") that have instances in it.
        disabled: tasks of the app, or upstream ones, that are left out because they are disabled, and
            upstream schedules that have no keys.
        from_, to: the first and the last date or key, both included.
        keys: those that were named, in place of a range.
        which: of the dates and keys those that were chosen.
        lot: how many dates run at once.
        priority: of its instances among all ready jobs; None comes after all others.
        quiet_downstream: what it publishes starts no schedule.
        resumed: how often it was resumed after a cancel.
    """

    number: int
    task: str | None
    app: str
    tasks: tuple[str, ...]
    disabled: tuple[str, ...] = ()
    from_: str
    to: str
    keys: tuple[str, ...] = ()
    which: Which = "all"
    lot: int
    priority: Priority | None = None
    quiet_downstream: bool = False
    by: str
    requested_at: datetime
    cancelled_at: datetime | None = None
    resumed: int = 0


class Progress(Value, kw_only=True):
    """The instances of a backfill by status, without empty runs."""

    backfill: Backfill
    total: int
    counts: dict[str, int]


class Wanted(Value, kw_only=True):
    """What a person asks for: a task or a schedule, or an app with all its tasks, and dates or keys.

    Attributes:
        from_, to: the first and the last date or key; None where `keys` are named.
        upstream: whether the instances of all upstream tasks and schedules belong to it.
        only: names of the tasks ("name" or "app/name") that it is limited to; empty for all.
        keys, which, priority, quiet_downstream: see `Backfill`.
    """

    app: str
    task: str | None = None
    from_: str | None = None
    to: str | None = None
    keys: tuple[str, ...] = ()
    which: Which = "all"
    lot: int = 1
    upstream: bool = False
    only: tuple[str, ...] = ()
    priority: Priority | None = None
    quiet_downstream: bool = False


def backfill_of(reader: EngineReader, number: int) -> Backfill:
    """Return the request of a backfill.

    Raises:
        InstanceRefused: there is no backfill of that number.
    """
    stored = reader.cursor(backfill_cursor(number))
    if stored is None:
        raise InstanceRefused(
            "E-TASK", f"there is no backfill {number}", "`tidegate backfill status` lists them"
        )
    return msgspec.convert(stored, Backfill)


def backfills(reader: EngineReader) -> tuple[Backfill, ...]:
    """Return all backfills, the oldest first."""
    return tuple(newest_backfills(reader))[::-1]


def newest_backfills(reader: EngineReader, before: int | None = None) -> Iterator[Backfill]:
    """Yield the backfills, the newest first.

    Args:
        before: begin behind the one of this number.
    """
    newest: int = reader.cursor(NEWEST) or 0
    for number in range(newest if before is None else min(before - 1, newest), 0, -1):
        yield backfill_of(reader, number)


def progress(reader: EngineReader, number: int) -> Progress:
    """Return how far a backfill is."""
    (found,) = progress_of(reader, [backfill_of(reader, number)])
    return found


def progress_of(reader: EngineReader, found: Sequence[Backfill]) -> tuple[Progress, ...]:
    """Return how far some backfills are."""
    numbers = [each.number for each in found]
    known = reader.backfill_counts(min(numbers), max(numbers)) if numbers else {}
    made: list[Progress] = []
    for backfill in found:
        counts = dict.fromkeys((str(status) for status in Status if status is not Status.ABSENT), 0)
        for state, jobs in known.get(backfill.number, {}).items():
            counts[str(status_in(state))] += jobs
        made.append(Progress(backfill=backfill, total=sum(counts.values()), counts=counts))
    return tuple(made)


def write_backfill(
    transaction: EngineTransaction, backfill: Backfill, action: str, by: By, now: datetime
) -> Entry:
    """Write the request of a backfill, and return the entry of what was done to it."""
    transaction.set_cursor(backfill_cursor(backfill.number), msgspec.to_builtins(backfill))
    data = {"action": action, "by": by.actor, "why": by.reason, "backfill": msgspec.to_builtins(backfill)}
    return Entry(at=now, kind=EntryKind.BACKFILL, data=data)
