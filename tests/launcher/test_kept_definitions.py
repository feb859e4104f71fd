"""What Dagster reconstructs once for many runs of a process, and what it reconstructs again."""

from collections.abc import Iterator
from typing import Any

import pytest
from dagster import AssetKey, DagsterRun
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.definitions.repository_definition import RepositoryLoadData

from tidegate.dagster_defs.definitions.run_scope import RunScope, run_scope
from tidegate.dagster_defs.internals.execution import ReconstructableJob
from tidegate.launcher.kept_definitions import KEPT_MAX, forget_definitions, is_kept, keep_definitions
from tidegate.project.environment import MODULE


class Built:
    """A repository, as far as its jobs are asked for."""

    def get_maybe_subset_job_def(self, *selection: object) -> object:
        return self, selection


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The plans of which a repository was built."""
    found: list[str] = []

    def build(repository: ReconstructableRepository) -> Built:
        assert repository.repository_load_data is not None
        found.append(str(repository.repository_load_data.reconstruction_metadata["plan"]))
        return Built()

    monkeypatch.setattr(ReconstructableRepository, "get_definition", build)
    for name in ("get_definition", "get_repository_definition"):
        monkeypatch.setattr(ReconstructableJob, name, getattr(ReconstructableJob, name))
    keep_definitions()
    yield found
    forget_definitions()


def job(plan: str, asset: str = "") -> ReconstructableJob:
    metadata: Any = {"plan": plan}
    shipped = RepositoryLoadData(reconstruction_metadata=metadata)
    whole = ReconstructableRepository.for_module(MODULE, "defs", "/").get_reconstructable_job("all")
    subset = whole.get_subset(asset_selection={AssetKey(asset)}) if asset else whole
    return subset.with_repository_load_data(shipped)


def test_a_run_and_those_after_it_build_a_plan_once(builds: list[str]) -> None:
    first = job("a").get_definition(), job("a", "one").get_definition(), job("a", "two").get_definition()
    again = job("a").get_definition(), job("a", "one").get_definition(), job("a", "two").get_definition()

    assert builds == ["a"]
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len({id(each) for each in first}) == len(first)


def test_another_plan_and_a_run_that_needs_something_else_are_built(builds: list[str]) -> None:
    job("a").get_definition()
    job("b").get_definition()
    with run_scope(RunScope(assets=frozenset({AssetKey("one")}))):
        job("a").get_definition()

    assert builds == ["a", "b", "a"]


def test_what_is_forgotten_or_was_used_long_ago_is_built_again(builds: list[str]) -> None:
    plans = [str(number) for number in range(KEPT_MAX)]
    for plan in (*plans, "0", "new", "0", "1"):
        job(plan).get_definition()
    assert builds == [*plans, "new", "1"]

    forget_definitions()
    job("0").get_definition()
    assert builds[-1] == "0"


@pytest.mark.parametrize(
    ("module", "shipped", "expected"),
    [(MODULE, True, True), (MODULE, False, False), ("their.definitions", True, False)],
)
def test_definitions_of_others_and_those_without_a_plan_are_built_for_each_run(
    module: str, shipped: bool, expected: bool
) -> None:
    origin = ReconstructableRepository.for_module(module, "defs", "/").get_reconstructable_job("all")
    run = DagsterRun(
        job_name="all", job_code_origin=origin.get_python_origin(), has_repository_load_data=shipped
    )

    assert is_kept(run) is expected
