"""What a scenario gives and expects of the maintenance of tables; see `compiler.scenarios.model.scenario`.

A table is named as "catalog.namespace.table" or, if it is that of a dataset, as "app/dataset". The
catalog name of a dataset's table means the dataset too; only the store knows it, so it is replaced when the
scenario is played.
"""

from datetime import datetime, timedelta
from typing import Literal

from tidegate.domain.model import Operation
from tidegate.domain.value import Value

DEFAULT_OPERATION_TAKES = timedelta(minutes=1)
"""How long a run of an operation lasts when the scenario says nothing."""

OperationEnd = Literal["succeeded", "failed", "conflict", "died"]

DebtPart = Literal["issues", "stale", "failure_rate", "failures_in_a_row"]


class TableWritten(Value, kw_only=True):
    """A table exists from here on, and has been written; or it exists no longer.

    Attributes:
        health: what is measured of it from here on, each measure in its unit; None if it cannot be measured.
    """

    table: str
    health: dict[str, float] | None = {}
    gone: bool = False


class OperationEnds(Value, kw_only=True):
    """How the coming runs of an operation on a table go.

    Attributes:
        ends: of the next run, then of the one after it; after the last entry runs succeed. A run that
            `died` never reports its end.
        changed: whether a run that succeeds has changed anything.
        bytes: that each run rewrites.
    """

    table: str
    operation: Operation
    ends: tuple[OperationEnd, ...] = ()
    changed: bool = True
    bytes: int = 0
    takes: timedelta = DEFAULT_OPERATION_TAKES


class MaintainByHand(Value, kw_only=True):
    """A person runs operations on a table."""

    table: str
    operation: Operation | None = None
    policy: str | None = None


class DisablePolicy(Value, kw_only=True):
    """The app is deployed with one of its policies disabled."""

    policy: str


class ExpectMaintain(Value, kw_only=True):
    """A run of an operation starts. Attributes that are None are not compared.

    Attributes:
        policy: "app/policy".
        excluded: the keys of the partitions that it leaves out.
    """

    table: str
    operation: Operation
    when: datetime | None = None
    policy: str | None = None
    probe: bool | None = None
    forced: bool | None = None
    excluded: tuple[str, ...] | None = None


class ExpectDue(Value, kw_only=True):
    """An operation is due on a table and does not run; with `next` alone it is not due."""

    table: str
    operation: Operation
    when: datetime
    reason: str | None = None
    next: datetime | None = None

    @property
    def is_due(self) -> bool:
        return self.reason is not None or self.next is None


class ExpectDebt(Value, kw_only=True):
    """The debt of a table at the end of an instant; parts that are 0 are left out."""

    table: str
    when: datetime
    score: float
    parts: dict[DebtPart, float] | None = None


class ExpectDiscardedOperation(Value, kw_only=True):
    """A due operation on a table is discarded."""

    table: str
    operation: Operation | None = None
    when: datetime | None = None
    reason: str | None = None
