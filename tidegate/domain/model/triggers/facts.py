"""The base classes of all kinds of triggers, with the facts that a kind states about itself.

A kind overrides the facts that hold for it; the defaults describe a leaf that one event satisfies.
No other code tests whether a trigger is of a certain kind.
"""

from collections.abc import Callable
from datetime import time, timedelta
from typing import Literal, Protocol, Self

import msgspec

from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.shared import At, Calendar
from tidegate.domain.value import Value

Renaming = Callable[[str], str]

CatchUp = Literal["none", "latest", "all"]

Checks = Literal["passed"]


class WallClock(Protocol):
    """The wall-clock times of a trigger's fires, see `domain.model.triggers.cron`."""

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

    @property
    def day_starts(self) -> time: ...


class TriggerBase(Value, kw_only=True, tag_field="kind"):
    """The base of every kind of trigger.

    Attributes:
        wait_at_most: counted from the first event of the job; after it the trigger holds with the
            collected events (rule 16). None waits without limit.
        quiet: the trigger holds only after no new event has arrived for this long.
        quiet_at_most: the longest delay by `quiet`, from the moment the trigger would hold without it.
        collect_within: while the trigger is not satisfied, older events drop out one by one.
        as_: its name, by which references in `args` ask for its events alone.
        collect_existing: a new or reset schedule also collects what arrived before.
    """

    wait_at_most: timedelta | None = None
    quiet: timedelta | None = None
    quiet_at_most: timedelta | None = None
    collect_within: timedelta | None = None
    collect_existing: bool = False
    as_: str | None = msgspec.field(default=None, name="as")
    at: At | None = None

    @property
    def kind(self) -> str:
        """Its key in the YAML, which is also its tag in the store."""
        return str(self.__struct_config__.tag)

    @property
    def wall_clock(self) -> WallClock | None:
        """The wall-clock times at which it fires; None if it does not fire at wall-clock times."""
        return None

    def one_line(self) -> str:
        """Return the condition in one line, without the options."""
        return self.kind


class LeafTrigger(TriggerBase, kw_only=True):
    """A trigger without members, to which events are delivered.

    A leaf collects the events that it counts: partitions of a dataset, runs of a program, or its own
    fires. A leaf with a timer also receives events that only start its timer.
    """

    @property
    def dataset_collected(self) -> str | None:
        """The dataset, within the app, whose partitions it collects."""
        return None

    @property
    def dataset_heard(self) -> str | None:
        """The dataset whose events it receives, to collect them or to start its timer."""
        return self.dataset_collected

    @property
    def program_collected(self) -> str | None:
        """The program, within the app, whose runs it collects."""
        return None

    def runs_heard(self, own: str) -> tuple[str, str] | None:
        """Return program and status of the runs it receives, to collect them or to start its timer.

        Args:
            own: the program of its schedule.
        """
        return None

    @property
    def tasks_heard(self) -> tuple[str, ...] | None:
        """The upstream tasks, within the app, of a cycle task; None for other kinds. They have no events."""
        return None

    @property
    def timer(self) -> timedelta | None:
        """How long after the last received event it fires; None without a timer.

        A timer that counts from runs starts again when it fires, any other timer at the next event.
        """
        return None

    @property
    def fires_by_clock(self) -> bool:
        """Whether time alone makes it fire. It then collects its own fires."""
        return self.wall_clock is not None or self.timer is not None

    @property
    def has_keys(self) -> bool:
        """Whether the collected events have partition keys, if the dataset has partitions."""
        return self.dataset_collected is not None

    @property
    def names_keys(self) -> bool:
        """Whether it names the partition keys that it needs."""
        return False

    @property
    def period(self) -> Cycle | None:
        """The period that must be complete; None if it counts events."""
        return None

    @property
    def counts_each_write(self) -> bool:
        """Whether a partition that is written again counts again."""
        return False

    def renamed(self, *, dataset: Renaming, program: Renaming, task: Renaming) -> Self:
        """Return it with other names of what it names: each argument turns a name into the new one."""
        wanted = {"dataset": dataset, "program": program}
        names = {field: getattr(self, field, None) for field in wanted}
        changes = {field: wanted[field](name) for field, name in names.items() if name is not None}
        return msgspec.structs.replace(self, **changes)

    @property
    def counts_checked(self) -> bool:
        """Whether it counts a materialisation only once the checks of its asset have passed."""
        return False

    @property
    def least_events(self) -> int:
        """The least number of events that can satisfy it."""
        return 1

    @property
    def any_event_satisfies(self) -> bool:
        """Whether every event satisfies it at once."""
        return self.least_events == 1

    @property
    def noun(self) -> str:
        """The noun for it in messages, for a kind without keys."""
        return f"`{self.kind}`"
