"""The attempts of a job: the run of each, how it ended, and why it failed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidegate.cli.printing import instant

if TYPE_CHECKING:
    from tidegate.scheduler.model.job import Job
    from tidegate.scheduler.store.protocol import Reader

COLUMNS = ["attempt", "run", "status", "started", "ended", "because"]


def attempts(reader: "Reader", job: "Job") -> Iterator[list[str]]:
    """Yield a row for each observed run of a job, oldest attempt first, and one for a pause."""
    from tidegate.scheduler.model.journal import EntryKind

    noted = {
        entry.run_id: entry.data["message"]
        for entry in reader.journal(job=job.id)
        if entry.kind is EntryKind.FAILURE
    }
    runs = reader.runs(jobs=[job.id])
    for run in sorted(runs, key=lambda run: (run.attempt or 0, run.seen_at)):
        times = [instant(run.started_at), instant(run.ended_at)]
        yield [str(run.attempt), run.run_id, run.status.value, *times, noted.get(run.run_id, "")]
    if job.waiting and job.retry_at is not None:
        yield [str(job.attempt), "", "waits", instant(job.retry_at), "", "not earlier than this"]
