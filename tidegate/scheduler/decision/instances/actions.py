"""The actions on instances: the one table of which status allows which (docs/cycles.md, "Status").

    mark successful   Not Run, Waiting, Failed, Paused ──► Successful, marked
    pause             Not Run, Waiting, Running        ──► Paused; a run is stopped and fenced
    resume            Paused                           ──► Not Run: a rerun
    rerun             Successful, Failed               ──► Not Run, in a new attempt with a new commit id

Pure; `scheduler.commands.tasks.instances` carries actions out.
"""

from enum import StrEnum

from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job, JobState


class Action(StrEnum):
    """What a person, or a report from outside, does to an instance."""

    MARK_SUCCESSFUL = "mark_successful"
    PAUSE = "pause"
    RESUME = "resume"
    RERUN = "rerun"


ALLOWED: dict[Action, frozenset[Status]] = {
    Action.MARK_SUCCESSFUL: frozenset({Status.NOT_RUN, Status.WAITING, Status.FAILED, Status.PAUSED}),
    Action.PAUSE: frozenset({Status.NOT_RUN, Status.WAITING, Status.RUNNING}),
    Action.RESUME: frozenset({Status.PAUSED}),
    Action.RERUN: frozenset({Status.SUCCESSFUL, Status.FAILED}),
}
"""The statuses that allow an action; in any other one it is refused and changes nothing."""

RUN_AGAIN: frozenset[Status] = frozenset({Status.SUCCESSFUL, Status.FAILED, Status.WAITING, Status.RUNNING})
"""Consumers in one of these run again when an instance is rerun with downstream; a Running one is stopped."""

_STATUS = {
    JobState.PENDING_TRIGGER: Status.NOT_RUN,
    JobState.PENDING_CONSTRAINT: Status.WAITING,
    JobState.PENDING_LAUNCH: Status.WAITING,
    JobState.LAUNCHED: Status.RUNNING,
    JobState.SUCCEEDED: Status.SUCCESSFUL,
    JobState.FAILED: Status.FAILED,
    JobState.PAUSED: Status.PAUSED,
    JobState.DISCARDED: Status.ABSENT,
}


def status_of(job: Job) -> Status:
    """Return the status of an instance."""
    return status_in(job.state)


def status_in(state: JobState) -> Status:
    """Return the status of instances whose jobs are in a state."""
    return _STATUS[state]
