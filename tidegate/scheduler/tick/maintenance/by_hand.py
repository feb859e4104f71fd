"""By hand: start the operations that a person asked for, now or when a slot is free (docs/maintenance.md).

They pass schedule, window, conditions, throttle and back-off, but not the one-job-per-table rule, the
pipelines' partitions, and the slots.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Operation
from tidegate.scheduler.decision.maintenance.poll import FREE, Busy
from tidegate.scheduler.decision.maintenance.rank import matches
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, TableState, Work, table_resource
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import group_resource
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import discard_jobs
from tidegate.scheduler.tick.maintenance.busy import load_busy
from tidegate.scheduler.tick.maintenance.look import free_slots
from tidegate.scheduler.tick.maintenance.policies import Policies
from tidegate.scheduler.tick.maintenance.start import Start, open_job, start, waiting
from tidegate.scheduler.tick.places import load_rooms


def busy_of(
    reader: EngineReader, policies: Policies, table: TableState, operation: Operation, now: datetime
) -> Busy:
    """Return what pipelines write of a table that an operation would rewrite."""
    return writers_of(reader, policies, table, now) if operation.rewrites_data else FREE


def writers_of(reader: EngineReader, policies: Policies, table: TableState, now: datetime) -> Busy:
    """Return what pipelines write of a table; nothing is known of one outside of the datasets."""
    if table.dataset is None:
        return FREE
    return load_busy(reader, policies.apps, (table.dataset,), now).get(table.dataset, FREE)


def open_by_hand(
    transaction: EngineTransaction,
    work: Work,
    opened_by: str,
    now: datetime,
    *,
    next_check_at: datetime | None = None,
) -> Job:
    """Open the job of an operation that a person asked for.

    Args:
        next_check_at: when a tick decides about it; None if the caller does.
    """
    job, entry = open_job(work, opened_by, now)
    job = msgspec.structs.replace(job, next_check_at=next_check_at)
    transaction.put_jobs([job])
    transaction.add_journal([entry])
    return job


def try_again(transaction: EngineTransaction, policies: Policies, now: datetime) -> None:
    """Let the next tick decide about the operations asked for by hand that wait for a slot.

    Args:
        policies: with the pools for whose slots they wait.
    """
    transaction.wake({group_resource(pool) for pool in policies.settings.auto_pools}, now)


def start_waiting(
    transaction: EngineTransaction, policies: Policies, jobs: Sequence[Job], now: datetime
) -> tuple[Job, ...]:
    """Start the operations asked for by hand that may run now; the others go on waiting."""
    started: list[Job] = []
    for job in sorted(jobs, key=lambda job: (job.opened_at, job.id)):
        started += _try(transaction, policies, job, now)
    return tuple(started)


def _try(transaction: EngineTransaction, policies: Policies, job: Job, now: datetime) -> tuple[Job, ...]:
    work = job.work
    (table,) = transaction.records(MAINTAINED_TABLES, name=(work.table,))
    found = () if table.gone else matches(policies.policies, table)
    plan = next((each.plan(work.operation) for each in found if each.ref == work.policy), None)
    if plan is None:
        discard_jobs(transaction, [job], Reason.D_DELETED, now)
        return ()
    busy = busy_of(transaction, policies, table, work.operation, now)
    reason, blocked_on = _held_back(transaction, policies, work, busy)
    if reason is not None:
        _wait(transaction, policies, job, reason, blocked_on, now)
        return ()
    ready = Start(job=job, plan=plan, table=table, filtered=busy.keys, excluded=busy.known)
    return start(transaction, policies, [ready], now)


def _held_back(
    transaction: EngineTransaction, policies: Policies, work: Work, busy: Busy
) -> tuple[Reason | None, str | None]:
    """Return why an operation asked for by hand waits, and the resource whose release wakes it."""
    resource = table_resource(work.table)
    if transaction.slots((resource,))[resource]:
        return Reason.M_TABLE, resource
    if not busy.free:
        return Reason.M_BUSY, None
    if load_rooms(transaction).full(work.policy):
        return Reason.M_PLACES, None
    taken = [pool for pool, free in free_slots(transaction, policies).items() if free <= 0]
    return (Reason.W_CONCURRENCY, group_resource(taken[0])) if taken else (None, None)


def _wait(
    transaction: EngineTransaction,
    policies: Policies,
    job: Job,
    reason: Reason,
    blocked_on: str | None,
    now: datetime,
) -> None:
    waits, entry = waiting(job, reason, now)
    check = None if blocked_on is not None else policies.poll_after(now, now)
    transaction.put_jobs([msgspec.structs.replace(waits, blocked_on=blocked_on, next_check_at=check)])
    transaction.add_journal([entry] if reason != job.reason else [])
