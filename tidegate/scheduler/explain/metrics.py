"""Metrics: what a monitoring system watches, as numbers with labels (docs/metrics.md).

They are computed from the store at each question, so any process gives the same, and none keeps counters.
What retention has pruned is no longer counted, except where the ledger keeps its sums.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from tidegate.domain.part_name import app_of, name_of
from tidegate.domain.value import Value
from tidegate.scheduler.explain.measured import measured
from tidegate.scheduler.explain.withheld import withheld_publishes
from tidegate.scheduler.launch.active_host import LEASE, host_of
from tidegate.scheduler.model.job import UNFINISHED, JobState
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES
from tidegate.scheduler.model.records.alert import AlertState
from tidegate.scheduler.model.records.expected import LATE_TOTALS
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS
from tidegate.scheduler.model.records.withheld_publish import WithheldPublish
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import Count, JobCount
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import LateWanted
from tidegate.scheduler.tick.clock import is_ahead, is_late, last_tick
from tidegate.scheduler.tick.maintenance.policies import load_policies

WAITS = frozenset({JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT, JobState.PENDING_LAUNCH})
"""The states in which a job waits for something."""


LATE_PERIODS_READ = 10_000
"""The most late periods that a scrape counts."""


class Metric(Value, kw_only=True):
    """One metric.

    Attributes:
        counts_up: it only grows, but for a restart from 0.
        labels: their names; one without labels is about the whole store.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    counts_up: bool = False


class Sample(Value, kw_only=True):
    """The number of a metric for some values of its labels."""

    values: tuple[str, ...] = ()
    number: float


JOBS = Metric(name="tidegate_jobs", help="Jobs by state and reason.", labels=("app", "state", "reason"))
OLDEST = Metric(
    name="tidegate_oldest_waiting_seconds",
    help="How long the oldest job has waited, by state.",
    labels=("app", "state"),
)
DEAD_LETTERS = Metric(
    name="tidegate_dead_letters", help="Jobs for which no run could be created.", labels=("app",)
)
RUNS = Metric(name="tidegate_runs", help="Runs of programs by status.", labels=("app", "status"))
LAUNCHES = Metric(name="tidegate_launches", help="Decided launches of programs.", labels=("app",))
EVENTS = Metric(name="tidegate_events", help="Events taken in, by kind.", labels=("app", "kind"))
DELIVERIES = Metric(
    name="tidegate_deliveries",
    help="Events of the ledger by what became of them, and why.",
    labels=("app", "outcome", "reason"),
)
SCHEDULES = Metric(
    name="tidegate_schedules", help="Deployed schedules and tasks by status.", labels=("app", "status")
)
DEPLOYMENTS = Metric(
    name="tidegate_deployments_total", help="Deployments of an app.", labels=("app",), counts_up=True
)
DEPLOYED = Metric(
    name="tidegate_deployed_timestamp_seconds", help="When an app was deployed last.", labels=("app",)
)
LATE = Metric(
    name="tidegate_late_total",
    help="Jobs and periods of datasets that have missed their deadline.",
    labels=("app", "kind", "name"),
    counts_up=True,
)
LATE_NOW = Metric(
    name="tidegate_late_now",
    help="Unfinished jobs past their deadline, and periods of datasets that have not landed.",
    labels=("app", "kind", "name"),
)
WITHHELD = Metric(
    name="tidegate_withheld_publishes",
    help="Publishes that a failed check withholds from readers.",
    labels=("app",),
)
WITHHELD_AGE = Metric(
    name="tidegate_oldest_withheld_publish_seconds",
    help="How long the oldest withheld publish has been so; 0 without one.",
    labels=("app",),
)
QUEUED_AGE = Metric(
    name="tidegate_oldest_queued_run_seconds",
    help="How long the oldest run has been in Dagster's queue; 0 without one.",
    labels=("app",),
)
FOLDERS = Metric(
    name="tidegate_failing_watched_folders",
    help="Watched folders whose last look failed.",
    labels=("app",),
)
DEBT = Metric(
    name="tidegate_maintenance_debt",
    help="Debt of the measured tables, summed; of no app for those of catalogs.",
    labels=("app",),
)
DEAD_ALERTS = Metric(
    name="tidegate_dead_alerts",
    help="Alerts that were abandoned after many tries.",
    labels=("channel",),
)
TICKED = Metric(name="tidegate_last_tick_timestamp_seconds", help="When the scheduler ticked last.")
TICK_AGE = Metric(name="tidegate_last_tick_age_seconds", help="Time since the last tick.")
TICKING = Metric(name="tidegate_scheduler_ticking", help="1 if a host or dispatcher ticks in time.")
HOST = Metric(name="tidegate_host_active", help="1 if a host holds the lease of the project.")
HOST_LEFT = Metric(name="tidegate_host_lease_seconds", help="Time until the lease of the host ends.")
BYTES = Metric(name="tidegate_store_bytes", help="Size of the database of the store.")

METRICS = (
    JOBS,
    OLDEST,
    DEAD_LETTERS,
    RUNS,
    LAUNCHES,
    EVENTS,
    DELIVERIES,
    SCHEDULES,
    DEPLOYMENTS,
    DEPLOYED,
    LATE,
    LATE_NOW,
    WITHHELD,
    WITHHELD_AGE,
    QUEUED_AGE,
    FOLDERS,
    DEBT,
    DEAD_ALERTS,
    TICKED,
    TICK_AGE,
    TICKING,
    HOST,
    HOST_LEFT,
    BYTES,
)

Measured = Iterator[tuple[Metric, Sample]]


def metrics(
    reader: ListingReader, project: str, now: datetime, every: int, apps: Collection[str] | None
) -> Measured:
    """Yield the samples of all metrics.

    Args:
        every: the seconds between two ticks.
        apps: only of these; None: all.
    """
    counts = reader.counts()
    for metric, found in (
        (RUNS, counts.runs),
        (EVENTS, counts.events),
        (SCHEDULES, counts.schedules),
    ):
        yield from _counted(metric, _of(found, apps))
    for metric, found in ((DEAD_LETTERS, counts.dead_letters), (LAUNCHES, counts.launches)):
        yield from ((metric, _sample(each.number, each.app)) for each in _of(found, apps))
    yield from _jobs([each for each in reader.job_counts(UNFINISHED) if _in(each.app, apps)], now)
    for each in _of(counts.finished_jobs, apps):
        yield JOBS, _sample(each.number, each.app, each.label, each.reason)
    yield from _deliveries(_of(counts.outcomes, apps))
    yield from _late(reader, apps)
    withheld, queued, failing = withheld_publishes(reader, apps), _queued(reader), _failing(reader, project)
    for deployed in reader.app_headers():
        if _in(deployed.name, apps):
            yield from _withheld(withheld, deployed.name, now)
            yield QUEUED_AGE, _sample(_seconds(now - queued.get(deployed.name, now)), deployed.name)
            yield FOLDERS, _sample(failing[deployed.name], deployed.name)
            yield DEPLOYMENTS, _sample(deployed.revision, deployed.name)
            yield DEPLOYED, _sample(deployed.deployed_at.timestamp(), deployed.name)
    yield from _debts(reader, now, apps)
    yield from _dead_alerts(reader, project, apps)
    yield from _ticks(reader, project, now, every)
    if counts.bytes is not None:
        yield BYTES, _sample(counts.bytes)


def _late(reader: ListingReader, apps: Collection[str] | None) -> Measured:
    kinds: dict[str, str] = {}
    for total in reader.records(LATE_TOTALS):
        if total.kind != "dataset":
            kinds[total.name] = total.kind
        if _in(app_of(total.name), apps):
            yield LATE, _sample(total.number, app_of(total.name), total.kind, name_of(total.name))
    for ref, number in reader.late_jobs().items():
        if _in(app_of(ref), apps):
            yield LATE_NOW, _sample(number, app_of(ref), kinds.get(ref, "schedule"), name_of(ref))
    wanted = LateWanted(apps=None if apps is None else tuple(apps), now=True)
    periods = Counter(each.dataset for each in reader.late_periods(wanted, LATE_PERIODS_READ))
    for dataset, number in sorted(periods.items()):
        yield LATE_NOW, _sample(number, app_of(dataset), "dataset", name_of(dataset))


def _withheld(found: Sequence[WithheldPublish], app: str, now: datetime) -> Measured:
    mine = [each.at for each in found if any(app_of(ref) == app for ref in each.datasets)]
    yield WITHHELD, _sample(len(mine), app)
    yield WITHHELD_AGE, _sample(_seconds(now - min(mine, default=now)), app)


def _queued(reader: EngineReader) -> Mapping[str, datetime]:
    """Return since when the oldest run of each app is in Dagster's queue."""
    found: dict[str, datetime] = {}
    for run in reader.runs(active=True):
        if run.status is RunStatus.QUEUED:
            found.setdefault(app_of(run.program), run.seen_at)
    return found


def _failing(reader: EngineReader, project: str) -> Counter[str]:
    folders = reader.records(WATCHED_FOLDERS, project=project)
    return Counter(app_of(each.dataset) for each in folders if each.problem)


def _debts(reader: EngineReader, now: datetime, apps: Collection[str] | None) -> Measured:
    tables = [each for each in reader.records(MAINTAINED_TABLES) if not each.gone]
    if not tables:
        return
    policies, found = load_policies(reader, now), dict[str, float]()
    for table in tables:
        app = "" if table.dataset is None else app_of(table.dataset)
        if _in(app, apps):
            found[app] = found.get(app, 0.0) + measured(policies, table, now).debt.score
    for app, score in sorted(found.items()):
        yield DEBT, _sample(score, app)


def _dead_alerts(reader: ListingReader, project: str, apps: Collection[str] | None) -> Measured:
    found = Counter[str]()
    for app in (None,) if apps is None else sorted(apps):
        for each in reader.alert_counts(project, app):
            found[each.channel] += each.alerts if each.state is AlertState.DEAD else 0
    for channel, number in sorted(found.items()):
        yield DEAD_ALERTS, _sample(number, channel)


def _counted(metric: Metric, found: Iterable[Count]) -> Measured:
    for each in found:
        yield metric, _sample(each.number, each.app, each.label)


def _jobs(found: list[JobCount], now: datetime) -> Measured:
    oldest: dict[tuple[str, str], datetime] = {}
    for each in found:
        yield JOBS, _sample(each.jobs, each.app, each.state, each.reason or "")
        if each.state in WAITS:
            place = each.app, str(each.state)
            oldest[place] = min(each.oldest, oldest.get(place, each.oldest))
    for (app, state), since in oldest.items():
        yield OLDEST, _sample(_seconds(now - since), app, state)


def _deliveries(found: list[Count]) -> Measured:
    numbers: dict[tuple[str, str, str], int] = {}
    for each in found:
        # Of an app with events, also what none of them is.
        for outcome in ("succeeded", "running", "pending"):
            numbers.setdefault((each.app, outcome, ""), 0)
        numbers[each.app, each.label, each.reason] = each.number
    for values, number in sorted(numbers.items()):
        yield DELIVERIES, _sample(number, *values)


def _ticks(reader: EngineReader, project: str, now: datetime, every: int) -> Measured:
    ticked, host = last_tick(reader), host_of(reader, project)
    holds = host is not None and host.holds(now)
    if ticked is not None:
        yield TICKED, _sample(ticked.timestamp())
        yield TICK_AGE, _sample(_seconds(now - ticked))
    ahead = ticked is not None and is_ahead(ticked, now)
    yield TICKING, _sample(not ahead and (holds or not is_late(ticked, now, every)))
    yield HOST, _sample(holds)
    yield HOST_LEFT, _sample(_seconds(host.looped_at + LEASE - now) if host is not None and holds else 0)


def _of(found: tuple[Count, ...], apps: Collection[str] | None) -> list[Count]:
    return [each for each in found if _in(each.app, apps)]


def _in(app: str, apps: Collection[str] | None) -> bool:
    return apps is None or app in apps


def _seconds(length: timedelta) -> float:
    return max(length.total_seconds(), 0.0)


def _sample(number: float, *values: str) -> Sample:
    return Sample(values=tuple(map(str, values)), number=float(number))
