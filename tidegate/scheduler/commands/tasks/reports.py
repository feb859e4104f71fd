"""Reports: what is said from outside about instances of sources and external tasks (docs/cycles.md).

    Not Run, Paused      ──► the reported status
    does not exist       ──► is made, of kind `outside`, with the reported status
    Successful, Failed   ──► the reported status; its consumers run again

One request is one transaction: a wrong time refuses all of it, and the same request key again does nothing.
With the answer to a request is kept what it asked, so that a key that was used for something else is noticed.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.grid import Slot, slot_at
from tidegate.domain.tasks.key import TaskKeyError, local_day, parse_scheduled, scheduled_key
from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.deployed_tasks import wake_consumers
from tidegate.scheduler.commands.tasks.instances import task_state
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.instances.made import instance_of_slot, make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import InstanceKind, Status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.refused import InstanceRefused, Refused
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.generate import ONE_DAY, slots_between
from tidegate.scheduler.tick.named import named_instance
from tidegate.scheduler.tick.rerun import rerun
from tidegate.scheduler.tick.tick import advance_before

INSTANCES_MAX = 10_000
"""The most instances of one report."""

ASKED = "asked"
"""Name of the hash of what a request asked."""


class Reported(Value, kw_only=True):
    """The answer to a report: each instance by its scheduled time, and what became of it.

    Attributes:
        task: "app/name".
        status: that was reported.
        instances: by scheduled time, what became of each.
        repeated: the report was accepted before, and this call changed nothing.
    """

    task: str
    status: str
    instances: dict[str, str]
    repeated: bool = False


class Times(Value, kw_only=True):
    """The reported times: scheduled times as keys, or all times of the grid from one key to another."""

    scheduled: Sequence[str] = ()
    from_: str | None = None
    to: str | None = None


def report(
    transaction: EngineTransaction,
    ref: str,
    times: Times,
    status: str,
    now: datetime,
    by: By,
    request: str = "",
    *,
    strict: bool = False,
) -> Reported:
    """Report instances of a task from outside.

    Args:
        ref: the task, "app/name".
        status: successful or failed.
        request: a key of the caller's; a second report with the same one does nothing.
        strict: refuse a key that was used for other times or another status.

    Raises:
        InstanceRefused: the task, a time or the range is wrong; then nothing was changed.
        Refused: the key was used for something else.
    """
    name, asked = f"report:{ref}:{request}", _asked(times, status)
    known = transaction.cursor(name) if request else None
    if known is not None:
        if strict and known[ASKED] != asked:
            raise Refused(
                f"the request {request} was another report of {ref}", "give each report a key of its own"
            )
        return msgspec.structs.replace(msgspec.convert(known, Reported), repeated=True)
    advance_before(transaction, now)
    state = task_state(transaction, ref)
    task = state.spec.as_task
    if task.launches:
        hint = "only sources and external tasks are reported; mark the instance instead"
        raise InstanceRefused("E-TASK", f"{ref} runs a program", hint)
    if not task.enabled:
        raise InstanceRefused("E-DISABLED", f"task {ref} is disabled", "enable it in its YAML, and deploy")
    slots = _slots(task, times, now)
    answers = {
        scheduled_key(task, slot.scheduled): _one(transaction, state, slot, status, now, by) for slot in slots
    }
    wake_consumers(transaction, (ref,), now)
    answer = Reported(task=ref, status=status, instances=answers)
    if request:
        transaction.set_cursor(name, {**msgspec.to_builtins(answer), ASKED: asked})
    return answer


def _asked(times: Times, status: str) -> str:
    return hashlib.sha256(msgspec.json.encode((times, status))).hexdigest()


def _slots(task: TaskTrigger, times: Times, now: datetime) -> list[Slot]:
    """Return the slots that a report names, each once.

    Raises:
        InstanceRefused: a time is malformed, impossible or still to come, or the range is empty or too long.
    """
    try:
        if len(times.scheduled) > INSTANCES_MAX:
            raise _too_many("split the list")
        if times.scheduled:
            named = {slot_at(task, parse_scheduled(task, key)).scheduled for key in times.scheduled}
            slots = [slot_at(task, instant) for instant in sorted(named)]
        else:
            slots = _range(task, times)
    except TaskKeyError as error:
        raise InstanceRefused("E-TIME", str(error)) from error
    ahead = next((slot for slot in slots if slot.scheduled > now), None)
    if ahead is not None:
        key = scheduled_key(task, ahead.scheduled)
        raise InstanceRefused("E-TIME", f"{key} is still to come", "report it when its time has come")
    if not slots:
        raise InstanceRefused(
            "E-TIME", "the report names no time of the task", "name scheduled times, or a range"
        )
    return slots


def _range(task: TaskTrigger, times: Times) -> list[Slot]:
    if times.from_ is None or times.to is None:
        raise InstanceRefused("E-TIME", "a range needs `from` and `to`")
    first, last = parse_scheduled(task, times.from_), parse_scheduled(task, times.to)
    if last < first:
        raise InstanceRefused(
            "E-RANGE", f"the range ends at {times.to}, before {times.from_}, where it begins"
        )
    days = slots_between(task, local_day(task, first) - ONE_DAY, local_day(task, last))
    found = list(islice((slot for slot in days if first <= slot.scheduled <= last), INSTANCES_MAX + 1))
    if len(found) > INSTANCES_MAX:
        raise _too_many("split the range")
    return found


def _too_many(hint: str) -> InstanceRefused:
    return InstanceRefused("E-RANGE", f"a report has at most {INSTANCES_MAX:,} instances", hint)


def _one(
    transaction: EngineTransaction, state: ScheduleState, slot: Slot, status: str, now: datetime, by: By
) -> str:
    """Carry out the report of one instance; return what became of it."""
    task = state.spec.as_task
    job = named_instance(transaction, state.ref, slot.scheduled, scheduled_key(task, slot.scheduled))
    if job is None:
        job, entry = make(state, instance_of_slot(task, slot, kind=InstanceKind.OUTSIDE), now)
        transaction.put_jobs([job])
        transaction.add_journal([entry])
        _report(transaction, job, status, now, by)
        return "made"
    if status_of(job) in (Status.NOT_RUN, Status.PAUSED):
        _report(transaction, job, status, now, by)
        return "reported"
    again = rerun(transaction, [job], now, by, downstream=True)
    _report(transaction, again[0], status, now, by)
    return f"run again with {len(again) - 1} downstream"


def _report(transaction: EngineTransaction, job: Job, status: str, now: datetime, by: By) -> None:
    data = {"status": status, "by": by.actor, "why": by.reason}
    entry = Entry(at=now, kind=EntryKind.REPORTED, schedule=job.schedule, job=job.id, data=data)
    transaction.add_journal([entry])
    end_jobs(transaction, [(job, entry)])
