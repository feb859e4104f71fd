"""What is noted of data that is expected: what follows from a judgement, its entries and its texts. Pure."""

from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.decision.deadlines import deadline_of_dataset
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

NAMES_MAX = 20
"""Missing partitions that an entry names."""

Periods = Mapping[str, ExpectedPeriod]
"""Kept periods of a dataset, by key."""


class Judged(Value, kw_only=True):
    """What follows from a deadline that has passed, or from data that has landed.

    Attributes:
        data: what is expected from now on.
        kept: periods that are new or have changed.
        gone: keys of periods that need not be kept any longer.
    """

    data: ExpectedData
    kept: tuple[ExpectedPeriod, ...] = ()
    gone: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


def late_entry(data: ExpectedData, period: ExpectedPeriod, at: datetime) -> Entry:
    """Return the entry of a period that is late."""
    partly = data.partitions is not None and data.partitions.static is not None
    lines: dict[str, object] = {"missing": list(period.missing[:NAMES_MAX]), "of": len(period.missing)}
    return Entry(
        at=at,
        kind=EntryKind.LATE,
        reason=Reason.L_DATASET,
        data={**_named(data, period), **(lines if partly else {})},
    )


def landed_entry(data: ExpectedData, period: ExpectedPeriod, at: datetime) -> Entry:
    """Return the entry of a late period that has landed after all."""
    return Entry(at=at, kind=EntryKind.LANDED, data=_named(data, period))


def _named(data: ExpectedData, period: ExpectedPeriod) -> dict[str, object]:
    due = "" if period.due_at is None else period.due_at.isoformat()
    return {
        "dataset": data.dataset,
        "key": period.period,
        "due": due,
        "deadline": deadline_of_dataset(data.deadline, periods=data.partitions is not None),
    }
