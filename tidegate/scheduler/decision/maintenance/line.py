"""Line: operations that nothing but the order holds back, and how long their turn waits for a measurement.

A poll starts the tables with more debt first, and the debt of a table is not known before it is measured.
Where a poll cannot start all that may start, the turn of a table that is being measured comes later, but only
for some minutes: a catalog that cannot be measured holds nothing back (docs/adr/0031). Pure.
"""

from datetime import datetime, timedelta

from tidegate.scheduler.model.maintenance import Record, TableState
from tidegate.scheduler.model.reason import Reason

IN_LINE = (Reason.M_BUDGET, Reason.W_CONCURRENCY)
"""Reasons of what only waits for its turn. Of the operations of a table that wait so, a poll looks at the
first one alone; at those behind it when that one waits so no longer (`tick.maintenance.look`)."""

MEASURED_WITHIN = timedelta(minutes=5)
"""A turn waits no longer for a measurement: Dagster starts a run and Spark a session in one or two of them.
Where polls are rarer than that, it does not wait."""


def awaits_measurement(record: Record, table: TableState, now: datetime, next_poll: datetime) -> bool:
    """Return whether the turn of an operation, of which no recent measures are known, is worth waiting for.

    Args:
        record: as the last poll left it.
        next_poll: the next one at which it could start.
    """
    health, asked_at = table.health, table.wanted_at
    if health is not None and health.failure:
        return False
    if asked_at is None:
        # Measured and forgotten again, by a write. A table that is written all the time is not known at any
        # poll: it waits once, and then takes the place of a table without debt.
        once = record.reason is Reason.M_HEALTH or (record.reason in IN_LINE and health is None)
        return not once and next_poll - now <= MEASURED_WITHIN
    return next_poll - asked_at <= MEASURED_WITHIN
