"""What a code server does for each program of its location, in calls and not in seconds."""

import gc
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from dagster import AssetsDefinition, OpDefinition, serialize_value
from dagster._core.definitions.repository_definition import RepositoryDefinition
from dagster._core.definitions.resource_requirement import ResourceKeyRequirement

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import DAILY, deploy, location_of
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.definitions import assets as program_asset
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.internals.op_definition import ResourceRequirement
from tidegate.dagster_defs.internals.snapshots import JobDataSnap, RepositorySnap
from tidegate.domain.model import App, CronTrigger, Dataset, Program, Schedule

pytestmark = pytest.mark.dagster

FEW, MANY = 50, 150

CALLS_MAX = 2_700
"""For one more program; it was 2,944 when each asset was copied and each op inspected, and what the catalog
shows of an asset (`test_catalog.py`) costs 110."""


def snapshots(repository: RepositoryDefinition) -> list[str]:
    """What a code server sends of a repository, as text."""
    jobs = sorted(repository.get_all_jobs(), key=lambda job: job.name)
    return [
        serialize_value(RepositorySnap.from_def(repository, defer_snapshots=True)),
        *(serialize_value(JobDataSnap.from_job_def(job, include_parent_snapshot=True)) for job in jobs),
    ]


def app_of(programs: int) -> App:
    """An app with programs in pairs: one for each day and one that reads it, half of them by a cron."""
    names = [f"p{number}" for number in range(programs)]
    reads = {name: (f"of_{names[number - 1]}",) if number % 2 else () for number, name in enumerate(names)}
    crons = [
        Schedule(name=f"s_{name}", program=name, trigger=CronTrigger(cron="0 6 * * *"), status="active")
        for name in names[1::2]
    ]
    return App(
        name="a",
        datasets={
            f"of_{name}": Dataset(name=f"of_{name}", partitions=None if reads[name] else DAILY)
            for name in names
        },
        programs={
            name: Program(name=name, run="m.f", reads=reads[name], writes=(f"of_{name}",)) for name in names
        },
        schedules={cron.name: cron for cron in crons},
    )


def work(programs: int) -> Counter[str]:
    """The calls of Python functions while a location loads and its snapshots are made."""
    store, calls = ReferenceStore(), Counter[str]()
    deploy(store, app_of(programs))

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        repository = repository_of(location_of(store))
        repository.load_all_definitions()
        snapshots(repository)
    finally:
        sys.setprofile(None)
    return calls


def keys(requirements: list[ResourceRequirement]) -> list[str]:
    return [each.key for each in requirements if isinstance(each, ResourceKeyRequirement)]


@pytest.fixture(scope="module")
def grown() -> Counter[str]:
    """The calls for one hundred more programs."""
    work(FEW)
    few, many = work(FEW), work(MANY)
    return Counter({name: many[name] - few[name] for name in many})


def test_what_dagster_shows_is_what_its_own_classes_show(
    store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(store, app_of(4))
    ours = snapshots(repository_of(location_of(store)))
    monkeypatch.setattr(program_asset, "ProgramOp", OpDefinition)
    monkeypatch.setattr(program_asset, "ProgramAsset", AssetsDefinition)

    assert snapshots(repository_of(location_of(store))) == ours


def test_an_op_needs_the_resources_that_dagster_finds_one_by_one(store: ReferenceStore) -> None:
    repository = repository_of(location_of(store))
    for assets in repository.assets_defs_by_key.values():
        if not assets.is_executable:
            continue
        ours = list(assets.op.get_resource_requirements(None, None))
        theirs = list(OpDefinition.get_resource_requirements(assets.op, None, None))
        assert keys(ours) == sorted(set(keys(theirs)))


def test_the_assets_of_a_program_are_built_once(grown: Counter[str]) -> None:
    more = MANY - FEW

    assert grown["AssetsDefinition.__init__"] == more
    assert grown["OpDefinition.__init__"] == more
    assert grown["InputDefinition.__init__"] + grown["OutputDefinition.__init__"] == more + more // 2


def test_partitions_of_the_same_scheme_are_one_definition(grown: Counter[str]) -> None:
    assert grown["TimeWindowPartitionsDefinition.__new__"] == 0


def test_a_program_costs_a_bounded_number_of_calls(grown: Counter[str]) -> None:
    assert sum(grown.values()) / (MANY - FEW) < CALLS_MAX


@pytest.mark.parametrize("threshold", [1, 10_000], ids=["many programs", "few programs"])
def test_a_load_collects_no_garbage(monkeypatch: pytest.MonkeyPatch, threshold: int) -> None:
    store, phases = ReferenceStore(), list[str]()
    deploy(store, app_of(MANY))
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    monkeypatch.setattr(definitions, "MANY_PROGRAMS", threshold)
    monkeypatch.setattr(definitions, "compute_once", lambda: None)
    monkeypatch.setattr(definitions, "answer_of_plans", lambda: True)
    monkeypatch.setattr(definitions, "SELDOM", usual)
    location = location_of(store)
    gc.set_threshold(50, 2, 2)
    gc.callbacks.append(lambda phase, _about: phases.append(phase))
    try:
        monkeypatch.setattr(definitions, "_read", before(definitions._read, phases.clear))
        monkeypatch.setattr(definitions, "ship", before(definitions.ship, lambda: phases.append("end")))
        definitions.build_definitions(location)
    finally:
        gc.callbacks.pop()
        gc.set_threshold(*usual)

    assert phases[0] == "end"
    assert gc.isenabled()
    # What a large location has built is not looked at again.
    assert (gc.get_freeze_count() > frozen) == (threshold == 1)


def before(function: Callable[..., Any], act: Callable[[], object]) -> Callable[..., Any]:
    """A function that does something first."""

    def acting(*given: Any) -> Any:
        act()
        return function(*given)

    return acting
