"""The events of a run: what `run` triggers hear of its start and of its end.

Each attempt of a job is a run that starts. There is no event of the end of an attempt that another one
follows: `succeeded`, `failed` and `completed` say how the job ended (rule 26). Pure.
"""

from datetime import datetime
from typing import assert_never

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.part_name import Ref
from tidegate.scheduler.model.event import Event, EventKind, run_event_key
from tidegate.scheduler.model.run import RunStatus


def run_events(run: UpstreamRun, at: datetime, arrived: datetime) -> tuple[Event, ...]:
    """Return the events of a run's new status, the same for every call with the run and the status.

    Args:
        run: with its new status.
        at: when it happened.
        arrived: when it counts.
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
        )
        for word in words(status)
    )


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
