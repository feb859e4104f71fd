"""A moment: one line of a scenario's timeline, compared with the expectations and printed."""

from datetime import datetime
from typing import Any, Literal

from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import Work

MomentKind = Literal[
    "given",
    "waiting",
    "launched",
    "maintained",
    "ended",
    "discarded",
    "dropped",
    "refused",
    "launch-failed",
    "late",
    "landed",
]
"""`discarded` is about a job, `dropped` about an event that no job accepts or keeps.

`maintained` is the start of an operation on a table. `late` is the deadline that a job, or a period of a
dataset, has missed; `landed` is a late period that has landed after all.
"""


class Moment(Value, kw_only=True):
    """A given action, or one of its consequences.

    Attributes:
        schedule: its name within the app; of another app "app/name". Of an operation on a table the table; of
            late data the dataset.
        key: the `for_each` key of the job, or the scheduled time of an instance, or the operation.
        reason: the code of a wait, a discard or a refusal.
        partitions: of a launch: every key of its manifest, or its business dates; of an instance of a task
            and of `output_partition: current` the partitions that it writes.
        business_date, number: of the launch of an instance: its business date, and its backfill.
        provisional, repair: of a launch: whether members of its trigger were missing, and whether it repairs
            the job before it.
        work: of an operation on a table: its policy, and how it was started.
        next_check: of a wait: when time may change the decision.
        discarded_at: of a wait: when its timeout discards the job.
        text: the rest, for people.
    """

    when: datetime
    kind: MomentKind
    schedule: str = ""
    key: str = ""
    job: str | None = None
    reason: str | None = None
    partitions: tuple[str, ...] = ()
    business_date: str | None = None
    number: int = 0
    args: dict[str, Any] = {}
    provisional: bool = False
    repair: bool = False
    work: Work | None = None
    next_check: datetime | None = None
    discarded_at: datetime | None = None
    text: str = ""
