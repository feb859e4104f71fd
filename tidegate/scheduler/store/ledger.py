"""The ledger's arithmetic: how one event of one job counts, and the rows of the counts.

Each store counts events by schedule, job state and reason in its own way; this module defines
once what each group means, so that the stores cannot disagree.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.retention import LedgerSum
from tidegate.scheduler.store.answers import LedgerRow

_Outcome = tuple[str, str]
"""A column of the ledger, and a reason code or ""."""

BY_REASON = ("failed", "discarded")
"""The columns that count by reason."""


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


def ledger_rows(
    groups: Iterable[tuple[str, JobState | None, str | None, int]],
    sums: Iterable[tuple[str, str, str, int]] = (),
) -> tuple[LedgerRow, ...]:
    """Return the ledger's rows, by schedule.

    Args:
        groups: schedule, state of the job, reason, and the number of events in the group.
        sums: of pruned events: schedule, outcome, reason and number.
    """
    found: dict[str, dict[str, Any]] = {}
    for schedule, outcome, reason, count in sums:
        _add(found, schedule, outcome, reason, count)
    for schedule, state, reason, count in groups:
        _add(found, schedule, *outcome_of(state, reason), count)
    for counts in found.values():
        for column in BY_REASON:
            if len(counts.get(column, ())) > 1:
                counts[column] = dict(sorted(counts[column].items()))
    return tuple(LedgerRow(schedule=schedule, **found[schedule]) for schedule in sorted(found))


def _add(found: dict[str, dict[str, Any]], schedule: str, outcome: str, reason: str, count: int) -> None:
    counts = found.get(schedule)
    if counts is None:
        counts = found[schedule] = {}
    if outcome in BY_REASON:
        counts = counts.setdefault(outcome, {})
        outcome = reason
    counts[outcome] = counts.get(outcome, 0) + count


def summed(
    groups: Iterable[tuple[str, JobState | None, str | None, datetime, int]],
) -> tuple[LedgerSum, ...]:
    """Return sums by schedule, day, outcome and reason.

    Args:
        groups: schedule, state of the job, reason, an instant of the day, and a number of events.
    """
    found: Counter[tuple[str, date, str, str]] = Counter()
    for schedule, state, reason, at, events in groups:
        found[schedule, at.astimezone(UTC).date(), *outcome_of(state, reason)] += events
    return tuple(
        LedgerSum(schedule=schedule, day=day, outcome=outcome, reason=reason, events=events)
        for (schedule, day, outcome, reason), events in sorted(found.items())
    )


def outcome_of(state: JobState | None, reason: str | None) -> _Outcome:
    """Return the column of an event, and its reason code where the column counts by reason."""
    if is_discarded(state, reason):
        return "discarded", reason or ""
    if state is JobState.FAILED:
        return "failed", reason or ""
    if is_consumed(state, reason):
        return "running" if state is JobState.LAUNCHED else "succeeded", ""
    return "pending", ""
