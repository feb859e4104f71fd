"""Statuses: a schedule is suspended or resumed, within what was done before (`commands.by_hand.manual`).

What its jobs and events become `scheduler.decision.changes.fate` says; a suspension, and a resume that
expires, is an override (`scheduler.decision.changes.overrides`).
"""

from datetime import datetime

import msgspec

from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.activation import clock_entries, start_clocks, stop_clocks, takes_events
from tidegate.scheduler.commands.change_jobs import change_jobs
from tidegate.scheduler.commands.existing_events import collect_existing
from tidegate.scheduler.commands.overrides import Cause, record_overrides, status_override_of
from tidegate.scheduler.decision.changes.fate import Change
from tidegate.scheduler.decision.changes.overrides import extended, mark_of, status_override
from tidegate.scheduler.model.deployed import ScheduleState, Status
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction


def switch(
    transaction: EngineTransaction,
    ref: str,
    status: Status,
    now: datetime,
    by: By,
    until: Until | None = None,
    cause: Cause = "undone",
) -> bool:
    """Give a schedule a status; the caller has let it take what was its own before `now`.

    Args:
        until: when it reverts; given for a status that is in force already, it changes when.
        cause: why an override ends by it.

    Returns:
        Whether anything has changed.

    Raises:
        Refused: the schedule is not deployed, or it has nothing to revert to.
    """
    state = schedule_state(transaction, ref)
    known, mark = status_override_of(transaction, ref), mark_of(by, until, now)
    if state.status == status:
        found = extended(known, state, mark, until)
        if found is not None and found != known:
            record_overrides(transaction, _some(known), [found], now, by)
            transaction.put_schedules([msgspec.structs.replace(state, revision=state.revision + 1)])
        return found is not None
    found = status_override(known, state, status, mark, until)
    data = {"status": status, **by.noted}
    transaction.add_journal([Entry(at=now, kind=EntryKind.STATUS, schedule=ref, data=data)])
    switched = msgspec.structs.replace(
        state,
        status=status,
        changed_by=by.actor,
        suspended_at=now if status == "suspended" else None,
        revision=state.revision + 1,
    )
    if status == "suspended":
        _suspend(transaction, state, switched, now)
    else:
        _resume(transaction, state, switched, now)
    record_overrides(transaction, _some(known), _some(found), now, by, cause)
    return True


def _suspend(
    transaction: EngineTransaction, state: ScheduleState, suspended: ScheduleState, now: datetime
) -> None:
    transaction.put_schedules([suspended if takes_events(suspended) else stop_clocks(suspended)])
    change_jobs(transaction, Change.SUSPENDED, [state], now, {state.ref: suspended})


def _resume(
    transaction: EngineTransaction, state: ScheduleState, resumed: ScheduleState, now: datetime
) -> None:
    if state.holding or state.spec.task is not None:
        transaction.put_schedules([resumed])
    else:
        begun = start_clocks(transaction, [resumed], now)
        transaction.put_schedules(begun)
        transaction.add_journal(list(clock_entries(begun, now)))
        if state.active_since is None:
            # It has never taken events since it was created or reset.
            collect_existing(transaction, begun, now)
    change_jobs(transaction, Change.RESUMED, [state], now, {state.ref: resumed})


def _some(override: Override | None) -> list[Override]:
    return [] if override is None else [override]


def schedule_state(reader: EngineReader, ref: str) -> ScheduleState:
    """Return the deployed schedule of this name.

    Raises:
        Refused: the schedule is not deployed.
    """
    state = next(iter(reader.schedules(refs=[ref])), None)
    if state is None:
        raise Refused(f"no schedule {ref} is deployed", "`tidegate schedules list` shows what is")
    return state
