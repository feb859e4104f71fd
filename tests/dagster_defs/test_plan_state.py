"""What travels with a run: its process builds the same assets and never touches the store."""

from collections.abc import Iterator

import pytest
from dagster import AssetKey
from dagster._core.definitions.definitions_load_context import DefinitionsLoadContext, DefinitionsLoadType
from dagster._core.definitions.repository_definition import RepositoryLoadData

from tests.dagster_defs.sample import location_of, sample_app, sample_store
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.definitions.names import RECOVERY
from tidegate.dagster_defs.definitions.plan_state import (
    METADATA_KEY,
    LoadedApp,
    Plan,
    decode_plan,
    encode_plan,
)
from tidegate.scheduler.store.memory.store import MemoryStore

pytestmark = pytest.mark.dagster


class Unreachable(MemoryStore):
    """A store that is down."""

    def reading(self):
        raise AssertionError("the store was touched")

    transaction = reading


@pytest.fixture
def initializing() -> Iterator[DefinitionsLoadContext]:
    context = DefinitionsLoadContext(DefinitionsLoadType.INITIALIZATION)
    with DefinitionsLoadContext.scoped(context):
        yield context


def reconstructing(context: DefinitionsLoadContext) -> DefinitionsLoadContext:
    """The context in which a process loads what `context` has shipped."""
    shipped = RepositoryLoadData(reconstruction_metadata=dict(context.get_pending_reconstruction_metadata()))
    return DefinitionsLoadContext(DefinitionsLoadType.RECONSTRUCTION, repository_load_data=shipped)


def test_the_plan_survives_the_journey_without_schedules() -> None:
    plan = Plan(apps=(LoadedApp(app=sample_app(), revision=3),))

    arrived = decode_plan(encode_plan(plan))

    assert arrived.apps[0].revision == 3
    assert arrived.apps[0].app.programs == sample_app().programs
    assert arrived.apps[0].app.datasets == sample_app().datasets
    assert arrived.apps[0].app.schedules == {}


def test_a_runs_process_builds_the_assets_without_the_store(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_definitions(location_of(sample_store()))
    monkeypatch.setattr(definitions, "_read_here", {})

    with DefinitionsLoadContext.scoped(reconstructing(initializing)):
        repository = build_definitions(location_of(Unreachable())).get_repository_def()

    assert AssetKey(["flights", "clean"]) in repository.assets_defs_by_key
    assert (repository.sensor_defs, repository.schedule_defs) == ([], [])


def test_a_code_server_gets_sensors_in_its_second_pass(initializing: DefinitionsLoadContext) -> None:
    build_definitions(location_of(sample_store()))

    with DefinitionsLoadContext.scoped(reconstructing(initializing)):
        repository = build_definitions(location_of(Unreachable())).get_repository_def()

    assert [sensor.name for sensor in repository.sensor_defs] == ["flights_dispatcher"]
    assert {schedule.name for schedule in repository.schedule_defs} == {"report_daily", RECOVERY}


def test_what_travels_is_small(initializing: DefinitionsLoadContext) -> None:
    build_definitions(location_of(sample_store()))

    assert len(initializing.get_pending_reconstruction_metadata()[METADATA_KEY]) < 1000
