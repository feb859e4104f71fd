"""New names for the sums of the ledger; what a removed app has left under a new name is added to."""

import msgspec
from sqlalchemy import Connection, delete, select

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.model.retention import LedgerSum
from tidegate.scheduler.store.sql.counted_events import LAST_CODE_POINT
from tidegate.scheduler.store.sql.retention.tables import ledger_sums
from tidegate.scheduler.store.sql.retention.writer import put_sums


def rename_sums(connection: Connection, names: Renames) -> None:
    """Give the sums of renamed apps, schedules and tasks their new names."""
    found: list[LedgerSum] = []
    moved = [
        *(ledger_sums.c.schedule == old for old in names.schedules),
        *(ledger_sums.c.schedule.between(f"{old}/", f"{old}/{LAST_CODE_POINT}") for old in names.apps),
    ]
    for rows in moved:
        for schedule, day, outcome, reason, events in connection.execute(select(ledger_sums).where(rows)):
            each = LedgerSum(schedule=schedule, day=day, outcome=outcome, reason=reason, events=events)
            found.append(each)
        connection.execute(delete(ledger_sums).where(rows))
    renamed = (msgspec.structs.replace(each, schedule=names.schedule(each.schedule)) for each in found)
    put_sums(connection, renamed)
