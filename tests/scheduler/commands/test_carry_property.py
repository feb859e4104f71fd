"""Carrying, for any two triggers and any events: nothing is lost, and the old text leaves no trace."""

from hypothesis import given, settings

from tests.worlds.any_trigger import ARRIVALS, TRIGGERS, arrive, collected
from tests.worlds.world import World


def schedule(trigger: str) -> str:
    """It never launches while it is looked at: what was collected stays to be seen."""
    return (
        f"s: {{program: q, status: active, on_update: carry, timeout: 300d, trigger: {trigger},"
        " constraints: [{delay: 200d}]}"
    )


@settings(max_examples=25, deadline=None)
@given(TRIGGERS, TRIGGERS, ARRIVALS)
def test_every_event_is_kept_or_discarded_with_a_reason(before, after, arrivals):
    world = World(schedule(before))
    arrive(world, arrivals)
    had = {event for job in world.jobs("s") for event, _ in collected(world, job)}
    world.redeploy("11:00", schedule(after))
    world.tick("11:00")
    standing = {event for job in world.jobs("s") if job.waiting for event, _ in collected(world, job)}
    with world.store.reading() as reader:
        ledger = reader.deliveries_of_events(had)
        given_up = {
            each.event.id
            for each in ledger
            if each.reason == "D-UPDATED"
            or (each.job is not None and world.job(each.job).reason == "D-UPDATED")
        }
    assert had == standing | given_up


@settings(max_examples=25, deadline=None)
@given(TRIGGERS, TRIGGERS, ARRIVALS)
def test_a_carried_job_is_what_it_would_be_had_the_new_text_stood_from_the_start(before, after, arrivals):
    # Both listen to all there is, so that the old text has collected whatever the new one asks for.
    everything = "{partitions: {dataset: raw, count: 99}}, {partitions: {dataset: other, count: 99}}"
    listening = f"{{any: [{before}, {everything}, {{run: {{program: r, count: 99}}}}]}}"
    carried, fresh = World(schedule(listening)), World(schedule(after))
    for world in (carried, fresh):
        arrive(world, arrivals)
    carried.redeploy("11:00", schedule(after))
    for world in (carried, fresh):
        world.tick("11:00")
    jobs = [[job for job in world.jobs("s") if job.waiting] for world in (carried, fresh)]
    assert len(jobs[0]) == len(jobs[1]) <= 1
    for one, other in zip(*jobs, strict=True):
        assert collected(carried, one) == collected(fresh, other)
        for field in ("state", "reason", "satisfied_at", "first_event_at", "next_check_at", "closed"):
            assert getattr(one, field) == getattr(other, field), field
