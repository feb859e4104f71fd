"""The commit values of the schedule store: attempts, recoveries, withheld and abandoned commits, watermarks.

The engine's store writes these values and `spark_jobs` acts on them, so both import them from here.
`domain.commit_store` is the contract between the two.
"""

from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from tidegate.domain.value import Value

Put = Literal["stored", "known", "fenced", "over", "moved"]
"""The answer of `put`. "stored": the sequence is stored. "known": a sequence of this id exists. "fenced": the
attempt is closed. "over": the job of the run was stopped, or is run again. "moved": a watermark changed after
the run read it. Only "stored" changes the store."""

Release = Put | Literal["gone", "again"]
"""The answer of `put_withheld`, beside those of `put`. "gone": no publish of this id is withheld. "again":
another commit of its datasets was put since the caller has looked at them."""


Severity = Literal["block", "warn"]
"""Of a check: whether its failure withholds the publish, or is only reported."""

SAMPLES = 5
"""Bad rows, and bad partitions, that a verdict names."""


class CommitAttempt(Value, kw_only=True):
    """A run that may put a sequence.

    Attributes:
        token: fencing token, larger than all earlier ones.
        commit: commit id.
        datasets: the datasets that the run writes, each as "app/dataset".
        until: end of its lease; aware, UTC.
    """

    token: int
    commit: str
    datasets: tuple[str, ...]
    until: datetime


class RecoveryState(Value, kw_only=True):
    """The recovery of an unfinished sequence: its owner, the owner's lease, and the failures.

    Attributes:
        owner: the process that finishes it; "" for none.
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
        """Return whether it has no owner, or the owner's lease has expired."""
        return self.owner == "" or self.until is None or self.until <= now

    def taken(self, owner: str, now: datetime, until: datetime) -> "RecoveryState":
        """Return the state owned by `owner`; unchanged while another owner's lease is valid."""
        mine = owner == self.owner or self.is_free(now)
        return msgspec.structs.replace(self, owner=owner, until=until) if mine else self

    def released(self) -> "RecoveryState":
        """Return the state without an owner."""
        return msgspec.structs.replace(self, owner="", until=None)

    def failed(self, error: str, now: datetime) -> "RecoveryState":
        """Return the state after one more failure, without an owner."""
        return RecoveryState(failures=self.failures + 1, error=error, failed_at=now)


class CheckVerdict(Value, kw_only=True):
    """What a check of a dataset found in the rows that a run has staged.

    Attributes:
        dataset: "app/dataset".
        name: of the check, unique in its dataset.
        kind: rows, not_null, unique, values, range, matches, change, reference, sql or run.
        severity: whether a failure withholds the publish, or is only reported.
        passed: whether the rows keep it.
        found: one line for people: "3 of 100 rows: id is null".
        rows: rows that were judged.
        bad: rows that break it; of `rows` and `change` partitions.
        partitions: of `rows` and `change` the partitions that break it, at most `SAMPLES`.
        samples: keys of rows that break it, by column, at most `SAMPLES`; None is null.
    """

    dataset: str
    name: str
    kind: str
    severity: Severity
    passed: bool
    found: str
    rows: int = 0
    bad: int = 0
    partitions: tuple[str, ...] = ()
    samples: tuple[dict[str, str | None], ...] = ()

    @property
    def blocks(self) -> bool:
        """Return whether it withholds the publish."""
        return not self.passed and self.severity == "block"


class WithheldCommit(Value, kw_only=True):
    """The record of a sequence that was not put, because a check of its rows failed.

    Attributes:
        commit: commit id.
        token: fencing token of the run that staged it.
        datasets: the datasets that it would write, as "app/dataset", and the watermarks that it would move.
        body: the sequence as its writer encoded it.
        verdicts: of all checks of all its outputs, passed or not.
        at: when it was withheld; aware, UTC.
    """

    commit: str
    token: int
    datasets: tuple[str, ...]
    body: str
    verdicts: tuple[CheckVerdict, ...]
    at: datetime


class PutCommit(Value, kw_only=True):
    """A sequence that was put, finished or not.

    Attributes:
        body: the sequence as its writer encoded it; "" once it is finished.
        result: what `remove` kept; None while it is unfinished.
    """

    commit: str
    token: int
    datasets: tuple[str, ...]
    body: str
    result: str | None


class AbandonedCommit(Value, kw_only=True):
    """The record of a sequence that a person abandoned; its remaining steps are never done.

    Attributes:
        commit: commit id.
        body: the sequence as its writer encoded it.
        error: the message of its last failure.
        note: why the person abandoned it.
    """

    commit: str
    token: int
    datasets: tuple[str, ...]
    body: str
    error: str
    note: str
    at: datetime


class OutputRecord(Value, kw_only=True):
    """The record of one output of a commit that a person abandoned, wholly or without its other outputs.

    Attributes:
        dataset: "app/dataset".
        published: its published partitions, encoded by the writer of the commit, when the whole commit was
            abandoned after this output was published; None when this output alone was abandoned.
        error: the message of the commit's last failure.
        note: why the person abandoned it.
    """

    dataset: str
    published: str | None
    error: str
    note: str
    at: datetime


class Watermark(NamedTuple):
    """How far a program has read one part of a dataset.

    Attributes:
        number: number of moves of the watermark, from 1.
        position: a text that only the source can read.
        commit: id of the commit that moved it last.
    """

    number: int
    position: str
    commit: str


WatermarkMove = tuple[str, str, str, int]
"""Consumer "app/program", source "app/dataset", part, and the new number of the watermark."""


class NewWatermark(NamedTuple):
    """A move of a watermark, the position that it moves to, and the commit that moves it."""

    move: WatermarkMove
    position: str
    commit: str
