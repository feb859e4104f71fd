"""The journal: an append-only record of every input and every decision.

It is written in the same transaction as the change that it records. Decisions never read it: it
is for people, for `tidegate why --at`, and for the tests that replay it.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from tidegate.domain.value import Value


class EntryKind(StrEnum):
    """The kind of a journal entry.

    A `spec` entry holds one schedule or app as it was deployed (`data["spec"]`, None if it was
    deleted), a `clock` entry the start of a timer, a `gauge` entry a reported value. Together
    with the others they hold everything that the engine knew at any instant.
    """

    EVENT = "event"
    EVENT_DISCARDED = "event-discarded"
    JOB_OPENED = "job-opened"
    SATISFIED = "satisfied"
    WAITING = "waiting"
    LAUNCH = "launch"
    OFFERED = "offered"
    SLOTS_TAKEN = "slots-taken"
    DISCARDED = "discarded"
    RUN = "run"
    CLAIM = "claim"
    LAUNCH_FAILED = "launch-failed"
    FAILURE = "failure"
    RETRY = "retry"
    RECOVERED = "recovered"
    REPAIRED = "repaired"
    MANUAL = "manual"
    STATUS = "status"
    DEPLOY = "deploy"
    SPEC = "spec"
    CLOCK = "clock"
    SET_BACK = "set-back"
    GAUGE = "gauge"
    REPLAY = "replay"
    RENAME = "rename"
    INSTANCE = "instance"
    REMADE = "remade"
    GONE = "gone"
    LEFT_OUT = "left-out"
    PASSED = "passed"
    MARKED = "marked"
    PAUSED = "paused"
    RERUN = "rerun"
    REPORTED = "reported"
    BACKFILL = "backfill"
    STOPPED = "stopped"
    OPERATION = "operation"
    TOKEN = "token"
    HELD = "held"
    OVERRIDE = "override"
    PARTITIONS = "partitions"
    RUN_BY_HAND = "run-by-hand"
    ALERT = "alert"
    LATE = "late"
    LANDED = "landed"
    COMMIT = "commit"
    WATERMARK = "watermark"


class By(Value, kw_only=True):
    """Who does something, and why.

    Attributes:
        actor: "cli:USER" for a command, USER being the user of the machine, "rest (user USER)" or
            "rest:TOKEN" for a call, "ui" for a switch in Dagster, "expiry" for an override that reverts by
            itself.
    """

    actor: str
    reason: str = ""

    @property
    def noted(self) -> dict[str, Any]:
        """What entries have of it."""
        return {"by": self.actor, **({"why": self.reason} if self.reason else {})}


NOBODY = By(actor="")
"""The actor of what is only checked: no entry of it is written."""


class Entry(Value, kw_only=True):
    """One line of the journal.

    Attributes:
        at: when the scheduler did or observed it. Aware, UTC.
        schedule: "app/name", if the entry is about a schedule.
        reason: a reason code, if the entry has one.
    """

    at: datetime
    kind: EntryKind
    schedule: str | None = None
    job: str | None = None
    run_id: str | None = None
    event: str | None = None
    reason: str | None = None
    data: dict[str, Any] = {}
