"""Jobs of a project that does not know Tidegate, as programs: launched by the host, and how they end."""

import time
from collections.abc import Iterator

import pytest
from dagster import DagsterRunStatus

from tests.existing.world import Acme, host_of
from tidegate.dagster_defs.host.host import Host
from tidegate.scheduler.launch.obstacles import obstacles
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.dagster

WAIT_SECONDS = 120
"""A run of a process of its own takes up to ten."""

WAIT_SECONDS = 120
"""A run of a process of its own takes up to ten."""

YAML = """
app: core
datasets:
  orders: {partitions: {cycle: day, start: 2026-01-01}}
  by_region: {partitions: {day: {cycle: day, start: 2026-01-01}, region: [eu, us]}}
programs:
  load:
    job: load_region
    location: acme
    config: {ops: {load: {config: {region: "{{ args.region }}", rows: 7, note: "{{ args.note }}"}}}}
    tags: {team: tidal}
  report: {job: nightly_report, partitions: {cycle: day, start: 2026-01-01}}
  orders: {job: orders_job, writes: [orders]}
  demand: {job: demand_job, partitions: {cycle: day, start: 2026-01-01}}
  regions: {job: region_job, partitions: {day: {cycle: day, start: 2026-01-01}, region: [eu, us]}}
  gone: {job: no_such_job}
schedules:
  load: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: eu, note: by hand}, status: active}
  fails: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: nowhere, note: ""}, status: active}
  report: {program: report, trigger: {cron: "0 0 1 1 *"}, status: active}
  orders: {program: orders, trigger: {cron: "0 0 1 1 *"}, status: active}
  regions:
    {program: regions, trigger: {partitions: {dataset: by_region}}, for_each: partition, status: active}
  gone: {program: gone, trigger: {cron: "0 0 1 1 *"}, status: active}
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    project = Acme(tmp_path_factory.mktemp("existing"))
    try:
        project.deploy_beside("core.yaml", YAML)
        project.start()
        yield project
    finally:
        project.stop()


@pytest.fixture(scope="module")
def host(acme: Acme) -> Iterator[Host]:
    with host_of(acme) as host:
        yield host


def looping(acme: Acme, host: Host, job: Job, states: frozenset[JobState] = FINISHED) -> Job:
    """Loop the host until a job is in one of some states; fail with what was seen instead."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := acme.job(job.id)).state not in states:
        host.loop()
        runs = [(run.job_name, run.status.value) for run in acme.runs_of(found)]
        dead = acme.processes.dead()
        assert dead is None, dead and dead.failed("has ended")
        assert time.monotonic() < deadline, "\n".join([str(found), str(runs), *acme.said, acme.log()])
        time.sleep(acme.pause_seconds)
    return found


def test_a_job_of_others_is_launched_with_its_config_and_tags_and_its_end_is_that_of_our_job(
    acme: Acme, host: Host
) -> None:
    ended = looping(acme, host, acme.trigger("load"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    assert (run.job_name, run.status) == ("load_region", DagsterRunStatus.SUCCESS)
    assert run.remote_job_origin is not None
    assert run.remote_job_origin.location_name == "acme"
    assert {name: run.tags[name] for name in ("team", "owner", "dagster/max_retries")} == {
        "team": "tidal",
        "owner": "acme",
        "dagster/max_retries": "0",
    }
    assert (acme.notes / "loaded").read_text().splitlines() == [f"eu 7 by hand {run.run_id}"]


def test_a_failed_run_has_failed_with_the_first_step_failure_and_is_not_repeated(
    acme: Acme, host: Host
) -> None:
    ended = looping(acme, host, acme.trigger("fails"))

    assert (ended.state, ended.reason, ended.attempt) == (JobState.FAILED, Reason.F_RUN, 1)
    assert ended.detail == "step load: ValueError: there is no region nowhere"
    assert len(acme.runs_of(ended)) == 1


def test_without_config_a_partitioned_job_has_the_config_of_its_partition(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("report", "2026-03-09"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    assert run.tags["dagster/partition"] == "2026-03-09"
    assert f"eu 1 2026-03-09 {run.run_id}" in (acme.notes / "loaded").read_text().splitlines()


def test_two_dimensions_have_a_tag_each(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("regions", "2026-03-09|eu"))

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    (run,) = acme.runs_of(ended)
    found = {name: value for name, value in run.tags.items() if name.startswith("dagster/partition")}
    assert found == {
        "dagster/partition": "2026-03-09|eu",
        "dagster/partition/day": "2026-03-09",
        "dagster/partition/region": "eu",
    }


def test_no_such_job_is_a_dead_letter_at_once(acme: Acme, host: Host) -> None:
    ended = looping(acme, host, acme.trigger("gone"))

    assert (ended.state, ended.reason) == (JobState.FAILED, Reason.F_LAUNCH)
    assert ended.detail.startswith("no location of the workspace has a job no_such_job")


def test_a_location_that_is_down_holds_no_slot_and_its_job_starts_when_it_is_back(
    acme: Acme, host: Host
) -> None:
    assert acme.acme is not None
    acme.acme.stop()

    acme.until("the obstacle", lambda: (host.loop(), _obstacles(acme))[1])
    waiting = looping(acme, host, acme.trigger("load"), frozenset({JobState.PENDING_CONSTRAINT}))
    assert waiting.reason is Reason.W_LOCATION
    with acme.store.reading() as reader:
        assert reader.slots(["program:core/load"]) == {"program:core/load": 0}

    acme.start_acme()
    ended = looping(acme, host, waiting)

    assert ended.state is JobState.SUCCEEDED, (ended, acme.said)
    assert len(acme.runs_of(ended)) == 1


def _obstacles(acme: Acme) -> object:
    with acme.store.reading() as reader:
        return obstacles(reader, "core")
