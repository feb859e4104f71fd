"""How long the store keeps what no decision needs any more: the section `[retention]` of the settings."""

from datetime import timedelta

from tidegate.domain.value import Value


class Keep(Value, kw_only=True):
    """How long rows are kept; None keeps them without end.

    Attributes:
        journal: entries of the journal.
        events: events with their deliveries.
        finished_jobs: jobs that have ended, with their runs, claims and recorded upstream instances.
        launches: launches that no `rate` counts any more.
        clock_error: a clock that goes back by so much finds every launch that a `rate` counts.
    """

    journal: timedelta | None = timedelta(days=14)
    events: timedelta | None = timedelta(days=90)
    finished_jobs: timedelta | None = timedelta(days=90)
    launches: timedelta | None = timedelta(days=90)
    clock_error: timedelta = timedelta(days=1)
