"""Synchronisation of a schedule's switch in the UI with its status in the store.

Both sides may change: a person turns the switch, or runs `tidegate suspend`. The status at the
last synchronisation is stored, so the side that changed since is known:

    UI differs from the last sync        the UI's change is written to the store, journaled as "ui"
    only the store differs               the UI's switch is set
    both differ                          the UI's change wins: a person has just looked at it
A switch that was never turned follows the store.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from dagster import DagsterInstance
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    ScheduleInstigatorData,
)

from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.domain.value import Value
from tidegate.scheduler.commands.manual import resume, suspend
from tidegate.scheduler.model.deployed import ScheduleState, Status
from tidegate.scheduler.store.protocol import Store

BY = "ui"


class Action(StrEnum):
    """The change that synchronises one schedule."""

    NOTHING = "nothing"
    UPDATE_STORE = "update the store"
    UPDATE_UI = "update the UI"


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


def cursor_name(epoch: str, app: str) -> str:
    """Return the name of the store cursor that holds the statuses at the last synchronisation."""
    return f"dagster-switches:{epoch}:{app}"


def sync_switches(
    instance: DagsterInstance,
    store: Store,
    repository: RemoteRepositoryOrigin,
    app: str,
    native: Mapping[str, str],
    declared: Mapping[str, Status],
    now: datetime,
) -> None:
    """Synchronise the switches of an app's native schedules with the store.

    Args:
        native: names of the Dagster schedules by ref.
        declared: statuses in the loaded definitions by ref: shown by a switch that was never turned.
    """
    name = cursor_name(storage_id(instance), app)
    with store.reading() as reader:
        states = {state.ref: state for state in reader.schedules(app=app) if state.ref in native}
        agreed: dict[str, Status] = reader.cursor(name) or {}
    rows = _rows(instance, repository)
    switches = {ref: _switch(rows.get(native[ref]), declared[ref]) for ref in states}
    actions = {ref: decide_switch(switches[ref], states[ref].status, agreed.get(ref)) for ref in states}
    for ref, action in actions.items():
        if action is Action.UPDATE_UI:
            _turn(
                instance,
                repository,
                native[ref],
                rows.get(native[ref]),
                states[ref],
                now,
            )
    shown = {
        ref: states[ref].status if actions[ref] is Action.UPDATE_UI else switches[ref].shown for ref in states
    }
    if shown == agreed and Action.UPDATE_STORE not in actions.values():
        return
    with store.transaction() as transaction:
        for ref, action in actions.items():
            if action is Action.UPDATE_STORE:
                change = resume if switches[ref].shown == "active" else suspend
                change(transaction, ref, now, by=BY)
        transaction.set_cursor(name, shown)


def _rows(instance: DagsterInstance, repository: RemoteRepositoryOrigin) -> dict[str, InstigatorState]:
    states = instance.all_instigator_state(
        repository_origin_id=repository.get_id(),
        repository_selector_id=repository.get_selector_id(),
        instigator_type=InstigatorType.SCHEDULE,
    )
    return {state.instigator_name: state for state in states}


def _switch(row: InstigatorState | None, declared: Status) -> Switch:
    if row is None or row.status is InstigatorStatus.DECLARED_IN_CODE:
        return Switch(shown=declared, turned=False)
    shown: Status = "active" if row.status is InstigatorStatus.RUNNING else "suspended"
    return Switch(shown=shown, turned=True)


def _turn(
    instance: DagsterInstance,
    repository: RemoteRepositoryOrigin,
    name: str,
    row: InstigatorState | None,
    state: ScheduleState,
    now: datetime,
) -> None:
    """Set the switch as `instance.start_schedule` does, which requires a web server's workspace."""
    status = InstigatorStatus.RUNNING if state.active else InstigatorStatus.STOPPED
    fires = state.spec.trigger.wall_clock
    data = ScheduleInstigatorData(
        "" if fires is None else fires.cron, now.timestamp() if state.active else None
    )
    if row is None:
        origin = repository.get_instigator_origin(name)
        instance.add_instigator_state(InstigatorState(origin, InstigatorType.SCHEDULE, status, data))
    else:
        instance.update_instigator_state(row.with_status(status).with_data(data))
