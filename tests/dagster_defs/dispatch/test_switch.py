"""The switch in the UI and the status in the store: who follows whom."""

from datetime import timedelta

import msgspec
import pytest
from dagster import DagsterInstance
from dagster._scheduler import scheduler

from tests.dagster_defs.sample import NOW
from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.dagster_defs.dispatch import switch as parking
from tidegate.dagster_defs.dispatch.switch import (
    PARKED_AT,
    Action,
    Switch,
    Switched,
    decide_switch,
    is_parked,
    sync_switches,
)
from tidegate.dagster_defs.internals.cron import schedule_execution_time_iterator
from tidegate.dagster_defs.internals.instigators import (
    InstigatorState,
    InstigatorStatus,
    InstigatorType,
    ScheduleInstigatorData,
    SensorInstigatorData,
)
from tidegate.dagster_defs.internals.origins import InProcessCodeLocationOrigin, RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.workspace import LoadableTargetOrigin
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.journal import EntryKind

pytestmark = pytest.mark.dagster

ON: Status = "active"
OFF: Status = "suspended"
REF = "flights/report_daily"
TARGET = LoadableTargetOrigin(module_name="tidegate.definitions")
REPOSITORY = RemoteRepositoryOrigin(
    InProcessCodeLocationOrigin(TARGET, location_name="tidegate"), "__repository__"
)


@pytest.mark.parametrize(
    ("shown", "turned", "stored", "agreed", "expected"),
    [
        (ON, True, ON, ON, Action.NOTHING),
        (OFF, True, ON, ON, Action.UPDATE_STORE),
        (ON, True, OFF, OFF, Action.UPDATE_STORE),
        (ON, True, OFF, ON, Action.UPDATE_UI),
        (OFF, True, ON, OFF, Action.UPDATE_UI),
        (OFF, True, OFF, ON, Action.NOTHING),
        (ON, False, OFF, ON, Action.UPDATE_UI),
        (OFF, False, ON, ON, Action.UPDATE_UI),
        (ON, True, OFF, None, Action.UPDATE_UI),
        (OFF, True, ON, None, Action.UPDATE_UI),
    ],
    ids=[
        "both agree",
        "switched off in the UI",
        "switched on in the UI",
        "suspended elsewhere",
        "resumed elsewhere",
        "both have changed to the same",
        "never turned, suspended elsewhere",
        "never turned, resumed elsewhere",
        "left over from an earlier schedule: on",
        "left over from an earlier schedule: off",
    ],
)
def test_who_follows_whom(
    shown: Status, turned: bool, stored: Status, agreed: Status | None, expected: Action
) -> None:
    assert decide_switch(Switch(shown=shown, turned=turned), stored, agreed) is expected


class Ui:
    """The schedules page: turns the switch as a person does, and shows it."""

    def __init__(self, instance: DagsterInstance, declared: Status = ON) -> None:
        self.instance, self.declared = instance, declared
        self.origin = REPOSITORY.get_instigator_origin("report_daily")

    def row(self) -> InstigatorState | None:
        return self.instance.get_instigator_state(self.origin.get_id(), self.origin.get_selector().get_id())

    @property
    def state(self) -> InstigatorState:
        row = self.row()
        assert row is not None
        return row

    def restart(self) -> None:
        """What `start_schedule` of Dagster does with the row: ticks from now on are evaluated."""
        data = ScheduleInstigatorData("0 6 * * *", NOW.timestamp())
        self.instance.update_instigator_state(self.state.with_data(data))

    def turn(self, status: InstigatorStatus) -> None:
        row, data = self.row(), ScheduleInstigatorData("0 6 * * *")
        if row is None:
            self.instance.add_instigator_state(
                InstigatorState(self.origin, InstigatorType.SCHEDULE, status, data)
            )
        else:
            self.instance.update_instigator_state(row.with_status(status))

    @property
    def shown(self) -> Status:
        row = self.row()
        if row is None or row.status is InstigatorStatus.DECLARED_IN_CODE:
            return self.declared
        return ON if row.status is InstigatorStatus.RUNNING else OFF

    def sync(self, store: ReferenceStore) -> None:
        """What a dispatcher's tick does."""
        now = NOW + timedelta(minutes=1)
        sync_switches(self.instance, store, REPOSITORY, "", {REF: self.switched}, now)

    @property
    def switched(self) -> Switched:
        type_ = InstigatorType.SCHEDULE
        return Switched(name="report_daily", type=type_, declared=self.declared, cron="0 6 * * *")


@pytest.fixture
def ui(disk_instance: DagsterInstance) -> Ui:
    return Ui(disk_instance)


def stored(store: ReferenceStore) -> tuple[Status, str]:
    with store.reading() as reader:
        (state,) = reader.schedules(refs=[REF])
    return state.status, state.changed_by


def test_switching_off_suspends_and_is_journaled_as_done_in_the_ui(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)

    ui.sync(store)

    assert stored(store) == (OFF, "ui")
    with store.reading() as reader:
        status, override = reader.journal(schedule=REF)[-2:]
    assert (status.kind, status.data) == (EntryKind.STATUS, {"status": "suspended", "by": "ui"})
    assert (override.kind, override.data["owner"]) == (EntryKind.OVERRIDE, "ui")


def test_switching_on_resumes(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    ui.turn(InstigatorStatus.RUNNING)

    ui.sync(store)

    assert stored(store) == (ON, "ui")


def test_a_suspend_on_the_command_line_shows_in_the_ui(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    with store.transaction() as transaction:
        suspend(transaction, REF, NOW, by=CLI)

    ui.sync(store)

    assert (ui.shown, stored(store)) == (OFF, (OFF, "cli"))


def test_and_a_resume_afterwards_too(ui: Ui, store: ReferenceStore) -> None:
    for change in (suspend, resume):
        ui.sync(store)
        with store.transaction() as transaction:
            change(transaction, REF, NOW, CLI)
        ui.sync(store)

    assert (ui.shown, stored(store)) == (ON, (ON, "cli"))


def test_the_ui_wins_when_both_have_changed(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    with store.transaction() as transaction:
        resume(transaction, REF, NOW, by=CLI)
    ui.sync(store)
    assert ui.shown == ON

    with store.transaction() as transaction:
        suspend(transaction, REF, NOW, by=CLI)
        resume(transaction, REF, NOW, by=CLI)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)

    assert stored(store) == (OFF, "ui")


def test_a_reset_in_the_ui_follows_the_store(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    ui.turn(InstigatorStatus.DECLARED_IN_CODE)

    ui.sync(store)

    assert stored(store) == (OFF, "ui")
    assert ui.shown == OFF


def test_nothing_is_written_while_nothing_changes(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    before, row = dump(store), ui.row()

    ui.sync(store)

    assert (dump(store), ui.row()) == (before, row)
    assert row is not None and row.status is InstigatorStatus.DECLARED_IN_CODE, "no person has turned it"


def test_a_running_schedule_is_parked_whoever_has_switched_it_on(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)
    assert is_parked(ui.state)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    ui.turn(InstigatorStatus.RUNNING)
    ui.restart()
    assert not is_parked(ui.state)

    ui.sync(store)

    assert is_parked(ui.state)
    assert ui.state.status is InstigatorStatus.RUNNING


def test_a_schedule_that_is_off_has_no_row_until_a_person_switches_it_on(
    store: ReferenceStore, ui: Ui
) -> None:
    with store.transaction() as transaction:
        suspend(transaction, REF, NOW, by=CLI)
    ui.declared = OFF

    ui.sync(store)

    assert ui.row() is None


def test_the_parked_row_of_a_schedule_that_is_gone_is_deleted(ui: Ui, store: ReferenceStore) -> None:
    ui.sync(store)

    now = NOW + timedelta(minutes=1)
    other = msgspec.structs.replace(ui.switched, name="other")
    sync_switches(ui.instance, store, REPOSITORY, "", {REF: other}, now)

    assert ui.row() is None


def test_many_schedules_are_parked_in_several_comparisons(
    ui: Ui, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parking, "PARKING_SECONDS", 0)
    ui.sync(store)
    assert ui.row() is None
    monkeypatch.undo()
    ui.sync(store)
    assert is_parked(ui.state)


def test_the_switch_of_an_own_sensor_suspends_and_follows_too(ui: Ui, store: ReferenceStore) -> None:
    sensor = Switched(name="report_daily", type=InstigatorType.SENSOR, declared=ON)

    def sync() -> InstigatorState | None:
        sync_switches(ui.instance, store, REPOSITORY, "", {REF: sensor}, NOW + timedelta(minutes=1))
        return ui.row()

    assert sync() is None, "a sensor is not parked"
    ui.instance.add_instigator_state(
        InstigatorState(ui.origin, InstigatorType.SENSOR, InstigatorStatus.STOPPED, SensorInstigatorData())
    )
    sync()
    assert stored(store) == (OFF, "ui")
    with store.transaction() as transaction:
        resume(transaction, REF, NOW, by=CLI)

    row = sync()

    assert row is not None and row.status is InstigatorStatus.RUNNING
    assert isinstance(row.instigator_data, SensorInstigatorData)


def test_dagster_s_daemon_evaluates_no_parked_schedule_and_writes_nothing_about_it(
    ui: Ui, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the daemon computes of a row, with its own functions: no tick is due, and it looks never again."""
    ui.sync(store)
    data = ui.state.instigator_data
    assert isinstance(data, ScheduleInstigatorData)
    monkeypatch.setattr(ui.instance, "update_instigator_state", None)
    checkpoint = scheduler._write_and_get_next_checkpoint_timestamp(
        ui.instance, ui.state, data, NOW.timestamp()
    )
    assert checkpoint > PARKED_AT
    assert data.start_timestamp is not None
    ticks = schedule_execution_time_iterator(data.start_timestamp, "0 6 * * *", "UTC")
    assert next(ticks).timestamp() >= PARKED_AT
