"""Why an operation on a table waits: every check with its verdict, and what would let it run.

It judges with the code of a poll, so it reports what a poll would do at that instant. It changes nothing.
In a past that `scheduler.explain.past` has rebuilt there are jobs, but no records: what is known of a job
is its state and its reason.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.model import Operation
from tidegate.domain.model.maintenance import ORDER
from tidegate.domain.wording import listed
from tidegate.scheduler.decision.maintenance.judge import Asked
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.maintenance import OperationStatus, operation_status
from tidegate.scheduler.explain.operations.around import load_around
from tidegate.scheduler.explain.operations.checks import checks, checks_by_hand, due
from tidegate.scheduler.explain.outcome import outcome_line
from tidegate.scheduler.explain.unblock import Missing
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.maintenance import Record, TableState, Work, policy_ref
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict
from tidegate.scheduler.store.protocol import Reader
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies

_TIME = ("due", "window", "backoff", "throttle", "min_interval", "budget")
"""Checks that time alone ends."""

_NEEDS = {
    "table": "the end of the running operation",
    "health": "a measurement of the table, which the scheduler makes by itself",
    "busy": "the end of the jobs that write its partitions",
}


def explain_operations(
    reader: Reader, table: str, now: datetime, operation: Operation | None = None
) -> tuple[Explanation, ...]:
    """Explain the operations on a table, in the order in which they run.

    Args:
        table: its one name (`TableState.name`).

    Returns:
        One explanation for each operation that a policy configures, and for each job that a person asked for
        and that has not ended.
    """
    found = next(iter(reader.tables(names=(table,))), None)
    records = [each for each in reader.records(tables=(table,)) if each.counts and found is not None]
    statuses = {each.operation: each for each in operation_status(reader, table, now)} if records else {}
    policies = load_policies(reader, now)
    shown: list[tuple[Operation, Explanation]] = []
    for record in records:
        status = statuses[record.operation]
        if status.running is None and found is not None:
            shown.append((record.operation, _waiting(reader, policies, found, record, status, now)))
    known = {each.job.id for _, each in shown if each.job is not None}
    for job in reader.jobs(states=frozenset(JobState) - FINISHED):
        if job.maintenance is not None and job.maintenance.table == table and job.id not in known:
            shown.append((job.maintenance.operation, explain_operation_job(reader, job, now)))
    shown.sort(key=lambda each: ORDER[each[0]])
    return tuple(each for name, each in shown if operation in (None, name))


def explain_operation_job(reader: Reader, job: Job, now: datetime) -> Explanation:
    """Explain a job that is an operation on a table."""
    policies, work = load_policies(reader, now), job.work
    table = next(iter(reader.tables(names=(work.table,))), None)
    if job.waiting and table is not None:
        record = next((each for each in reader.records(tables=(work.table,)) if each.job == job.id), None)
        if record is None:
            return _by_hand(reader, policies, table, job, now)
        statuses = {each.operation: each for each in operation_status(reader, table.name, now)}
        return _waiting(reader, policies, table, record, statuses[record.operation], now)
    return Explanation(
        schedule=job.schedule,
        at=now,
        status=_status(policies, work),
        headline=_reason_line(job.reason) if job.waiting else outcome_line(job) + _limit(reader, job),
        job=job,
        history=reader.journal(job=job.id),
        work=work,
    )


def _waiting(
    reader: Reader,
    policies: Policies,
    table: TableState,
    record: Record,
    status: OperationStatus,
    now: datetime,
) -> Explanation:
    """Explain an operation that does not run, and that a policy asks for."""
    work = Work(table=record.table, operation=record.operation, policy=record.policy)
    job = next(iter(reader.jobs(ids=(record.job,))), None) if record.job is not None else None
    plan = policies.plan(record.policy, record.operation)
    assert plan is not None, "its policy counts"
    around = load_around(reader, policies, table, record.operation, now)
    following = policies.poll_from(now)
    asked = Asked(
        record=record,
        plan=plan,
        table=table,
        settings=policies.settings,
        running=around.run is not None,
        next_poll=following,
    )
    trigger, found = due(asked, now), checks(asked, around, now)
    return Explanation(
        schedule=policy_ref(record.policy),
        at=now,
        status=_status(policies, work),
        headline=_headline(status, following),
        job=job,
        trigger=trigger,
        constraints=found,
        next_check=record.next_look,
        can_run_at=_can_run_at(policies, (trigger, *found), now),
        missing=tuple(_missing((trigger, *found))),
        history=() if job is None else reader.journal(job=job.id),
        work=work if job is None else job.work,
    )


def _by_hand(reader: Reader, policies: Policies, table: TableState, job: Job, now: datetime) -> Explanation:
    """Explain an operation that a person asked for, and that waits."""
    around = load_around(reader, policies, table, job.work.operation, now)
    found = checks_by_hand(table, job.work.operation, policies.settings, around)
    trigger = Verdict(kind="by_hand", met=True, summary="a person asked for it", since=job.opened_at)
    return Explanation(
        schedule=job.schedule,
        at=now,
        status=_status(policies, job.work),
        headline=_reason_line(job.reason),
        job=job,
        trigger=trigger,
        constraints=found,
        next_check=job.next_check_at,
        missing=tuple(_missing(found)),
        history=reader.journal(job=job.id),
        work=job.work,
    )


def _status(policies: Policies, work: Work) -> str:
    if policies.plan(work.policy, work.operation) is None:
        return "not configured any longer"
    return "by hand" if work.by_hand else "enabled"


def _headline(status: OperationStatus, following: datetime) -> str:
    if not status.due:
        return f"not due: its next run is at {_text(status.next)}"
    if status.reason is not None:
        return _reason_line(status.reason)
    as_what = ", as a probe" if status.probe else ""
    return f"ready: the poll at {_text(following)} may start it{as_what}"


def _reason_line(reason: Reason | None) -> str:
    return "it waits for the next poll" if reason is None else f"{reason}: {reason.summary}"


def _limit(reader: Reader, job: Job) -> str:
    """Describe when the timeout of a running operation ends; "" for one that has ended."""
    for run in reader.operation_runs(jobs=(job.id,), running=True):
        return f"; its timeout ends at {_text(run.closes_at)}"
    return ""


def _can_run_at(policies: Policies, verdicts: tuple[Verdict, ...], now: datetime) -> datetime | None:
    """Return the first poll at which it can run if only time is missing; else None."""
    unmet = [each for each in verdicts if not each.met]
    known = [each.next_check for each in unmet if each.next_check is not None]
    if len(known) < len(unmet) or any(each.kind == "health" for each in unmet):
        return None
    return policies.poll_from(max(known, default=now))


def _missing(verdicts: tuple[Verdict, ...]) -> Iterator[Missing]:
    for each in verdicts:
        if each.met:
            continue
        if each.kind in _TIME:
            what = "time"
        elif each.kind == "when":
            unmet = [part.needs for part in each.parts if part.needs is not None and not part.met]
            what = listed(unmet, "or" if each.summary.startswith("any") else "and")
        else:
            resource = (each.blocked_on or "").replace(":", " ")
            what = _NEEDS.get(each.kind, f"a free slot of {resource}")
        yield Missing(kind=each.kind, what=what, by=each.next_check, at=each.at)


def _text(instant: datetime | None) -> str:
    return "an unknown time" if instant is None else f"{instant:%Y-%m-%d %H:%M:%SZ}"
