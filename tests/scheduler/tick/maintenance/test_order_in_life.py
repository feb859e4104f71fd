"""The order of starts where tables are measured by runs outside, some time after a poll has asked for it."""

from tests.worlds.operations import EXPIRE
from tests.worlds.tables import HOURLY, TableWorld, policy, shown
from tests.worlds.world import at
from tidegate.scheduler.explain.operations.planned import planned_polls
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.intake.tables import forget_health

ONE = "budget: {tables_per_poll: 1}"
ALL = policy(tables="w.*.*")
THREE = ("w.a.x", "w.b.y", "w.c.z")


def lake(maintenance: str = ONE, *tables: str, policies: str = ALL) -> TableWorld:
    """Tables of which nothing was measured; those of w.c are in need of maintenance, those of w.b less."""
    world = TableWorld(policies, *(tables or THREE), blind=True, maintenance=maintenance)
    world.sick("w.b.y", snapshots=100)
    world.sick("w.c.z", snapshots=500)
    return world


def test_the_table_with_most_debt_is_the_first_although_nothing_was_measured_when_it_became_due():
    world = lake()
    assert world.poll("00:00") == []
    assert world.waiting() == dict.fromkeys([f"{name} rewrite" for name in THREE], "M-HEALTH")
    world.measure("00:00:20", *THREE)
    assert [world.poll(f"00:0{minute}") for minute in (1, 2, 3)] == [
        ["w.c.z rewrite"],
        ["w.b.y rewrite"],
        ["w.a.x rewrite"],
    ]


def test_so_it_is_with_the_slots_of_a_pool():
    world = lake("auto_pools: {spark: 2}")
    assert world.poll("00:00") == []
    world.measure("00:00:20", *THREE)
    assert world.poll("00:01") == ["w.c.z rewrite", "w.b.y rewrite"]


def test_where_all_can_start_nothing_waits():
    assert len(lake("budget: {tables_per_poll: 3}").poll("00:00")) == 3
    assert len(lake("auto_pools: {spark: 3}").poll("00:00")) == 3


def test_what_was_measured_does_not_wait_for_the_others():
    world = lake()
    world.poll("00:00")
    world.measure("00:00:50", "w.b.y")
    assert world.poll("00:01") == ["w.b.y rewrite"]
    world.measure("00:01:50", "w.a.x", "w.c.z")
    assert world.poll("00:02") == ["w.c.z rewrite"]


def test_a_catalog_that_cannot_be_measured_holds_nothing_back():
    world = lake()
    world.measures = dict.fromkeys(THREE)
    assert world.poll("00:00") == []
    world.measure("00:00:20", *THREE)
    assert [world.poll(f"00:0{minute}") for minute in (1, 2, 3)] == [[f"{name} rewrite"] for name in THREE]


def test_nor_does_one_that_is_never_measured_for_more_than_five_minutes():
    world = lake()
    assert [world.poll(f"00:0{minute}") for minute in range(5)] == [[]] * 5
    assert [world.poll(f"00:0{minute}") for minute in (5, 6, 7)] == [[f"{name} rewrite"] for name in THREE]


def test_where_polls_are_rare_nothing_waits_for_a_whole_one():
    world = lake("poll: 10m, budget: {tables_per_poll: 1}")
    assert world.poll("00:00") == ["w.a.x rewrite"]


def test_tables_that_are_written_all_the_time_start_nevertheless():
    world = lake()
    started: list[str] = []
    for minute in range(10):
        started += world.poll(f"00:0{minute}")
        world.measure(f"00:0{minute}:20", *THREE)
        for name in THREE:
            with world.store.transaction() as transaction:
                forget_health(transaction, [name], at(f"00:0{minute}:40"))
    assert started == [f"{name} rewrite" for name in THREE]


def test_a_table_in_line_is_measured_again_before_the_poll_that_needs_it():
    world = lake("auto_pools: {spark: 1}")
    world.poll("00:00")
    world.measure("00:00:20", *THREE)
    assert world.poll("00:01") == ["w.c.z rewrite"]
    for minute in range(2, 5):
        world.poll(f"00:0{minute}")
        assert world.table("w.b.y").wanted_at is None
    world.poll("00:05")
    assert shown(world.table("w.b.y").wanted_at) == "00:05", "at six what was measured at 00:00:20 is too old"
    world.measure("00:05:20", "w.a.x", "w.b.y")
    world.end_all("00:05:30")
    assert world.poll("00:06") == ["w.b.y rewrite"]


def test_a_table_in_line_whose_measures_are_too_old_keeps_its_reason():
    world = lake("auto_pools: {spark: 1}")
    world.poll("00:00")
    world.measure("00:00:20", *THREE)
    for minute in range(1, 6):
        world.poll(f"00:0{minute}")
    world.end_all("00:05:30")
    assert world.poll("00:06") == []
    assert set(world.waiting().values()) == {"W-CONCURRENCY"}
    world.sick("w.a.x", snapshots=500)
    world.measure("00:06:20", "w.a.x", "w.b.y")
    assert world.poll("00:07") == ["w.a.x rewrite"]


def test_what_is_behind_in_a_table_goes_on_after_the_measurement():
    two = (
        "nightly: {tables: 'w.*.*', operations: {rewrite_data_files: {interval: 1h, window:"
        " {from: '00:00', to: '00:03'}}, expire_snapshots: {interval: 1h}}}"
    )
    world = lake(ONE, "w.a.x", "w.b.y", policies=two)
    assert world.poll("00:00") == []
    assert set(world.waiting().values()) == {"M-HEALTH"}
    world.measure("00:00:20", "w.a.x", "w.b.y")
    assert world.poll("00:01") == ["w.b.y rewrite"]
    assert world.record("w.a.x", EXPIRE).next_look is None
    world.poll("00:02")
    world.end_all("00:02:30")
    assert world.poll("00:03") == ["w.a.x expire"]


def test_it_is_said_why_they_wait():
    world = lake()
    world.poll("00:00")
    status = world.status("00:00:10", "w.a.x")
    assert (status.would_run, str(status.reason), shown(status.next)) == (False, "M-HEALTH", "00:01")
    with world.store.reading() as reader:
        (found,) = explain_operations(reader, "w.a.x", at("00:00:10"))
    assert found.headline.startswith("M-HEALTH")
    assert [(each.kind, each.summary) for each in found.constraints if not each.met] == [
        ("health", "not everything can start, and its place in the order is known once the table is measured")
    ]
    assert found.can_run_at is None


def test_a_plan_shows_the_wait_and_then_the_order_as_far_as_it_is_known():
    world = lake()
    world.measure("00:00", "w.c.z")
    with world.store.reading() as reader:
        polls = planned_polls(reader, at("00:00:10"), 3)
    assert [[start.table for start in poll.starts] for poll in polls] == [["w.c.z"], ["w.a.x"], ["w.b.y"]]


def test_one_alone_starts_at_once():
    assert lake(ONE, "w.a.x", policies=HOURLY).poll("00:00") == ["w.a.x rewrite"]
