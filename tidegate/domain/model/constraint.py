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


class RateConstraint(ConstraintBase, kw_only=True, tag="rate"):
    """Holds while fewer than `max` runs of the program were launched within the last `per`, whoever did."""

    max: int
    per: timedelta


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
