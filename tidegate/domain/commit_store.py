"""Where commit sequences are kept: the contract between `spark_jobs` and the schedule store.

The store sees a sequence as a text with an id, the datasets it writes and a fencing token;
what the steps are is none of its business. Every method is one transaction. A record whose
checksum does not fit its text was never committed, and is treated as absent everywhere.

    begin ──► attempt (token, lease) ──put──► unfinished ──remove──► finished (keeps the result)
                  └──give_up──► put is refused        └──abandon──► a record; put is refused

An attempt is a run that may put a sequence: it has a fencing token and a lease which it
renews. One whose lease has run out may be given up, and its `put` is refused from then on, so
its staging can be removed. `finished` is what makes a retry after a lost answer find
its own publish again. All instants are aware, UTC, and come from the caller's clock.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.domain.commits import (
    AbandonedCommit,
    CommitAttempt,
    Put,
    RecoveryState,
    Watermark,
    WatermarkMove,
)


class CommitStepStore(Protocol):
    """Keeps commit sequences through crashes."""

    def create(self) -> None:
        """Makes the store ready for use; harmless when it is."""
        ...

    def begin(self, commit: str, datasets: Sequence[str], *, until: datetime, at_least: int = 0) -> int:
        """Opens an attempt: a fencing token larger than `at_least` and than every one given before."""
        ...

    def renew(self, token: int, until: datetime) -> bool:
        """Prolongs an attempt's lease. False when it has ended or was given up."""
        ...

    def end(self, token: int) -> None:
        """Closes an attempt; one that is closed is no error."""
        ...

    def attempts(self) -> Sequence[CommitAttempt]:
        """The open attempts, oldest token first."""
        ...

    def give_up(self, token: int, now: datetime) -> bool:
        """Closes an attempt whose lease has run out. False when it has not, or there is none."""
        ...

    def put(
        self,
        sequence: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove] = (),
    ) -> Put:
        """Keeps a sequence, whose attempt (of this commit, under this token) must be open, and closes it.

        The attempts of a commit that was abandoned count as given up.

        Each watermark that it will move must have the number before, and no unfinished sequence may
        be about to move it.
        """
        ...

    def exists(self, sequence: str) -> bool:
        """Whether a sequence of this id is unfinished."""
        ...

    def get(self, sequence: str) -> str | None:
        """The text of an unfinished sequence."""
        ...

    def list_unfinished(self, dataset: str | None = None) -> tuple[str, ...]:
        """Ids of the unfinished sequences that write a dataset, smallest token first; None: all."""
        ...

    def take(self, sequence: str, owner: str, *, now: datetime, until: datetime) -> RecoveryState | None:
        """Makes `owner` the one who finishes a sequence, unless the lease of another owner still holds.

        Called again by its owner it prolongs the lease. Returns the state of the sequence now (look whether
        `owner` is you), None when it is finished, abandoned or never was.
        """
        ...

    def release(self, sequence: str, owner: str) -> None:
        """Ends the lease of an owner; nothing when the sequence has another owner or is gone."""
        ...

    def recovery_state(self, sequence: str) -> RecoveryState | None:
        """The recovery state of an unfinished sequence."""
        ...

    def fail(self, sequence: str, owner: str, error: str, now: datetime) -> int:
        """Counts a failed try of its owner, whose lease ends. Returns the failures so far."""
        ...

    def remove(self, sequence: str, result: str) -> None:
        """Marks a sequence as finished and keeps its result. A second call changes nothing."""
        ...

    def result(self, sequence: str) -> str | None:
        """What `remove` kept for a finished sequence."""
        ...

    def abandon(self, sequence: str, note: str, now: datetime) -> bool:
        """Takes an unfinished sequence away for good, and keeps a record of it.

        False when there is none, or its owner's lease holds. Its id is never
        used again: what is published of it stands in its tables under that id.
        """
        ...

    def was_abandoned(self, sequence: str) -> bool:
        """Whether a sequence of this id was taken away."""
        ...

    def abandoned(self, limit: int = 100) -> Sequence[AbandonedCommit]:
        """The records of `abandon`, newest first."""
        ...

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        """How far a program has read a dataset, by part; or how far it has read one part."""
        ...

    def followers(self) -> Sequence[tuple[str, str]]:
        """Each consumer that has watermarks with each of its sources, sorted."""
        ...

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        """Moves a watermark from the number before to `move`'s. False when it has another number."""
        ...
