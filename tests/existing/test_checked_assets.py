"""An asset of others, materialised by a job of theirs: its checks decide what the host launches next."""

from collections.abc import Iterator

import pytest

from tests.existing.world import Acme, host_of, served
from tidegate.dagster_defs.host.host import Host
from tidegate.scheduler.model.job import FINISHED, Job, JobState

pytestmark = pytest.mark.dagster

DAY = "2026-03-09"
YAML = """
app: core
datasets:
  demand: {asset: acme/core/demand, partitions: {cycle: day, start: 2026-01-01}}
programs:
  demand: {job: demand_job, writes: [demand]}
  report: {job: nightly_report, partitions: {cycle: day, start: 2026-01-01}}
schedules:
  demand: {program: demand, trigger: {cron: "0 0 1 1 *"}, status: active}
  report:
    program: report
    for_each: day
    trigger: {partitions: {dataset: demand, checks: passed}}
    status: active
"""


@pytest.fixture
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    with served(tmp_path_factory.mktemp("checked"), YAML) as project:
        yield project


def ended(acme: Acme, host: Host, schedule: str) -> Job:
    """Loop the host until a job of a schedule has ended."""

    def look() -> list[Job]:
        host.loop()
        return [job for job in acme.jobs(schedule) if job.state in FINISHED]

    return acme.until(f"the end of {schedule}", look)[0]


def test_the_event_of_a_run_of_theirs_comes_when_its_checks_have_passed_and_its_run_has_ended(
    acme: Acme,
) -> None:
    acme.trigger("demand", DAY)
    with host_of(acme) as host:
        first = ended(acme, host, "demand")
        second = ended(acme, host, "report")

    assert (first.state, second.state) == (JobState.SUCCEEDED, JobState.SUCCEEDED), acme.said
    (run,) = acme.runs_of(first)
    with acme.store.reading() as reader:
        (plain,) = reader.events(key_prefix="partition:core/demand")
        (checked,) = reader.events(key_prefix="checked:core/demand")
    assert second.key == plain.partition == checked.partition == DAY
    assert plain.run_id == checked.run_id == run.run_id
    assert checked.time == plain.time < checked.arrived
