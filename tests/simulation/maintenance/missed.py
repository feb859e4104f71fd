"""Missed: a due operation that nothing holds back starts at the next poll, and the first ones start first.

It is judged at polls before which the scheduler has done all that was to be done: then the store shows before
the tick what the poll sees. What may have changed at the very instant is left out.
"""

from datetime import datetime, timedelta

from tests.simulation.maintenance.app import DATASETS, counting
from tests.simulation.maintenance.notes import Notes
from tests.simulation.maintenance.oracle import due_at, pauses, plan_of
from tidegate.domain.model import App, Maintenance, OperationPlan
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Health, OperationRun, TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store

FRESH = timedelta(minutes=5)
DAY = 86_400.0
AT_WORK = (JobState.PENDING_CONSTRAINT, JobState.PENDING_LAUNCH, JobState.LAUNCHED)


class Picture(Value, kw_only=True):
    """What a poll sees, as far as it is certain.

    Attributes:
        starts: by table the operation that has to start, with its place in the order.
    """

    starts: dict[str, tuple[str, tuple[bool, float, str]]] = {}


def picture(store: Store, notes: Notes, now: datetime) -> Picture | None:
    """Return what a poll at this instant has to do; None if there is none."""
    app = notes.app
    settings = app.maintenance
    assert settings is not None
    if (now - notes.origin) % settings.poll:
        return None
    with store.reading() as reader:
        runs = reader.operation_runs()
        if any(run.ended_at == now or run.started_at == now for run in runs):
            # Something has been done at this instant: perhaps the poll is over.
            return None
        busy = {run.table for run in runs if run.ending is None}
        if any(run.ending is None and run.closes_at <= now for run in runs):
            return None
        tables = [
            table for table in reader.records(MAINTAINED_TABLES) if not table.gone and table.name not in busy
        ]
        written = {event.key for event in reader.unrouted_events(1000)}
        pipelines = any(job.maintenance is None and job.state in AT_WORK for job in reader.jobs())
    uncertain = {"a/" + key.rpartition("/")[2] for key in written}
    starts: dict[str, tuple[str, tuple[bool, float, str]]] = {}
    for table in tables:
        if table.name in uncertain or (table.name in DATASETS and (pipelines or uncertain)):
            continue
        found = _first(table, runs, notes, app, now)
        if found is not None:
            operation, forced = found
            if not forced and _may_be_measured_first(table, settings, now):
                continue
            starts[table.name] = operation, (not forced, -_debt(_known(table.health, now)), table.name)
    return Picture(starts=starts)


def judge_missed(before: Picture, reader: EngineReader, notes: Notes, now: datetime) -> None:
    """What a poll has started is what had to start, as far as budgets and slots go."""
    app = notes.app
    settings = app.maintenance
    assert settings is not None
    runs = reader.operation_runs()
    started = {run.table: str(run.operation) for run in runs if run.started_at == now and not run.by_hand}
    missed = {name: each for name, each in before.starts.items() if name not in started}
    for name, operation in started.items():
        if name in before.starts:
            assert before.starts[name][0] == operation, f"{operation} of {name} was not the first one"
    if not missed:
        return
    budget = settings.budget
    mine = [run for run in runs if run.started_at >= now]
    full = bool(budget.operations_per_poll) and len(mine) >= budget.operations_per_poll
    full |= bool(budget.tables_per_poll) and len({run.table for run in mine}) >= budget.tables_per_poll
    hour = now.replace(minute=0, second=0, microsecond=0)
    rewritten = sum(run.bytes for run in runs if run.ended_at is not None and hour <= run.ended_at <= now)
    full |= bool(budget.bytes_per_hour) and rewritten >= budget.bytes_per_hour
    slots = reader.slots(["group:spark"])["group:spark"]
    full |= any(slots >= most for most in settings.auto_pools.values())
    assert full, f"nothing holds back {missed} at {now}"
    places = [before.starts[name][1] for name in started if name in before.starts]
    first = min(place for _, place in missed.values())
    assert all(place < first for place in places), f"{missed} came before one of {started} at {now}"


def _first(
    table: TableState, runs: tuple[OperationRun, ...], notes: Notes, app: App, now: datetime
) -> tuple[str, bool] | None:
    """The first operation on a table that nothing holds back, and whether it is forced."""
    for operation, policy in counting(app, table.name).items():
        key = policy, operation, table.name
        due = due_at(key, runs, notes, app, now)
        if due is not None and _is_unsure(key, runs, notes):
            return None
        if due is not None and now < due:
            continue
        plan = plan_of(app, policy, operation)
        if plan.window is not None and not plan.window.from_ <= now.time() < plan.window.to:
            continue
        if any(
            each is not None and now < each
            for each in pauses(operation, table.name, runs, notes, app, now, plan)
        ):
            continue
        ready, forced = _conditions(plan, table, runs, notes, policy, now)
        if ready:
            return str(operation), forced
    return None


def _may_be_measured_first(table: TableState, settings: Maintenance, now: datetime) -> bool:
    """Whether its turn may wait for a measurement, since a limit may make the order count."""
    budget, health = settings.budget, table.health
    limited = settings.auto_pools or budget.tables_per_poll or budget.operations_per_poll
    if not (limited or budget.bytes_per_hour) or _known(health, now) is not None:
        return False
    has_failed = health is not None and bool(health.failure)
    return not has_failed and (table.wanted_at is None or now - table.wanted_at < FRESH)


def _is_unsure(key: tuple[str, object, str], runs: tuple[OperationRun, ...], notes: Notes) -> bool:
    """Whether it may be due at once or not: a deployment has come after a conflict."""
    last = [run for run in runs if (run.policy, run.operation, run.table) == key and not run.by_hand][-1]
    return last.ending in ("conflict", "stopped") and notes.deployed[-1][0] > last.started_at


def _conditions(
    plan: OperationPlan,
    table: TableState,
    runs: tuple[OperationRun, ...],
    notes: Notes,
    policy: str,
    now: datetime,
) -> tuple[bool, bool]:
    """Whether the conditions of an operation hold, and whether it is forced."""
    if plan.when is None:
        return True, False
    good = [
        run
        for run in notes.counted(runs, table.name)
        if run.operation is plan.operation and run.ending == "succeeded"
    ]
    last = good[-1].ended_at if good else None
    latest, pause = plan.when.at_latest, plan.when.min_interval
    since = last if last is not None else notes.seen(policy, table.name, now)
    if latest is not None and since is not None and now >= since + latest:
        return True, True
    if pause is not None and last is not None and now < last + pause:
        return False, False
    health = _known(table.health, now)
    if health is None:
        return False, False
    met = [health.values.get(each.measure, -1.0) >= each.at_least for each in plan.when.thresholds]
    return (any(met) if plan.when.mode == "any" else all(met)), False


def _known(health: Health | None, now: datetime) -> Health | None:
    known = health is not None and not health.failure and now - health.measured_at <= FRESH
    return health if known else None


def _debt(health: Health | None) -> float:
    """The debt by the two measures that the dice change."""
    if health is None:
        return 0.0
    age, snapshots = health.values["newest_snapshot_age"], health.values.get("snapshots", 0.0)
    score = age / DAY * 0.5
    for value, warning, critical in ((age, 7 * DAY, 30 * DAY), (snapshots, 100, 500)):
        score += 100 if value >= critical else 50 if value >= warning else 0
    return score
