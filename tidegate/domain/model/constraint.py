"""Constraints, which must hold before a ready job is launched, and the timeout of a job that waits for them.

A new kind is a struct here, a line in `compiler.constraints`, and a file in
`scheduler.decision.constraints` that evaluates it.
"""

from datetime import time, timedelta
from typing import Literal

import msgspec

from tidegate.domain.model.shared import At, Calendar, Day
from tidegate.domain.value import Value

DEFAULT_TIMEOUT = timedelta(hours=24)
"""The default time for which a satisfied job may wait for its constraints (rule 5)."""

NEVER = timedelta(days=36500)
"""The timeout of a task that names none: longer than any instance waits."""

Otherwise = Literal["wait", "skip"]


class ConstraintBase(Value, kw_only=True, tag_field="kind"):
    """The base of every kind of constraint. `otherwise` is the effect of an unmet constraint."""

    otherwise: Otherwise = "wait"
    at: At | None = None

    @property
    def kind(self) -> str:
        """Its key in the YAML, which is also its tag in the store."""
        return str(self.__struct_config__.tag)

    @property
    def hours(self) -> "WindowConstraint | None":
        """The wall-clock hours in which it holds; None if it does not depend on the wall clock."""
        return None

    @property
    def delayed(self) -> "DelayConstraint | None":
        """How long after its trigger it holds; None if it does not hold after a fixed time."""
        return None

    @property
    def group_taken(self) -> str | None:
        """The group of which a run takes a slot, in addition to a slot of its program."""
        return None

    @property
    def group_limit(self) -> int | None:
        """The number of runs of that group that may be active; None without a group."""
        return None

    @property
    def launches_within(self) -> timedelta | None:
        """How far back it counts launches of the program; None if it does not count launches."""
        return None

    @property
    def reads_history(self) -> bool:
        """Whether it depends on the last runs of the program."""
        return False

    @property
    def gauge_limit(self) -> tuple[str, float] | None:
        """The gauge that it reads, and the gauge's maximum; None if it does not read a gauge."""
        return None

    def longest_wait(self, run: timedelta | None) -> timedelta | None:
        """Return how long it can hold a job; None without a limit.

        Args:
            run: how long a run of the program takes at most; None without a limit.
        """
        return None


class DelayConstraint(ConstraintBase, kw_only=True, tag="delay"):
    """Holds when `for_` has passed since the trigger was satisfied, or since the first event."""

    for_: timedelta = msgspec.field(name="for")
    from_: Literal["satisfied", "first_event"] = msgspec.field(name="from", default="satisfied")

    @property
    def delayed(self) -> "DelayConstraint":
        return self


class WindowConstraint(ConstraintBase, kw_only=True, tag="window"):
    """Holds when the local wall time is in [from, to); wraps midnight if `to` is earlier than `from`.

    Attributes:
        days: the days on which the window opens; empty means every day.
        calendar: the window opens only on its business days.
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
    """Holds when `for_` has passed since the program's last successful run and no run is active."""

    for_: timedelta = msgspec.field(name="for")
    measured_from: Literal["end", "start"] = "end"

    @property
    def reads_history(self) -> bool:
        return True

    def longest_wait(self, run: timedelta | None) -> timedelta | None:
        return None if run is None else run + self.for_


class ConcurrencyConstraint(ConstraintBase, kw_only=True, tag="concurrency"):
    """Holds while fewer than `max` runs of the program, or of the named group, are active.

    All apps of a store share the groups: a group is a resource of the whole cluster.
    """

    max: int
    group: str | None = None

    @property
    def group_taken(self) -> str | None:
        return self.group

    @property
    def group_limit(self) -> int | None:
        return None if self.group is None else self.max

    def longest_wait(self, run: timedelta | None) -> timedelta | None:
        return run if self.group is None else None


class RateConstraint(ConstraintBase, kw_only=True, tag="rate"):
    """Holds while fewer than `max` runs of the program were launched within the last `per`, by any means."""

    max: int
    per: timedelta

    @property
    def launches_within(self) -> timedelta:
        return self.per

    def longest_wait(self, run: timedelta | None) -> timedelta | None:
        return self.per


class LoadConstraint(ConstraintBase, kw_only=True, tag="load"):
    """Holds while the load is low enough. Exactly one of `max_active_runs` and `gauge` is set.

    Attributes:
        max_active_runs: limit for the whole store, the new run included (rule 18).
        gauge: name of a reported number, which may be `max` at most. The constraint holds until the
            gauge is first reported.
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
    """The end of the wait of a satisfied job whose constraints do not hold in time (rule 5)."""

    after: timedelta = DEFAULT_TIMEOUT
    then: Literal["discard", "run"] = "discard"
    from_: Literal["satisfied", "first_event"] = msgspec.field(name="from", default="satisfied")
    at: At | None = None
