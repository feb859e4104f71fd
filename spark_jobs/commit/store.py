"""Where commit sequences are kept: the contract that the schedule store's table fulfils.

The store sees a sequence as a text with an id, the datasets it writes and a fencing token;
what the steps are is none of its business. Every method is one transaction. A record whose
checksum does not fit its text was never committed, and is treated as absent everywhere.

    absent ──put──► unfinished ──remove──► finished (keeps the result)

`finished` is what makes a retry after a lost answer find its own publish again.
"""

from collections.abc import Sequence
from typing import Protocol


class CommitStepStore(Protocol):
    """Keeps commit sequences through crashes."""

    def create(self) -> None:
        """Makes the store ready for use; harmless when it is."""
        ...

    def next_token(self, at_least: int = 0) -> int:
        """A fencing token larger than `at_least` and than every one given before."""
        ...

    def put(self, sequence: str, datasets: Sequence[str], token: int, body: str) -> bool:
        """Keeps a sequence. False when one of this id is unfinished or finished already."""
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

    def remove(self, sequence: str, result: str) -> None:
        """Marks a sequence as finished and keeps its result. A second call changes nothing."""
        ...

    def result(self, sequence: str) -> str | None:
        """What `remove` kept for a finished sequence."""
        ...
