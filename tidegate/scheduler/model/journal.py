"""The journal: an append-only record of every input and every decision.

It is written in the same transaction as what it records, and never read by the engine: it is
for people, for `tidegate why --at`, and for the checks that replay it.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from tidegate.domain.value import Value


class EntryKind(StrEnum):
    """What an entry records.

    A `spec` entry holds what a deploy made of one schedule or app (`data["spec"]`, None for one that
    was deleted), a `clock` entry that an `elapsed` leaf counts anew, a `gauge` entry a reported number.
    Together with the others they say all that the engine knew at any instant.
    """

    EVENT = "event"
    EVENT_DISCARDED = "event-discarded"
    JOB_OPENED = "job-opened"
    SATISFIED = "satisfied"
    WAITING = "waiting"
    LAUNCH = "launch"
    OFFERED = "offered"
    DISCARDED = "discarded"
    RUN = "run"
    CLAIM = "claim"
    LAUNCH_FAILED = "launch-failed"
    MANUAL = "manual"
    STATUS = "status"
    DEPLOY = "deploy"
    SPEC = "spec"
    CLOCK = "clock"
    GAUGE = "gauge"


class Entry(Value, kw_only=True):
    """One line of the journal.

    Attributes:
        at: when the scheduler did or saw it. Aware, UTC.
        schedule: "app/name", where it concerns one.
        reason: a reason code, where there is one.
    """

    at: datetime
    kind: EntryKind
    schedule: str | None = None
    job: str | None = None
    run_id: str | None = None
    event: str | None = None
    reason: str | None = None
    data: dict[str, Any] = {}
