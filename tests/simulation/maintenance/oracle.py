"""The oracle of maintenance: what docs/maintenance.md promises, computed again from all runs.

It reads whole tables and what the world has noted, and shares with the engine only the values of the app.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from tests.simulation.maintenance.app import CRON_MINUTES, DATASETS, configures, counting, matched
from tests.simulation.maintenance.limits import over_pool
from tests.simulation.maintenance.notes import Notes
from tidegate.domain.model import App, Operation, OperationPlan
from tidegate.scheduler.decision.fold import maintenance
from tidegate.scheduler.decision.fold.after import after
from tidegate.scheduler.model.event import PARTITION_KEY, Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    OperationRun,
    Record,
    TableState,
)
from tidegate.scheduler.store.engine_reader import EngineReader

MINUTE = timedelta(minutes=1)
REWRITE = Operation.REWRITE_DATA_FILES
IN_LINE = ("M-BUDGET", "W-CONCURRENCY")


def plan_of(app: App, policy: str, operation: Operation) -> OperationPlan:
    return app.policies[policy.removeprefix("a/")].operations[operation]


# --- after each tick ----------------------------------------------------------------------


def judge(reader: EngineReader, notes: Notes, now: datetime) -> None:
    """What must hold at any time."""
    runs = reader.operation_runs()
    _one_at_a_time(runs)
    for run in runs:
        assert run.ending is not None or run.closes_at > now, f"a run is past its timeout: {run}"
    tables, records = reader.records(MAINTAINED_TABLES), reader.records(MAINTENANCE_RECORDS)
    for table in tables:
        _history(table, notes.counted(runs, table.name))
        _forgotten(table, runs, reader.events(key_prefix=f"{PARTITION_KEY}{table.name}"))
    _records(notes.app, tables, records)
    _jobs(reader, records, runs)


def _one_at_a_time(runs: Sequence[OperationRun]) -> None:
    ends: dict[str, datetime | None] = {}
    for run in sorted(runs, key=lambda each: (each.started_at, each.ending is None)):
        if run.table in ends:
            end = ends[run.table]
            assert end is not None, f"two operations at once on {run.table}"
            assert end <= run.started_at, f"two operations at once on {run.table}"
        ends[run.table] = run.ended_at


def _history(table: TableState, runs: Sequence[OperationRun]) -> None:
    """The rows and the rate of a table are those of its runs."""
    counted = [run for run in runs if run.ending in ("succeeded", "failed")]
    failed = [run.ending == "failed" for run in counted]
    assert table.history.recent == tuple(failed[-10:]), f"the last runs of {table.name}"
    assert table.history.failures == _row(failed), f"the row of {table.name}"
    for operation in Operation:
        own, mine = table.history.of(operation), [run for run in counted if run.operation is operation]
        good = [run for run in mine if run.ending == "succeeded"]
        assert own.failures == _row([run.ending == "failed" for run in mine]), f"{operation} of {table.name}"
        assert own.zero_changes == _row([not run.changed for run in good]), f"{operation} of {table.name}"
        assert own.succeeded_at == (good[-1].ended_at if good else None), f"{operation} of {table.name}"


def _forgotten(table: TableState, runs: Sequence[OperationRun], events: Sequence[Event]) -> None:
    """What was measured before a write, or before the end of an operation, is forgotten."""
    if table.health is not None:
        ends = [run.ended_at for run in runs if run.table == table.name and run.ended_at is not None]
        changes = [*ends, *(event.arrived for event in events)]
        late = [each for each in changes if each > table.health.measured_at]
        assert not late, f"what is known of {table.name} is of before {late}"


def _row(held: Sequence[bool]) -> int:
    """How many at the end are true."""
    return next((number for number, each in enumerate(reversed(held)) if not each), len(held))


def _records(app: App, tables: Iterable[TableState], records: Iterable[Record]) -> None:
    """There is a record for each operation of each policy that matches; one of each operation counts."""
    found = {(record.policy, record.operation, record.table): record.counts for record in records}
    wanted: dict[tuple[str, Operation, str], bool] = {}
    for table in tables:
        if table.gone:
            continue
        counts = counting(app, table.name)
        for policy in app.policies:
            if matched(app, policy, table.name) is None:
                continue
            for operation in Operation:
                if configures(app, policy, operation):
                    ref = f"a/{policy}"
                    wanted[ref, operation, table.name] = counts[operation] == ref
    assert found == wanted, f"records: {set(found.items()) ^ set(wanted.items())}"


def _jobs(reader: EngineReader, records: Sequence[Record], runs: Sequence[OperationRun]) -> None:
    """Each waiting job of a policy has one record, each record is looked at, and each slot has its run."""
    jobs = {job.id: job for job in reader.jobs() if job.maintenance is not None}
    waiting = {job.id for job in jobs.values() if job.state == "PENDING_CONSTRAINT" and not job.work.by_hand}
    named = Counter(record.job for record in records if record.job is not None)
    assert set(named.values()) <= {1}, f"a job of two records: {named}"
    assert waiting <= named.keys(), f"jobs without a record: {waiting - named.keys()}"
    open_ = {run.job: run for run in runs if run.ending is None}
    active = {job.id for job in jobs.values() if job.state in ("PENDING_LAUNCH", "LAUNCHED")}
    assert active == open_.keys(), f"active jobs and open runs: {active ^ open_.keys()}"
    held = reader.slots([f"table:{run.table}" for run in runs] or ["table:none"])
    for resource, taken in held.items():
        assert taken == (resource in {f"table:{run.table}" for run in open_.values()}), f"slots of {resource}"
    busy = {run.table for run in open_.values()}
    first = {record.table for record in records if record.reason in IN_LINE and record.next_look is not None}
    for record in records:
        if record.job in waiting:
            assert jobs[record.job].reason == record.reason, f"{record} has another reason than its job"
        if not record.counts or record.next_look is not None:
            continue
        sleeps = record.table in busy or (record.reason in IN_LINE and record.table in first)
        assert sleeps, f"no poll looks at {record}"


def judge_journal(entries: Sequence[Entry], reader: EngineReader) -> None:
    """The journal says of each operation what the table says."""
    folded: dict[str, Job] = {}
    for entry in entries:
        if maintenance.opens(entry):
            folded[entry.job or ""] = maintenance.opened(entry)
        elif entry.job in folded:
            folded[entry.job] = after(folded[entry.job], entry)
    for job in reader.jobs():
        if job.maintenance is not None:
            mine, theirs = ((each.state, each.reason, each.maintenance) for each in (job, folded[job.id]))
            assert mine == theirs, f"{job.id}: the table says {mine}, the journal {theirs}"


# --- a start ------------------------------------------------------------------------------


def judge_start(run: OperationRun, runs: Sequence[OperationRun], notes: Notes, jobs: Sequence[Job]) -> None:
    """A start by a poll, or by hand, is one that may be.

    Args:
        runs: all runs, this one included.
        jobs: those of pipelines.
    """
    _partitions(run, notes, jobs)
    crowded = [list(over_pool(run, runs, jobs, notes, app)) for app in notes.apps_at(run.started_at)]
    assert not all(crowded), f"{run.operation} on {run.table} at {run.started_at}: {crowded}"
    if run.by_hand:
        assert not run.probe, "a run by hand is never a probe"
        assert not run.forced, "a run by hand is never forced"
        return
    wrong: list[str] = []
    for app in notes.apps_at(run.started_at):
        found = list(_wrong(run, runs, notes, app))
        if not found:
            return
        wrong += found
    raise AssertionError(f"{run.operation} on {run.table} at {run.started_at}: {wrong}")


def _wrong(run: OperationRun, runs: Sequence[OperationRun], notes: Notes, app: App) -> Iterable[str]:
    """What is wrong with a start by a poll, if this app was deployed then."""
    settings = app.maintenance
    assert settings is not None
    at, key = run.started_at, (run.policy, run.operation, run.table)
    if counting(app, run.table).get(run.operation) != run.policy:
        yield "its policy does not count"
        return
    plan = plan_of(app, run.policy, run.operation)
    if (at - notes.origin) % settings.poll:
        yield "there was no poll"
    if plan.window is not None and not plan.window.from_ <= at.time() < plan.window.to:
        yield "the window was closed"
    due = due_at(key, runs, notes, app, at)
    if due is not None and at < due:
        yield f"it was due at {due}"
    back_off, throttle = pauses(run.operation, run.table, runs, notes, app, at, plan)
    yield from (f"it was held back until {each}" for each in (back_off, throttle) if each and at < each)
    if run.probe is not (throttle is not None):
        yield f"probe is {run.probe}, throttled until {throttle}"
    yield from _over_budget(run, runs, notes, app)


def _over_budget(run: OperationRun, runs: Sequence[OperationRun], notes: Notes, app: App) -> Iterable[str]:
    settings = app.maintenance
    assert settings is not None
    budget, at = settings.budget, run.started_at
    poll = at - (at - notes.origin) % settings.poll
    started = [
        each
        for each in runs
        if each is run or (poll <= each.started_at <= at and not (each.by_hand and each.started_at == at))
    ]
    if budget.operations_per_poll and len(started) > budget.operations_per_poll:
        yield f"{len(started)} operations since the poll"
    if budget.tables_per_poll and len({each.table for each in started}) > budget.tables_per_poll:
        yield "too many tables since the poll"
    hour = at.replace(minute=0, second=0, microsecond=0)
    rewritten = sum(each.bytes for each in runs if each.ended_at is not None and hour <= each.ended_at < at)
    if budget.bytes_per_hour and rewritten >= budget.bytes_per_hour:
        yield f"{rewritten} bytes in this hour"


def _partitions(run: OperationRun, notes: Notes, jobs: Sequence[Job]) -> None:
    """No partition of a waiting or running job is rewritten."""
    if run.operation is not REWRITE or run.table not in DATASETS:
        return
    keys = written(run.table, jobs, run.started_at)
    if not keys:
        return
    assert "" not in keys, f"{run.table} was rewritten while a job writes it"
    missing = keys - set(notes.filters.get(run.job, keys))
    assert not missing, f"{run.table} was rewritten with {missing}, which jobs write"


def written(table: str, jobs: Sequence[Job], at: datetime) -> set[str]:
    """The partitions of a dataset that jobs write at an instant, for which they wait since before it."""
    ref = {"a/out": "a/each", "a/whole": "a/all"}.get(table)
    return {
        job.key
        for job in jobs
        if job.schedule == ref
        and job.satisfied_at is not None
        and job.satisfied_at < at
        and (job.ended_at is None or job.ended_at > at)
    }


# --- when an operation may start ----------------------------------------------------------


def due_at(
    key: tuple[str, Operation, str], runs: Sequence[OperationRun], notes: Notes, app: App, now: datetime
) -> datetime | None:
    """The next run of an operation after its last one by a poll; None if it has none that counts."""
    begun = notes.begun(key, now)
    mine = [
        run
        for run in runs
        if (run.policy, run.operation, run.table) == key
        and not run.by_hand
        and run.ended_at is not None
        and run.ended_at <= now
        and run.started_at < now
        and begun <= run.started_at
    ]
    if not mine:
        return None
    last = mine[-1]
    plan = plan_of(app, key[0], key[1])
    assert last.ended_at is not None
    following = next_fire(last.started_at) if plan.interval is None else last.started_at + plan.interval
    if last.ending in ("conflict", "stopped"):
        polls = [
            each.maintenance.poll for each in notes.apps_at(last.ended_at) if each.maintenance is not None
        ]
        following = min(following, last.ended_at + min(polls))
    return following


def next_fire(after: datetime) -> datetime:
    """The next fire of the only cron that there is."""
    minutes = CRON_MINUTES - after.minute % CRON_MINUTES
    return after.replace(second=0, microsecond=0) + minutes * MINUTE


def pauses(
    operation: Operation,
    table: str,
    runs: Sequence[OperationRun],
    notes: Notes,
    app: App,
    now: datetime,
    plan: OperationPlan,
) -> tuple[datetime | None, datetime | None]:
    """Until when back-off and throttle hold an operation back, by the runs that have ended before."""
    settings = app.maintenance
    assert settings is not None
    mine = [
        run
        for run in notes.counted(runs, table)
        if run.operation is operation
        and run.ending in ("succeeded", "failed")
        and run.ended_at is not None
        and run.ended_at <= now
        and run.started_at < now
    ]
    good = [run for run in mine if run.ending == "succeeded"]
    back_off = throttle = None
    if _row([run.ending == "failed" for run in mine]) >= settings.backoff.after_failures:
        back_off = mine[-1].started_at + settings.backoff.for_
    if _row([not run.changed for run in good]) >= settings.throttle.after_zero_changes:
        rule, start = settings.throttle, good[-1].started_at
        if plan.interval is None:
            throttle = next_fire(start + rule.at_least - timedelta(microseconds=1))
        else:
            throttle = start + max(plan.interval * (1 + rule.slow_down_percent / 100), rule.at_least)
    return back_off, throttle
