"""The contract between `spark_jobs` and the schedule store for commit sequences.

To the store, a sequence is a text with an id, the datasets it writes and a fencing token; it does
not read the steps. Every method is one transaction. A record whose checksum does not match its text
was never committed and is treated as absent.

    begin ──► attempt (token, lease) ──put──► unfinished ──remove──► finished (keeps the result)
                  │  │          put_withheld  ▲      └──abandon──► a record; put is refused
                  │  └──withhold──► withheld ──abandon_withheld, or a commit that replaces it──► gone
                  └──expire──► put is refused

An attempt is a run that may put a sequence: it has a fencing token and a lease, which it
renews. After the lease expires another process may call `expire`: from then on `put` is refused
and the staged files can be removed. A finished sequence keeps its result, so that a retry after a
lost answer finds its own publish. A withheld sequence has promised nothing: it blocks no put, and its id may
be put by another attempt of the same work. All instants are aware, UTC, and come from the caller's clock.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.domain.commits import (
    AbandonedCommit,
    CheckVerdict,
    CommitAttempt,
    NewWatermark,
    OutputRecord,
    Put,
    PutCommit,
    RecoveryState,
    Release,
    Watermark,
    WatermarkMove,
    WithheldCommit,
)


class CommitStepStore(Protocol):
    """A store that keeps commit sequences across crashes."""

    def begin(self, commit: str, datasets: Sequence[str], *, until: datetime, at_least: int = 0) -> int:
        """Open an attempt and return its fencing token, larger than `at_least` and all earlier tokens."""
        ...

    def last_token(self) -> int:
        """Return the largest token that `begin` has given; 0 for none."""
        ...

    def renew(self, token: int, until: datetime) -> bool:
        """Extend an attempt's lease. Return False if the attempt is closed."""
        ...

    def end(self, token: int) -> None:
        """Close an attempt. A closed attempt stays closed."""
        ...

    def attempts(self) -> Sequence[CommitAttempt]:
        """Return the open attempts, oldest token first."""
        ...

    def expire(self, token: int, now: datetime) -> bool:
        """Close an attempt whose lease has expired. Return False if it has not, or if no attempt is open."""
        ...

    def put(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove] = (),
        verdicts: Sequence[CheckVerdict] = (),
        judged_at: datetime | None = None,
    ) -> Put:
        """Store a sequence and close its attempt, which must be open (this commit, this token).

        The attempts of an abandoned commit count as closed. The job that a commit id names must neither have
        been stopped since nor be run again: in the same transaction, so a run that was stopped before its put
        never publishes.

        Each watermark that the sequence moves must have the preceding number, and no other unfinished
        sequence may move it. What is withheld of the same work, or would move one of these watermarks, ends.

        Args:
            verdicts: of the checks of its outputs; kept with it as their newest results.
            judged_at: now, if there are some.
        """
        ...

    def withhold(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove],
        verdicts: Sequence[CheckVerdict],
        now: datetime,
    ) -> Put:
        """Keep a sequence as withheld in place of `put`, with its answers, and close its attempt.

        It replaces what `put` would: of the same work, and of the same watermarks, one is withheld.
        """
        ...

    def reported_rows(self, dataset: str, keys: Sequence[str], newest: int) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of rows of the newest events of some partitions, newest first, by key.

        Events that do not say it are left out, and so are partitions without any.

        Args:
            keys: "" for a dataset without partitions.
            newest: the most events of each.
        """
        ...

    def withheld(self, commit: str) -> WithheldCommit | None:
        """Return the withheld sequence of this id."""
        ...

    def list_withheld(self, dataset: str | None = None) -> tuple[WithheldCommit, ...]:
        """Return the withheld sequences that would write a dataset (None: any), oldest first."""
        ...

    def put_after(self, datasets: Collection[str], token: int) -> tuple[PutCommit, ...]:
        """Return the sequences with a larger token that write any of these datasets, smallest token first."""
        ...

    def put_withheld(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove],
        seen: Collection[str],
    ) -> Release:
        """Put a withheld sequence, under an open attempt as `put` does.

        Args:
            token: of the attempt that releases it.
            seen: the commits of `put_after` for its datasets and its own token, when the caller looked.
        """
        ...

    def abandon_withheld(self, commit: str) -> bool:
        """Forget a withheld sequence. Return False if no sequence of this id is withheld.

        Nothing of it is published, so its id may be put by the next attempt of the same work.
        """
        ...

    def get(self, commit: str) -> str | None:
        """Return the text of an unfinished sequence."""
        ...

    def list_unfinished(self, dataset: str | None = None) -> tuple[str, ...]:
        """Return the ids of unfinished sequences that write a dataset (None: any), smallest token first."""
        ...

    def take(self, commit: str, owner: str, *, now: datetime, until: datetime) -> RecoveryState | None:
        """Make `owner` the process that finishes a sequence, unless another owner holds a valid lease.

        A second call by the owner extends the lease. Return the new state of the sequence: compare its
        `owner` with yours. Return None if the sequence is finished, abandoned or unknown.
        """
        ...

    def release(self, commit: str, owner: str) -> None:
        """End the lease of an owner. Do nothing if the sequence has another owner or is not unfinished."""
        ...

    def recovery_state(self, commit: str) -> RecoveryState | None:
        """Return the recovery state of an unfinished sequence."""
        ...

    def fail(self, commit: str, owner: str, error: str, now: datetime) -> int:
        """Count a failed try of the owner and end its lease. Return the number of failures so far."""
        ...

    def remove(self, commit: str, result: str) -> None:
        """Mark a sequence as finished and keeps its result. A second call changes nothing."""
        ...

    def result(self, commit: str) -> str | None:
        """Return the result that `remove` kept for a finished sequence."""
        ...

    def tokens(self, commits: Sequence[str]) -> Mapping[str, int]:
        """Return the fencing tokens of those of some sequences that the store knows; a later run has a larger
        one.
        """
        ...

    def abandon(
        self, commit: str, note: str, now: datetime, published: Mapping[str, str] | None = None
    ) -> bool:
        """Remove an unfinished sequence permanently and keep a record of it.

        Return False if it does not exist, or if an owner holds a valid lease. Its id is never used
        again: the part that was published is in its tables under that id.

        Args:
            published: the partitions of its published outputs, by "app/dataset", which the next run of the
                same work does not repeat. Each gets a record.
        """
        ...

    def abandon_output(
        self, commit: str, dataset: str, *, before: str, body: str, note: str, now: datetime
    ) -> bool:
        """Replace the text of an unfinished sequence by one without an output, and keep a record of that.

        The dataset can be written by others from then on, and the failures of the sequence are forgotten.
        Return False if the sequence is not unfinished, its text is not `before`, it does not write the
        dataset, or an owner holds a valid lease.
        """
        ...

    def output_records(self, commit: str) -> Sequence[OutputRecord]:
        """Return the records of single outputs that `abandon` and `abandon_output` kept, by dataset."""
        ...

    def was_abandoned(self, commit: str) -> bool:
        """Return whether a sequence of this id was abandoned."""
        ...

    def abandoned(self, limit: int = 100) -> Sequence[AbandonedCommit]:
        """Return the records of `abandon`, newest first."""
        ...

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        """Return the watermarks of a program on a dataset by part, or only the one of `part`."""
        ...

    def followers(self) -> Sequence[tuple[str, str]]:
        """Return every pair of consumer and source that has watermarks, sorted."""
        ...

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        """Move a watermark from the preceding number to `move`'s. Return False if it has another number."""
        ...

    def set_watermarks(self, moved: Sequence[NewWatermark]) -> None:
        """Move different watermarks in one transaction; those without the preceding number stay."""
        ...
