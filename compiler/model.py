"""The validated model: what an app means once its YAML has been read, checked and completed.

Every default is filled in, every duration is a `timedelta`, every zone is a name the zone
database knows, and every reference has been resolved. The engine, `plan`, `diff`, the
scenarios and the Dagster definitions all work on these values and on nothing else. They
are encoded as JSON in the schedule store, so a field's name is part of the storage format.

`at` says where in the YAML a part was written. It is carried for `tidegate why` and for
diagnostics, and it never takes part in a fingerprint: moving a schedule down a file is
not a change.
"""

from collections.abc import Iterator
from datetime import date, time, timedelta
from enum import StrEnum
from typing import Any, Literal

import msgspec

from compiler.value import Value

DEFAULT_TIMEOUT = timedelta(hours=24)
"""How long a satisfied job may wait for its constraints when its schedule says nothing (DESIGN rule 5)."""

Cycle = Literal["minute", "hour", "day", "week", "month", "year"]
Otherwise = Literal["wait", "skip"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class At(Value, kw_only=True, array_like=True):
    """A place in a YAML file. `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


# --- datasets ---------------------------------------------------------------------------


class TimeDimension(Value, kw_only=True):
    """A dimension of partitions with one partition for each step of a cycle.

    Attributes:
        name: the column that holds the key; the cycle's own name where the YAML gives none.
        cycle: length of one partition.
        start: first partition key, for example "2013-01-01".
        timezone: zone in which the cycle begins and ends.
    """

    name: str
    cycle: Cycle
    start: str
    timezone: str = "UTC"


class StaticDimension(Value, kw_only=True):
    """A dimension with a fixed list of keys, for example the three airports of a feed."""

    name: str
    keys: tuple[str, ...]


class PartitionScheme(Value, kw_only=True):
    """How a dataset is cut into partitions: one time dimension, one static one, or both.

    The key of a partition in one dimension is that dimension's key. In two dimensions it is
    Dagster's: the keys joined by "|" in the alphabetical order of the dimensions' names.
    """

    time: TimeDimension | None = None
    static: StaticDimension | None = None

    def dimension_names(self) -> tuple[str, ...]:
        """The dimensions in the order in which they stand in a partition key."""
        return tuple(sorted(d.name for d in (self.time, self.static) if d is not None))


class Dataset(Value, kw_only=True):
    """A named table or file set.

    Attributes:
        path: where the files stand, relative to the project; None lets the warehouse decide.
    """

    name: str
    format: Literal["parquet", "iceberg"] = "parquet"
    partitions: PartitionScheme | None = None
    path: str | None = None
    description: str = ""
    at: At | None = None


class Program(Value, kw_only=True):
    """What is launched: a PySpark function that reads datasets and writes datasets.

    Attributes:
        run: dotted path of the function, for example "spark_jobs.flights.join_delays".
    """

    name: str
    run: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    description: str = ""
    at: At | None = None


# --- triggers ---------------------------------------------------------------------------


class Calendar(Value, kw_only=True):
    """Which days are business days. A schedule carries the calendars it names, so a changed one is a change.

    Attributes:
        name: as the app declares it.
        country: ISO 3166 code, or a market such as "NYSE", of the package `holidays`; None for none.
        subdivision: of the country, for example "NY".
        weekend: days that are no business days by themselves.
        closed: own holidays, besides those of the country.
        open: days that are business days whatever the country and the weekend say.
    """

    name: str
    country: str | None = None
    subdivision: str | None = None
    weekend: tuple[Day, ...] = ("sat", "sun")
    closed: tuple[date, ...] = ()
    open: tuple[date, ...] = ()


class TriggerBase(Value, kw_only=True, tag_field="kind"):
    """What every kind of trigger carries.

    Attributes:
        wait_at_most: counted from the first event of the job; once it is over the trigger
            holds with what has arrived (DESIGN rule 16). None waits for ever.
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
        cron: five fields, or one of the @-names (DESIGN rule 9).
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
        distinct: a key that comes twice counts once (DESIGN rule 3).
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


# --- constraints ------------------------------------------------------------------------


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
        max_active_runs: of the whole store, the coming run included (DESIGN rule 18).
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
    """What becomes of a satisfied job whose constraints do not hold in time (DESIGN rule 5)."""

    after: timedelta = DEFAULT_TIMEOUT
    then: Literal["discard", "run"] = "discard"
    from_: Literal["satisfied", "first_event"] = msgspec.field(name="from", default="satisfied")
    at: At | None = None


# --- schedules and apps -----------------------------------------------------------------


class Priority(StrEnum):
    """Who takes the slot when several jobs are ready at once."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """Where jobs of this priority stand in a queue, 0 first."""
        return _RANKS[self]


_RANKS = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}


OutputPartition = Literal["key", "manifest", "business_date", "none"]
OnSuspend = Literal["discard", "drain", "hold", "backlog"]


class Schedule(Value, kw_only=True):
    """Program, trigger, constraints and arguments.

    Attributes:
        for_each: evaluate the trigger for each partition key apart, or for each step of a cycle.
        output_partition: which partitions of its outputs a run writes (DESIGN §3).
        status: the initial status only; a schedule suspended by hand stays so (DESIGN rule 23).
        args: handed to the program, any JSON; strings may hold references such as
            "{{ trigger.partitions }}", which `compiler.template` reads.
        batching: `coalesce` lets events join the waiting job; `each` gives every satisfied trigger its own.
        max_batch: a satisfied job with so many events takes no more; the next one opens another job.
        on_suspend: what a suspended schedule does with what waits and what comes (DESIGN rule 10).
        on_update: whether a changed schedule's waiting job is given up, or keeps its events (rule 11).
        timezone: the app's zone; the business date of a cron schedule is counted in it.
    """

    name: str
    program: str
    trigger: Trigger
    constraints: tuple[Constraint, ...] = ()
    args: dict[str, Any] = {}
    timeout: Timeout = Timeout()
    priority: Priority = Priority.NORMAL
    for_each: Literal["partition"] | Cycle | None = None
    output_partition: OutputPartition = "none"
    batching: Literal["coalesce", "each"] = "coalesce"
    max_batch: int | None = None
    on_suspend: OnSuspend = "discard"
    on_update: Literal["reset", "carry"] = "reset"
    status: Literal["active", "suspended"] = "suspended"
    timezone: str = "UTC"
    owner: str = ""
    description: str = ""
    at: At | None = None


class App(Value, kw_only=True):
    """One YAML file: what is deployed together.

    Attributes:
        groups: declared group names with a description each.
        calendars: business calendars by name.
    """

    name: str
    timezone: str = "UTC"
    datasets: dict[str, Dataset] = {}
    programs: dict[str, Program] = {}
    schedules: dict[str, Schedule] = {}
    groups: dict[str, str] = {}
    calendars: dict[str, Calendar] = {}
    description: str = ""
    at: At | None = None


def encode(value: Value) -> bytes:
    """A value of the model as canonical JSON: sorted keys, no white space."""
    return msgspec.json.encode(value, order="sorted")


def decode_app(data: bytes | str) -> App:
    """The app that `encode` wrote."""
    return msgspec.json.decode(data, type=App)
