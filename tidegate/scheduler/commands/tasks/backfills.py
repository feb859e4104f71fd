"""Backfills: instances for business dates of the past, in lots (docs/cycles.md, "Backfill").

A backfill has a number. Its instances are jobs of the same queue; those of a later lot wait until the lot
before is all successful. `scheduler.tick.upstream` gates them, and the constraint `partition` keeps them
apart from the others that write the same partitions.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice

import msgspec

from tidegate.domain.model import Priority
from tidegate.domain.part_name import whole_name
from tidegate.domain.tasks.grid import Slot, business_slots
from tidegate.domain.tasks.key import TaskKeyError, parse_date
from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.instances import task_state
from tidegate.scheduler.decision.instances.actions import status_in, status_of
from tidegate.scheduler.decision.instances.made import instance_of_slot, make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import InstanceKind, Status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import InstanceRefused, Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import discard_jobs
from tidegate.scheduler.tick.tick import advance_before
from tidegate.scheduler.tick.upstream import backfill_cursor

NEWEST = "backfills"
"""Name of the cursor that holds the number of the newest backfill."""

INSTANCES_MAX = 100_000
"""The most instances of one backfill."""

DAYS_AT_ONCE = 30

_LEFT = (Status.NOT_RUN, Status.WAITING, Status.PAUSED)


class Backfill(Value, kw_only=True):
    """The request of a backfill.

    Attributes:
        number: from 1, in the order of the requests.
        task: the task that was asked for; None for a whole app.
        app: its app.
        tasks: all tasks ("app/name") that have instances in it.
        disabled: tasks of the app, or upstream ones, that are left out because they are disabled.
        from_, to: the first and the last business date, both included.
        lot: how many business dates run at once.
        priority: of its instances among all ready jobs; None comes after all others.
    """

    number: int
    task: str | None
    app: str
    tasks: tuple[str, ...]
    disabled: tuple[str, ...] = ()
    from_: str
    to: str
    lot: int
    priority: Priority | None = None
    by: str
    requested_at: datetime
    cancelled_at: datetime | None = None


class Progress(Value, kw_only=True):
    """The instances of a backfill by status, without empty runs."""

    backfill: Backfill
    total: int
    counts: dict[str, int]


class Wanted(Value, kw_only=True):
    """What a person asks for: a task, or an app whole, and its business dates.

    Attributes:
        upstream: whether the instances of all upstream tasks belong to it.
        only: names of the tasks ("name" or "app/name") that it is limited to; empty for all.
        priority: see `Backfill`.
    """

    app: str
    task: str | None = None
    from_: str
    to: str
    lot: int = 1
    upstream: bool = False
    only: tuple[str, ...] = ()
    priority: Priority | None = None


def start_backfill(transaction: EngineTransaction, wanted: Wanted, now: datetime, by: By) -> Backfill:
    """Make the instances of a backfill.

    Raises:
        InstanceRefused: a named task is unknown or disabled, the dates are malformed or in the wrong order,
            or the time of an instance is not over.
    """
    advance_before(transaction, now)
    states, disabled = _tasks(transaction, wanted)
    first, last = _date(wanted.from_), _date(wanted.to)
    if last < first:
        raise InstanceRefused(
            "E-RANGE", f"the range ends at {wanted.to}, before {wanted.from_}, where it begins"
        )
    if wanted.lot < 1:
        raise InstanceRefused("E-RANGE", f"a lot has at least one business date, got {wanted.lot}")
    every = ((state, key, slot) for state in states for key, slot in _slots(state, first, last, now))
    found = list(islice(every, INSTANCES_MAX + 1))
    if not found:
        raise InstanceRefused("E-RANGE", "no task has an instance for these business dates")
    if len(found) > INSTANCES_MAX:
        raise InstanceRefused(
            "E-RANGE", f"a backfill has at most {INSTANCES_MAX:,} instances", "split the range"
        )
    backfill = Backfill(
        number=(transaction.cursor(NEWEST) or 0) + 1,
        task=wanted.task,
        app=wanted.app,
        tasks=tuple(state.ref for state in states),
        disabled=tuple(state.ref for state in disabled),
        from_=wanted.from_,
        to=wanted.to,
        lot=wanted.lot,
        priority=wanted.priority,
        by=by.actor,
        requested_at=now,
    )
    _put(transaction, backfill)
    transaction.set_cursor(NEWEST, backfill.number)
    new = [_make(state, key, slot, backfill, first, now) for state, key, slot in found]
    transaction.put_jobs([job for job, _ in new])
    transaction.add_journal([_entry(backfill, "start", by, now), *(entry for _, entry in new)])
    return backfill


def start_backfill_once(
    transaction: EngineTransaction, wanted: Wanted, now: datetime, by: By, request: str
) -> tuple[Backfill, bool]:
    """Make the instances of a backfill, unless a call with the same key has done so.

    Args:
        request: a key of the caller's for the backfill of an app; "" for none.

    Returns:
        The backfill, and whether it was started before: then nothing has changed.

    Raises:
        Refused: the key was used for another backfill.
        InstanceRefused: see `start_backfill`.
    """
    if not request:
        return start_backfill(transaction, wanted, now, by), False
    name = f"backfill request:{wanted.app}:{request}"
    asked = hashlib.sha256(msgspec.json.encode(wanted)).hexdigest()
    known = transaction.cursor(name)
    if known is not None:
        if known["asked"] != asked:
            raise Refused(
                f"the request {request} was another backfill of {wanted.app}",
                "give each backfill a key of its own",
            )
        return backfill_of(transaction, known["number"]), True
    made = start_backfill(transaction, wanted, now, by)
    transaction.set_cursor(name, {"number": made.number, "asked": asked})
    return made, False


def cancel_backfill(transaction: EngineTransaction, number: int, now: datetime, by: By) -> Progress:
    """Discard the instances of a backfill that do not run yet; what runs or is done stays.

    Raises:
        InstanceRefused: there is no backfill of that number, or it is cancelled or over.
    """
    advance_before(transaction, now)
    backfill = backfill_of(transaction, number)
    check_cancel(transaction, backfill, now)
    open_ = [job for job in transaction.instances(backfill=number) if status_of(job) in _LEFT]
    cancelled = msgspec.structs.replace(backfill, cancelled_at=now)
    _put(transaction, cancelled)
    discard_jobs(transaction, open_, Reason.D_CANCELLED, now)
    transaction.add_journal([_entry(cancelled, "cancel", by, now)])
    return progress(transaction, number)


def check_cancel(reader: EngineReader, backfill: Backfill, _now: datetime) -> None:
    """Refuse to cancel a backfill that is cancelled or over (InstanceRefused)."""
    counts = progress(reader, backfill.number).counts
    if backfill.cancelled_at is not None or not any(counts[status] for status in _LEFT):
        raise InstanceRefused("E-STATE", f"backfill {backfill.number} has nothing left to cancel")


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


def _tasks(reader: EngineReader, wanted: Wanted) -> tuple[list[ScheduleState], list[ScheduleState]]:
    """Return the tasks of a backfill by ref, and those that are left out because they are disabled.

    Raises:
        InstanceRefused: a named task is unknown or disabled.
    """
    if wanted.task is not None:
        states = {state.ref: state for state in [task_state(reader, whole_name(wanted.app, wanted.task))]}
    else:
        states = {
            state.ref: state for state in reader.schedules(app=wanted.app) if state.spec.task is not None
        }
        if not states:
            raise InstanceRefused("E-TASK", f"app {wanted.app} has no tasks")
    named = frozenset(states if wanted.task is not None else ())
    if wanted.upstream:
        states |= _upstream(reader, states.values())
    only = {whole_name(wanted.app, name) for name in wanted.only}
    unknown = sorted(only - states.keys())
    if unknown:
        raise InstanceRefused("E-TASK", f"the backfill has no task {unknown[0]}", "leave it out of `only`")
    disabled = [state for _, state in sorted(states.items()) if not state.spec.as_task.enabled]
    refused = next((state for state in disabled if state.ref in named | only), None)
    if refused is not None:
        raise InstanceRefused(
            "E-DISABLED", f"task {refused.ref} is disabled", "enable it in its YAML, and deploy"
        )
    enabled = [state for _, state in sorted(states.items()) if state.spec.as_task.enabled]
    chosen = [state for state in enabled if not only or state.ref in only]
    if not chosen:
        raise InstanceRefused("E-DISABLED", "all tasks of the backfill are disabled")
    return chosen, [] if only else disabled


def _upstream(reader: EngineReader, states: Iterable[ScheduleState]) -> dict[str, ScheduleState]:
    """Return all tasks upstream of some tasks."""
    found: dict[str, ScheduleState] = {}
    ahead = list(states)
    while ahead:
        refs = {
            whole_name(state.app, each.task)
            for state in ahead
            for each in state.spec.as_task.depends_on
            if not each.itself
        }
        ahead = [state for state in reader.schedules(refs=refs - found.keys()) if state.spec.task is not None]
        found |= {state.ref: state for state in ahead}
    return found


def _date(text: str) -> date:
    try:
        return parse_date(text)
    except TaskKeyError as error:
        raise InstanceRefused("E-TIME", str(error), "business dates are written YYYY-MM-DD") from error


def _slots(state: ScheduleState, first: date, last: date, now: datetime) -> Iterator[tuple[str, Slot]]:
    """Yield the business dates and slots of a task, some days at a time: a range may be far too long.

    Raises:
        InstanceRefused: the scheduled time of one is not over.
    """
    for begin in range(0, (last - first).days + 1, DAYS_AT_ONCE):
        start = first + timedelta(days=begin)
        end = min(start + timedelta(days=DAYS_AT_ONCE - 1), last)
        for key, slot in business_slots(state.spec.as_task, start.isoformat(), end.isoformat()):
            if slot.scheduled > now:
                raise InstanceRefused(
                    "E-RANGE",
                    f"the business date {key} of {state.ref} is not over yet",
                    "end the backfill at the last business date that is over",
                )
            yield key, slot


def _make(
    state: ScheduleState, key: str, slot: Slot, backfill: Backfill, first: date, now: datetime
) -> tuple[Job, Entry]:
    lot = (date.fromisoformat(key[:10]) - first).days // backfill.lot
    instance = instance_of_slot(
        state.spec.as_task,
        slot,
        kind=InstanceKind.BACKFILL,
        number=backfill.number,
        lot=lot,
        priority=backfill.priority,
        began=None if lot else now,
        counts_from=now,
    )
    return make(state, instance, now)


def _put(transaction: EngineTransaction, backfill: Backfill) -> None:
    transaction.set_cursor(backfill_cursor(backfill.number), msgspec.to_builtins(backfill))


def _entry(backfill: Backfill, action: str, by: By, now: datetime) -> Entry:
    data = {"action": action, "by": by.actor, "why": by.reason, "backfill": msgspec.to_builtins(backfill)}
    return Entry(at=now, kind=EntryKind.BACKFILL, data=data)
