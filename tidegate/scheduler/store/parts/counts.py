"""The protocol of what the store counts for metrics; see `scheduler.store.protocol`."""

from typing import Protocol

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value


class Count(Value, kw_only=True):
    """How much of an app there is with one label.

    Attributes:
        label: a status, a state, a kind, or "".
        reason: of jobs, a reason code or "".
    """

    app: str
    label: str = ""
    reason: str = ""
    number: int


class Counts(Value, kw_only=True):
    """What the store has, each by app, then label. What retention has pruned is not counted.

    Attributes:
        schedules: by status, with tasks.
        runs: of programs, by status, with those that Tidegate did not start.
        launches: decided launches of programs.
        events: by kind, the first word of their key.
        finished_jobs: by state and reason.
        outcomes: events of the ledger, by outcome and reason; this includes the pruned ones.
        dead_letters: jobs for which no run could be created.
        bytes: the size of the database; None for a store without a database.
    """

    schedules: tuple[Count, ...]
    runs: tuple[Count, ...]
    launches: tuple[Count, ...]
    events: tuple[Count, ...]
    finished_jobs: tuple[Count, ...]
    outcomes: tuple[Count, ...]
    dead_letters: tuple[Count, ...]
    bytes: int | None = None


class Damage(Value, kw_only=True):
    """A part of the store that is damaged.

    Attributes:
        table: its table; "" for the database itself.
        key: the key of a row; "" for all of it.
        what: what is wrong.
    """

    table: str = ""
    key: str = ""
    what: str


class CountRows(Protocol):
    """Counts, and what cannot be counted on."""

    def damage(self) -> tuple[Damage, ...]:
        """Rows that cannot be read, which all other queries leave out, and what the database says of itself.

        At most the newest rows of large tables are looked at.
        """
        ...

    def counts(self) -> Counts:
        """What the store has."""
        ...


def of_event_key(key: str) -> tuple[str, str]:
    """Return app and kind in the key of an event: "flights" and "fire" of "fire:flights/daily:leaf"."""
    kind, _, rest = key.partition(":")
    return app_of(rest), kind
