"""Observed tables: what `due` and `debt` expectations compare, at the end of an instant."""

from datetime import datetime, timedelta

from tidegate.compiler.scenarios.model.maintenance import ExpectDebt, ExpectDue
from tidegate.domain.value import Value
from tidegate.scheduler.explain.measured import measured
from tidegate.scheduler.explain.operations.maintenance import operation_status
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.policies import load_policies
from tidegate.scheduler.tick.maintenance.tables import table_named

DEBT_TOLERANCE = 0.01
"""Debts are compared to a hundredth: a failure rate of one in three has no end as a decimal."""


class ObservedOperation(Value, kw_only=True):
    """An operation on a table as it was at the end of an instant.

    Attributes:
        known: whether an enabled policy has this operation for the table.
        due: whether it is due and does not run.
        reason: what holds a due one back; None if it may start at the next poll.
    """

    known: bool = True
    due: bool = False
    running: bool = False
    reason: str | None = None
    next: datetime | None = None

    def fits(self, expected: ExpectDue, within: timedelta) -> bool:
        """Return whether it is as expected."""
        if not self.known or self.running or self.due != expected.is_due:
            return False
        if expected.reason not in (None, self.reason):
            return False
        if expected.next is None:
            return True
        return self.next is not None and abs(self.next - expected.next) <= within


class ObservedDebt(Value, kw_only=True):
    """The debt of a table as it was at the end of an instant; `known` is False if there is no such table."""

    known: bool = True
    score: float = 0
    parts: dict[str, float] = {}

    def fits(self, expected: ExpectDebt) -> bool:
        """Return whether it is as expected."""
        if not self.known or not _near(self.score, expected.score):
            return False
        if expected.parts is None:
            return True
        wanted = {name: value for name, value in expected.parts.items() if value}
        return wanted.keys() == self.parts.keys() and all(
            _near(self.parts[name], value) for name, value in wanted.items()
        )


def observe_operation(reader: EngineReader, expected: ExpectDue, now: datetime) -> ObservedOperation:
    """Return the operation on a table that an expectation names."""
    table = table_named(reader, expected.table)
    statuses = () if table is None else operation_status(reader, table, load_policies(reader, now), now)
    for status in statuses:
        if status.operation is expected.operation:
            return ObservedOperation(
                due=status.due,
                running=status.running is not None,
                reason=None if status.reason is None else str(status.reason),
                next=status.next,
            )
    return ObservedOperation(known=False)


def observe_debt(reader: EngineReader, expected: ExpectDebt, now: datetime) -> ObservedDebt:
    """Return the debt of the table that an expectation names."""
    table = table_named(reader, expected.table)
    if table is None:
        return ObservedDebt(known=False)
    debt = measured(load_policies(reader, now), table, now).debt
    return ObservedDebt(score=debt.score, parts=dict(debt.parts))


def _near(found: float, wanted: float) -> bool:
    return abs(found - wanted) < DEBT_TOLERANCE
