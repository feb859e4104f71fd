"""Whether the scheduler works: what `why` says of Dagster, and the warning of `tidegate dev`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.tidegate.project import Project
from tidegate.cli.last_tick import TickWatch, scheduler_lines, state_lines
from tidegate.processes.alive import CodeServer, DagsterState, Dispatcher
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.launch.active_host import ActiveHost

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_it_warns_once_and_says_when_ticks_come_again() -> None:
    watch = TickWatch(NOW, every=5)

    assert watch.look(None, NOW + 2 * MINUTE) is None
    said = watch.look(NOW - 60 * MINUTE, NOW + 3 * MINUTE)
    assert said is not None
    assert said.startswith("warning: no tick for 3 minutes: check the Dagster daemon")
    assert watch.look(NOW, NOW + 4 * MINUTE) is None
    assert watch.look(NOW + 5 * MINUTE, NOW + 5 * MINUTE) == "the scheduler ticks again"
    assert watch.look(NOW + 5 * MINUTE, NOW + 6 * MINUTE) is None


def test_rare_ticks_are_waited_for() -> None:
    assert TickWatch(NOW, every=60).look(None, NOW + 13 * MINUTE) is None


ALIVE = "Dagster's daemon and the code location are alive"
NO_HOME = "there is no dagster.yaml in "


def lines(project: Project, ago: timedelta | None, *, shared: bool = False, every: int = 5) -> list[str]:
    (project.folder / "tidegate.toml").write_text(f"[dagster]\ntick_seconds = {every}\n")
    ticked_at = None if ago is None else NOW - ago
    return list(scheduler_lines(load_settings(), ticked_at, NOW, shared=shared))


@pytest.mark.parametrize(("seconds", "every"), [(120, 5), (121, 60)])
def test_a_recent_tick_shows_that_all_is_alive(project: Project, seconds: int, every: int) -> None:
    first, second = lines(project, timedelta(seconds=seconds), every=every)
    assert first.startswith("last tick of the scheduler: 2026-03-10 11:5") and first.endswith("Z")
    assert second == ALIVE


def test_without_ticks_dagster_is_asked(project: Project) -> None:
    first, second = lines(project, timedelta(seconds=121))
    assert first.endswith("11:57:59Z, 2 minutes ago")
    assert second.startswith("check the Dagster daemon") and NO_HOME in second
    (never,) = lines(project, None)
    assert never.startswith("the scheduler has never ticked: start Dagster")


def test_a_recent_tick_of_a_shared_store_may_be_another_project_s(project: Project) -> None:
    _, second = lines(project, timedelta(0), shared=True)
    assert second.startswith("what ticks for this project is not known: " + NO_HOME)


def test_a_recent_tick_of_the_host_shows_nothing_of_dagster(project: Project) -> None:
    host = ActiveHost(process="node/7/m/b/s/9", since=NOW - 60 * MINUTE, looped_at=NOW)
    _, second, third = scheduler_lines(load_settings(), NOW, NOW, shared=False, host=host)
    assert second == "the host is active: process 7 on node, last loop at 2026-03-10 12:00:00Z"
    assert third.startswith("what ticks for this project is not known: " + NO_HOME)


def test_each_part_of_dagster_has_a_line() -> None:
    home = Path("/home")
    found = DagsterState(
        home=home,
        heartbeat=NOW - 2 * MINUTE,
        servers=(CodeServer(address="h:1"), CodeServer(address="h:2", problem="does not answer")),
        dispatchers=(
            Dispatcher(name="a", on=False),
            Dispatcher(name="b", on=True),
            Dispatcher(name="c", on=True, at=NOW),
            Dispatcher(name="d", on=True, at=NOW, problem="boom"),
        ),
    )
    assert list(state_lines(found, NOW)) == [
        "Dagster's daemon is alive: heartbeat at 2026-03-10 11:58:00Z",
        "code location at h:1 is alive",
        "code location at h:2 does not answer",
        "a: switched off in Dagster; switch the sensor on",
        "b: never evaluated",
        "c: last evaluated at 2026-03-10 12:00:00Z",
        "d: last evaluated at 2026-03-10 12:00:00Z, failed: boom",
    ]
    (late,) = state_lines(DagsterState(home=home, heartbeat=NOW - 3 * MINUTE), NOW)
    assert late.endswith("does not run: last heartbeat at 2026-03-10 11:57:00Z, 3 minutes ago")
    (never,) = state_lines(DagsterState(home=home, heartbeat=None), NOW)
    assert never == "Dagster's daemon has never run on the instance in /home"
