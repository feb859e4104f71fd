"""What became of events in the schedules that have received them."""

from datetime import timedelta

from tests.worlds.world import World, at
from tidegate.listings.events import Received
from tidegate.listings.queries.events import PRUNED, shown_events
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.retention.prune import prune

KEEP_EVENTS = Keep(journal=None, events=None, finished_jobs=timedelta(minutes=1), launches=None)


def received(world: World) -> list[Received]:
    """What has become of all events, in the order of arrival."""
    with world.store.reading() as reader:
        return [one for each in shown_events(reader, reader.events()[::-1]) for one in each.deliveries]


def test_an_event_may_outlive_the_job_that_received_it():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    for hour, day in (("01", "2026-03-08"), ("02", "2026-03-09")):
        world.arrive(f"{hour}:00", "raw", day)
        world.tick(f"{hour}:00")
        (job,) = world.launch_all(f"{hour}:01")
        world.end(f"{hour}:02", job)
        world.tick(f"{hour}:03")
    assert [each.outcome for each in received(world)] == ["succeeded", "succeeded"]
    world.tick("05:00")

    assert prune(world.store, KEEP_EVENTS, at("05:00")).jobs == 2

    assert [(each.state, each.outcome) for each in received(world)] == [(PRUNED, "pruned")] * 2
