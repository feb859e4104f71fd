"""Named: the instance of a task by the name of its scheduled time.

A scheduled time is a wall time, and its name is what people and data say. An instance that was made before
its task changed its zone keeps its name, and lies at another instant than its task says now. Part of the
shell.
"""

from datetime import datetime

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_rows import InstanceRows
from tidegate.scheduler.tick.upstream import BUSINESS_DAY

ZONES_APART = BUSINESS_DAY
"""The most by which the instants of one wall time are apart, in any two zones."""


def named_instance(
    rows: InstanceRows, ref: str, scheduled: datetime, key: str, *, number: int = 0
) -> Job | None:
    """Return the instance of a task ("app/name") with a name; None if it was never made, or was discarded.

    Args:
        scheduled: where it lies in the zone that the task has now.
        key: its name.
        number: of its backfill.
    """
    for reach in (scheduled - scheduled, ZONES_APART):
        near = rows.instances((ref,), scheduled - reach, scheduled + reach, backfill=number)
        found = next((job for job in near if job.key == key), None)
        if found is not None:
            return found
    return None
