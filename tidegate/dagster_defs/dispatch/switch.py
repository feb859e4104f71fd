"""Synchronisation of a schedule's switch in the UI with its status in the store.

Both sides may change: a person turns the switch, or runs `tidegate schedules suspend`. The status at the
last synchronisation is stored, so the side that changed since is known:

    UI differs from the last sync        the UI's change is written to the store, journaled as "ui"
    only the store differs               the UI's switch is set
    both differ                          the UI's change wins: a person has just looked at it
A switch that was never turned follows the store. Switches are those of Dagster schedules, and of the sensors
of schedules with `sensor: own`.

Parking: Dagster shows a cron schedule with its next ticks and its switch, and never evaluates it. The
engine fires every cron itself, so an evaluation by Dagster would do nothing, and a thousand of them in one
minute would take the processor from the runs. Dagster's daemon evaluates the ticks after `start_timestamp`,
and looks at a schedule again one hour after `last_iteration_timestamp`; the UI shows the ticks after now.
So a schedule is parked by setting both to an instant that does not come:

    row of a running schedule ──► both instants are PARKED_AT ──► no evaluation, no hourly write of the daemon
              ▲                                                                       │
              └───────── switched on in the UI: Dagster sets the start to now ◄───────┘

Until a schedule is parked its ticks say that the engine fires it, and do nothing else.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from time import monotonic

from dagster import DagsterInstance

from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.internals.instigators import (
    InstigatorState,
    InstigatorStatus,
    InstigatorType,
    ScheduleInstigatorData,
    SensorInstigatorData,
)
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin
from tidegate.domain.value import Value
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.model.deployed import ScheduleState, Status
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.protocol import Store

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


BY = "ui"

Key = tuple[InstigatorType, str]
"""The type and the name of a switch."""


class Action(StrEnum):
    """The change that synchronises one schedule."""

    NOTHING = "nothing"
    UPDATE_STORE = "update the store"
    UPDATE_UI = "update the UI"


class Switched(Value, frozen=True, kw_only=True):
    """What has a switch in the UI.

    Attributes:
        type: whether it is a Dagster schedule or a sensor.
        declared: the status in the loaded definitions, shown by a switch that was never turned.
        cron: the cron of a Dagster schedule; "" for a sensor.
    """

    name: str
    type: InstigatorType
    declared: Status
    cron: str = ""

    @property
    def key(self) -> "Key":
        """Its key among Dagster's rows."""
        return self.type, self.name


class Switch(Value, frozen=True, kw_only=True):
    """The switch of one schedule.

    Attributes:
        shown: the status that the UI shows.
        turned: a person or the dispatcher has set it; otherwise it shows the declared status.
    """

    shown: Status
    turned: bool


def decide_switch(switch: Switch, stored: Status, agreed: Status | None) -> Action:
    """Decide which side to update. Pure.

    Args:
        agreed: the status at the last synchronisation; None before the first.
    """
    if switch.shown == stored:
        return Action.NOTHING
    if switch.turned and agreed is not None and switch.shown != agreed:
        return Action.UPDATE_STORE
    return Action.UPDATE_UI


def cursor_name(epoch: str, project: str) -> str:
    """Return the name of the store cursor that holds the statuses at the last synchronisation."""
    return f"dagster-switches:{epoch}::{project}"


def sync_switches(
    instance: DagsterInstance,
    store: Store,
    repository: RemoteRepositoryOrigin,
    project: str,
    switched: Mapping[str, Switched],
    now: datetime,
) -> None:
    """Synchronise the switches of a project's schedules with the store, and park its Dagster schedules.

    Args:
        switched: what has a switch, by ref.
    """
    name = cursor_name(storage_id(instance), project)
    with store.reading() as reader:
        states = {state.ref: state for state in reader.schedules(refs=list(switched))}
        agreed: dict[str, Status] = reader.cursor(name) or {}
    rows = _rows(instance, repository, {InstigatorType.SCHEDULE, *(each.type for each in switched.values())})
    switches = {ref: _switch(rows.get(switched[ref].key), switched[ref].declared) for ref in states}
    actions = {ref: decide_switch(switches[ref], states[ref].status, agreed.get(ref)) for ref in states}
    for ref, action in actions.items():
        if action is Action.UPDATE_UI:
            key = switched[ref].key
            rows[key] = _turn(instance, repository, switched[ref], rows.get(key), states[ref], now)
    shown = {
        ref: states[ref].status if actions[ref] is Action.UPDATE_UI else switches[ref].shown for ref in states
    }
    _park(instance, repository, [switched[ref] for ref, status in shown.items() if status == "active"], rows)
    known = {each.key for each in switched.values()}
    forget(instance, [row for key, row in rows.items() if key not in known])
    if shown == agreed and Action.UPDATE_STORE not in actions.values():
        return
    with store.transaction() as transaction:
        for ref, action in actions.items():
            if action is Action.UPDATE_STORE:
                change = resume if switches[ref].shown == "active" else suspend
                change(transaction, ref, now, by=By(actor=BY))
        transaction.set_cursor(name, shown)


def _rows(
    instance: DagsterInstance, repository: RemoteRepositoryOrigin, types: Iterable[InstigatorType]
) -> dict[Key, InstigatorState]:
    return {
        (type_, state.instigator_name): state
        for type_ in types
        for state in instance.all_instigator_state(
            repository_origin_id=repository.get_id(),
            repository_selector_id=repository.get_selector_id(),
            instigator_type=type_,
        )
    }


def _switch(row: InstigatorState | None, declared: Status) -> Switch:
    if row is None or row.status is InstigatorStatus.DECLARED_IN_CODE:
        return Switch(shown=declared, turned=False)
    shown: Status = "active" if row.status is InstigatorStatus.RUNNING else "suspended"
    return Switch(shown=shown, turned=True)


def _park(
    instance: DagsterInstance,
    repository: RemoteRepositoryOrigin,
    running: Iterable[Switched],
    rows: Mapping[Key, InstigatorState],
) -> None:
    crons = {each.name: each.cron for each in running if each.type is InstigatorType.SCHEDULE}
    of_schedules = {name: row for (type_, name), row in rows.items() if type_ is InstigatorType.SCHEDULE}
    park(instance, repository, crons, of_schedules)


def _turn(
    instance: DagsterInstance,
    repository: RemoteRepositoryOrigin,
    switched: Switched,
    row: InstigatorState | None,
    state: ScheduleState,
    now: datetime,
) -> InstigatorState:
    """Set the switch as `instance.start_schedule` does, which requires a web server's workspace."""
    status = InstigatorStatus.RUNNING if state.active else InstigatorStatus.STOPPED
    if switched.type is InstigatorType.SENSOR:
        known = None if row is None else row.instigator_data
        before = known if isinstance(known, SensorInstigatorData) else SensorInstigatorData()
        data = before.with_sensor_start_timestamp(now.timestamp())
    else:
        data = parked_data(switched.cron) if state.active else ScheduleInstigatorData(switched.cron)
    if row is None:
        origin = repository.get_instigator_origin(switched.name)
        return instance.add_instigator_state(InstigatorState(origin, switched.type, status, data))
    return instance.update_instigator_state(row.with_status(status).with_data(data))
