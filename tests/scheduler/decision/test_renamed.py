"""Jobs and events under new names: ids stay, everything that decides follows."""

import msgspec

from tests.worlds.world import at
from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.decision.changes.renamed import renamed_event_key, renamed_job
from tidegate.scheduler.model.job import Job, LaunchPlan

NAMES = Renames(apps={"a": "b"}, datasets={"a/raw": "b/landed"}, programs={"a/p": "b/load", "a/q": "b/q"})


def test_a_failed_job_can_be_tried_again_under_the_new_names() -> None:
    launch = LaunchPlan(program="p", manifest={"raw": ("2026-03-09",), "c/other": ("x",)})
    job = Job(
        id="a.s-1",
        schedule="a/s",
        opened_at=at("10:00"),
        launch=launch,
        resources=("runs", "program:a/p", "group:nightly"),
        blocked_on="program:a/q",
    )
    found = renamed_job(job, NAMES)
    assert (found.id, found.schedule, found.blocked_on) == ("a.s-1", "b/s", "program:b/q")
    assert found.resources == ("runs", "program:b/load", "group:nightly")
    assert found.launch == msgspec.structs.replace(
        launch, program="load", manifest={"landed": ("2026-03-09",), "c/other": ("x",)}
    )
    assert renamed_job(msgspec.structs.replace(job, launch=None, blocked_on=None), NAMES).launch is None


def test_event_keys() -> None:
    for old, new in (
        ("partition:a/raw", "partition:b/landed"),
        ("partition:c/raw", "partition:c/raw"),
        ("run:a/p:succeeded", "run:b/load:succeeded"),
        ("fire:a/s:0.1", "fire:b/s:0.1"),
    ):
        assert renamed_event_key(old, NAMES) == new
