"""Why names the withheld publishes of what a schedule listens to, and of what an instance waits for."""

from tests.scheduler.test_withheld_jobs import KEY, failed_instance, withhold
from tests.worlds.world import World, at
from tidegate.scheduler.explain.why import explain


def publishing() -> tuple[World, str]:
    """A world with a job whose publish of `out` is withheld."""
    world = World(
        """
s: {program: p, status: active, trigger: {partitions: {dataset: raw}}}
after:
  program: q
  status: active
  trigger: {all: [{partitions: {dataset: out}}, {partitions: {dataset: raw}}]}
on_success: {program: r, status: active, trigger: {run: {program: p}}}
other: {program: t, status: active, trigger: {partitions: {dataset: other}}}
"""
    )
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    withhold(world, "10:04", job)
    world.end("10:05", job, "failed")
    world.tick("10:05")
    return world, job


def commits(world: World, target: str) -> list[str]:
    with world.store.reading() as reader:
        return [
            each.commit for found in explain(reader, target, at("10:06")) for each in found.withheld_publishes
        ]


def test_why_of_a_schedule_and_of_its_waiting_job_names_what_is_withheld_of_its_dataset():
    world, job = publishing()
    waiting = world.only("after").id
    assert (commits(world, "a/after"), commits(world, waiting)) == ([job], [job])
    assert commits(world, "a/on_success") == [job], "a success is awaited of the program"
    assert commits(world, "a/other") == []
    with world.store.reading() as reader:
        (found,) = explain(reader, waiting, at("10:06"))
    assert found.withheld_publishes[0].text == (
        f"a/out of a/s since 2026-03-10 10:04:00Z, check not_null_id: 3 of 9 rows (commit {job})"
    )


def test_why_of_a_failed_job_and_its_schedule_name_its_own():
    world, job = publishing()
    assert (commits(world, job), commits(world, "a/s")) == ([job], [job])


def test_why_of_an_instance_names_what_is_withheld_of_its_upstream():
    world, job = failed_instance()
    assert commits(world, world.instance("after", KEY).id) == [job]
