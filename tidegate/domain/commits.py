"""What the schedule store keeps of commits: attempts, unfinished sequences, abandoned ones, watermarks.

The engine's store writes these values and `spark_jobs` acts on them, so both import them from here.
`domain.commit_store` is the contract between the two.
"""

from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from tidegate.domain.value import Value

Put = Literal["stored", "known", "fenced", "moved"]
"""What `put` answers: the sequence is kept; one of this id is unfinished or finished already; the attempt
was given up; a watermark is no longer what the run has read. Only after "stored" has anything changed."""


class CommitAttempt(Value, kw_only=True):
    """A run that may still put a sequence.

    Attributes:
        token: fencing token, larger than every one given before.
        commit: commit id.
        datasets: "app/dataset", those that the run writes.
        until: end of its lease; aware, UTC.
    """

    token: int
    commit: str
    datasets: tuple[str, ...]
    until: datetime


class RecoveryState(Value, kw_only=True):
    """Who is finishing an unfinished sequence, until when, and how often that has failed.

    Attributes:
        owner: the process that is finishing it; "" for none.
        until: end of the owner's lease; None without an owner.
        failures: failed tries since the sequence was put.
        error: the message of the last failure.
        failed_at: when the last try failed.
    """

    owner: str = ""
    until: datetime | None = None
    failures: int = 0
    error: str = ""
    failed_at: datetime | None = None

    def is_free(self, now: datetime) -> bool:
        """Whether it has no owner, or the owner's lease is over."""
        return self.owner == "" or self.until is None or self.until <= now

    def taken(self, owner: str, now: datetime, until: datetime) -> "RecoveryState":
        """The state in the hands of `owner`; unchanged while another owner's lease holds."""
        mine = owner == self.owner or self.is_free(now)
        return msgspec.structs.replace(self, owner=owner, until=until) if mine else self

    def released(self) -> "RecoveryState":
        """The state without an owner."""
        return msgspec.structs.replace(self, owner="", until=None)

    def failed(self, error: str, now: datetime) -> "RecoveryState":
        """The state after one more failure, without an owner."""
        return RecoveryState(failures=self.failures + 1, error=error, failed_at=now)


class AbandonedCommit(Value, kw_only=True):
    """What is kept of a sequence that a person has taken away: nothing of it will be done any more.

    Attributes:
        commit: commit id.
        body: the sequence as its writer encoded it.
        error: the message of its last failure.
        note: why it was abandoned.
    """

    commit: str
    token: int
    datasets: tuple[str, ...]
    body: str
    error: str
    note: str
    at: datetime


class Watermark(NamedTuple):
    """How far a program has read one part of a dataset.

    Attributes:
        number: counts the moves of the watermark, from 1.
        position: a text that only the kind of source understands.
        commit: id of the commit that moved it last.
    """

    number: int
    position: str
    commit: str


WatermarkMove = tuple[str, str, str, int]
"""Consumer "app/program", source "app/dataset", part, and the number that the watermark gets."""
