"""A run that published 0 rows says so: a success is not enough for who waits for rows."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key

P = "s: {program: p, status: active, for_each: day, trigger: {partitions: {dataset: raw}}}"
ROWS = [
    ("no row in any partition", [("out", 0, "r1"), ("out", 0, "r1")], True),
    ("a row in one", [("out", 0, "r1"), ("out", 3, "r1")], False),
    ("unknown rows", [("out", None, "r1")], False),
    ("of another run", [("out", 0, "r2")], False),
    ("of another dataset", [("origins_out", 0, "r1")], False),
    ("nothing yet", [], False),
]


@pytest.mark.parametrize(("sentence", "published", "nothing"), ROWS, ids=[row[0] for row in ROWS])
def test_all_that_its_run_published_has_no_rows(sentence, published, nothing):
    world = World(P)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    job = world.only("s")
    world.offer_launches("10:00")
    world.run("10:01", "p", "started", "r1", job=job.id)
    events = [
        Event(
            id=f"x{number}",
            kind=EventKind.PARTITION,
            key=partition_event_key("a", dataset),
            time=at("10:02"),
            arrived=at("10:02"),
            partition=f"2026-03-{number + 1:02}",
            rows=rows,
            run_id=run,
        )
        for number, (dataset, rows, run) in enumerate(published)
    ]
    with world.store.transaction() as transaction:
        transaction.add_events(events)
    world.run("10:03", "p", "succeeded", "r1", job=job.id)

    with world.store.reading() as reader:
        (found,) = explain(reader, job.id, at("10:04"))

    assert found.headline.startswith("SUCCEEDED, run r1")
    assert found.headline.endswith("; it published 0 rows") is nothing
