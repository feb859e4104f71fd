"""The partitions of a dataset, and those of days as a calendar.

landed      it was reported             published   a run of ours wrote it
consumed, failed   jobs that took its newest report have ended
late        a day without a partition: past the deadline of the dataset, or over, if it has none
"""

from calendar import Calendar
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta

from tidegate.domain.model import Dataset
from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.protocol import Reader

MONTHS_MAX = 24


class Part(Value, kw_only=True):
    """A partition of a dataset.

    Attributes:
        status: landed, published, consumed or failed.
        at: when its newest event arrived.
        jobs: what has taken its newest event.
    """

    key: str
    status: str
    at: datetime
    rows: int | None
    bytes: int | None
    reports: int
    jobs: tuple[Job, ...]


class Day(Value, kw_only=True):
    """A day of a dataset with daily partitions.

    Attributes:
        late: it has no partition and is past its deadline; without one, it is over, and later than the first.
    """

    date: date
    part: Part | None
    late: bool


class Month(Value, kw_only=True):
    """A month of a dataset with daily partitions: weeks from Monday, None for days outside of it."""

    name: str
    weeks: tuple[tuple[Day | None, ...], ...]


def parts_of(reader: Reader, events: Sequence[Event]) -> tuple[Part, ...]:
    """Return the partitions of some events, the newest of each first."""
    newest: dict[str, Event] = {}
    reports: dict[str, int] = {}
    for event in events:
        newest.setdefault(event.partition or "", event)
        reports[event.partition or ""] = reports.get(event.partition or "", 0) + 1
    taken: dict[str, list[str]] = {}
    for delivery in reader.deliveries_of_events([event.id for event in newest.values()]):
        if delivery.job is not None and delivery.reason is None:
            taken.setdefault(delivery.event.id, []).append(delivery.job)
    jobs = {job.id: job for job in reader.jobs(ids={id_ for ids in taken.values() for id_ in ids})}
    return tuple(
        _part(
            key,
            newest[key],
            reports[key],
            [jobs[id_] for id_ in taken.get(newest[key].id, ()) if id_ in jobs],
        )
        for key in sorted(newest, reverse=True)
    )


def _part(key: str, event: Event, reports: int, jobs: Sequence[Job]) -> Part:
    states = {job.state for job in jobs}
    if JobState.FAILED in states:
        status = "failed"
    elif JobState.SUCCEEDED in states:
        status = "consumed"
    else:
        status = "landed" if event.run_id is None else "published"
    different = {job.id: job for job in jobs}
    return Part(
        key=key,
        status=status,
        at=event.arrived,
        rows=event.rows,
        bytes=event.bytes,
        reports=reports,
        jobs=tuple(different.values()),
    )


def is_daily(dataset: Dataset) -> bool:
    """Return whether the partitions of a dataset are days, and nothing else."""
    scheme = dataset.partitions
    return (
        scheme is not None
        and scheme.static is None
        and scheme.time is not None
        and scheme.time.cycle == "day"
    )


def months(parts: Sequence[Part], today: date, late: Collection[str] | None = None) -> tuple[Month, ...]:
    """Return the months of daily partitions from the first to the last or to yesterday, the newest first.

    Args:
        late: the days (keys) past their deadline; None for a dataset without a deadline.
    """
    days = {date.fromisoformat(part.key): part for part in parts}
    known = {*days, *(date.fromisoformat(each) for each in late or ())}
    if not known:
        return ()
    first, last = min(known), max(max(known), today - timedelta(days=1))

    def is_late(day: date) -> bool:
        return first <= day < today if late is None else day.isoformat() in late

    found: list[Month] = []
    year, month = last.year, last.month
    while (year, month) >= (first.year, first.month) and len(found) < MONTHS_MAX:
        weeks = tuple(
            tuple(
                Day(date=day, part=days.get(day), late=day not in days and is_late(day))
                if day.month == month
                else None
                for day in week
            )
            for week in Calendar().monthdatescalendar(year, month)
        )
        found.append(Month(name=f"{year}-{month:02}", weeks=weeks))
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return tuple(found)
