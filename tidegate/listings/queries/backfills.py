"""Backfills as all faces show them, and the list of them."""

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import asdict

from tidegate.domain.part_name import app_of
from tidegate.listings.backfills import BackfillProgress, BackfillRequest, ShownBackfill
from tidegate.listings.read import Asked
from tidegate.scheduler.commands.backfills.request import Backfill, Progress, newest_backfills, progress_of
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader


def list_backfills(asked: Asked) -> list[BackfillProgress]:
    """Return the newest backfills that match, of those whose tasks are all seen."""
    before = None if asked.after is None else asked.after[0]
    matching = (each for each in newest_backfills(asked.reader, before) if _matches(each, asked))
    return [public_backfill(each) for each in progress_of(asked.reader, list(islice(matching, asked.limit)))]


def _matches(backfill: Backfill, asked: Asked) -> bool:
    wanted, apps = asked.wanted, asked.scope.apps
    return (
        (apps is None or {app_of(ref) for ref in backfill.tasks} <= apps)
        and wanted.get("app", backfill.app) == backfill.app
        and ("task" not in wanted or wanted["task"] in backfill.tasks)
        and ("since" not in wanted or wanted["since"] <= backfill.requested_at)
    )


def public_backfill(progress: Progress) -> BackfillProgress:
    """Return what of a backfill all faces show."""
    return BackfillProgress(
        id=progress.backfill.number,
        backfill=BackfillRequest(**asdict(progress.backfill)),
        state=state_of(progress),
        total=progress.total,
        counts=progress.counts,
    )


def shown_backfill(reader: EngineReader, progress: Progress) -> ShownBackfill:
    """Return a backfill with its instances by business date."""
    counts = counted(reader.instances(backfill=progress.backfill.number), by_task=False)
    return ShownBackfill(**asdict(public_backfill(progress)), by_date=counts)


def state_of(progress: Progress) -> str:
    """Return what a backfill is doing, in a word."""
    counts = progress.counts
    if counts["running"]:
        return "cancelled, ends" if progress.backfill.cancelled_at else "running"
    if progress.backfill.cancelled_at is not None:
        return "cancelled"
    if counts["successful"] == progress.total:
        return "done"
    if counts["failed"]:
        return "stopped by a failure"
    return "running"


def counted(jobs: Sequence[Job], by_task: bool) -> dict[str, dict[str, int]]:
    """Return the instances by business day or by task, and each by status; empty runs are left out."""
    found: dict[str, dict[str, int]] = {}
    for job in jobs:
        if job.instance is None or job.instance.empty:
            continue
        part = found.setdefault(job.schedule if by_task else job.instance.date, {})
        status = str(status_of(job))
        part[status] = part.get(status, 0) + 1
    return dict(sorted(found.items()))
