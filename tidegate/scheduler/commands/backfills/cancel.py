"""Cancel a backfill, and resume it: what did not run yet is discarded, and is made again as it was.

start ──► cancel: what does not run is discarded, and noted; what runs or is done stays
             └──► resume: exactly what was noted, in the lots that it was in
"""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.schedule_keys import scheme_of_key
from tidegate.domain.value import Value
from tidegate.scheduler.commands.backfills.request import (
    Backfill,
    Progress,
    backfill_of,
    progress,
    write_backfill,
)
from tidegate.scheduler.commands.backfills.start import deployed
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.instances.made import make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance, Status
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import discard_jobs
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.tick import advance_before

_LEFT = (Status.NOT_RUN, Status.WAITING, Status.PAUSED)


class Left(Value, kw_only=True):
    """An instance that a cancel has discarded: its task or schedule, and what it was when it was made."""

    ref: str
    instance: Instance


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
    entry = write_backfill(transaction, cancelled, "cancel", by, now)
    left = [Left(ref=job.schedule, instance=job.of_task) for job in open_]
    transaction.set_cursor(_cursor(number), msgspec.to_builtins(left))
    discard_jobs(transaction, open_, Reason.D_CANCELLED, now)
    transaction.add_journal([entry])
    return progress(transaction, number)


def check_cancel(reader: EngineReader, backfill: Backfill, _now: datetime) -> None:
    """Refuse to cancel a backfill that is cancelled or over (InstanceRefused)."""
    counts = progress(reader, backfill.number).counts
    if backfill.cancelled_at is not None or not any(counts[status] for status in _LEFT):
        raise InstanceRefused("E-STATE", f"backfill {backfill.number} has nothing left to cancel")


def resume_backfill(transaction: EngineTransaction, number: int, now: datetime, by: By) -> Progress:
    """Make again the instances of a cancelled backfill that its cancel has discarded.

    Raises:
        InstanceRefused: there is no backfill of that number, it is not cancelled, or one of its tasks,
            schedules or keys does not exist any more.
    """
    advance_before(transaction, now)
    backfill = backfill_of(transaction, number)
    check_resume(transaction, backfill, now)
    left = msgspec.convert(transaction.cursor(_cursor(number)), list[Left])
    states = {ref: deployed(transaction, ref) for ref in sorted({each.ref for each in left})}
    _refuse_unknown(transaction, states, left)
    resumed = msgspec.structs.replace(backfill, cancelled_at=None, resumed=backfill.resumed + 1)
    new = [make(states[each.ref], _again(each.instance, now), now, again=resumed.resumed) for each in left]
    transaction.put_jobs([job for job, _ in new])
    entry = write_backfill(transaction, resumed, "resume", by, now)
    transaction.set_cursor(_cursor(number), None)
    transaction.add_journal([entry, *(made for _, made in new)])
    return progress(transaction, number)


def check_resume(reader: EngineReader, backfill: Backfill, _now: datetime) -> None:
    """Refuse to resume a backfill that is not cancelled, or of which nothing was left (InstanceRefused)."""
    if backfill.cancelled_at is None:
        raise InstanceRefused(
            "E-STATE",
            f"backfill {backfill.number} is not cancelled",
            "`tidegate instances rerun` runs one of its instances again",
        )
    if not reader.cursor(_cursor(backfill.number)):
        raise InstanceRefused("E-STATE", f"backfill {backfill.number} has nothing left to resume")


def _refuse_unknown(reader: EngineReader, states: dict[str, ScheduleState], left: Sequence[Left]) -> None:
    apps = load_apps(reader, states.values())
    for each in left:
        state = states[each.ref]
        known = (
            scheme_of_key(apps[state.app], state.spec, each.instance.key) is not None
            if each.instance.keyed
            else state.spec.task is not None
        )
        if not known:
            raise InstanceRefused(
                "E-RANGE", f"{each.ref} has no key {each.instance.key} any more", "start another backfill"
            )


def rename_left(transaction: EngineTransaction, number: int, renamed: Callable[[str], str]) -> None:
    """Let what the cancel of a backfill has left have the new names of its tasks and schedules."""
    left = msgspec.convert(transaction.cursor(_cursor(number)) or [], list[Left])
    if any(renamed(each.ref) != each.ref for each in left):
        moved = [msgspec.structs.replace(each, ref=renamed(each.ref)) for each in left]
        transaction.set_cursor(_cursor(number), msgspec.to_builtins(moved))


def _again(instance: Instance, now: datetime) -> Instance:
    """Return a discarded instance as a new one."""
    return msgspec.structs.replace(
        instance,
        began=None if instance.lot else now,
        counts_from=now,
        attempt=0,
        marked=False,
        upstream=(),
        diagnostics=(),
    )


def _cursor(number: int) -> str:
    """Return the name of the cursor that holds what a cancel has left."""
    return f"backfill left:{number}"
