"""A backlog forgets nothing: after the resume the jobs are those that they would be without a suspension."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds.any_trigger import ARRIVALS, TRIGGERS, Arrivals, arrive, collected
from tests.worlds.world import World
from tidegate.scheduler.model.job import Job

BATCHING = st.sampled_from(["", "batching: each, "])


def world_of(trigger: str, batching: str) -> World:
    """It never launches while it is looked at: what was collected stays to be seen."""
    return World(
        f"s: {{program: q, status: active, on_suspend: backlog, timeout: 300d, {batching}trigger: {trigger},"
        " constraints: [{delay: 200d}]}"
    )


def seen(world: World) -> list[tuple[object, ...]]:
    """What can be said of the jobs, but for the moments at which they were looked at."""
    return [(*_told(job), frozenset(collected(world, job))) for job in world.jobs("s")]


def _told(job: Job) -> tuple[object, ...]:
    return (job.id, job.state, job.reason, job.opened_at, job.first_event_at, job.satisfied_at, job.closed)


@settings(max_examples=25, deadline=None)
@given(TRIGGERS, BATCHING, ARRIVALS, st.integers(0, 20), st.integers(0, 20))
def test_a_backlog_is_what_would_have_been_without_the_suspension(
    trigger: str, batching: str, arrivals: Arrivals, one: int, other: int
):
    suspended, untouched = world_of(trigger, batching), world_of(trigger, batching)
    first, last = sorted((one, other))

    def switch(minute: int) -> None:
        if minute == first:
            suspended.suspend(f"10:{minute:02}", "s")
        if minute == last:
            suspended.resume(f"10:{minute:02}", "s")

    arrive(untouched, arrivals)
    arrive(suspended, arrivals, switch)
    assert seen(suspended) == seen(untouched)
    assert all(job.held_at is None for job in suspended.jobs("s"))
    assert all(job.held_for <= timedelta(minutes=last - first) for job in suspended.jobs("s"))
