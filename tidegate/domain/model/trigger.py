"""Triggers: what makes a job ready, one struct for each kind, and the walk over their leaves.

A new kind is a struct here, a file in `compiler.triggers` that builds it, and one in
`scheduler.decision.triggers` that evaluates it. A leaf is known by its path: the engine delivers events
to it.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal

import msgspec

from tidegate.domain.model.calendar import Calendar
from tidegate.domain.model.dataset import Cycle
from tidegate.domain.model.place import At
from tidegate.domain.value import Value


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


class CronTrigger(TriggerBase, kw_only=True, tag="cron"):
    """Fires at wall-clock times.

    Attributes:
        cron: five fields, or one of the @-names (rule 9).
        catch_up: which of the fires missed while the scheduler was down are made up for.
        catch_up_at_most: fires older than this are never made up for.
        calendar: only days that are business days in it count.
        nth_business_day: only this business day of the month, from 1; -1 is the last. Needs a calendar.
    """

    cron: str
    timezone: str = "UTC"
    catch_up: Literal["none", "latest", "all"] = "latest"
    catch_up_at_most: timedelta | None = None
    calendar: Calendar | None = None
    nth_business_day: int | None = None


class PartitionsTrigger(TriggerBase, kw_only=True, tag="partitions"):
    """Fires when partitions of a dataset have come.

    Exactly one of three ways of counting holds: `keys` (all of these), `complete` (all
    parts of the enclosing period), else `count`.

    Attributes:
        dataset: name of the dataset within the app.
        count: how many partitions are needed.
        distinct: a key that comes twice counts once (rule 3).
        keys: partition keys that must all come.
        complete: the period of which every part must have come.
    """

    dataset: str
    count: int = 1
    distinct: bool = True
    keys: tuple[str, ...] = ()
    complete: Cycle | None = None


class RunTrigger(TriggerBase, kw_only=True, tag="run"):
    """Fires when runs of a program have started or ended. "completed" is any end, a cancelled one too."""

    program: str
    status: Literal["started", "succeeded", "failed", "completed"] = "succeeded"
    count: int = 1


class SizeTrigger(TriggerBase, kw_only=True, tag="size"):
    """Fires when enough has come, as the partitions' metadata say. Exactly one of bytes and rows is set.

    Attributes:
        bytes, rows: how much is needed.
        distinct: a partition that comes twice counts once, with its newest size; without it, and for a
            dataset without partitions, every write adds its own.
    """

    dataset: str
    bytes: int | None = None
    rows: int | None = None
    distinct: bool = True


class ElapsedTrigger(TriggerBase, kw_only=True, tag="elapsed"):
    """Fires when a time has passed since the program's last finished run, or a dataset's last event.

    Attributes:
        since: `last_run` fires again after every further `for_`; `last_event` once for each silence.
        dataset: of which events, for `last_event`.
        program: of which runs, for `last_run`; the schedule's own program.
    """

    for_: timedelta = msgspec.field(name="for")
    since: Literal["last_run", "last_event"] = "last_run"
    dataset: str | None = None
    program: str | None = None


class AllTrigger(TriggerBase, kw_only=True, tag="all"):
    """Holds when every member holds."""

    of: tuple["Trigger", ...]


class AnyTrigger(TriggerBase, kw_only=True, tag="any"):
    """Holds when one member holds."""

    of: tuple["Trigger", ...]


class AtLeastTrigger(TriggerBase, kw_only=True, tag="at_least"):
    """Holds when `n` of its members hold."""

    n: int
    of: tuple["Trigger", ...]


class SequenceTrigger(TriggerBase, kw_only=True, tag="sequence"):
    """Holds when its members have come to hold one after the other.

    What a member needs counts only if it came after the member before it was satisfied.
    """

    of: tuple["Trigger", ...]


LeafTrigger = CronTrigger | PartitionsTrigger | SizeTrigger | RunTrigger | ElapsedTrigger
Composite = AllTrigger | AnyTrigger | AtLeastTrigger | SequenceTrigger
Trigger = (
    CronTrigger
    | PartitionsTrigger
    | SizeTrigger
    | RunTrigger
    | ElapsedTrigger
    | AllTrigger
    | AnyTrigger
    | AtLeastTrigger
    | SequenceTrigger
)


class Leaf(Value, kw_only=True):
    """A trigger without members, with its place in the tree.

    Attributes:
        path: member numbers from the root joined by ".", "" for a root that is itself a leaf.
    """

    path: str
    trigger: LeafTrigger


def child_path(path: str, index: int) -> str:
    """The path of member `index` of the composite at `path`."""
    return f"{path}.{index}" if path else str(index)


def leaves(trigger: Trigger, path: str = "") -> Iterator[Leaf]:
    """Every leaf of a trigger, in the order of the YAML."""
    if isinstance(trigger, Composite):
        for index, member in enumerate(trigger.of):
            yield from leaves(member, child_path(path, index))
    else:
        yield Leaf(path=path, trigger=trigger)
