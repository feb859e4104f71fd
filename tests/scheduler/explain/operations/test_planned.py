"""Planned: what the next polls would start, and what holds the rest back."""

from tests.worlds.tables import TableWorld, shown
from tests.worlds.world import at
from tidegate.scheduler.explain.operations.planned import PlannedPoll, planned_polls

THRESHOLD = (
    "p: {tables: 'w.a.*', operations: {rewrite_data_files: {interval: 1h, when: {any: [{small_files: 9}]}}}}"
)


def planned(world: TableWorld, clock: str, polls: int) -> tuple[PlannedPoll, ...]:
    with world.store.reading() as reader:
        return planned_polls(reader, at(clock), polls)


def starts(poll: PlannedPoll) -> list[str]:
    return [start.table for start in poll.starts]


def test_it_foretells_the_next_polls() -> None:
    world = TableWorld(
        THRESHOLD,
        "w.a.x",
        "w.a.y",
        "w.a.z",
        maintenance="budget: {tables_per_poll: 1}, auto_pools: {spark: 2}",
    )
    for number, table in enumerate(("w.a.x", "w.a.y", "w.a.z")):
        world.sick(table, small_files=9, snapshots=100 * (number + 1))
    world.measure("00:00:01")
    first, second, third = planned(world, "00:00:02", 3)
    assert [shown(each.at) for each in (first, second, third)] == ["00:01", "00:02", "00:03"]
    assert (starts(first), first.held_back) == (["w.a.x"], {"M-BUDGET": 2})
    assert (starts(second), second.held_back) == (["w.a.y"], {"M-BUDGET": 1})
    assert (starts(third), third.held_back) == ([], {"W-CONCURRENCY": 1})
    assert (first.starts[0].debt, first.starts[0].measured_at) == (50, at("00:00:01"))
    for poll in (first, second, third):
        clock = shown(poll.at) or ""
        assert [name.split()[0] for name in world.poll(clock)] == starts(poll)


def test_what_is_old_counts_once_it_would_have_been_measured_and_what_is_unknown_waits() -> None:
    world = TableWorld(THRESHOLD, "w.a.x", "w.a.y", blind=True)
    world.sick("w.a.x", small_files=9)
    world.measure("00:00:01", "w.a.x")
    first, second, third = planned(world, "03:00", 3)
    assert (starts(first), first.held_back) == ([], {"M-HEALTH": 2})
    assert (starts(second), second.held_back) == (["w.a.x"], {"M-HEALTH": 1})
    assert (starts(third), third.held_back) == ([], {"M-HEALTH": 1})
    assert second.starts[0].measured_at == at("00:00:01")


def test_the_start_of_a_table_that_was_never_measured_and_of_a_dataset() -> None:
    world = TableWorld(
        "p: {tables: ['w.a.x', a/out], operations: {rewrite_data_files: {}}}", "w.a.x", blind=True
    )
    (poll,) = planned(world, "00:00:30", 1)
    assert [(each.table, each.measured_at, each.excluded) for each in poll.starts] == [
        ("a/out", None, ()),
        ("w.a.x", None, ()),
    ]
