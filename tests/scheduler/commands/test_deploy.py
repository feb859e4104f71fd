"""Deploy: the store follows the YAML in one step, and live jobs meet the fate that the plan foretold."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tests.doubles.dump import dump
from tests.worlds.by import CLI
from tidegate.domain.model import (
    App,
    At,
    CronTrigger,
    Dataset,
    PartitionsTrigger,
    Program,
    RunTrigger,
    Schedule,
)
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.memory.store import MemoryStore

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)

DAILY = Schedule(name="daily", program="load", trigger=CronTrigger(cron="0 6 * * *"), status="active")
JOINED = Schedule(name="joined", program="join", trigger=RunTrigger(program="load"), status="active")
PAUSED = Schedule(name="paused", program="join", trigger=PartitionsTrigger(dataset="raw"))


def an_app(*schedules: Schedule, programs: tuple[str, ...] = ("load", "join"), name: str = "a") -> App:
    return App(
        name=name,
        datasets={"raw": Dataset(name="raw")},
        programs={each: Program(name=each, run=f"m.{each}") for each in programs},
        schedules={schedule.name: schedule for schedule in schedules},
    )


WHOLE = an_app(DAILY, JOINED, PAUSED)


class Deployed:
    """A store in which apps are deployed at noon."""

    def __init__(self, *apps: App) -> None:
        self.store = MemoryStore()
        self.deploy(*apps, at=NOW)

    def deploy(self, *apps: App, at: datetime = LATER, update: bool = True, force: bool = False) -> None:
        """Deploy apps, all others being removed."""
        wanted: Mapping[str, App] = {app.name: app for app in apps}
        with self.store.transaction() as transaction:
            deploy(transaction, wanted, at, update_schedules=update, force=force, by=CLI)

    def states(self) -> dict[str, ScheduleState]:
        with self.store.reading() as reader:
            return {state.ref: state for state in reader.schedules()}

    def job(self, schedule: str, state: JobState, **fields: object) -> None:
        with self.store.transaction() as transaction:
            job = Job(id=f"{schedule}:{state}", schedule=schedule, state=state, opened_at=NOW)
            transaction.put_jobs([msgspec.structs.replace(job, **fields)])
            transaction.take_slots({job.id: ["program:a/load"]})

    def outcomes(self) -> list[tuple[JobState, Reason | None]]:
        with self.store.reading() as reader:
            return [(job.state, job.reason) for job in reader.jobs()]


def changed(schedule: Schedule) -> Schedule:
    return msgspec.structs.replace(schedule, args={"changed": True})


def test_a_first_deploy_creates_apps_schedules_and_their_places_in_time() -> None:
    deployed = Deployed(WHOLE)
    states = deployed.states()
    assert {ref: state.status for ref, state in states.items()} == {
        "a/daily": "active",
        "a/joined": "active",
        "a/paused": "suspended",
    }
    daily = states["a/daily"]
    assert daily.next_fire_at == datetime(2026, 3, 11, 6, tzinfo=UTC)
    assert (daily.active_since, daily.deployed_at) == (NOW, NOW)
    assert daily.fires_after == NOW - timedelta(microseconds=1)
    assert states["a/paused"].active_since is None
    with deployed.store.reading() as reader:
        (app,) = reader.records(APPS)
        assert (app.revision, app.app.schedules) == (1, {})
        found = reader.records(
            SUBSCRIPTIONS, event_key=["run:a/load:succeeded", "partition:a/raw", "fire:a/daily:"]
        )
        assert [each.schedule for each in found] == ["a/daily", "a/joined", "a/paused"]
        assert [entry.kind for entry in reader.journal()] == [EntryKind.SPEC] * 4 + [EntryKind.DEPLOY]


def test_deploying_the_same_again_writes_nothing() -> None:
    deployed = Deployed(WHOLE)
    before = dump(deployed.store)
    deployed.deploy(WHOLE)
    assert dump(deployed.store) == before


def test_a_changed_schedule_starts_anew_with_the_status_it_had() -> None:
    deployed = Deployed(WHOLE)
    with deployed.store.transaction() as transaction:
        suspend(transaction, "a/joined", NOW, by=CLI)
        resume(transaction, "a/paused", NOW, by=CLI)
    deployed.deploy(an_app(changed(DAILY), changed(JOINED), changed(PAUSED)))
    states = deployed.states()
    assert {ref: (state.status, state.changed_by) for ref, state in states.items()} == {
        "a/daily": ("active", "deploy"),
        "a/joined": ("suspended", "cli"),
        "a/paused": ("active", "cli"),
    }
    assert states["a/daily"].active_since == states["a/daily"].deployed_at == LATER
    with deployed.store.reading() as reader:
        assert reader.records(APPS)[0].revision == 2


FATES = [
    # what the job is doing, with a run or not -> what a changed and a deleted schedule make of it
    (JobState.PENDING_TRIGGER, None, Reason.D_UPDATED, Reason.D_DELETED),
    (JobState.PENDING_CONSTRAINT, None, Reason.D_UPDATED, Reason.D_DELETED),
    (JobState.PENDING_LAUNCH, None, Reason.D_UPDATED, Reason.D_DELETED),
    (JobState.PENDING_LAUNCH, "r", None, None),
    (JobState.LAUNCHED, "r", None, None),
]


@pytest.mark.parametrize(("state", "run_id", "if_changed", "if_deleted"), FATES)
@pytest.mark.parametrize("what", ["changed", "deleted", "untouched"])
def test_what_becomes_of_a_job(
    state: JobState, run_id: str | None, if_changed: Reason | None, if_deleted: Reason | None, what: str
) -> None:
    deployed = Deployed(WHOLE)
    deployed.job("a/daily", state, run_id=run_id)
    after = {"changed": [changed(DAILY), JOINED, PAUSED], "deleted": [PAUSED], "untouched": [DAILY, JOINED]}
    deployed.deploy(an_app(*after[what]))
    reason = {"changed": if_changed, "deleted": if_deleted, "untouched": None}[what]
    assert deployed.outcomes() == [(state if reason is None else JobState.DISCARDED, reason)]


def test_a_discarded_launch_gives_its_slots_back() -> None:
    deployed = Deployed(WHOLE)
    deployed.job("a/daily", JobState.PENDING_LAUNCH)
    deployed.deploy(an_app(JOINED))
    with deployed.store.reading() as reader:
        assert reader.slots(["program:a/load"]) == {"program:a/load": 0}


def test_a_description_is_brought_in_and_resets_nothing() -> None:
    deployed = Deployed(WHOLE)
    deployed.job("a/daily", JobState.PENDING_TRIGGER)
    described = msgspec.structs.replace(DAILY, description="loads")
    deployed.deploy(an_app(described, JOINED, PAUSED))
    state = deployed.states()["a/daily"]
    assert (state.spec.description, state.active_since) == ("loads", NOW)
    assert deployed.outcomes() == [(JobState.PENDING_TRIGGER, None)]


def test_without_updating_nothing_is_created_changed_or_deleted() -> None:
    deployed = Deployed(an_app(DAILY, JOINED))
    before = deployed.states()
    deployed.deploy(an_app(changed(DAILY), PAUSED), update=False)
    assert deployed.states() == before


def test_without_updating_the_schedules_of_a_removed_program_or_app_go_all_the_same() -> None:
    deployed = Deployed(WHOLE, an_app(DAILY, name="b"))
    deployed.deploy(an_app(DAILY, JOINED, PAUSED, programs=("load",)), update=False)
    assert list(deployed.states()) == ["a/daily"]
    with deployed.store.reading() as reader:
        assert [app.name for app in reader.records(APPS)] == ["a"]


def test_removing_what_triggers_a_schedule_that_stays_is_refused_unless_forced() -> None:
    deployed = Deployed(WHOLE)
    without_load = an_app(JOINED, PAUSED, programs=("join",))
    before = dump(deployed.store)
    with pytest.raises(Refused, match="a/load, which triggers joined"):
        deployed.deploy(without_load, update=False)
    assert dump(deployed.store) == before
    deployed.deploy(without_load, update=False, force=True)
    assert list(deployed.states()) == ["a/joined", "a/paused"]


def test_one_entry_of_the_journal_says_what_was_done() -> None:
    deployed = Deployed(WHOLE)
    deployed.deploy(an_app(changed(DAILY), JOINED))
    with deployed.store.reading() as reader:
        entries = [entry for entry in reader.journal() if entry.kind is EntryKind.DEPLOY]
    assert len(entries) == 2
    assert entries[1].data["apps"]["a"]["schedules"] == {"daily": "replace", "paused": "delete"}


def test_parts_that_have_only_moved_in_their_file_are_no_change() -> None:
    deployed = Deployed(WHOLE)
    moved = msgspec.structs.replace(WHOLE, at=At(file="a.yaml", line=7, column=1))
    deployed.deploy(moved)
    with deployed.store.reading() as reader:
        (app,) = reader.records(APPS)
        assert (app.revision, app.app.at) == (1, moved.at)
        assert len([entry for entry in reader.journal() if entry.kind is EntryKind.DEPLOY]) == 1


def test_a_run_of_a_deleted_schedule_goes_on_and_hinders_no_deploy() -> None:
    deployed = Deployed(WHOLE)
    deployed.job("a/daily", JobState.LAUNCHED, run_id="r")
    deployed.deploy(an_app(JOINED, PAUSED))
    deployed.deploy(an_app(changed(JOINED), PAUSED))
    assert deployed.outcomes() == [(JobState.LAUNCHED, None)]


def test_a_schedule_is_deleted_without_its_app_and_comes_back_with_a_deploy() -> None:
    deployed = Deployed(WHOLE, an_app(DAILY, name="b"))
    deployed.job("a/daily", JobState.PENDING_CONSTRAINT)
    with deployed.store.transaction() as transaction:
        delete_schedules(transaction, ["a/daily"], LATER, by=CLI)
    assert list(deployed.states()) == ["a/joined", "a/paused", "b/daily"]
    assert deployed.outcomes() == [(JobState.DISCARDED, Reason.D_DELETED)]
    deployed.deploy(WHOLE, an_app(DAILY, name="b"), at=LATER + timedelta(hours=1))
    assert "a/daily" in deployed.states()


@pytest.mark.parametrize("ref", ["a/none", "none/daily", "daily", ""])
def test_a_schedule_that_is_not_deployed_is_not_deleted(ref: str) -> None:
    deployed = Deployed(WHOLE)
    before = dump(deployed.store)
    with pytest.raises(Refused, match="is deployed"), deployed.store.transaction() as transaction:
        delete_schedules(transaction, ["a/daily", ref], LATER, by=CLI)
    assert dump(deployed.store) == before
