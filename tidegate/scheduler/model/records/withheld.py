"""Materialisations whose checks have not passed: the events that `checks: passed` withholds.

    materialised ──no run, or no check planned────────────────────────────────► released
         │                                                                         ▲
         ▼                                                                         │
    its run goes on ──ended──► all checks evaluated, none of severity ERROR failed ┤
                                  │else                                            │
                                  ▼                                                │
                               withheld ──each failed or missing check passes later┘

A partition has one record, that of its newest materialisation, whose event is made when it is released. A
released one is kept for a while, so that rows of Dagster's log that are read again change nothing.
"""

from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Event, EventKind, checked_event_key
from tidegate.scheduler.model.kind import Kind

ERROR = "ERROR"
"""The severity of a failed check that withholds an event."""


class CheckResult(Value, kw_only=True):
    """What is known of one check of a materialisation.

    Attributes:
        passed: whether it passed; None while it was not evaluated.
        severity: that its evaluation gives.
        description: that its evaluation gives, for people.
        run_id: the run that evaluated it; "" for an evaluation without a run.
        at: when it was evaluated. Aware, UTC.
    """

    passed: bool | None = None
    severity: str = ERROR
    description: str = ""
    run_id: str = ""
    at: datetime | None = None

    @property
    def holds_back(self) -> bool:
        """Whether it was not evaluated, or failed with severity ERROR."""
        return self.passed is None or (not self.passed and self.severity == ERROR)


class WithheldEvent(Value, kw_only=True):
    """The newest materialisation of a partition of a dataset whose checks a schedule waits for.

    Attributes:
        dataset: "app/name".
        partition: its key; "" for a dataset without partitions.
        event: id of the event of the materialisation.
        materialised_at: when it was made, as Dagster's log has it, by which evaluations aim at it.
        time: the time of its event.
        run_id: the run that made it; None without one.
        ended: that run has ended.
        checks: what is known of each check that the run had planned or evaluated, by name.
        withheld_since: when the store first held it; None once it is released.
        released_at: when it was released; None while it is withheld.
    """

    dataset: str
    partition: str
    event: str
    materialised_at: datetime
    time: datetime
    bytes: int | None = None
    rows: int | None = None
    run_id: str | None = None
    detail: str = ""
    ended: bool = False
    checks: dict[str, CheckResult] = {}
    withheld_since: datetime | None = None
    released_at: datetime | None = None

    @property
    def lacking(self) -> Mapping[str, CheckResult]:
        """The checks that hold it back, by name."""
        return {name: each for name, each in sorted(self.checks.items()) if each.holds_back}

    @property
    def may_go(self) -> bool:
        """Whether nothing holds it back."""
        if self.run_id is None or not self.checks:
            return True
        return self.ended and not self.lacking

    def released(self, now: datetime) -> Event:
        """Return its event, which keeps the time of the materialisation and arrives now."""
        return Event(
            id=f"checked:{self.event}",
            kind=EventKind.PARTITION,
            key=checked_event_key(self.dataset),
            time=self.time,
            arrived=now,
            partition=self.partition,
            bytes=self.bytes,
            rows=self.rows,
            run_id=self.run_id,
            detail=self.detail,
        )


WITHHELD_EVENTS = Kind(
    name="withheld_events",
    value=WithheldEvent,
    key=("dataset", "partition"),
    by=("run_id",),
    due="withheld_since",
)
