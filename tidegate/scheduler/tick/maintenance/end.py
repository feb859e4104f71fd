"""End: close runs of operations, and what follows: history, next run, the next operation asked for by hand.

reported by the run itself ─────────┐
its Dagster run ended without that ─┼──► run closed ─► history ─► next run ─► next one by hand
its timeout, or no run at all ──────┘
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import Operation
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.history import after_run
from tidegate.scheduler.decision.maintenance.judge import Asked, judge
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Ended,
    Ending,
    OperationRun,
    Record,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.maintenance.by_hand import open_by_hand, start_waiting
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies

AGAIN = (Ending.CONFLICT, Ending.STOPPED)
"""Ends after which an operation is due again soon."""


def end_operation_job(
    transaction: EngineTransaction,
    job: Job,
    ended: Ended,
    now: datetime,
    reason: Reason | None = None,
    policies: Policies | None = None,
) -> None:
    """End the job of an operation whose run has ended, and close the run.

    Args:
        reason: replaces that of the ending.
        policies: the deployed ones, if they are loaded already.
    """
    entry = Entry(
        at=now,
        kind=EntryKind.OPERATION,
        schedule=job.schedule,
        job=job.id,
        run_id=job.run_id,
        reason=reason,
        data=msgspec.to_builtins(ended),
    )
    transaction.add_journal([entry])
    end_jobs(transaction, [(job, entry)])
    close_run(transaction, job, ended, now, policies)


def close_run(
    transaction: EngineTransaction, job: Job, ended: Ended, now: datetime, policies: Policies | None = None
) -> None:
    """Close the run of an operation whose job has ended, and go on with what was asked for with it.

    Args:
        policies: see `end_operation_job`.
    """
    policies = policies or load_policies(transaction, now)
    for run in transaction.operation_runs(jobs=(job.id,), running=True):
        _close(transaction, policies, run, ended, now)
        if job.work.by_hand:
            _go_on(transaction, policies, job, ended, now)
        _want_measures(transaction, policies, run.table, now)


def _want_measures(transaction: EngineTransaction, policies: Policies, name: str, now: datetime) -> None:
    """Ask for the measures that the next poll needs of a table, so that it does not ask and wait itself.

    The end has made the store forget what was known. Where the next operation runs already, its end asks.
    """
    if any(run.table == name for run in transaction.operation_runs(running=True)):
        return
    poll = policies.poll_from(now)
    for table in transaction.records(MAINTAINED_TABLES, name=(name,)):
        judged = (
            judge(
                Asked(
                    record=record,
                    plan=policies.plan_of(record),
                    table=table,
                    settings=policies.settings,
                    running=False,
                    next_poll=policies.poll_after(poll, poll),
                ),
                poll,
            )
            for record in transaction.records(MAINTENANCE_RECORDS, table=(name,))
            if record.counts
        )
        if table.wanted_at is None and any(each.reason is Reason.M_HEALTH for each in judged):
            transaction.put_records(MAINTAINED_TABLES, [msgspec.structs.replace(table, wanted_at=now)])


def _close(
    transaction: EngineTransaction, policies: Policies, run: OperationRun, ended: Ended, now: datetime
) -> None:
    run = msgspec.structs.replace(run, ended_at=now, **msgspec.structs.asdict(ended))
    transaction.put_operation_runs([run])
    for table in transaction.records(MAINTAINED_TABLES, name=(run.table,)):
        history = after_run(table.history, run)
        transaction.put_records(
            MAINTAINED_TABLES, [msgspec.structs.replace(table, history=history, health=None, changed_at=now)]
        )
    soon = policies.poll_from(now)
    records = [
        _after(policies, record, run, now) if record.job == run.job else _look(record, soon)
        for record in transaction.records(MAINTENANCE_RECORDS, table=(run.table,))
    ]
    transaction.put_records(MAINTENANCE_RECORDS, records)


def _look(record: Record, soon: datetime) -> Record:
    """Return a record of the table; what is due is looked at again at the next poll."""
    looks = record.counts and record.due_since is not None
    return msgspec.structs.replace(record, next_look=soon) if looks else record


def _after(policies: Policies, record: Record, run: OperationRun, now: datetime) -> Record:
    """Return the record of an operation after its run by a poll, which has ended now."""
    following = times.next_run(policies.plan_of(record), run.started_at)
    if run.ending in AGAIN:
        following = min(following, now + policies.settings.poll)
    return msgspec.structs.replace(
        record,
        job=None,
        reason=None,
        due_since=None,
        last_start=run.started_at,
        next_run=following,
        next_look=policies.poll_from(max(following, now)) if record.counts else None,
    )


def _go_on(transaction: EngineTransaction, policies: Policies, job: Job, ended: Ended, now: datetime) -> None:
    """Go on with what was asked for by hand: the next operation, or the same one if it has made room.

    In that case the pipeline's job comes first: a tick decides about both.
    """
    if ended.ending is Ending.STOPPED:
        again = msgspec.structs.replace(job.work, excluded=())
        open_by_hand(transaction, again, job.id, now, next_check_at=now)
        return
    rest = list(job.work.then)
    while rest:
        operation, policy = rest.pop(0)
        if policies.plan(policy, operation) is None:
            continue
        work = msgspec.structs.replace(
            job.work,
            operation=operation,
            policy=policy,
            excluded=(),
            then=tuple(rest),
        )
        start_waiting(transaction, policies, [open_by_hand(transaction, work, job.id, now)], now)
        return


def close_overdue(transaction: EngineTransaction, now: datetime) -> int:
    """Close the runs whose timeout has come, as failed; return their number."""
    overdue = [run for run in transaction.operation_runs(running=True) if run.closes_at <= now]
    if not overdue:
        return 0
    policies = load_policies(transaction, now)
    jobs = {job.id: job for job in transaction.jobs(ids={run.job for run in overdue})}
    for run in overdue:
        ended = _timed_out(run.operation, run.closes_at - run.started_at)
        end_operation_job(transaction, jobs[run.job], ended, now, Reason.F_TIMEOUT, policies)
    return len(overdue)


def _timed_out(operation: Operation, took: timedelta) -> Ended:
    return Ended(ending=Ending.FAILED, detail=f"{operation} was not done within its timeout of {took}")
