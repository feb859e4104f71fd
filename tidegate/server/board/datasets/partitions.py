"""The partitions of a dataset that a page lists, with the jobs that took the newest report of each."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.listings.jobs import Job
from tidegate.listings.queries.jobs import public_jobs
from tidegate.scheduler.store.answers import PartitionState
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.board.datasets.calendar import status_of

ROWS_ON_PAGE = 100

REPORTS_COUNTED = 1_000
"""The most reports of a partition that are counted."""

MISSING_NAMED = 20


class Part(Value, kw_only=True):
    """A partition of a dataset.

    Attributes:
        status: landed, published, consumed or failed.
        at: when its newest event arrived.
        reports: how often it was reported, counted up to `REPORTS_COUNTED`.
        jobs: what has taken its newest event.
    """

    key: str
    status: str
    at: datetime
    rows: int | None
    bytes: int | None
    reports: int
    jobs: tuple[Job, ...]


class Listed(Value, kw_only=True):
    """Partitions that have landed, of the cells of a page or of one cell.

    Attributes:
        landed: how many there are.
        missing: the first of those that have not landed, of one cell.
        missing_of: how many of those there are.
        row: place of the first one that is listed.
        next_row: that of the first one of the next page; None on the last one.
    """

    parts: tuple[Part, ...]
    landed: int
    missing: tuple[str, ...] = ()
    missing_of: int = 0
    row: int = 0
    next_row: int | None = None


def listed(
    reader: ListingReader,
    dataset: str,
    keys: Sequence[str],
    states: Mapping[str, PartitionState],
    row: int,
    *,
    missing: bool,
) -> Listed:
    """Return those of some partitions that have landed, in the order of the keys.

    Args:
        row: place of the first one that is listed.
        missing: name those that have not landed.
    """
    landed = [key for key in keys if key in states]
    left = [key for key in keys if key not in states] if missing else []
    shown = landed[row : row + ROWS_ON_PAGE]
    return Listed(
        parts=_parts(reader, dataset, [states[key] for key in shown]),
        landed=len(landed),
        missing=tuple(left[:MISSING_NAMED]),
        missing_of=len(left),
        row=row,
        next_row=row + ROWS_ON_PAGE if len(landed) > row + ROWS_ON_PAGE else None,
    )


def _parts(reader: ListingReader, dataset: str, states: Sequence[PartitionState]) -> tuple[Part, ...]:
    taken: dict[str, list[str]] = {}
    for delivery in reader.deliveries_of_events([state.event for state in states]):
        if delivery.job is not None and delivery.reason is None:
            taken.setdefault(delivery.event.id, []).append(delivery.job)
    found = reader.jobs(ids={id_ for ids in taken.values() for id_ in ids})
    jobs = {job.id: job for job in public_jobs(reader, found)}
    reports = reader.partition_reports(dataset, [state.key for state in states], REPORTS_COUNTED)
    return tuple(
        Part(
            key=state.key,
            status=status_of(state),
            at=state.at,
            rows=state.rows,
            bytes=state.bytes,
            reports=reports[state.key],
            jobs=tuple(jobs[id_] for id_ in dict.fromkeys(taken.get(state.event, ())) if id_ in jobs),
        )
        for state in states
    )
