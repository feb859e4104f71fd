"""Two projects deploy into one store at once: each keeps its apps, and one of them gets a contested name."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from tidegate.compiler.plan.ownership import Scope
from tidegate.domain.model import App, CronTrigger, Program, Schedule
from tidegate.scheduler.commands.deploy import deploy
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
ROUNDS = 8
PROJECTS = ("one", "two")


def an_app(name: str, round: int) -> App:
    schedule = Schedule(name="s", program="p", trigger=CronTrigger(cron=f"{round} 6 * * *"))
    return App(name=name, programs={"p": Program(name="p", run="m.p")}, schedules={"s": schedule})


def deploy_rounds(url: str, project: str, meet: threading.Barrier, won: list[str]) -> None:
    """Deploy again and again: an app that stays, one that is there in every second round, a contested one."""
    store = open_store(url)
    for round in range(ROUNDS):
        own = [f"{project}_stays", f"{project}_comes"][: 1 + round % 2]
        meet.wait(60)
        put(store, project, {name: an_app(name, round) for name in own}, round)
        try:
            names = [*own, f"contested_{round}"]
            put(store, project, {name: an_app(name, round) for name in names}, round)
            won.append(f"contested_{round}")
        except Refused:
            pass
    store.close()


def put(store: Store, project: str, wanted: dict[str, App], round: int) -> None:
    with store.transaction() as transaction:
        deploy(transaction, wanted, NOON + timedelta(minutes=round), scope=Scope(project=project))


def at_once(*work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()


def test_two_projects_that_deploy_at_once_never_touch_each_others_apps(
    sql_store: Store, sql_url: str
) -> None:
    meet = threading.Barrier(2)
    won: dict[str, list[str]] = {project: [] for project in PROJECTS}
    at_once(*(partial(deploy_rounds, sql_url, project, meet, won[project]) for project in PROJECTS))

    last = f"contested_{ROUNDS - 1}"
    (winner,) = [project for project in PROJECTS if last in won[project]]
    with sql_store.reading() as reader:
        owners = {app.name: app.project for app in reader.apps()}
        crons = {state.ref: state.spec.trigger for state in reader.schedules()}
    kept = {f"{project}_{app}": project for project in PROJECTS for app in ("stays", "comes")}
    assert owners == {**kept, last: winner}
    assert crons == {f"{name}/s": CronTrigger(cron=f"{ROUNDS - 1} 6 * * *") for name in owners}
