"""When two runs do the same work, and when one computes again."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from tests.dagster_defs.instance import make_run
from tests.dagster_defs.sample import sample_app
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.run.commit_id import adds_rows, origin_of, own_commit_id

pytestmark = pytest.mark.dagster

FAILED, SUCCEEDED, RUNNING = (
    DagsterRunStatus.FAILURE,
    DagsterRunStatus.SUCCESS,
    DagsterRunStatus.STARTED,
)
JOB = {"tidegate/job": "flights.s-1", "tidegate/attempt": "1", "tidegate/program": "flights/clean"}


def program(write: str | None = None, **changes: Any) -> ProgramAssets:
    """The program `clean` of the sample app, with another write mode of its output."""
    found = AssetPlan(Plan(apps=(LoadedApp(app=sample_app(), revision=1),))).programs["flights", "clean"]
    datasets = dict(found.app.datasets)
    datasets["clean"] = msgspec.structs.replace(datasets["clean"], write=write)
    return replace(
        found,
        app=msgspec.structs.replace(found.app, datasets=datasets),
        program=msgspec.structs.replace(found.program, **changes),
    )


def commit_id(run: DagsterRun, assets: ProgramAssets, instance: DagsterInstance) -> str:
    """The commit id of a program in a run, before commits that were abandoned are looked at."""
    origin = origin_of(run, instance, adds=adds_rows(assets))
    return origin.commit or own_commit_id(origin.run_id, assets)


def line_of_runs(
    instance: DagsterInstance, tags: dict[str, str], *ends: DagsterRunStatus
) -> list[DagsterRun]:
    """Runs of which each was executed again from the one before, with how each has ended."""
    made: list[str] = []
    for status in ends:
        again = {"dagster/parent_run_id": made[-1], "dagster/root_run_id": made[0]} if made else {}
        made.append(make_run(instance, "clean", tags={**tags, **again}, status=status))
    runs = [instance.get_run_by_id(run_id) for run_id in made]
    return [run for run in runs if run is not None]


@pytest.mark.parametrize(
    ("ends", "first"),
    [
        ([RUNNING], 0),
        ([FAILED, RUNNING], 0),
        ([FAILED, FAILED, RUNNING], 0),
        ([SUCCEEDED, RUNNING], 1),
        ([FAILED, SUCCEEDED, RUNNING], 2),
        ([SUCCEEDED, FAILED, RUNNING], 1),
        ([SUCCEEDED, FAILED, SUCCEEDED, RUNNING], 3),
    ],
    ids=[
        "a first run",
        "run again after a failure",
        "and once more",
        "run again after a success",
        "after a failure that a second run made good",
        "a retry of a run that computes again goes on with its work",
        "and after that one's success again",
    ],
)
@pytest.mark.parametrize("tags", [JOB, {}], ids=["of a job", "by hand"])
def test_the_commit_is_that_of_the_run_whose_work_it_does(
    instance: DagsterInstance, tags: dict[str, str], ends: list[DagsterRunStatus], first: int
) -> None:
    runs = line_of_runs(instance, tags, *ends)

    commit = commit_id(runs[-1], program(), instance)

    job = tags and first == 0
    assert commit == ("flights.s-1" if job else f"{runs[first].run_id}.flights.clean")


@pytest.mark.parametrize(
    ("assets", "first"),
    [
        (program("append"), 0),
        (program("append", incremental={"raw": True}), 1),
        (program("merge"), 1),
        (program("full"), 1),
        (program("overwrite_partitions"), 1),
    ],
    ids=["append", "append of what is new", "merge", "full", "overwrite_partitions"],
)
def test_after_a_success_an_append_is_not_done_twice(
    instance: DagsterInstance, assets: ProgramAssets, first: int
) -> None:
    runs = line_of_runs(instance, {}, SUCCEEDED, RUNNING)

    assert commit_id(runs[-1], assets, instance) == f"{runs[first].run_id}.flights.clean"


@pytest.mark.parametrize("tags", [JOB, {}], ids=["of a job", "by hand"])
def test_where_the_run_before_was_deleted_nothing_is_repeated(
    instance: DagsterInstance, tags: dict[str, str]
) -> None:
    runs = line_of_runs(instance, tags, SUCCEEDED, RUNNING)
    instance.delete_run(runs[0].run_id)

    commit = commit_id(runs[1], program(), instance)

    assert commit == (tags.get("tidegate/job") or f"{runs[0].run_id}.flights.clean")


def test_two_programs_in_one_run_are_two_commits(instance: DagsterInstance) -> None:
    (run,) = line_of_runs(instance, {}, RUNNING)

    assert commit_id(run, program(), instance) != commit_id(run, program(name="report"), instance)


@pytest.mark.parametrize(
    ("ends", "commit"),
    [
        ([RUNNING], "flights.s-1.r2"),
        ([FAILED, RUNNING], "flights.s-1.r2"),
        ([SUCCEEDED, RUNNING], "{1}.flights.clean"),
    ],
    ids=["its run", "run again by Dagster after a failure", "by hand after a success"],
)
def test_an_instance_that_was_run_again_has_another_commit(
    instance: DagsterInstance, ends: list[DagsterRunStatus], commit: str
) -> None:
    runs = line_of_runs(instance, {**JOB, "tidegate/commit": "flights.s-1.r2"}, *ends)

    assert commit_id(runs[-1], program(), instance) == commit.format(*(run.run_id for run in runs))
