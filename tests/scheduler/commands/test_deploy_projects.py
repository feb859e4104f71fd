"""Deploy into a store that several projects share: each touches its own apps alone."""

from collections.abc import Collection
from datetime import UTC, datetime

import pytest

from tests.doubles.dump import dump
from tests.worlds.by import CLI
from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.ownership import Scope, Storage
from tidegate.domain.model import App, CronTrigger, Maintenance, Program, Schedule
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.commands.deployment.specifications import record_storage, storages_of
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.memory.store import MemoryStore

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def an_app(name: str, cron: str = "0 6 * * *") -> App:
    schedule = Schedule(name="s", program="p", trigger=CronTrigger(cron=cron), status="active")
    return App(name=name, programs={"p": Program(name="p", run="m.p")}, schedules={"s": schedule})


class Shared:
    """A store that projects share."""

    def __init__(self) -> None:
        self.store = MemoryStore()

    def deploy(
        self,
        project: str,
        *apps: App,
        only: Collection[str] | None = None,
        removable: Collection[str] | None = None,
        force: bool = False,
    ) -> Diff:
        scope = Scope(
            project=project,
            only=None if only is None else frozenset(only),
            removable=None if removable is None else frozenset(removable),
        )
        with self.store.transaction() as transaction:
            wanted = {app.name: app for app in apps}
            return deploy(transaction, wanted, NOON, force=force, scope=scope, by=CLI)

    def owners(self) -> dict[str, str]:
        with self.store.reading() as reader:
            return {app.name: app.project for app in reader.records(APPS)}

    def schedules(self) -> list[str]:
        with self.store.reading() as reader:
            return [state.ref for state in reader.schedules()]


def test_a_deployment_leaves_the_apps_of_other_projects() -> None:
    shared = Shared()
    shared.deploy("one", an_app("a"), an_app("b"))
    shared.deploy("two", an_app("c"))
    assert shared.owners() == {"a": "one", "b": "one", "c": "two"}
    shared.deploy("one", an_app("a"))
    assert shared.owners() == {"a": "one", "c": "two"}
    assert shared.schedules() == ["a/s", "c/s"]


@pytest.mark.parametrize("force", [False, True])
def test_an_app_of_another_project_is_refused_and_nothing_is_deployed(force: bool) -> None:
    shared = Shared()
    shared.deploy("one", an_app("a"))
    before = dump(shared.store)
    with pytest.raises(Refused, match='app a belongs to project "one", and this project is "two"') as refused:
        shared.deploy("two", an_app("a"), an_app("c"), force=force)
    assert 'name = "one"' in refused.value.hint
    assert dump(shared.store) == before


def test_an_app_without_an_owner_is_adopted_by_the_project_that_deploys_its_name_and_by_no_other() -> None:
    shared = Shared()
    shared.deploy("", an_app("a"), an_app("b"))
    changes = shared.deploy("one", an_app("a"))
    assert (changes.adopted, changes.empty) == (("a",), True)
    assert shared.owners() == {"a": "one", "b": ""}
    assert shared.deploy("one", an_app("a")).adopted == ()


def test_an_app_stays_unless_its_removal_is_confirmed() -> None:
    shared = Shared()
    shared.deploy("one", an_app("a"), an_app("b"), an_app("c"))
    changes = shared.deploy("one", an_app("a"), removable=())
    assert (changes.stays, changes.empty) == (("b", "c"), True)
    assert shared.schedules() == ["a/s", "b/s", "c/s"]
    assert shared.deploy("one", an_app("a"), removable=["c"]).stays == ("b",)
    assert shared.schedules() == ["a/s", "b/s"]


def test_only_the_named_apps_are_deployed() -> None:
    shared = Shared()
    shared.deploy("one", an_app("a"), an_app("b"))
    shared.deploy("one", an_app("a", "0 7 * * *"), an_app("c"), an_app("d"), only=["c"])
    assert shared.schedules() == ["a/s", "b/s", "c/s"]
    with shared.store.reading() as reader:
        assert reader.schedules(refs=["a/s"])[0].spec.trigger == CronTrigger(cron="0 6 * * *")


def test_deleting_a_schedule_leaves_the_owners() -> None:
    shared = Shared()
    shared.deploy("one", an_app("a"))
    shared.deploy("two", an_app("b"))
    with shared.store.transaction() as transaction:
        delete_schedules(transaction, ["b/s"], NOON, by=CLI)
    assert shared.owners() == {"a": "one", "b": "two"}
    assert shared.schedules() == ["a/s"]


def test_where_a_project_has_its_data_is_recorded_until_it_moves():
    store, lake = MemoryStore(), Storage(paths_from="/feeds", warehouse="/lake")
    moved = Storage(paths_from="/feeds", warehouse="/tables")
    for storage, known in ((None, None), (lake, lake), (lake, lake), (None, lake), (moved, moved)):
        with store.transaction() as transaction:
            record_storage(transaction, Scope(project="feeds", storage=storage))
        with store.reading() as reader:
            assert storages_of(reader).get("feeds") == known


def test_two_projects_cannot_both_set_the_maintenance_of_the_store() -> None:
    shared = Shared()
    shared.deploy("one", App(name="a", maintenance=Maintenance()))
    with pytest.raises(Refused, match=r"app b has `maintenance`, .* so has app a"):
        shared.deploy("two", App(name="b", maintenance=Maintenance()))
    assert shared.owners() == {"a": "one"}
