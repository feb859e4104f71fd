"""The text of an edge that is missing: the code, the rule, and what to do."""

import msgspec
import pytest

from tests.worlds.tasks import TaskWorld
from tidegate.scheduler.explain.instances.facts import no_edge_help, no_edge_line
from tidegate.scheduler.model.instance import Diagnostic
from tidegate.scheduler.model.job import Job, JobState

NONE = Diagnostic(task="a/feed", rule="the last one of the same hour", found=0)
SEVERAL = msgspec.structs.replace(NONE, rule="the only one of the same day", found=3)
KEY = "2026-03-10-10:00"


@pytest.fixture
def job() -> Job:
    with TaskWorld().store.reading() as reader:
        return next(job for job in reader.jobs(schedules=["a/clean"]) if job.key == KEY)


def test_the_line_has_the_code_the_upstream_task_the_rule_and_how_many_were_found() -> None:
    assert no_edge_line(NONE) == (
        "E-NO-EDGE: no edge to a/feed: the last one of the same hour: 0 instances found, none picked"
    )
    assert no_edge_line(SEVERAL).endswith("the only one of the same day: 3 instances found, none picked")


def test_the_help_fits_what_was_found_and_the_status_of_the_instance(job: Job) -> None:
    assert no_edge_help(NONE, job) == (
        "it does not wait for a/feed: correct `depends_on`, or check that a/feed is deployed and has an"
        f" instance there; `tidegate instances pause a/clean {KEY}` stops it"
    )
    done = msgspec.structs.replace(job, state=JobState.SUCCEEDED)
    assert no_edge_help(SEVERAL, done) == (
        "it does not wait for a/feed: another `select` or `period` in `depends_on` picks one;"
        f" `tidegate instances rerun a/clean {KEY}` resolves it again"
    )


def test_an_instance_of_a_backfill_is_named_with_its_number(job: Job) -> None:
    instance = msgspec.structs.replace(job.of_task, number=2)
    found = no_edge_help(NONE, msgspec.structs.replace(job, instance=instance))
    assert f"`tidegate instances pause a/clean {KEY} --backfill 2`" in found
