"""What every kind of trigger carries, and the facts that it states about itself.

A kind overrides the facts that hold for it; the defaults describe a leaf of which one event is enough.
Nothing else in the project asks whether a trigger is of a certain kind.
"""

from datetime import timedelta
from typing import Literal, Protocol

from tidegate.domain.model.calendar import Calendar
from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.place import At
from tidegate.domain.value import Value

CatchUp = Literal["none", "latest", "all"]


class WallClock(Protocol):
    """The wall-clock times at which a trigger fires, see `domain.model.triggers.cron`."""

    @property
    def cron(self) -> str: ...

    @property
    def timezone(self) -> str: ...

    @property
    def catch_up(self) -> CatchUp: ...

    @property
    def catch_up_at_most(self) -> timedelta | None: ...

    @property
    def calendar(self) -> Calendar | None: ...

    @property
    def nth_business_day(self) -> int | None: ...


class TriggerBase(Value, kw_only=True, tag_field="kind"):
    """What every kind of trigger carries.

    Attributes:
        wait_at_most: counted from the first event of the job; once it is over the trigger
            holds with what has arrived (rule 16). None waits for ever.
        quiet: the trigger holds only when nothing new has come for this long.
        quiet_at_most: the longest that `quiet` may hold it back, from the moment it held without it.
        collect_within: what came longer ago drops out, one by one, while the trigger is not satisfied.
    """

    wait_at_most: timedelta | None = None
    quiet: timedelta | None = None
    quiet_at_most: timedelta | None = None
    collect_within: timedelta | None = None
    at: At | None = None

    @property
    def kind(self) -> str:
        """Its key in the YAML, which is also its tag in the store."""
        return str(self.__struct_config__.tag)

    @property
    def wall_clock(self) -> WallClock | None:
        """The wall-clock times at which it fires; None for one that does not."""
        return None

    def one_line(self) -> str:
        """What would make the schedule run, in one line, without the options."""
        return self.kind


class LeafTrigger(TriggerBase, kw_only=True):
    """A trigger without members: events are delivered to it.

    A leaf collects the events that it counts: partitions of a dataset, runs of a program, or its own
    fires. One with a timer also hears events which it does not count, and which only start its timer.
    """

    @property
    def dataset_collected(self) -> str | None:
        """The dataset, within the app, whose partitions it collects."""
        return None

    @property
    def dataset_heard(self) -> str | None:
        """The dataset whose events reach it, to be collected or to start its timer."""
        return self.dataset_collected

    @property
    def program_collected(self) -> str | None:
        """The program, within the app, whose runs it collects."""
        return None

    def runs_heard(self, own: str) -> tuple[str, str] | None:
        """The program and the status of the runs that reach it, to be collected or to start its timer.

        Args:
            own: the program of its schedule.
        """
        return None

    @property
    def timer(self) -> timedelta | None:
        """How long after the last event that it hears it fires; None for one without a timer.

        A timer that counts from runs starts again when it fires, any other one at the next event.
        """
        return None

    @property
    def fires_by_clock(self) -> bool:
        """Whether time alone makes it fire. What it collects are then its own fires."""
        return self.wall_clock is not None or self.timer is not None

    @property
    def has_keys(self) -> bool:
        """Whether what it collects has partition keys, as far as its dataset has partitions."""
        return self.dataset_collected is not None

    @property
    def names_keys(self) -> bool:
        """Whether it asks for partition keys by name."""
        return False

    @property
    def period(self) -> Cycle | None:
        """The period that it judges as a whole; None for one that counts events."""
        return None

    @property
    def counts_each_write(self) -> bool:
        """Whether a partition that is written again counts again."""
        return False

    @property
    def least_events(self) -> int:
        """The least number of events that satisfies it; at least, where only the data can tell."""
        return 1

    @property
    def any_event_satisfies(self) -> bool:
        """Whether every event satisfies it at once."""
        return self.least_events == 1

    @property
    def noun(self) -> str:
        """What messages call one that has no keys."""
        return f"`{self.kind}`"
