"""Poll: at whole multiples of `poll`, look at what is due, and start what may start (docs/maintenance.md).

A record says when a poll has to look at it next, so a poll costs what is due and not what exists. Timeouts of
runs are due rows too, at their own instants.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.health import fresh
from tidegate.scheduler.decision.maintenance.judge import Judged
from tidegate.scheduler.decision.maintenance.poll import Polled, decide_poll
from tidegate.scheduler.decision.maintenance.times import IN_LINE
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    OperationRun,
    Record,
    Work,
)
from tidegate.scheduler.model.set_back import not_ahead
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.maintenance.by_hand import start_waiting
from tidegate.scheduler.tick.maintenance.end import close_overdue
from tidegate.scheduler.tick.maintenance.look import look
from tidegate.scheduler.tick.maintenance.policies import POLLS, Policies, load_policies, polls_noted
from tidegate.scheduler.tick.maintenance.start import Start, open_job, start, waiting
from tidegate.scheduler.tick.maintenance.tables import forgotten

RECORDS_PER_POLL = 100_000
"""A poll looks at no more due records; the others are looked at by the next one."""

REASONS_PER_POLL = 2_000
"""A poll writes no more new reasons why operations wait, which takes a fraction of a second. It decides about
all operations, also about the others, and the next poll looks at those first."""


class PollReport(Value, kw_only=True):
    """What was done: the numbers of timeouts and of operations looked at, and the launched jobs."""

    closed: int = 0
    looked: int = 0
    launched: tuple[str, ...] = ()


def next_poll(reader: EngineReader, clock: datetime) -> datetime | None:
    """Return the next instant at which maintenance has work, from the engine's clock on; None for none.

    What is late, as the scheduler was away, waits for the next poll; a timeout is at once.
    """
    due = reader.next_maintenance()
    if due is None or due > clock:
        return due
    closes = [max(run.closes_at, clock) for run in reader.operation_runs(running=True)]
    return min((load_policies(reader, clock).poll_from(clock), *closes))


def maintain(
    transaction: EngineTransaction,
    written: Mapping[str, datetime],
    operations: Sequence[Job],
    now: datetime,
    *,
    polls: bool,
) -> PollReport:
    """Do what maintenance has to do after the jobs of an instant.

    Args:
        written: datasets whose tables have changed, with the instant of the last change.
        operations: the due jobs of operations that a person asked for. The instant is gone through again
            after them.
        polls: whether it is an instant of `next_poll`.
    """
    if written:
        forgotten(transaction, written, now)
    if operations:
        started = start_waiting(transaction, load_policies(transaction, now), operations, now)
        return PollReport(looked=len(operations), launched=tuple(job.id for job in started))
    return _poll(transaction, now) if polls else PollReport()


def _poll(transaction: EngineTransaction, now: datetime) -> PollReport:
    """Close runs whose timeout has come, or poll.

    Runs that are closed release their slots: the jobs that wait for them are decided before a poll of the
    same instant.
    """
    closed = close_overdue(transaction, now)
    if closed:
        return PollReport(closed=closed)
    policies = load_policies(transaction, now)
    records = transaction.due_records(MAINTENANCE_RECORDS, now, RECORDS_PER_POLL)
    looked = look(transaction, policies, records, now)
    polled = decide_poll(
        looked.judged,
        looked.debts,
        looked.busy,
        looked.spent,
        looked.slots,
        policies.settings,
        now,
        rooms=looked.rooms,
    )
    transaction.set_cursor(POLLS, polls_noted(policies, now))
    launched = _write(transaction, policies, records, polled, now)
    _want(transaction, polled, now)
    return PollReport(looked=len(records), launched=launched)


def _write(
    transaction: EngineTransaction,
    policies: Policies,
    records: Sequence[Record],
    polled: Sequence[Polled],
    now: datetime,
) -> tuple[str, ...]:
    """Write what a poll has decided; return the ids of the launched jobs."""
    jobs = _jobs(transaction, polled)
    kept: dict[tuple[str, ...], Record] = {
        # A record whose operation runs is not looked at before its end.
        record.key: msgspec.structs.replace(record, next_look=None)
        for record in records
    }
    changed: list[Job] = []
    entries: list[Entry] = []
    starts: list[Start] = []
    left = REASONS_PER_POLL
    for each in polled:
        record, reason = each.judged.asked.record, each.judged.reason
        look_at = None if each.judged.look is None else policies.poll_after(each.judged.look, now)
        if not each.judged.due:
            kept[record.key] = msgspec.structs.replace(record, due_since=None, next_look=look_at)
            continue
        id = record.job
        changes = reason != record.reason
        if changes and not each.starts and left == 0:
            if kept.pop(record.key, None) is None:
                # It was looked at for another one of its table: nothing else would bring it back.
                kept[record.key] = msgspec.structs.replace(record, next_look=policies.poll_after(now, now))
            continue
        if each.starts or changes:
            job, opened = _job(jobs, record, now)
            entries += opened
            if each.starts:
                starts.append(_start(job, each))
                look_at = None
            else:
                assert reason is not None, "what is due and does not start is held back"
                job, entry = waiting(job, reason, now)
                left -= 1
                entries.append(entry)
                changed.append(job)
            id = job.id
        kept[record.key] = msgspec.structs.replace(
            record, job=id, reason=reason, due_since=record.due_since or now, next_look=look_at
        )
    transaction.put_jobs(changed)
    transaction.add_journal(entries)
    launched = start(transaction, policies, starts, now)
    transaction.put_records(MAINTENANCE_RECORDS, list(kept.values()))
    return tuple(job.id for job in launched)


def _jobs(transaction: EngineTransaction, polled: Sequence[Polled]) -> dict[str, Job]:
    """Return the waiting jobs of the operations that start, or wait for another reason than before."""
    changed = [
        each.judged.asked.record
        for each in polled
        if each.judged.due and (each.starts or each.judged.reason != each.judged.asked.record.reason)
    ]
    ids = {record.job for record in changed if record.job is not None}
    return {job.id: job for job in transaction.jobs(ids=ids)} if ids else {}


def _job(jobs: Mapping[str, Job], record: Record, now: datetime) -> tuple[Job, list[Entry]]:
    """Return the waiting job of a due operation; a new one with the entry that opens it."""
    if record.job is not None:
        return jobs[record.job], []
    job, entry = open_job(_work(record), now.isoformat(), now)
    return job, [entry]


def _work(record: Record) -> Work:
    return Work(table=record.table, operation=record.operation, policy=record.policy)


def _start(job: Job, polled: Polled) -> Start:
    asked, busy = polled.judged.asked, polled.busy
    return Start(
        job=job,
        plan=asked.plan,
        table=asked.table,
        probe=polled.judged.probe,
        forced=polled.judged.reports_forced,
        filtered=busy.keys,
        excluded=busy.known,
    )


def _want(transaction: EngineTransaction, polled: Sequence[Polled], now: datetime) -> None:
    """Note the tables that have to be measured before the next poll can decide about them.

    Not those on which an operation is started: its end makes the store forget what was measured.
    """
    started = {each.judged.asked.table.name for each in polled if each.starts}
    wanted = {
        table.name: table
        for each in polled
        for table in [each.judged.asked.table]
        if table.wanted_at is None and table.name not in started and _is_wanted(each.judged)
    }
    transaction.put_records(
        MAINTAINED_TABLES, [msgspec.structs.replace(table, wanted_at=now) for table in wanted.values()]
    )


def _is_wanted(judged: Judged) -> bool:
    """Return whether the next poll needs measures; a table in line has no gap between two measurements."""
    if judged.wants_health:
        return True
    asked = judged.asked
    known = fresh(asked.table.health, asked.next_poll, asked.settings.poll)
    return judged.reason in IN_LINE and known is None


# --- a clock that was set back --------------------------------------------------------


def set_polls_back(transaction: EngineTransaction, now: datetime) -> None:
    """Let what lies ahead of a clock that was set back count as of now, and compute the next polls again."""
    noted: dict[str, str] | None = transaction.cursor(POLLS)
    if noted is None:
        return
    before = load_policies(transaction, now)
    policies = _polls_back(before, now)
    transaction.set_cursor(POLLS, polls_noted(policies, policies.last))
    transaction.put_records(
        MAINTAINED_TABLES, [not_ahead(table, now) for table in transaction.records(MAINTAINED_TABLES)]
    )
    runs = {run.job: run for run in transaction.operation_runs(started_since=now)}
    runs |= {run.job: run for run in transaction.operation_runs(running=True)}
    transaction.put_operation_runs([_run_back(run, now) for run in runs.values()])
    records = transaction.records(
        MAINTENANCE_RECORDS, table={table.name for table in transaction.records(MAINTAINED_TABLES)}
    )
    transaction.put_records(MAINTENANCE_RECORDS, [_record_back(policies, record, now) for record in records])


def _polls_back(policies: Policies, now: datetime) -> Policies:
    """Return the policies with polls that count as of now; the grid stays."""
    last = policies.last
    if last is not None and last > now:
        last = times.last_poll(policies.origin, policies.settings.poll, now)
    return msgspec.structs.replace(policies, origin=min(policies.origin, now), last=last)


def _run_back(run: OperationRun, now: datetime) -> OperationRun:
    started = min(run.started_at, now)
    ended = not_ahead(run.ended_at, now)
    closes = run.closes_at - (run.started_at - started)
    return msgspec.structs.replace(run, started_at=started, closes_at=closes, ended_at=ended)


def _record_back(policies: Policies, record: Record, now: datetime) -> Record:
    found = msgspec.structs.replace(
        record,
        seen_at=min(record.seen_at, now),
        due_since=not_ahead(record.due_since, now),
        last_start=not_ahead(record.last_start, now),
    )
    if record.last_start is not None and record.last_start > now:
        following = times.next_run(policies.plan_of(record), now)
        found = msgspec.structs.replace(found, next_run=following)
    looks = record.counts and record.next_look is not None
    return msgspec.structs.replace(found, next_look=policies.poll_from(now)) if looks else found
