"""What a job was launched without: the members of its trigger that a wait or a timeout did not wait for."""

import pytest

from tests.worlds.world import World
from tidegate.domain.launch_input import MissingMember

DAY, TOMORROW = "2026-03-09", "2026-03-10"


def launched(
    trigger: str, more: str, *arrivals: tuple[str, str, str], until: str
) -> tuple[MissingMember, ...]:
    """The missing members of the last launch of a schedule whose data arrives so."""
    world = World(f"s: {{program: q, status: active, trigger: {trigger}{more}}}")
    for clock, dataset, key in arrivals:
        world.arrive(clock, dataset, key)
        world.tick(clock)
    world.tick(until)
    plan = world.last("s").launch
    assert plan is not None
    return plan.provisional


RAW, OTHER = "{partitions: {dataset: raw}}", "{partitions: {dataset: other}}"
BOTH = "all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}, as: joined}]"


@pytest.mark.parametrize(
    ("trigger", "more", "missing"),
    [
        # Its own wait, that of a member, and a timeout from the first event.
        (f"{{{BOTH}, wait_at_most: 1h}}", ", for_each: day", [("1", "other", "joined", (DAY,))]),
        (
            "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}, wait_at_most: 1h}]}",
            ", for_each: day",
            [("1", "other", None, (DAY,))],
        ),
        (
            f"{{{BOTH}}}",
            ", for_each: day, timeout: {after: 1h, then: run, from: first_event}",
            [("1", "other", "joined", (DAY,))],
        ),
        # Without a key nothing says which partition it would have been.
        (f"{{{BOTH}, wait_at_most: 1h}}", "", [("1", "other", "joined", ())]),
        # Keys that are named, and the rest of a count that only one key can be.
        (
            "{all: [{partitions: {dataset: raw, keys: [2026-03-08, 2026-03-09]}}], wait_at_most: 1h}",
            "",
            [("0", "raw", None, ("2026-03-08",))],
        ),
        ("{partitions: {dataset: raw, count: 2}, wait_at_most: 1h}", "", [("", "raw", None, ())]),
        # Members of members, and all of an `any` of which none holds.
        (
            f"{{all: [{RAW}, {{any: [{{partitions: {{dataset: other}}}}, {{run: {{program: r}}}}]}}],"
            " wait_at_most: 1h}",
            "",
            [("1.0", "other", None, ()), ("1.1", "r", None, ())],
        ),
        # A quiet that is cut off: more may come.
        ("{partitions: {dataset: raw}, quiet: 2h, wait_at_most: 1h}", "", [("", "raw", None, ())]),
    ],
)
def test_a_wait_that_is_over_leaves_members_out(trigger: str, more: str, missing: list[object]) -> None:
    found = launched(trigger, more, ("10:00", "raw", DAY), until="11:00")
    assert [(each.member, each.of, each.name, each.keys) for each in found] == missing


@pytest.mark.parametrize(
    ("trigger", "more"),
    [
        (f"{{{BOTH}, wait_at_most: 2h}}", ", for_each: day"),
        # What a trigger does not ask for is not missing.
        (f"{{any: [{RAW}, {{partitions: {{dataset: hourly}}}}], wait_at_most: 2h}}", ""),
        (
            f"{{at_least: {{n: 2, of: [{RAW}, {OTHER}, {{run: {{program: r}}}}]}}}}",
            "",
        ),
    ],
)
def test_what_holds_without_its_wait_is_whole(trigger: str, more: str) -> None:
    arrivals = ("10:00", "raw", DAY), ("10:30", "other", DAY)
    assert launched(trigger, more, *arrivals, until="11:00") == ()


def test_the_end_of_a_quiet_by_its_own_bound_is_whole() -> None:
    trigger = f"{{{BOTH}, quiet: 20m, quiet_at_most: 20m, wait_at_most: 2h}}"
    arrivals = ("10:00", "raw", DAY), ("10:10", "other", DAY), ("10:25", "other", TOMORROW)
    assert launched(trigger, "", *arrivals, until="10:30") == ()


def test_a_period_names_the_parts_that_it_lacks() -> None:
    hours = [f"2026-03-09-{hour:02}:00" for hour in range(24)]
    found = launched(
        "{partitions: {dataset: hourly, complete: day}, wait_at_most: 1h}",
        ", for_each: day",
        *(("1d 10:00", "hourly", key) for key in hours[:22]),
        until="1d 11:00",
    )
    assert found == (MissingMember(kind="partitions", member="", of="hourly", keys=tuple(hours[22:])),)


def test_a_period_of_which_nothing_came_is_named_by_the_key() -> None:
    trigger = f"{{all: [{RAW}, {{partitions: {{dataset: hourly, complete: day}}}}], wait_at_most: 1h}}"
    (found,) = launched(trigger, ", for_each: day", ("1d 10:00", "raw", DAY), until="1d 11:00")
    assert (found.member, len(found.keys), found.keys[0]) == ("1", 24, "2026-03-09-00:00")


def test_what_comes_before_the_launch_is_decided_is_not_missing() -> None:
    window = ", for_each: day, constraints: [{window: {from: '12:00', to: '13:00'}}]"
    trigger = f"{{{BOTH}, wait_at_most: 1h}}"
    late = launched(trigger, window, ("10:00", "raw", DAY), ("11:30", "other", DAY), until="12:00")
    assert late == ()
    assert launched(trigger, window, ("10:00", "raw", DAY), until="12:00") != ()


def test_a_person_who_triggers_a_job_means_it_so_unless_it_was_early_already() -> None:
    world = World(
        f"s: {{program: q, status: active, for_each: day, trigger: {{{BOTH}, wait_at_most: 1h}},"
        " constraints: [{window: {from: '12:00', to: '13:00'}}]}"
    )
    world.arrive("10:00", "raw", DAY, TOMORROW)
    world.tick("10:00")
    world.trigger("10:30", "s", key=DAY)
    world.tick("11:00")
    world.trigger("11:30", "s", key=TOMORROW)
    world.tick("12:00")
    early = {job.key: bool(job.launch.provisional) for job in world.jobs("s") if job.launch is not None}
    assert early == {DAY: False, TOMORROW: True}


def test_the_journal_tells_what_was_missing() -> None:
    world = World(f"s: {{program: q, status: active, for_each: day, trigger: {{{BOTH}, wait_at_most: 1h}}}}")
    world.arrive("10:00", "raw", DAY)
    world.tick("10:00")
    world.tick("11:00")
    (entry,) = [each for each in world.journal() if each.kind == "launch"]
    assert entry.data["provisional"] == [
        {"kind": "partitions", "member": "1", "of": "other", "name": "joined", "keys": [DAY]}
    ]
