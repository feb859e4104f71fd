"""The switch in the UI and the status in the store: who follows whom."""

from datetime import timedelta

import pytest
from dagster import DagsterInstance
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import InProcessCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import InstigatorState, InstigatorStatus, ScheduleInstigatorData
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from tests.dagster_defs.sample import NOW
from tests.doubles.dump import dump
from tidegate.dagster_defs.dispatch.switch import Action, Switch, decide_switch, sync_switches
from tidegate.scheduler.commands.manual import resume, suspend
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore

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

    def sync(self, store: MemoryStore) -> None:
        """What a dispatcher's tick does."""
        now = NOW + timedelta(minutes=1)
        names = {REF: "report_daily"}
        sync_switches(self.instance, store, REPOSITORY, "flights", names, {REF: self.declared}, now)


@pytest.fixture
def ui(disk_instance: DagsterInstance) -> Ui:
    return Ui(disk_instance)


def stored(store: MemoryStore) -> tuple[Status, str]:
    with store.reading() as reader:
        (state,) = reader.schedules(refs=[REF])
    return state.status, state.changed_by


def test_switching_off_suspends_and_is_journaled_as_done_in_the_ui(ui: Ui, store: MemoryStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)

    ui.sync(store)

    assert stored(store) == (OFF, "ui")
    with store.reading() as reader:
        entry = reader.journal(schedule=REF)[-1]
    assert (entry.kind, entry.data) == (EntryKind.STATUS, {"status": "suspended", "by": "ui"})


def test_switching_on_resumes(ui: Ui, store: MemoryStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    ui.turn(InstigatorStatus.RUNNING)

    ui.sync(store)

    assert stored(store) == (ON, "ui")


def test_a_suspend_on_the_command_line_shows_in_the_ui(ui: Ui, store: MemoryStore) -> None:
    ui.sync(store)
    with store.transaction() as transaction:
        suspend(transaction, REF, NOW)

    ui.sync(store)

    assert (ui.shown, stored(store)) == (OFF, (OFF, "cli"))


def test_and_a_resume_afterwards_too(ui: Ui, store: MemoryStore) -> None:
    for change in (suspend, resume):
        ui.sync(store)
        with store.transaction() as transaction:
            change(transaction, REF, NOW)
        ui.sync(store)

    assert (ui.shown, stored(store)) == (ON, (ON, "cli"))


def test_the_ui_wins_when_both_have_changed(ui: Ui, store: MemoryStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    with store.transaction() as transaction:
        resume(transaction, REF, NOW)
    ui.sync(store)
    assert ui.shown == ON

    with store.transaction() as transaction:
        suspend(transaction, REF, NOW)
        resume(transaction, REF, NOW)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)

    assert stored(store) == (OFF, "ui")


def test_a_reset_in_the_ui_follows_the_store(ui: Ui, store: MemoryStore) -> None:
    ui.sync(store)
    ui.turn(InstigatorStatus.STOPPED)
    ui.sync(store)
    ui.turn(InstigatorStatus.DECLARED_IN_CODE)

    ui.sync(store)

    assert stored(store) == (OFF, "ui")
    assert ui.shown == OFF


def test_nothing_is_written_while_nothing_changes(ui: Ui, store: MemoryStore) -> None:
    ui.sync(store)
    before = dump(store)

    ui.sync(store)

    assert dump(store) == before
    assert ui.row() is None, "a switch that no person has turned is left alone"
