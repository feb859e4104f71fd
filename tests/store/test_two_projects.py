"""Two projects on one store, each in a process of its own that deploys in turns with the other and at once.

Each keeps its apps, and a name is one project's. One project's triggers over the other's dataset fire,
by whatever project's tick.
"""

import multiprocessing
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from tests.crashes.processes import in_child, in_children
from tests.two_apps import FEEDS, SALES
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import Scope
from tidegate.domain.model import App, CronTrigger, Program, Schedule
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.slow  # stores on disk

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
ROUNDS = 8
PROJECTS = ("one", "two")


def an_app(name: str, round: int) -> App:
    schedule = Schedule(name="s", program="p", trigger=CronTrigger(cron=f"{round} 6 * * *"))
    return App(name=name, programs={"p": Program(name="p", run="m.p")}, schedules={"s": schedule})


def meeting() -> Barrier:
    """Where two processes wait for each other."""
    return multiprocessing.get_context("fork").Barrier(len(PROJECTS))


def deploy_rounds(url: str, project: str, meet: Barrier, won: Path) -> None:
    """Deploy again and again: an app that stays, one that is there in every second round, a contested one."""
    store = open_store(url)
    for round in range(ROUNDS):
        own = [f"{project}_stays", f"{project}_comes"][: 1 + round % 2]
        meet.wait(60)
        put(store, project, {name: an_app(name, round) for name in own}, round)
        try:
            names = [*own, f"contested_{round}"]
            put(store, project, {name: an_app(name, round) for name in names}, round)
            with won.open("a") as lines:
                lines.write(f"{round} {project}\n")
        except Refused:
            pass
    store.close()


def put(store: Store, project: str, wanted: dict[str, App], round: int) -> None:
    with store.transaction() as transaction:
        deploy(transaction, wanted, NOON + timedelta(minutes=round), scope=Scope(project=project), by=CLI)


def test_two_projects_that_deploy_at_once_never_touch_each_others_apps(
    sql_store: Store, sql_url: str, tmp_path: Path
) -> None:
    meet, won = meeting(), tmp_path / "won"
    works = [partial(deploy_rounds, sql_url, project, meet, won) for project in PROJECTS]
    assert in_children(*works) == [0, 0]

    winners = dict(line.split() for line in won.read_text().splitlines())
    assert len(winners) == ROUNDS == len(won.read_text().splitlines())
    last, winner = f"contested_{ROUNDS - 1}", winners[f"{ROUNDS - 1}"]
    with sql_store.reading() as reader:
        owners = {app.name: app.project for app in reader.records(APPS)}
        crons = {state.ref: state.spec.trigger for state in reader.schedules()}
    kept = {f"{project}_{app}": project for project in PROJECTS for app in ("stays", "comes")}
    assert owners == {**kept, last: winner}
    assert crons == {f"{name}/s": CronTrigger(cron=f"{ROUNDS - 1} 6 * * *") for name in owners}


# --- one project waits for the other's data ---

OWN_SALES = f"""{SALES}\
  daily: {{program: report, status: active, for_each: day, trigger: {{partitions: {{dataset: feeds/raw}}}}}}
"""
OWNED = {"feeds": FEEDS, "sales": OWN_SALES}


def deploy_yaml(store: Store, project: str, round: int) -> None:
    """Deploy the project's app as `tidegate deploy` does: names of other apps come from the store."""
    text = f"{OWNED[project]}description: round {round}\n"
    with store.reading() as reader:
        known = deployed_apps(reader)
    compilation = compile_files({"app.yaml": text.encode()}, known=lambda: known)
    assert compilation.ok, compilation.diagnostics
    put(store, project, compilation.models(), round)


def land(store: Store, days: list[str], now: datetime) -> None:
    with store.transaction() as transaction:
        transaction.add_events(
            [
                Event(
                    id=f"landed:{day}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("feeds", "raw"),
                    time=now,
                    arrived=now,
                    partition=day,
                )
                for day in days
            ]
        )
    assert tick(store, now).errors == ()


def launched(store: Store) -> list[tuple[str, str]]:
    with store.reading() as reader:
        return sorted((job.schedule, job.key) for job in reader.jobs(states=[JobState.PENDING_LAUNCH]))


def turn_of(url: str, project: str) -> None:
    store = open_store(url)
    deploy_yaml(store, project, 0)
    store.close()


def rounds_of(url: str, project: str, meet: Barrier) -> None:
    store = open_store(url)
    for round in range(1, ROUNDS):
        meet.wait(60)
        deploy_yaml(store, project, round)
        if project == "feeds":
            land(store, [f"2026-03-{round:02}"], NOON + timedelta(minutes=round))
    store.close()


def test_a_dataset_of_the_other_project_triggers_through_deployments_in_turns_and_at_once(
    sql_store: Store, sql_url: str
) -> None:
    # In turns: the project that names the other comes second; a later deployment changes nothing else.
    for project in ("feeds", "sales", "feeds", "sales"):
        assert in_child(partial(turn_of, sql_url, project)) == 0
    land(sql_store, ["2026-02-28"], NOON + timedelta(seconds=1))
    assert launched(sql_store) == [("sales/daily", "2026-02-28")]

    meet = meeting()
    assert in_children(*(partial(rounds_of, sql_url, project, meet) for project in OWNED)) == [0, 0]

    days = ["2026-02-28", *(f"2026-03-{round:02}" for round in range(1, ROUNDS))]
    assert launched(sql_store) == [("sales/daily", day) for day in days]
    with sql_store.reading() as reader:
        owners = {app.name: (app.project, app.app.description) for app in reader.records(APPS)}
    assert owners == {project: (project, f"round {ROUNDS - 1}") for project in OWNED}

    bare = {"feeds": App(name="feeds")}
    with pytest.raises(Refused, match="remove dataset feeds/raw, which triggers sales/daily"):
        put(sql_store, "feeds", bare, ROUNDS)
