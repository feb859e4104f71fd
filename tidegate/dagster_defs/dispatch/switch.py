"""The switch of a schedule in the UI and its status in the store, kept the same.

Both sides may change: a person turns the switch, or suspends on the command line. What both
showed when they last agreed is remembered, so it is known who has changed since:

    UI differs from what was agreed      the UI's change goes to the store, journaled as "ui"
    only the store differs               the UI's switch is set
    both differ                          the UI's change wins: somebody has just looked at it
A switch that nobody has ever turned follows the store.
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
    """What has to be done for one schedule."""

    NOTHING = "nothing"
    TELL_STORE = "tell the store"
    TELL_UI = "tell the UI"


class Switch(Value, frozen=True, kw_only=True):
    """The switch of one schedule.

    Attributes:
        shown: what the UI shows.
        turned: somebody, or we, have set it; otherwise it shows what the code declares.
    """

    shown: Status
    turned: bool


def decide_switch(switch: Switch, stored: Status, agreed: Status | None) -> Action:
    """Who has to follow whom. Pure.

    Args:
        agreed: what both showed when they last agreed; None if they never have.
    """
    if switch.shown == stored:
        return Action.NOTHING
    if switch.turned and agreed is not None and switch.shown != agreed:
        return Action.TELL_STORE
    return Action.TELL_UI


def cursor_name(epoch: str, app: str) -> str:
    """Where the last agreement is kept in the store."""
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
    """Bring the switches of an app's native schedules and the store together.

    Args:
        native: names of the Dagster schedules by ref.
        declared: what the loaded definitions declare, by ref: shown by a switch that was never turned.
    """
    name = cursor_name(storage_id(instance), app)
    with store.reading() as reader:
        states = {state.ref: state for state in reader.schedules(app=app) if state.ref in native}
        agreed: dict[str, Status] = reader.cursor(name) or {}
    rows = _rows(instance, repository)
    switches = {ref: _switch(rows.get(native[ref]), declared[ref]) for ref in states}
    actions = {ref: decide_switch(switches[ref], states[ref].status, agreed.get(ref)) for ref in states}
    for ref, action in actions.items():
        if action is Action.TELL_UI:
            _turn(
                instance,
                repository,
                native[ref],
                rows.get(native[ref]),
                states[ref],
                now,
            )
    shown = {
        ref: states[ref].status if actions[ref] is Action.TELL_UI else switches[ref].shown for ref in states
    }
    if shown == agreed and Action.TELL_STORE not in actions.values():
        return
    with store.transaction() as transaction:
        for ref, action in actions.items():
            if action is Action.TELL_STORE:
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
    """Set the switch, as `instance.start_schedule` does, which needs what only a web server has."""
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
