"""Start: open the jobs of operations and launch them, as rows and journal entries. It decides nothing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.model import OperationPlan
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import opened, record
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan, job_id
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import (
    OperationRun,
    TableState,
    Work,
    operation_program,
    policy_ref,
    table_resource,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import ALL_RUNS, group_resource
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.maintenance.policies import Policies


class Start(Value, kw_only=True):
    """The start of one operation.

    Attributes:
        job: it waits.
        filtered: keys of the partitions that its run leaves out.
        excluded: those of them that the table has.
    """

    job: Job
    plan: OperationPlan
    table: TableState
    probe: bool = False
    forced: bool = False
    filtered: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def open_job(work: Work, opened_by: str, now: datetime) -> tuple[Job, Entry]:
    """Return the waiting job of an operation, with the entry that opens it.

    Args:
        opened_by: what makes it differ from other jobs of the operation on the table.
    """
    ref, key = policy_ref(work.policy), f"{work.table} {work.operation}"
    data = {"key": key, "maintenance": msgspec.to_builtins(work)}
    id = job_id(ref, key, opened_by)
    entry = Entry(at=now, kind=EntryKind.JOB_OPENED, schedule=ref, job=id, data=data)
    return opened(entry, None), entry


def start(
    transaction: EngineTransaction, policies: Policies, starts: Sequence[Start], now: datetime
) -> tuple[Job, ...]:
    """Launch operations: their slots, jobs, runs and entries."""
    pools = tuple(group_resource(pool) for pool in policies.settings.auto_pools)
    slots = {each.job.id: (ALL_RUNS, table_resource(each.table.name), *pools) for each in starts}
    entries = [_entry(each, slots[each.job.id], now) for each in starts]
    jobs = [
        record(
            each.job,
            entry,
            launch=_launch_plan(each, policies, now),
            next_check_at=None,
            blocked_on=None,
        )
        for each, entry in zip(starts, entries, strict=True)
    ]
    transaction.take_slots(slots)
    transaction.add_journal(entries)
    transaction.put_jobs(jobs)
    transaction.put_operation_runs([_run(job, each, now) for job, each in zip(jobs, starts, strict=True)])
    return tuple(jobs)


def _entry(start: Start, resources: tuple[str, ...], now: datetime) -> Entry:
    operation = {"probe": start.probe, "forced": start.forced, "excluded": list(start.excluded)}
    data: dict[str, Any] = {
        "program": f"{start.job.app}/{operation_program(start.job.work.operation)}",
        "resources": list(resources),
        "partitions": [],
        "manifest": {},
        "args": {},
        "attempt": start.job.attempt,
        "overridden": [],
        "operation": operation,
    }
    return Entry(at=now, kind=EntryKind.LAUNCH, schedule=start.job.schedule, job=start.job.id, data=data)


def _launch_plan(start: Start, policies: Policies, now: datetime) -> LaunchPlan:
    """Return the input of the run: what it does, to which table, and what it leaves out."""
    rules = policies.rules(start.table)
    return LaunchPlan(
        program=operation_program(start.job.work.operation),
        args={
            "table": start.table.name,
            "catalog_name": start.table.catalog_name,
            "dataset": start.table.dataset,
            "options": start.plan.options,
            "health": {
                "small_file": rules.small_file,
                "large_file": rules.large_file,
                "sample": rules.sample,
            },
            "excluded": list(start.filtered),
            "closes_at": (now + start.plan.timeout).isoformat(),
        },
        now=now,
    )


def _run(job: Job, start: Start, now: datetime) -> OperationRun:
    work = job.work
    return OperationRun(
        job=job.id,
        table=work.table,
        operation=work.operation,
        policy=work.policy,
        by_hand=work.by_hand,
        probe=work.probe,
        forced=work.forced,
        excluded=work.excluded,
        started_at=now,
        closes_at=now + start.plan.timeout,
    )


def waiting(job: Job, reason: Reason, now: datetime) -> tuple[Job, Entry]:
    """Return a waiting job with another reason that holds it back, and the entry that says so."""
    data = {"state": str(JobState.PENDING_CONSTRAINT), "next_check": None}
    entry = Entry(at=now, kind=EntryKind.WAITING, schedule=job.schedule, job=job.id, reason=reason, data=data)
    return record(job, entry), entry
