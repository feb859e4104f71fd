"""What is late, and what was: unfinished jobs past their deadline, and periods of datasets."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from tidegate.domain.part_name import app_of, name_of
from tidegate.listings.late import Late
from tidegate.listings.read import Asked
from tidegate.scheduler.decision.deadlines import deadline_of_dataset, deadline_text, due_at
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState
from tidegate.scheduler.model.job import UNFINISHED, Job
from tidegate.scheduler.model.records.expected import ExpectedPeriod
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import LateWanted

LATE_READ = 10_000
"""The newest deadlines that were missed; older ones are on no further page."""

EARLIEST = datetime.min.replace(tzinfo=UTC)


def list_late(asked: Asked) -> tuple[Late, ...]:
    """Return what is late; of more than `LATE_READ` periods the newest ones."""
    most = asked.limit if asked.after is None else LATE_READ
    wanted = asked.wanted
    return lateness(
        asked.reader, most, apps=asked.apps, dataset=wanted.get("dataset"), now=wanted.get("now", True)
    )


def lateness(
    reader: ListingReader,
    limit: int,
    *,
    apps: Collection[str] | None = None,
    dataset: str | None = None,
    now: bool = True,
) -> tuple[Late, ...]:
    """Return what is late, the newest deadline first.

    Args:
        apps: only of these apps; None: all.
        dataset: only the periods of this one, "app/name".
        now: only what is late now; else also periods that have landed since.
    """
    wanted = LateWanted(apps=None if apps is None else tuple(apps), dataset=dataset, now=now)
    periods = reader.late_periods(wanted, limit)
    names = {app_of(each.dataset) for each in periods}
    deployed = {app.name: app for app in reader.records(APPS, name=names)} if names else {}
    found = [_of_period(each, deployed.get(app_of(each.dataset))) for each in periods]
    if dataset is None:
        found += _jobs(reader, apps)
    newest = sorted(found, key=lambda each: (each.name, each.key))
    return tuple(sorted(newest, key=lambda each: each.due or EARLIEST, reverse=True)[:limit])


def _jobs(reader: ListingReader, apps: Collection[str] | None) -> Iterator[Late]:
    refs = [ref for ref in reader.late_jobs() if apps is None or app_of(ref) in apps]
    if not refs:
        return
    states = {state.ref: state for state in reader.schedules(refs=refs)}
    for job in reader.jobs(schedules=refs, states=UNFINISHED):
        if job.late_at is not None:
            yield _of_job(job, job.late_at, states.get(job.schedule))


def _of_job(job: Job, late_at: datetime, state: ScheduleState | None) -> Late:
    return Late(
        kind="schedule" if job.instance is None else "task",
        name=job.schedule,
        key=job.key,
        job=job.id,
        due=None if state is None else due_at(state.spec, job),
        deadline="" if state is None else deadline_text(state.spec.deadline),
        late_at=late_at,
        owner="" if state is None else state.spec.owner,
    )


def _of_period(period: ExpectedPeriod, deployed: DeployedApp | None) -> Late:
    name = name_of(period.dataset)
    dataset = None if deployed is None else deployed.app.datasets.get(name)
    deadline = None if dataset is None else dataset.deadline
    left = tuple(key for key in period.missing if key not in period.landed)
    return Late(
        kind="dataset",
        name=period.dataset,
        key=period.period,
        due=period.due_at,
        deadline=""
        if dataset is None or deadline is None
        else deadline_of_dataset(deadline, periods=dataset.partitions is not None),
        late_at=period.late_at or EARLIEST,
        over_at=period.landed_at,
        missing=() if period.landed_at is not None or left == (period.period,) else left,
        owner="" if dataset is None else dataset.owner,
    )
