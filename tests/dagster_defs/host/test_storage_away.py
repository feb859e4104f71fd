"""Dagster's database is away for a while: what is decided meanwhile becomes a run, once."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.dagster_defs.host.world import HostWorld, loaded_here
from tests.databases import control
from tests.effort import only
from tests.kept_databases import new_database
from tests.worlds.by import CLI
from tidegate.dagster_defs.host.host import FAILED_SECONDS
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.model.job import JobState

pytestmark = [pytest.mark.dagster, pytest.mark.store]

SETTINGS = """\
telemetry: {{enabled: false}}
run_coordinator:
  module: dagster.core.run_coordinator
  class: QueuedRunCoordinator
  config: {{max_concurrent_runs: 0}}
storage: {{postgres: {{postgres_url: "{url}"}}}}
"""
LOOP_SECONDS = 60
AWAY_SECONDS = 900
"""By the clock of the host, which its test moves."""


@pytest.fixture
def world(own_postgres_server: Any, tmp_path: Path) -> Iterator[HostWorld]:
    url = own_postgres_server.get_uri().replace("postgresql://", "postgresql+psycopg2://")
    with loaded_here(tmp_path, SETTINGS.format(url=new_database(url))) as made:
        yield made


def trigger_by_hand(world: HostWorld, day: str) -> str:
    with world.live.store.transaction() as transaction:
        return trigger(
            transaction, "flights/clean_as_it_comes", world.location.clock(), day, force=True, by=CLI
        ).id


@pytest.mark.parametrize("during_a_launch", only([False, True], True))
def test_what_waits_while_the_database_is_away_becomes_one_run(
    world: HostWorld, own_postgres_server: Any, monkeypatch: pytest.MonkeyPatch, during_a_launch: bool
) -> None:
    # Dagster repeats each question with pauses of seconds.
    monkeypatch.setattr("dagster_postgres.utils.calculate_delay", lambda **_: 0)
    host = world.host()
    host.loop()
    landed = world.report_day()
    job = trigger_by_hand(world, "2023-04-01")
    if during_a_launch:
        with monkeypatch.context() as patch:
            submit = host._runs.submit

            def go_away(*what: Any) -> None:
                control(own_postgres_server, "stop")
                submit(*what)

            patch.setattr(host._runs, "submit", go_away)
            host.loop()
    else:
        control(own_postgres_server, "stop")

    for _ in range(0, AWAY_SECONDS, LOOP_SECONDS):
        assert host.loop() == FAILED_SECONDS
        world.after += timedelta(seconds=LOOP_SECONDS)

    (waiting,) = [each for each in world.live.jobs("clean_as_it_comes") if each.id == job]
    assert waiting.state is (JobState.PENDING_LAUNCH if during_a_launch else JobState.PENDING_TRIGGER)
    assert waiting.offers <= 1, "what cannot be launched is not offered"
    assert any("connection" in line for line in world.said), world.said

    control(own_postgres_server, "restart")
    for _ in range(10):
        host.loop()
        world.after += timedelta(seconds=LOOP_SECONDS)

    assert len(world.runs("2023-04-01")) == 1
    assert len(world.runs(landed)) == 1
    assert {each.state for each in world.live.jobs("clean_as_it_comes")} == {JobState.LAUNCHED}
