"""Constraints: what must hold before a ready job is launched, and the timeout of one that waits for them.

A new kind is a struct here, a file in `compiler.constraints` that builds it, and one in
`scheduler.decision.constraints` that judges it.
"""

from datetime import time, timedelta
from typing import Literal

import msgspec

from tidegate.domain.model.calendar import Calendar, Day
from tidegate.domain.model.place import At
from tidegate.domain.value import Value

DEFAULT_TIMEOUT = timedelta(hours=24)
"""How long a satisfied job may wait for its constraints when its schedule says nothing (rule 5)."""

Otherwise = Literal["wait", "skip"]


class ConstraintBase(Value, kw_only=True, tag_field="kind"):
    """What every kind of constraint carries. `otherwise` says what an unmet one does."""

    otherwise: Otherwise = "wait"
    at: At | None = None

    @property
    def kind(self) -> str:
        """Its key in the YAML, which is also its tag in the store."""
        return str(self.__struct_config__.tag)

    @property
    def hours(self) -> "WindowConstraint | None":
        """The wall-clock hours in which it holds; None for one that depends on something else."""
        return None

    @property
    def group_taken(self) -> str | None:
        """The group of which a run takes a slot, besides one of its program."""
        return None

    @property
    def launches_within(self) -> timedelta | None:
        """How far back it counts the launches of the program; None for one that counts none."""
        return None

    @property
    def gauge_limit(self) -> tuple[str, float] | None:
        """The gauge that it reads, and the most that it may be; None for one that reads none."""
        return None


class DelayConstraint(ConstraintBase, kw_only=True, tag="delay"):
    """Holds once `for_` has passed since the trigger was satisfied, or since the first event."""

    for_: timedelta = msgspec.field(name="for")
    from_: Literal["satisfied", "first_event"] = msgspec.field(name="from", default="satisfied")


class WindowConstraint(ConstraintBase, kw_only=True, tag="window"):
    """Holds when the local wall time is in [from, to); wraps midnight when to is the earlier one.

    Attributes:
        days: the days on which the window opens; empty means every day.
        calendar: the window opens only on business days of it.
    """

    from_: time = msgspec.field(name="from")
    to: time
    days: tuple[Day, ...] = ()
    timezone: str = "UTC"
    calendar: Calendar | None = None

    @property
    def hours(self) -> "WindowConstraint":
        return self


class SinceLastRunConstraint(ConstraintBase, kw_only=True, tag="since_last_run"):
    """Holds once `for_` has passed since the program's last successful run, and none is active."""

    for_: timedelta = msgspec.field(name="for")
    measured_from: Literal["end", "start"] = "end"


class ConcurrencyConstraint(ConstraintBase, kw_only=True, tag="concurrency"):
    """Holds while fewer than `max` runs of the program, or of the named group, are active.

    Groups are shared by all apps of a store: they stand for something the whole cluster shares.
    """

    max: int
    group: str | None = None

    @property
    def group_taken(self) -> str | None:
        return self.group


class RateConstraint(ConstraintBase, kw_only=True, tag="rate"):
    """Holds while fewer than `max` runs of the program were launched within the last `per`, whoever did."""

    max: int
    per: timedelta

    @property
    def launches_within(self) -> timedelta:
        return self.per


class LoadConstraint(ConstraintBase, kw_only=True, tag="load"):
    """Holds while little enough is going on: exactly one of the two ways of measuring is set.

    Attributes:
        max_active_runs: of the whole store, the coming run included (rule 18).
        gauge: name of a number that somebody reports; it may be `max` at most. One that was never
            reported holds nothing back.
    """

    max_active_runs: int | None = None
    gauge: str | None = None
    max: float | None = None

    @property
    def gauge_limit(self) -> tuple[str, float] | None:
        return None if self.gauge is None else (self.gauge, self.max or 0.0)


Constraint = (
    DelayConstraint
    | WindowConstraint
    | SinceLastRunConstraint
    | RateConstraint
    | LoadConstraint
    | ConcurrencyConstraint
)


class Timeout(Value, kw_only=True):
    """What becomes of a satisfied job whose constraints do not hold in time (rule 5)."""

    after: timedelta = DEFAULT_TIMEOUT
    then: Literal["discard", "run"] = "discard"
    from_: Literal["satisfied", "first_event"] = msgspec.field(name="from", default="satisfied")
    at: At | None = None
