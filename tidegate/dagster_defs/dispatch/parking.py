"""Parking: Dagster shows a cron schedule with its next ticks and its switch, and never evaluates it.

The engine fires every cron itself, so an evaluation by Dagster would do nothing, and a thousand of them in
one minute would take the processor from the runs. Dagster's daemon evaluates the ticks after
`start_timestamp`, and looks at a schedule again one hour after `last_iteration_timestamp`; the UI shows the
ticks after now. So a schedule is parked by setting both to an instant that does not come:

    row of a running schedule ──► both instants are PARKED_AT ──► no evaluation, no hourly write of the daemon
              ▲                                                                       │
              └───────── switched on in the UI: Dagster sets the start to now ◄───────┘

Until a schedule is parked its ticks say that the engine fires it, and do nothing else.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from time import monotonic

from dagster import DagsterInstance

from tidegate.dagster_defs.internals.instigators import (
    InstigatorState,
    InstigatorStatus,
    InstigatorType,
    ScheduleInstigatorData,
)
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin

PARKED_AT = datetime(2100, 1, 1, tzinfo=UTC).timestamp()

PARKING_SECONDS = 2.0
"""How long one comparison of the switches writes rows: some hundred; the next ones write the rest."""


def parked_data(cron: str) -> ScheduleInstigatorData:
    """Return the data of a schedule that is never evaluated."""
    return ScheduleInstigatorData(cron, PARKED_AT, PARKED_AT)


def is_parked(row: InstigatorState) -> bool:
    """Return whether the daemon evaluates no tick of a schedule."""
    data = row.instigator_data
    return (
        isinstance(data, ScheduleInstigatorData)
        and data.start_timestamp == PARKED_AT
        and data.last_iteration_timestamp == PARKED_AT
    )


def park(
    instance: DagsterInstance,
    repository: RemoteRepositoryOrigin,
    running: Mapping[str, str],
    rows: Mapping[str, InstigatorState],
) -> None:
    """Park the running schedules that are not parked yet, for as long as one comparison may write.

    Args:
        running: the cron of each schedule that Dagster shows as running, by its name.
        rows: Dagster's rows of schedules, by name.
    """
    until = monotonic() + PARKING_SECONDS
    for name, cron in running.items():
        row = rows.get(name)
        if row is not None and is_parked(row):
            continue
        if monotonic() >= until:
            return
        if row is not None:
            instance.update_instigator_state(row.with_data(parked_data(cron)))
            continue
        # The status that the daemon would write for a schedule that no person has switched.
        declared = InstigatorStatus.DECLARED_IN_CODE
        origin = repository.get_instigator_origin(name)
        instance.add_instigator_state(
            InstigatorState(origin, InstigatorType.SCHEDULE, declared, parked_data(cron))
        )


def forget(instance: DagsterInstance, rows: Iterable[InstigatorState]) -> None:
    """Delete the parked rows of schedules that do not exist any more.

    Dagster's daemon deletes such rows twelve hours after it looked at them last, and so never a parked one.
    """
    for row in rows:
        if is_parked(row):
            instance.delete_instigator_state(row.instigator_origin_id, row.selector_id)
