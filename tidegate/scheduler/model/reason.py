"""Why a job waits, why it was discarded, and why it failed: one stable code each.

The codes are part of the product: they stand in the UI, in `tidegate why`, in the journal
and in users' scenarios, and are never reused for another meaning. docs/reasons.md is the
catalogue for people, and a test holds the two together.
"""

from enum import StrEnum


class Reason(StrEnum):
    """A code with its short explanation (`Reason.W_WINDOW.summary`)."""

    summary: str

    def __new__(cls, code: str, summary: str) -> "Reason":
        member = str.__new__(cls, code)
        member._value_ = code
        member.summary = summary
        return member

    W_TRIGGER = "W-TRIGGER", "the trigger is not satisfied yet"
    W_QUIET = "W-QUIET", "the trigger waits until nothing new comes for a while"
    W_DELAY = "W-DELAY", "the delay after the trigger has not passed"
    W_WINDOW = "W-WINDOW", "the launch window is closed"
    W_LAST_RUN = "W-LAST-RUN", "the last run of the program is too recent, or still active"
    W_RATE = "W-RATE", "the program was launched as often as its rate allows"
    W_LOAD = "W-LOAD", "too much is going on: active runs, or a gauge above its limit"
    W_CONCURRENCY = "W-CONCURRENCY", "every slot of the program or group is taken"
    W_HELD = "W-HELD", "the schedule is suspended, and holds what waits until it is resumed"
    D_DELAY = "D-DELAY", "discarded: the delay had not passed, and the schedule says skip"
    D_WINDOW = "D-WINDOW", "discarded: outside the launch window, and the schedule says skip"
    D_LAST_RUN = "D-LAST-RUN", "discarded: too soon after the last run, and the schedule says skip"
    D_RATE = "D-RATE", "discarded: launched as often as the rate allows, and the schedule says skip"
    D_LOAD = "D-LOAD", "discarded: too much is going on, and the schedule says skip"
    D_CONCURRENCY = "D-CONCURRENCY", "discarded: no free slot, and the schedule says skip"
    D_TIMEOUT = "D-TIMEOUT", "discarded: the constraints did not hold before the timeout"
    D_SUSPENDED = "D-SUSPENDED", "discarded: the schedule is suspended"
    D_UPDATED = "D-UPDATED", "discarded: the schedule was changed by a deploy"
    D_DELETED = "D-DELETED", "discarded: the schedule was deleted by a deploy"
    D_EXPIRED = "D-EXPIRED", "discarded: too old, a fire beyond catch_up or an event beyond collect_within"
    D_NO_KEY = "D-NO-KEY", "discarded: a cron fired when no key of the schedule was waiting for it"
    D_KEY = "D-KEY", "discarded: the partition key does not fit the dataset's partitions"
    D_CANCELLED = "D-CANCELLED", "discarded by hand"
    F_LAUNCH = "F-LAUNCH", "failed: no run could be launched (a dead letter)"
    F_RUN = "F-RUN", "failed: the run failed"
    F_CANCELLED = "F-CANCELLED", "failed: the run was cancelled"
