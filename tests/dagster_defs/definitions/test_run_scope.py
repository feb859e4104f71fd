"""What the process of one run builds: its own program with the inputs of that, or one job without assets."""

import pytest
from dagster import AssetKey
from dagster._core.definitions.repository_definition import RepositoryDefinition

from tests.dagster_defs.sample import location_of, sample_store
from tests.dagster_defs.shipped import Unreachable, loading, reconstructing
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, run_scope, scope_of
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, RECOVERY
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext

pytestmark = pytest.mark.dagster

CLEAN = AssetKey(["flights", "clean"])


def built(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch, job: str, *assets: AssetKey
) -> RepositoryDefinition:
    build_definitions(location_of(sample_store()))
    monkeypatch.setattr(definitions, "_built_here", {})
    with loading(reconstructing(initializing)), run_scope(scope_of(job, assets)):
        return build_definitions(location_of(Unreachable())).get_repository_def()


def test_a_run_of_a_program_builds_its_assets_and_shows_its_inputs(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = built(initializing, monkeypatch, ALL_ASSETS_JOB, CLEAN)

    inputs = {AssetKey(["flights", name]) for name in ("raw", "rates")}
    assert repository.asset_graph.get_all_asset_keys() == {CLEAN} | inputs
    assert repository.asset_graph.executable_asset_keys == {CLEAN}
    assert repository.asset_graph.get(AssetKey(["flights", "raw"])).is_partitioned
    assert not repository.has_job(RECOVERY)
    job = repository.get_maybe_subset_job_def(ALL_ASSETS_JOB, None, {CLEAN}, None)
    assert [node.name for node in job.nodes] == ["clean"]


def test_a_run_of_the_recovery_job_builds_no_asset(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = built(initializing, monkeypatch, RECOVERY)

    assert repository.asset_graph.get_all_asset_keys() == set()
    assert repository.has_job(RECOVERY)


def test_a_run_of_several_programs_builds_all_of_them(
    initializing: DefinitionsLoadContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    notify = AssetKey(["flights", "notify"])

    repository = built(initializing, monkeypatch, ALL_ASSETS_JOB, CLEAN, notify)

    assert repository.asset_graph.executable_asset_keys == {CLEAN, notify}


@pytest.mark.parametrize("job", [ALL_ASSETS_JOB, "a job of the user's own"])
def test_a_run_without_a_selection_builds_everything(job: str) -> None:
    assert scope_of(job, None) == scope_of(job, ()) == EVERYTHING
