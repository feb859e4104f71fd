"""A large code location whose definitions are made by need: Dagster's processes see the same of it."""

import json
import random
from collections.abc import Callable, Mapping
from datetime import time, timedelta
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from dagster import (
    AssetKey,
    AssetsDefinition,
    DagsterInstance,
    JobDefinition,
    RepositoryDefinition,
    SensorDefinition,
    build_sensor_context,
    deserialize_value,
    serialize_value,
)
from dagster._core.remote_origin import RegisteredCodeLocationOrigin
from dagster._grpc import server

from tests.dagster_defs.definitions.test_location_cost import app_of
from tests.dagster_defs.instance import evaluate, report_day, repository_of
from tests.dagster_defs.sample import DAILY, DAILY_BY_ORIGIN, deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tests.effort import pick
from tidegate.dagster_defs.definitions import definitions, left_out, planned_answers, snapshot
from tidegate.dagster_defs.definitions.planned import PlannedRepository
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, DISPATCHER
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.snapshots import JobDataSnap, RepositorySnap
from tidegate.domain.model import (
    App,
    At,
    CronTrigger,
    Dataset,
    Deadline,
    DeclaredColumn,
    Program,
    RowsCheck,
    Schedule,
    SqlQuery,
    UniqueCheck,
)

pytestmark = pytest.mark.dagster

CLEAN = {AssetKey(["flights", "clean"])}


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every location is a large one."""
    for owner, name in (
        (server.DagsterApiServer, "_get_serialized_external_repository_data"),
        (RepositoryDefinition, "get_maybe_subset_job_def"),
        (SensorDefinition, "resolve_run_requests"),
        (server.DagsterApiServer, "ExternalJob"),
    ):
        monkeypatch.setattr(owner, name, vars(owner)[name])
    monkeypatch.setattr(definitions, "MANY_PROGRAMS", 1)
    monkeypatch.setattr(definitions, "SELDOM", (700, 10, 10))
    monkeypatch.setattr(definitions, "compute_once", lambda: None)
    monkeypatch.setattr(definitions, "answer_of_plans", planned_answers.answer_of_plans.__wrapped__)


def planned(repository: RepositoryDefinition) -> PlannedRepository:
    found = planned_answers.planned_in(repository)
    assert found is not None
    return found


def made(repository: RepositoryDefinition) -> bool:
    """Whether all definitions have been made."""
    return "_made" in vars(planned(repository))


def ask(repository: RepositoryDefinition) -> tuple[str, str]:
    """What a code server sends of a repository, and of its job of all assets."""
    origin = serialize_value(RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("here"), "all"))
    code_server: Any = SimpleNamespace(_get_repo_for_origin=lambda _: repository)
    of_all: Any = SimpleNamespace(serialized_repository_python_origin=origin, defer_snapshots=True)
    of_job: Any = SimpleNamespace(serialized_repository_origin=origin, job_name=ALL_ASSETS_JOB)
    api: Any = server.DagsterApiServer
    text = api._get_serialized_external_repository_data(code_server, of_all)
    return text, api.ExternalJob(code_server, of_job, None).serialized_job_data


def drawn(seed: int) -> App:
    """An app by chance: outputs of each kind, with and without what the catalog shows."""
    pick = random.Random(seed)

    def some(value: Any, other: Any = None) -> Any:
        return value if pick.random() < 0.5 else other

    columns = (DeclaredColumn(name="id", type="bigint", nullable=False, unit="n"),)
    checks = (RowsCheck(name="rows", min=1), UniqueCheck(name="u", columns=("id",), severity="warn"))
    schemes = (None, DAILY, DAILY_BY_ORIGIN)
    datasets = {
        name: Dataset(
            name=name,
            partitions=pick.choice(schemes),
            format=pick.choice(("parquet", "iceberg")),
            description=some("what it is", ""),
            owner=some("ada@example.com", ""),
            at=some(At(file="a.yaml", line=pick.randrange(9), column=1)),
            deadline=some(Deadline(within=timedelta(hours=2))),
            columns=some(columns, ()),
            checks=some(checks, ()),
        )
        for name in (f"d{number}" for number in range(12))
    }
    datasets["theirs"] = Dataset(name="theirs", asset=("acme", "core", "demand"), partitions=some(DAILY))
    programs, names = dict[str, Program](), sorted(datasets)
    for number in range(6):
        writes = tuple(f"d{number * 2 + at}" for at in range(pick.randrange(3)))
        sql = tuple(SqlQuery(output=each, file=f"{each}.sql", text="SELECT 1") for each in writes)
        query = bool(sql) and some(True, False)
        programs[f"p{number}"] = Program(
            name=f"p{number}",
            run="" if query else "jobs.of.it",
            sql=sql if query else (),
            reads=tuple(pick.sample(names, pick.randrange(4))),
            writes=writes,
            description=some("what it does", ""),
            tags=some({"team": "x"}, {}),
            at=some(At(file="a.yaml", line=7, column=1)),
        )
    return App(
        name=f"app{seed}", datasets=datasets, programs=programs, schedules=schedules_of(programs, pick)
    )


def schedules_of(programs: Mapping[str, Program], pick: random.Random) -> dict[str, Schedule]:
    return {
        f"s_{name}": Schedule(
            name=f"s_{name}",
            program=name,
            trigger=CronTrigger(cron=f"0 {pick.randrange(4, 24)} * * *"),
            status=pick.choice(("active", "suspended")),
            owner=pick.choice(("", "feeds")),
            deadline=pick.choice((None, Deadline(by=time(8)))),
            for_each=pick.choice((None, "day")),
            sensor=pick.choice(("shared", "own")),
        )
        for name in programs
    }


@pytest.mark.parametrize("seed", pick(range(9), 1))
def test_what_is_sent_is_what_dagster_makes_of_all_definitions(store: ReferenceStore, seed: int) -> None:
    for app in (drawn(seed), msgspec.structs.replace(drawn(seed + 100), name="other"), sample_app()):
        deploy(store, app)
    repository = repository_of(location_of(store))

    sent, job = ask(repository)
    some = repository.get_maybe_subset_job_def(ALL_ASSETS_JOB, asset_selection=CLEAN)
    assert not made(repository)
    everything = planned(repository).everything
    text = serialize_value(RepositorySnap.from_def(everything, defer_snapshots=True))

    assert serialize_value(deserialize_value(sent, RepositorySnap)) == text, "a reader has the same of both"
    assert len(sent) < 0.8 * len(text)
    assert job == of_job(everything.get_job(ALL_ASSETS_JOB))
    other = everything.get_maybe_subset_job_def(ALL_ASSETS_JOB, asset_selection=CLEAN)
    assert of_job(some) == of_job(other)


def test_the_job_of_a_program_is_that_of_all_definitions(store: ReferenceStore) -> None:
    deploy(store, drawn(3))
    repository = repository_of(location_of(store))
    everything = planned(repository).everything

    for assets in set(everything.assets_defs_by_key.values()):
        if assets.is_executable:
            ours, theirs = (
                of_job(each.get_maybe_subset_job_def(ALL_ASSETS_JOB, asset_selection=set(assets.keys)))
                for each in (repository, everything)
            )
            assert json.loads(ours) == json.loads(theirs)


def of_job(job: JobDefinition) -> str:
    return serialize_value(JobDataSnap.from_job_def(job, include_parent_snapshot=False))


def test_a_load_makes_as_many_definitions_at_any_size(
    store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, built = AssetsDefinition.__init__, list[object]()
    monkeypatch.setattr(
        AssetsDefinition, "__init__", lambda *given, **named: built.append(0) or original(*given, **named)
    )
    counts = list[int]()
    for programs in (20, 60):
        deploy(store, app_of(programs))
        repository = repository_of(location_of(store))
        repository.load_all_definitions()
        ask(repository)
        counts.append(len(built))
        built.clear()

    assert counts[0] == counts[1] < 20
    keys = {AssetKey(["a", f"of_p{number}"]) for number in range(60)}
    assert keys < repository.assets_defs_by_key.keys(), "all of them are there when they are asked for"


def test_jobs_schedules_and_sensors_are_those_of_all_definitions(store: ReferenceStore) -> None:
    deploy(store, app_of(6))
    repository = repository_of(location_of(store))
    names = {
        "jobs": set(repository.job_names),
        "schedules": set(planned(repository).get_schedule_names()),
        "sensors": {each.name for each in repository.sensor_defs},
    }
    cron = repository.get_schedule_def("s_p1")
    assert not made(repository)

    everything = planned(repository).everything
    assert names == {
        "jobs": set(everything.job_names),
        "schedules": {each.name for each in everything.schedule_defs},
        "sensors": {each.name for each in everything.sensor_defs},
    }
    assert cron.cron_schedule == everything.get_schedule_def("s_p1").cron_schedule
    assert {each.name for each in repository.schedule_defs} == names["schedules"]
    assert repository.get_job(ALL_ASSETS_JOB) is everything.get_job(ALL_ASSETS_JOB)


def test_the_dispatcher_requests_runs_without_all_definitions(
    store: ReferenceStore, instance: DagsterInstance
) -> None:
    deploy(store, sample_app())
    repository = repository_of(location_of(store))
    report_day(instance, "2023-03-09")

    requests = evaluate(instance, repository).run_requests or ()
    assert not made(repository)

    assert [each.asset_selection for each in requests] == [list(CLEAN)]
    fired = [each.with_replaced_attrs(tags={}, job_name=None) for each in requests]
    sensor: Any = repository.get_sensor_def(DISPATCHER)
    with build_sensor_context(instance, repository_def=planned(repository).everything) as context:
        theirs = sensor.resolve_run_requests(fired, context, sensor.asset_selection, [])
        ours = sensor.resolve_run_requests(
            fired, planned_answers.Narrowed(context, repository), sensor.asset_selection, []
        )
    assert ours == theirs


def test_a_reader_that_takes_another_value_for_a_missing_field_gets_it(
    store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(store, app_of(4))
    repository = repository_of(location_of(store))
    original = left_out._read

    def read(book: dict[str, Any]) -> str | None:
        return None if any("owners" not in node for node in book[snapshot.NODES]) else original(book)

    monkeypatch.setattr(left_out, "_read", read)
    nodes = json.loads(ask(repository)[0])[snapshot.NODES]

    assert all("owners" in node and "code_version" not in node for node in nodes)


def test_a_dagster_that_writes_it_otherwise_makes_everything(
    store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(store, app_of(4))
    monkeypatch.setattr(snapshot, "_text", lambda value: {"__class__": "AnotherEntryData", "text": value})

    repository = repository_of(location_of(store))

    assert planned_answers.planned_in(repository) is None
    assert len(set(repository.assets_defs_by_key.values())) >= 4


def test_who_validates_a_location_gets_everything(store: ReferenceStore) -> None:
    deploy(store, app_of(4))

    found = definitions.build_definitions(location_of(store), at_once=True)

    assert planned_answers.planned_in(found.get_repository_def()) is None


@pytest.mark.parametrize(
    ("replace", "name"),
    [
        (planned_answers.snapshots_of_plans, "_get_serialized_external_repository_data"),
        (planned_answers.jobs_of_parts, "get_maybe_subset_job_def"),
        (planned_answers.requests_of_parts, "resolve_run_requests"),
        (lambda server: planned_answers.job_of_plans(server, dict), "ExternalJob"),
    ],
)
def test_a_dagster_that_is_different_goes_on_by_itself(
    replace: Callable[[object], object], name: str
) -> None:
    assert replace(None) is None
    assert replace(SimpleNamespace(**{name: lambda other: other})) is None
