"""The ledger's arithmetic: how one event of one job counts, and the rows of the counts.

Each store counts events by schedule, job state and reason in its own way; this module defines
once what each group means, so that the stores cannot disagree.
"""

from collections.abc import Iterable

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import LedgerRow


def is_discarded(state: JobState | None, reason: str | None) -> bool:
    """Return whether a delivery ended without a run.

    Args:
        state: the state of its job; None for a delivery without a job.
        reason: the job's reason, or the delivery's own reason without a job.
    """
    if state is None or state is JobState.DISCARDED:
        return True
    return state is JobState.FAILED and reason == Reason.F_LAUNCH.value


def is_consumed(state: JobState | None, reason: str | None) -> bool:
    """Return whether a run was launched with a delivery. Neither consumed nor discarded is pending."""
    if is_discarded(state, reason):
        return False
    return state in (JobState.LAUNCHED, JobState.SUCCEEDED, JobState.FAILED)


def ledger_rows(groups: Iterable[tuple[str, JobState | None, str | None, int]]) -> tuple[LedgerRow, ...]:
    """Return the ledger's rows, by schedule.

    Args:
        groups: schedule, state of the job, reason, and the number of events in the group.
    """
    consumed: dict[str, int] = {}
    pending: dict[str, int] = {}
    discarded: dict[str, dict[str, int]] = {}
    for schedule, state, reason, count in groups:
        reasons = discarded.setdefault(schedule, {})
        if is_discarded(state, reason):
            reasons[reason or ""] = reasons.get(reason or "", 0) + count
        elif is_consumed(state, reason):
            consumed[schedule] = consumed.get(schedule, 0) + count
        else:
            pending[schedule] = pending.get(schedule, 0) + count
    return tuple(
        LedgerRow(
            schedule=schedule,
            consumed=consumed.get(schedule, 0),
            pending=pending.get(schedule, 0),
            discarded=dict(sorted(discarded[schedule].items())),
        )
        for schedule in sorted(discarded)
    )
