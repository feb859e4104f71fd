"""Maintenance: policies, their operations, and the settings of a whole store (docs/maintenance.md)."""

from datetime import timedelta
from typing import Any, Literal

import msgspec

from tidegate.domain.model.constraint import WindowConstraint
from tidegate.domain.model.operation import Operation
from tidegate.domain.model.shared import At
from tidegate.domain.size import GB, MB
from tidegate.domain.value import Value

ONCE_A_DAY = timedelta(days=1)
"""From one run to the next of an operation without `cron` and `interval`."""

OPERATION_TIMEOUT = timedelta(hours=4)
"""The default timeout of the runs of an operation."""


class Threshold(Value, kw_only=True):
    """A condition on the health of a table: it holds at `at_least` and above.

    Attributes:
        at_least: in the unit of the measure.
        measure: one of `domain.maintenance.measures.MEASURES`, which says in what unit it is.
    """

    measure: str
    at_least: float


class Conditions(Value, kw_only=True):
    """When a due operation may run: its `when:`.

    Attributes:
        mode: whether any or all of the thresholds must hold; without thresholds they hold.
        min_interval: so long after the end of the last successful run nothing runs.
        at_latest: so long after it the operation is forced, whatever the rest says.
    """

    mode: Literal["any", "all"] = "all"
    thresholds: tuple[Threshold, ...] = ()
    min_interval: timedelta | None = None
    at_latest: timedelta | None = None


class OperationPlan(Value, kw_only=True):
    """What a policy says of one operation.

    Attributes:
        cron, interval: when it is due; without both once a day.
        timezone: of `cron`.
        window: outside of it a due operation waits.
        timeout: a run that takes longer is ended as failed.
        options: of the operation, each with its default: sizes in bytes, durations in seconds.
    """

    operation: Operation
    enabled: bool = True
    cron: str | None = None
    interval: timedelta | None = None
    timezone: str = "UTC"
    window: WindowConstraint | None = None
    timeout: timedelta = OPERATION_TIMEOUT
    options: dict[str, Any] = {}
    when: Conditions | None = None
    at: At | None = None


class HealthRules(Value, kw_only=True):
    """What counts as healthy for the tables of a policy.

    Attributes:
        small_file, large_file: a data file is small below the first, large above the second. In bytes.
        thresholds: by measure: from where on it is a warning, and critical.
        sample: a table is measured by so many of its files; None for all.
    """

    small_file: int = 100 * MB
    large_file: int = GB
    thresholds: dict[str, tuple[float, float]] = {}
    sample: int | None = None


class Policy(Value, kw_only=True):
    """Operations for the tables that match a pattern.

    Attributes:
        tables: patterns, see `domain.maintenance.pattern`; one that matches is enough.
        priority: among the policies that configure an operation for a table the highest one counts.
        health: None if the policy says nothing of health.
    """

    name: str
    tables: tuple[str, ...]
    priority: int = 0
    enabled: bool = True
    operations: dict[Operation, OperationPlan] = {}
    health: HealthRules | None = None
    description: str = ""
    at: At | None = None


class Budget(Value, kw_only=True):
    """What may be started from one poll to the next, and rewritten in a clock hour of UTC; 0 is unlimited."""

    tables_per_poll: int = 0
    operations_per_poll: int = 0
    bytes_per_hour: int = 0


class MaintenanceBackOff(Value, kw_only=True):
    """The pause of an operation that fails on a table again and again."""

    after_failures: int = 3
    for_: timedelta = msgspec.field(name="for", default=timedelta(hours=6))


class Throttle(Value, kw_only=True):
    """The slower pace of an operation that changes nothing on a table again and again."""

    after_zero_changes: int = 5
    slow_down_percent: float = 50.0
    at_least: timedelta = timedelta(hours=6)


class DebtWeights(Value, kw_only=True):
    """The weights of a table's debt, and whether failures count in the order of starts."""

    critical: float = 100.0
    warning: float = 50.0
    info: float = 10.0
    per_stale_day: float = 0.5
    failure_rate: float = 1.0
    per_failure_in_a_row: float = 20.0
    order_by_failures: bool = False


class Maintenance(Value, kw_only=True):
    """The settings of the whole store's maintenance; at most one app of a store has them.

    Attributes:
        auto_pools: groups of `concurrency`, of each of which a run of an operation holds a slot.
    """

    poll: timedelta = timedelta(minutes=1)
    budget: Budget = Budget()
    backoff: MaintenanceBackOff = MaintenanceBackOff()
    throttle: Throttle = Throttle()
    debt: DebtWeights = DebtWeights()
    auto_pools: dict[str, int] = {}
    at: At | None = None
