"""Manual: what people do to schedules and jobs by hand, from CLI, REST or the Dagster UI.

Each action is one journaled change inside the caller's transaction. Nothing here launches:
`trigger` makes a job due, and the next tick decides about it like about any other.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from compiler.model import App, PartitionScheme, PartitionsTrigger, Schedule, leaves
from compiler.partition_key import validate_key
from scheduler.deployed import ScheduleState
from scheduler.fires import next_fire
from scheduler.job import WAITING, ByHand, Job, JobState, job_id
from scheduler.journal import Entry, EntryKind
from scheduler.reason import Reason
from scheduler.refused import Refused
from scheduler.slices import load_apps
from scheduler.store.protocol import Transaction
from scheduler.tick import discarded

EARLIEST_PERIOD = "1900-01-01"
"""A coarser period may begin before its dataset's first partition; any sensible one is let pass."""


def suspend(transaction: Transaction, ref: str, now: datetime, by: str = "cli") -> bool:
    """Suspend a schedule: it ignores events, and its waiting jobs are discarded.

    Returns:
        Whether that changed anything.

    Raises:
        Refused: no such schedule is deployed.
    """
    state = schedule_state(transaction, ref)
    if not state.active:
        return False
    transaction.put_schedules(
        [msgspec.structs.replace(state, status="suspended", changed_by=by, next_fire_at=None)]
    )
    discard_waiting(transaction, [ref], Reason.D_SUSPENDED, now)
    _note_status(transaction, ref, "suspended", by, now)
    return True


def resume(transaction: Transaction, ref: str, now: datetime, by: str = "cli") -> bool:
    """Make a schedule active: events and fires from `now` on count.

    Returns:
        Whether that changed anything.

    Raises:
        Refused: no such schedule is deployed.
    """
    state = schedule_state(transaction, ref)
    if state.active:
        return False
    transaction.put_schedules([activated(state, now, by)])
    _note_status(transaction, ref, "active", by, now)
    return True


def activated(state: ScheduleState, now: datetime, by: str) -> ScheduleState:
    """The schedule, active from `now` on."""
    return msgspec.structs.replace(
        state,
        status="active",
        changed_by=by,
        active_since=now,
        fires_after=now,
        next_fire_at=next_fire(state, now),
    )


def trigger(transaction: Transaction, ref: str, now: datetime, key: str = "", force: bool = False) -> Job:
    """Count a schedule's trigger as satisfied (DESIGN rule 17).

    It takes the waiting job with what it has, or an empty one. The constraints stay in force
    unless `force` is set, which overrides all of them but concurrency.

    Args:
        key: which job, for a schedule with `for_each`.

    Raises:
        Refused: no such schedule, or a key that does not go with it.
    """
    state = schedule_state(transaction, ref)
    if state.spec.for_each is not None and not key:
        raise Refused(
            f"schedule {ref} runs for each {state.spec.for_each}, and no key was given",
            "name the key, for example --key 2013-12-22",
        )
    if state.spec.for_each is None and key:
        raise Refused(f"schedule {ref} has no for_each, got key {key!r}", "leave the key out")
    wrong = wrong_key(state.spec, load_apps(transaction, {state.app})[state.app], key)
    if wrong is not None:
        raise Refused(
            f"schedule {ref} has no such key: {wrong}", "`tidegate schedules show` shows its datasets"
        )
    waiting = transaction.jobs(schedules=[ref], states=WAITING)
    found = next((job for job in waiting if job.key == key), None)
    new_id = job_id(ref, key, f"manual:{now.isoformat()}")
    if found is None and transaction.jobs(ids=[new_id]):
        raise Refused(f"schedule {ref} was triggered at this instant already", "trigger it once more")
    job = found or Job(
        id=new_id,
        schedule=ref,
        key=key,
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        opened_at=now,
    )
    job = msgspec.structs.replace(
        job,
        by_hand=ByHand.FORCE if force else ByHand.TRIGGER,
        satisfied_at=job.satisfied_at or now,
        next_check_at=now,
    )
    transaction.put_jobs([job])
    transaction.add_journal(
        [
            Entry(
                at=now,
                kind=EntryKind.MANUAL,
                schedule=ref,
                job=job.id,
                data={"action": "force" if force else "trigger", "key": key},
            )
        ]
    )
    return job


def wrong_key(schedule: Schedule, app: App, key: str) -> str | None:
    """What is wrong with a key of a schedule's jobs, or None for one that it can have."""
    if schedule.for_each is None:
        return None
    problems: list[str | None] = []
    for leaf in leaves(schedule.trigger):
        if not isinstance(leaf.trigger, PartitionsTrigger) or leaf.trigger.dataset not in app.datasets:
            continue
        scheme = app.datasets[leaf.trigger.dataset].partitions
        if schedule.for_each != "partition" and scheme is not None and scheme.time is not None:
            period = msgspec.structs.replace(scheme.time, cycle=schedule.for_each, start=EARLIEST_PERIOD)
            scheme = PartitionScheme(time=period)
        problems.append(None if scheme is None else validate_key(scheme, key))
    return None if None in problems or not problems else problems[0]


def cancel(transaction: Transaction, job: str, now: datetime) -> Job:
    """Discard a waiting job by hand.

    Raises:
        Refused: no such job, or it does not wait any more.
    """
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise Refused(f"there is no job {job}", "`tidegate jobs list` shows the jobs")
    if not found.waiting:
        raise Refused(
            f"job {job} is {found.state} and cannot be discarded",
            "a launched job is ended by terminating its run in the Dagster UI",
        )
    given_up = discarded(found, Reason.D_CANCELLED, now)
    transaction.put_jobs([given_up])
    transaction.add_journal([_discard_entry(given_up, now)])
    return given_up


def discard_waiting(
    transaction: Transaction, refs: Iterable[str], reason: Reason, now: datetime
) -> tuple[Job, ...]:
    """Discard every waiting job of some schedules."""
    waiting = transaction.jobs(schedules=tuple(refs), states=WAITING)
    given_up = tuple(discarded(job, reason, now) for job in waiting)
    transaction.put_jobs(given_up)
    transaction.add_journal([_discard_entry(job, now) for job in given_up])
    return given_up


def discard_unlaunched(
    transaction: Transaction, refs: Iterable[str], now: datetime, reason: Reason = Reason.D_DELETED
) -> None:
    """Discard the PENDING_LAUNCH jobs of some schedules for which no run exists (DESIGN rule 11).

    A request may be under way; its run finds that the job cannot be claimed, and does nothing.
    """
    for job in transaction.jobs(schedules=tuple(refs), states=(JobState.PENDING_LAUNCH,)):
        if job.run_id is not None:
            continue
        given_up = discarded(job, reason, now)
        transaction.put_jobs([given_up])
        transaction.wake(transaction.release_slots(job.id), now)
        transaction.add_journal([_discard_entry(given_up, now)])


def schedule_state(transaction: Transaction, ref: str) -> ScheduleState:
    """The deployed schedule of this name.

    Raises:
        Refused: there is none.
    """
    state = next(iter(transaction.schedules(refs=[ref])), None)
    if state is None:
        raise Refused(f"no schedule {ref} is deployed", "`tidegate schedules list` shows what is")
    return state


def _discard_entry(job: Job, now: datetime) -> Entry:
    return Entry(at=now, kind=EntryKind.DISCARDED, schedule=job.schedule, job=job.id, reason=job.reason)


def _note_status(transaction: Transaction, ref: str, status: str, by: str, now: datetime) -> None:
    transaction.add_journal(
        [Entry(at=now, kind=EntryKind.STATUS, schedule=ref, data={"status": status, "by": by})]
    )
