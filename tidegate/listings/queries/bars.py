"""The bars of a job in a time line: one for each of its runs, and one while it waits."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from tidegate.listings.queries.lanes import STATES
from tidegate.listings.time_line import Bar, LaneState
from tidegate.scheduler.decision.marks import Span
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import Run, RunStatus

_STATES = {
    RunStatus.QUEUED: LaneState.QUEUED,
    RunStatus.STARTING: LaneState.QUEUED,
    RunStatus.STARTED: LaneState.RUNNING,
    RunStatus.SUCCEEDED: LaneState.SUCCEEDED,
    RunStatus.FAILED: LaneState.FAILED,
    RunStatus.CANCELLED: LaneState.FAILED,
}


def bars_of(job: Job, runs: Collection[Run], usual: timedelta | None, now: datetime) -> Iterator[Bar]:
    """Yield a bar for each run of a job, and one for the wait of a job that has none now.

    Args:
        usual: how long its runs take; None if that is not known.
    """
    waits = _waits_from(job)
    attempts = sorted(runs, key=lambda run: (run.attempt or 0, run.seen_at))
    for run in attempts:
        yield _of_run(job, run, waits, usual, run is attempts[-1])
        waits = run.ended_at
    if job.ended_at is None and job.launched_at is None and waits is not None and waits <= now:
        yield Bar(
            job=job.id,
            key=job.key,
            state=LaneState.HELD if job.reason is Reason.W_HELD else STATES[job.state],
            waits=whole(waits),
            attempt=job.attempt,
            reason=str(job.reason or ""),
        )
    elif not attempts and (job.ended_at is not None or job.launched_at is not None):
        yield _without_runs(job, waits)


def _of_run(job: Job, run: Run, waits: datetime | None, usual: timedelta | None, last: bool) -> Bar:
    start, state = run.started_at or (run.seen_at if run.ended_at else None), _STATES[run.status]
    ends = None if usual is None or start is None or state is not LaneState.RUNNING else start + usual
    waited = waits is not None and (start is None or start > waits)
    return Bar(
        job=job.id,
        key=job.key,
        state=state,
        waits=whole(waits) if waited and waits is not None else None,
        start=None if start is None else whole(start),
        end=None if run.ended_at is None else whole(run.ended_at),
        attempt=run.attempt or 1,
        usual_end=None if ends is None else whole(ends),
        reason=str(job.reason or "") if last and state is LaneState.FAILED else "",
    )


def _without_runs(job: Job, waits: datetime | None) -> Bar:
    """Return the bar of a job whose runs are not known: an empty one, one that was reported, or discarded."""
    return Bar(
        job=job.id,
        key=job.key,
        state=STATES[job.state],
        waits=None if waits is None else whole(waits),
        start=None if job.launched_at is None else whole(job.launched_at),
        end=None if job.ended_at is None else whole(job.ended_at),
        attempt=job.attempt,
        reason=str(job.reason or ""),
    )


def _waits_from(job: Job) -> datetime | None:
    """Return since when a job waits: an instance, which is made long before, from its start time on."""
    if job.instance is None:
        return job.opened_at
    start = max(job.opened_at, job.instance.start)
    return None if job.ended_at is not None and job.ended_at < start else start


def begin_of(bar: Bar) -> datetime:
    """Return the first instant of a bar."""
    found = bar.waits or bar.start or bar.end
    assert found is not None
    return found


def is_within(bar: Bar, span: Span, now: datetime) -> bool:
    """Return whether a part of a bar is in a span; one that has not ended reaches to now."""
    return begin_of(bar) < span.end and max(begin_of(bar), bar.end or now) >= span.start


def whole(instant: datetime) -> datetime:
    """Return an instant without its part of a second, which no picture shows."""
    return instant.replace(microsecond=0)
