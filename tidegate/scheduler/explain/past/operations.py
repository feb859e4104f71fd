"""Past operations: the jobs of operations on tables, as the journal has them.

Their policies are in the apps, so no entry deploys a schedule for them. They hold slots like every job, so a
past without them would explain the wait of others wrongly. Records and health are not in the journal.
"""

import msgspec

from tidegate.scheduler.decision.fold.after import after, all_opened
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.model.run import ENDED, RunStatus


def opens_operation(entry: Entry) -> bool:
    """Return whether an entry opens the job of an operation."""
    return entry.kind is EntryKind.JOB_OPENED and "maintenance" in entry.data


def opened_jobs(entry: Entry, state: ScheduleState | None) -> list[Job]:
    """Return the jobs that an entry opens.

    Args:
        state: its schedule; None for an operation.
    """
    if state is not None:
        return all_opened(entry, state)
    operation = Job(
        id=entry.job or "",
        schedule=entry.schedule or "",
        key=entry.data["key"],
        state=JobState.PENDING_CONSTRAINT,
        opened_at=entry.at,
        satisfied_at=entry.at,
        maintenance=msgspec.convert(entry.data["maintenance"], Work),
    )
    return [operation]


def after_entry(job: Job, entry: Entry, state: ScheduleState | None) -> Job:
    """Return any job after one of its entries.

    Args:
        state: the schedule at that instant; None for an operation.
    """
    if job.maintenance is None:
        return after(job, entry, state)
    if entry.kind is EntryKind.RUN and RunStatus(entry.data["status"]) in ENDED:
        # The entry of the operation's end follows, or came before it.
        return job
    changed = after(job, entry)
    if entry.kind is EntryKind.LAUNCH:
        return msgspec.structs.replace(changed, satisfied_at=entry.at)
    return changed
