"""Files in a watched folder become runs by the host alone, each landing once, also after a restart."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from dagster import AssetKey, AssetRecordsFilter

from tests.dagster_defs.host.world import HostWorld, loaded_here
from tests.dagster_defs.instance import ORIGINS
from tests.dagster_defs.live.live import live_app
from tests.dagster_defs.sample import deploy
from tidegate.dagster_defs.host.host import Host
from tidegate.domain.model import App, Watch

pytestmark = pytest.mark.dagster

DAY = "2023-03-09"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostWorld]:
    with loaded_here(tmp_path_factory.mktemp("watched")) as world:
        yield world


def watched_app() -> App:
    """The live app, whose raw dataset is watched."""
    app = live_app()
    raw = msgspec.structs.replace(
        app.datasets["raw"], path="landing/raw", watch=Watch(settle=timedelta(seconds=0.1))
    )
    return msgspec.structs.replace(app, datasets={**app.datasets, "raw": raw})


def land(world: HostWorld, name: str) -> None:
    for origin in ORIGINS:
        file = world.live.folder / "landing/raw" / f"day={DAY}" / f"origin={origin}" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1PAR1")


def looping(world: HostWorld, host: Host, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        host.loop()
        world.after += timedelta(seconds=1)
        time.sleep(0.05)


def test_landed_files_become_a_run_and_late_ones_another_event(world: HostWorld) -> None:
    deploy(world.live.store, watched_app())
    land(world, "a.parquet")

    def host() -> Host:
        return Host(
            replace(world.location, watch_seconds=0),
            world.instance,
            world.workspace,
            f"elsewhere/{time.monotonic_ns()}/m/b/s/9",
            world.said.append,
        )

    def events() -> int:
        with world.live.store.reading() as reader:
            return len(reader.events(key_prefix="partition:flights/raw"))

    def logged() -> list[int]:
        wanted = AssetRecordsFilter(asset_key=AssetKey(["flights", "raw"]))
        records = world.instance.fetch_materializations(wanted, limit=99, ascending=True).records
        found = [each.asset_materialization for each in records]
        return [int(str(each.metadata["bytes"].value)) for each in found if each is not None]

    looping(world, host(), lambda: bool(world.runs(DAY)) and len(logged()) == 3)
    assert events() == 3

    world.lapse()
    again = host()
    for _ in range(20):
        again.loop()
        time.sleep(0.05)
    assert events() == 3

    land(world, "late.parquet")
    looping(world, again, lambda: len(logged()) == 6)
    assert events() == 6
    assert logged() == [5, 5, 5, 10, 10, 10]
