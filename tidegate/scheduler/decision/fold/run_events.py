"""The events of a run: what `run` triggers hear of its start and of its end.

Each attempt of a job is a run that starts. There is no event of the end of an attempt that another one
follows: `succeeded`, `failed` and `completed` say how the job ended (rule 26). Pure.
"""

from datetime import datetime
from typing import assert_never

import msgspec

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.part_name import Ref
from tidegate.scheduler.model.event import NO_SCHEDULE, Event, EventKind, run_event_key
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import RunStatus


def run_events(run: UpstreamRun, at: datetime, arrived: datetime, job: Job | None) -> tuple[Event, ...]:
    """Return the events of a run's new status, the same for every call with the run and the status.

    Args:
        run: with its new status.
        at: when it happened.
        arrived: when it counts.
        job: that the run is of; None for an external run.
    """
    status = RunStatus(run.status)
    app, program = Ref.of(run.program)
    return tuple(
        Event(
            id=f"run:{run.id}:{word}",
            kind=EventKind.RUN,
            key=run_event_key(app, program, word),
            time=at,
            arrived=arrived,
            run_id=run.id,
            status=status,
            run=run,
            provisional=is_provisional(job),
            only_for=None if job is None else heard_by(job.instance),
        )
        for word in words(status)
    )


def is_provisional(job: Job | None) -> bool:
    """Return `Event.provisional` of what a job does."""
    return job is not None and job.launch is not None and bool(job.launch.provisional)


def event_of_job(event: Event, job: Job) -> Event:
    """Return the event of a partition that a job has written, with what it repairs and who hears of it."""
    repairs, heard = None if job.launch is None else job.launch.repairs, heard_by(job.instance)
    return msgspec.structs.replace(
        event,
        repairs=repairs,
        provisional=is_provisional(job),
        only_for=event.only_for if heard is None else heard,
    )


def heard_by(instance: Instance | None) -> str | None:
    """Return `Event.only_for` of what an instance, or any other job, does."""
    return NO_SCHEDULE if instance is not None and instance.quiet else None


def words(status: RunStatus) -> tuple[str, ...]:
    """Return the words for a run's new status in `run` triggers."""
    match status:
        case RunStatus.QUEUED | RunStatus.STARTING:
            return ()
        case RunStatus.STARTED:
            return ("started",)
        case RunStatus.SUCCEEDED:
            return ("succeeded", "completed")
        case RunStatus.FAILED:
            return ("failed", "completed")
        case RunStatus.CANCELLED:
            return ("cancelled", "completed")
        case _:
            assert_never(status)
