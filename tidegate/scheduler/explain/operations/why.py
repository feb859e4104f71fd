"""Why an operation on a table waits: every check with its verdict, and what would let it run.

It judges with the code of a poll, so it reports what a poll would do at that instant. It changes nothing.
In a past that `scheduler.explain.past` has rebuilt there are jobs, but no records: what is known of a job
is its state and its reason.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property

import msgspec

from tidegate.domain.model import Operation, OperationPlan
from tidegate.domain.model.operation import ORDER
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.judge import Asked
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.holders import resources_held
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.explain.operations.checks import Around, checks, checks_by_hand, due
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.explain.outcome import outcome_line, run_line
from tidegate.scheduler.explain.unblock import missing_of
from tidegate.scheduler.model.job import ACTIVE, UNFINISHED, Job
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Record,
    TableState,
    Work,
    policy_ref,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import group_resource
from tidegate.scheduler.model.verdict import Verdict
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.by_hand import writers_of
from tidegate.scheduler.tick.maintenance.look import free_slots, spent
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies
from tidegate.scheduler.tick.places import load_rooms


def load_around(reader: EngineReader, policies: Policies, table: TableState, now: datetime) -> Around:
    """Return what decides about each operation on a table at an instant, but for what pipelines write."""
    slots = free_slots(reader, policies)
    full = [pool for pool, free in slots.items() if free <= 0]
    active = reader.jobs(states=ACTIVE) if full else ()
    return Around(
        run=next(iter(reader.operation_runs(tables=(table.name,), running=True)), None),
        spent=spent(reader, policies, now),
        slots=slots,
        rooms=load_rooms(reader),
        holders={pool: tuple(_holders(reader, active, group_resource(pool))) for pool in full},
    )


def with_writers(
    reader: EngineReader, policies: Policies, around: Around, table: TableState, now: datetime
) -> Around:
    """Return the same with what pipelines write of the table, which decides about what rewrites its data."""
    busy = writers_of(reader, policies, table, now)
    writers = reader.jobs(ids=busy.jobs) if busy.jobs else ()
    return msgspec.structs.replace(around, busy=busy, writers=tuple(_line(job) for job in writers))


def _holders(reader: EngineReader, active: tuple[Job, ...], resource: str) -> Iterator[str]:
    """Yield each job, and each run without a job, that holds a slot of a resource."""
    for job in active:
        if resource in job.resources and not job.gave_back:
            yield _line(job)
    for run in reader.runs(active=True):
        if run.job is None and resource in resources_held(reader, run):
            yield f"run {run.run_id} of {run.program}, {run.status}"


def _line(job: Job) -> str:
    name = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    return f"job {job.id} of {name}, {job.state}"


def explain_operations(
    reader: EngineReader, table: str, now: datetime, operation: Operation | None = None
) -> tuple[Explanation, ...]:
    """Explain the operations on a table, in the order in which they run.

    Args:
        table: its one name (`TableState.name`).

    Returns:
        One explanation for each operation that a policy configures, and for each job that a person asked for
        and that has not ended.
    """
    policies, here = load_policies(reader, now), None
    shown: list[tuple[Operation, Explanation]] = []
    for found in reader.records(MAINTAINED_TABLES, name=(table,)):
        here = _OnTable(reader, policies, found, now)
        shown += [(each.operation, here.waiting(each)) for each in here.records if not here.runs(each)]
    known = {each.job.id for _, each in shown if each.job is not None}
    for job in _unfinished(reader, policies, table, past=here is None):
        if job.id not in known:
            shown.append((job.work.operation, _of_job(reader, policies, here, job, now)))
    shown.sort(key=lambda each: ORDER[each[0]])
    return tuple(each for name, each in shown if operation in (None, name))


def explain_operation_job(reader: EngineReader, job: Job, now: datetime) -> Explanation:
    """Explain a job that is an operation on a table."""
    policies, here = load_policies(reader, now), None
    for found in reader.records(MAINTAINED_TABLES, name=(job.work.table,)):
        here = _OnTable(reader, policies, found, now)
    return _of_job(reader, policies, here, job, now)


def _unfinished(reader: EngineReader, policies: Policies, table: str, *, past: bool) -> list[Job]:
    """Return the jobs of operations on a table that have not ended, oldest first.

    Args:
        past: nothing is known of the table and its runs, but its jobs.
    """
    named = {
        *policies.policies,
        *(record.policy for record in reader.records(MAINTENANCE_RECORDS, table=(table,))),
    }
    running = [run.job for run in reader.operation_runs(tables=(table,), running=True)]
    found = [
        *reader.jobs(schedules={policy_ref(each) for each in named}, states=UNFINISHED),
        # The policy of an operation that runs may be gone.
        *(reader.jobs(states=ACTIVE) if past else reader.jobs(ids=running)),
    ]
    jobs = {job.id: job for job in found if job.maintenance is not None and job.work.table == table}
    return sorted(jobs.values(), key=lambda job: (job.opened_at, job.id))


def _of_job(
    reader: EngineReader, policies: Policies, here: "_OnTable | None", job: Job, now: datetime
) -> Explanation:
    """Explain the job of an operation.

    Args:
        here: its table; None in a past.
    """
    if job.waiting and here is not None:
        record = next((each for each in here.records if each.job == job.id), None)
        return here.by_hand(job) if record is None else here.waiting(record)
    return Explanation(
        schedule=job.schedule,
        at=now,
        status=_status(policies, job.work),
        headline=_reason_line(job.reason) if job.waiting else _ran(reader, job),
        job=job,
        history=reader.journal(job=job.id),
        work=job.work,
    )


class _OnTable:
    """The operations on one table, with what is loaded once for all of them.

    Attributes:
        records: of the policies that count.
    """

    def __init__(self, reader: EngineReader, policies: Policies, table: TableState, now: datetime) -> None:
        self._reader = reader
        self._policies = policies
        self._table = table
        self._now = now
        self.records = [
            each for each in reader.records(MAINTENANCE_RECORDS, table=(table.name,)) if each.counts
        ]

    @cached_property
    def _statuses(self) -> dict[Operation, OperationStatus]:
        found = operation_status(self._reader, self._table, self._policies, self._now)
        return {each.operation: each for each in found}

    @cached_property
    def _around(self) -> Around:
        return load_around(self._reader, self._policies, self._table, self._now)

    @cached_property
    def _around_writers(self) -> Around:
        return with_writers(self._reader, self._policies, self._around, self._table, self._now)

    def _around_of(self, operation: Operation) -> Around:
        return self._around_writers if operation.rewrites_data else self._around

    def runs(self, record: Record) -> bool:
        """Return whether an operation runs that a policy has asked for."""
        return self._statuses[record.operation].running is not None

    def waiting(self, record: Record) -> Explanation:
        """Explain an operation that does not run, and that a policy asks for."""
        policies, now, around = self._policies, self._now, self._around_of(record.operation)
        work = Work(table=record.table, operation=record.operation, policy=record.policy)
        job = next(iter(self._reader.jobs(ids=(record.job,))), None) if record.job is not None else None
        plan, status = policies.plan_of(record), self._statuses[record.operation]
        following = policies.poll_from(now)
        asked = Asked(
            record=record,
            plan=plan,
            table=self._table,
            settings=policies.settings,
            running=around.run is not None,
            next_poll=following,
        )
        trigger = due(asked, now)
        found = checks(asked, around, now) if status.untouched is None else ()
        verdicts = (trigger, *found)
        return Explanation(
            schedule=policy_ref(record.policy),
            at=now,
            status=_status(policies, work),
            headline=_headline(status, following),
            job=job,
            trigger=trigger,
            constraints=found,
            next_check=record.next_look,
            can_run_at=_can_run_at(policies, plan, verdicts, now) if status.behind is None else None,
            missing=tuple(missing_of(each) for each in verdicts if not each.met),
            history=() if job is None else self._reader.journal(job=job.id),
            work=work if job is None else job.work,
        )

    def by_hand(self, job: Job) -> Explanation:
        """Explain an operation that a person asked for, and that waits."""
        policies, around = self._policies, self._around_of(job.work.operation)
        following = policies.poll_from(self._now)
        found = checks_by_hand(self._table, job.work, policies.settings, around, following)
        trigger = Verdict(kind="by_hand", met=True, summary="a person asked for it", since=job.opened_at)
        return Explanation(
            schedule=job.schedule,
            at=self._now,
            status=_status(policies, job.work),
            headline=_reason_line(job.reason),
            job=job,
            trigger=trigger,
            constraints=found,
            next_check=job.next_check_at,
            missing=tuple(missing_of(each) for each in found if not each.met),
            history=self._reader.journal(job=job.id),
            work=job.work,
        )


def _status(policies: Policies, work: Work) -> str:
    if policies.plan(work.policy, work.operation) is None:
        return "not configured any longer"
    return "by hand" if work.by_hand else "enabled"


def _headline(status: OperationStatus, following: datetime) -> str:
    if status.untouched is not None:
        return f"not due: {status.untouched.sentence}"
    if not status.due:
        assert status.next is not None, "it does not run"
        return f"not due: its next run is at {instant_text(status.next)}"
    if status.reason is not None:
        return _reason_line(status.reason, status.detail)
    as_what = ", as a probe" if status.probe else ""
    poll = f"ready: the poll at {instant_text(following)} may start"
    if status.behind is not None:
        return f"{poll} {status.behind} first, and a later poll this one{as_what}"
    return f"{poll} it{as_what}"


def _reason_line(reason: Reason | None, detail: str = "") -> str:
    return "it waits for the next poll" if reason is None else f"{reason}: {detail or reason.summary}"


def _ran(reader: EngineReader, job: Job) -> str:
    return outcome_line(job) + run_line(reader, job) + _limit(reader, job)


def _limit(reader: EngineReader, job: Job) -> str:
    """Describe when the timeout of a running operation ends; "" for one that has ended."""
    for run in reader.operation_runs(jobs=(job.id,), running=True):
        return f"; its timeout ends at {instant_text(run.closes_at)}"
    return ""


def _can_run_at(
    policies: Policies, plan: OperationPlan, verdicts: tuple[Verdict, ...], now: datetime
) -> datetime | None:
    """Return the first poll at which it can run if only time is missing; else None."""
    unmet = [each for each in verdicts if not each.met]
    known = [each.next_check for each in unmet if each.next_check is not None]
    if len(known) < len(unmet) or any(each.kind in ("health", "places") for each in unmet):
        return None
    at = policies.poll_from(max(known, default=now))
    # A window that is open now may be closed by then.
    opens = times.opening(plan, at)
    return at if opens is None else policies.poll_from(opens)
