"""Reason codes: why a job waits, was discarded or failed; one stable code for each reason.

The codes are part of the product: the UI, `tidegate why`, the journal and users' scenarios show
them, and a code never changes its meaning. docs/reasons.md is the catalogue for people; a test
checks that it lists every code.
"""

from enum import StrEnum

from tidegate.domain.value import Value


class CodeText(Value, kw_only=True):
    """The text of a code, in Markdown; links are relative to docs/.

    Attributes:
        meaning: in a few words; "" where the code has a summary elsewhere.
        cause: what has led to it.
        remedy: what to do, or what ends the wait.
    """

    meaning: str = ""
    cause: str
    remedy: str


class Reason(StrEnum):
    """A code with its short explanation (`Reason.W_WINDOW.summary`)."""

    summary: str

    def __new__(cls, code: str, summary: str) -> "Reason":
        member = str.__new__(cls, code)
        member._value_ = code
        member.summary = summary
        return member

    W_TRIGGER = "W-TRIGGER", "the trigger is not satisfied yet"
    W_QUIET = "W-QUIET", "the trigger waits for its quiet time without new events"
    W_TIME = "W-TIME", "the start time of the instance has not come yet"
    W_UPSTREAM = "W-UPSTREAM", "an upstream instance is not successful yet"
    W_REPORT = "W-REPORT", "the instance waits for a report from outside"
    W_RETRY = "W-RETRY", "its run failed, and the pause before the next attempt has not passed"
    W_DELAY = "W-DELAY", "the delay after the trigger has not passed"
    W_WINDOW = "W-WINDOW", "the launch window is closed"
    W_LAST_RUN = "W-LAST-RUN", "the program's last run is too recent or still active"
    W_RATE = "W-RATE", "the program has reached its launch rate"
    W_LOAD = "W-LOAD", "too many active runs, or a gauge above its limit"
    W_LOCATION = "W-LOCATION", "the code location of the job is not loaded"
    W_HOST = "W-HOST", "no host is active, and only a host can launch the job"
    W_CONCURRENCY = "W-CONCURRENCY", "all slots of the program or group are taken"
    W_PARTITION = "W-PARTITION", "another instance writes the same partition of the same dataset"
    W_HELD = "W-HELD", "the schedule is suspended and holds its jobs until it is resumed"
    M_TABLE = "M-TABLE", "another operation of the table runs"
    M_WINDOW = "M-WINDOW", "the window of the operation is closed"
    M_BACKOFF = "M-BACKOFF", "the operation has failed too often in a row on this table"
    M_THROTTLE = "M-THROTTLE", "the operation has changed nothing too often in a row on this table"
    M_HEALTH = "M-HEALTH", "the health of the table could not be measured yet"
    M_INTERVAL = "M-INTERVAL", "the last successful run is less than `min_interval` ago"
    M_CONDITION = "M-CONDITION", "the thresholds of the operation are not reached"
    M_BUSY = "M-BUSY", "pipelines write every partition of the table"
    M_BUDGET = "M-BUDGET", "the budget of the poll or of the hour is spent"
    M_PLACES = (
        "M-PLACES",
        "pipelines come first: a run of theirs is queued, or less than half of the places are free",
    )
    D_DELAY = "D-DELAY", "discarded: the delay had not passed, and the constraint says skip"
    D_WINDOW = "D-WINDOW", "discarded: outside the launch window, and the constraint says skip"
    D_LAST_RUN = "D-LAST-RUN", "discarded: too soon after the last run, and the constraint says skip"
    D_RATE = "D-RATE", "discarded: the program had reached its launch rate, and the constraint says skip"
    D_LOAD = "D-LOAD", "discarded: the load was above its limit, and the constraint says skip"
    D_CONCURRENCY = "D-CONCURRENCY", "discarded: no free slot, and the constraint says skip"
    D_TIMEOUT = "D-TIMEOUT", "discarded: the constraints were not met before the timeout"
    D_SUSPENDED = "D-SUSPENDED", "discarded: the schedule is suspended"
    D_UPDATED = "D-UPDATED", "discarded: the schedule was changed by a deploy"
    D_DELETED = "D-DELETED", "discarded: the schedule was deleted by a deploy"
    D_EXPIRED = "D-EXPIRED", "discarded: too old: a fire beyond catch_up, or events beyond collect_within"
    D_NO_KEY = "D-NO-KEY", "discarded: a cron fired while no key of the schedule had a waiting job"
    D_KEY = "D-KEY", "discarded: the partition key does not fit the dataset's partitions"
    D_REPAIR = "D-REPAIR", "discarded: too late to repair the provisional job of its key"
    D_REPAIRED = "D-REPAIRED", "discarded: the job that repairs it was launched before it had a run"
    D_CANCELLED = "D-CANCELLED", "discarded by hand"
    L_DEADLINE = "L-DEADLINE", "late: it has not succeeded before its deadline"
    L_DATASET = "L-DATASET", "late: the data has not landed before the deadline of its dataset"
    F_REPORTED = "F-REPORTED", "failed: reported as failed from outside"
    F_LAUNCH = "F-LAUNCH", "failed: no run could be created (a dead letter)"
    F_RUN = "F-RUN", "failed: the run failed"
    F_CHECK = "F-CHECK", "failed: a check of its rows failed, and its publish is withheld"
    F_CANCELLED = "F-CANCELLED", "failed: the run was cancelled"
    F_TIMEOUT = "F-TIMEOUT", "failed: the operation took longer than its timeout"
    F_CONFLICT = "F-CONFLICT", "ended: another writer was faster each time; it goes on later"
    F_YIELDED = "F-YIELDED", "ended: it made room for a pipeline of high priority; it goes on later"
