"""What becomes of a satisfied job: the constraints, their order, skipping, timeouts, and hands.

Each test is one sentence of DESIGN rules 4 to 8, 14, 17 and 20, told through the engine.
"""

import pytest

from tests.scheduler.world import World, at

KEY = "2026-03-09"

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}"


def world_with(constraints: str, rest: str = "") -> World:
    """A schedule `s` of program q, triggered by any partition of raw."""
    return World(f"{S}, constraints: {constraints}{rest}}}")


def arrived(constraints: str, clock: str = "10:00", rest: str = "", before=()) -> World:
    """The same, with a partition that has arrived and a tick at that time."""
    world = world_with(constraints, rest)
    for what in before:
        world.run(*what)
    world.arrive(clock, "raw", KEY)
    world.tick(clock)
    return world


def busy(clock: str = "09:00", program: str = "q") -> tuple[str, str, str, str]:
    """A run of a program that somebody else started."""
    return (clock, program, "started", "hand")


SUCCESS = [("08:50", "q", "started", "old"), ("09:45", "q", "succeeded", "old")]
FAILURE = [("08:50", "q", "started", "old"), ("09:45", "q", "failed", "old")]
CANCELLED = [("08:50", "q", "started", "old"), ("09:45", "q", "cancelled", "old")]

ONE = [
    ("nothing holds it back", "[]", (), "PENDING_LAUNCH", None, None),
    ("a delay from the trigger", "[{delay: 10m}]", (), "PENDING_CONSTRAINT", "W-DELAY", "10:10"),
    (
        "a closed window",
        '[{window: {from: "22:00", to: "06:00"}}]',
        (),
        "PENDING_CONSTRAINT",
        "W-WINDOW",
        "22:00",
    ),
    ("an open window", '[{window: {from: "06:00", to: "22:00"}}]', (), "PENDING_LAUNCH", None, None),
    ("no run before", "[{since_last_run: {for: 30m}}]", (), "PENDING_LAUNCH", None, None),
    (
        "a success 15 minutes ago",
        "[{since_last_run: {for: 30m}}]",
        SUCCESS,
        "PENDING_CONSTRAINT",
        "W-LAST-RUN",
        "10:15",
    ),
    (
        "exactly `for` after the end is enough",
        "[{since_last_run: {for: 15m}}]",
        SUCCESS,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "measured from its start",
        "[{since_last_run: {for: 30m, measured_from: start}}]",
        SUCCESS,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    ("a failed run does not count", "[{since_last_run: {for: 30m}}]", FAILURE, "PENDING_LAUNCH", None, None),
    (
        "a cancelled run does not count",
        "[{since_last_run: {for: 30m}}]",
        CANCELLED,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "an active run is unmet",
        "[{since_last_run: {for: 30m}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-LAST-RUN",
        None,
    ),
    (
        "another program's run does not matter",
        "[{since_last_run: {for: 30m}}]",
        [busy(program="r")],
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "a manual run takes the slot",
        "[{concurrency: {max: 1}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-CONCURRENCY",
        None,
    ),
    ("one of two slots", "[{concurrency: {max: 2}}]", [busy()], "PENDING_LAUNCH", None, None),
    (
        "a manual run counts in its program's groups",
        "[{concurrency: {max: 1, group: g}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-CONCURRENCY",
        None,
    ),
    (
        "another program's run is not in the group",
        "[{concurrency: {max: 1, group: g}}]",
        [busy(program="r")],
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "skip: a closed window",
        '[{window: {from: "22:00", to: "06:00", otherwise: skip}}]',
        (),
        "DISCARDED",
        "D-WINDOW",
        None,
    ),
    (
        "skip: too soon",
        "[{since_last_run: {for: 30m, otherwise: skip}}]",
        SUCCESS,
        "DISCARDED",
        "D-LAST-RUN",
        None,
    ),
    (
        "skip: no slot",
        "[{concurrency: {max: 1, otherwise: skip}}]",
        [busy()],
        "DISCARDED",
        "D-CONCURRENCY",
        None,
    ),
    (
        "skip: a delay that has not passed",
        "[{delay: {for: 10m, otherwise: skip}}]",
        (),
        "DISCARDED",
        "D-DELAY",
        None,
    ),
    (
        "skip is judged only when all that waits holds",
        '[{window: {from: "22:00", to: "06:00", otherwise: skip}}, {delay: 10m}]',
        (),
        "PENDING_CONSTRAINT",
        "W-DELAY",
        "10:10",
    ),
    (
        "of several unmet the first in order is the reason: delay",
        '[{concurrency: {max: 1}}, {window: {from: "22:00", to: "06:00"}}, {delay: 10m}]',
        [busy()],
        "PENDING_CONSTRAINT",
        "W-DELAY",
        "10:10",
    ),
    (
        "of several unmet the first in order is the reason: window",
        '[{concurrency: {max: 1}}, {since_last_run: {for: 1h}}, {window: {from: "22:00", to: "06:00"}}]',
        [busy()],
        "PENDING_CONSTRAINT",
        "W-WINDOW",
        "22:00",
    ),
    (
        "of several unmet the first in order is the reason: last run",
        "[{concurrency: {max: 1}}, {since_last_run: {for: 1h}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-LAST-RUN",
        None,
    ),
    (
        "of several unmet skips the first in order is the reason",
        '[{concurrency: {max: 1, otherwise: skip}}, {window: {from: "22:00", to: "06:00", otherwise: skip}}]',
        [busy()],
        "DISCARDED",
        "D-WINDOW",
        None,
    ),
]


@pytest.mark.parametrize(
    ("sentence", "constraints", "before", "state", "reason", "check"), ONE, ids=[row[0] for row in ONE]
)
def test_a_partition_at_ten(sentence, constraints, before, state, reason, check):
    world = arrived(constraints, rest=", timeout: 100d", before=before)
    assert world.outcome("s") == (state, reason)
    expected = None if check is None else at(check)
    if expected is None and state == "PENDING_CONSTRAINT":
        # only an event or a freed slot helps; time brings nothing but the timeout
        assert world.last("s").next_check_at == at("100d 10:00")
    else:
        assert world.last("s").next_check_at == expected


# --- boundaries and what wakes a job ---


def test_a_delay_holds_at_its_very_end_and_not_before():
    world = arrived("[{delay: 10m}]")
    world.tick("10:09:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-DELAY")
    world.tick("10:10")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_delay_from_the_first_event():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}},"
        " constraints: [{delay: {for: 30m, from: first_event}}]}"
    )
    world.arrive("10:00", "raw", "2026-03-08")
    world.tick("10:00")
    world.arrive("10:20", "raw", "2026-03-09")
    world.tick("10:20")
    assert world.only("s").next_check_at == at("10:30")


def test_downtime_counts_for_the_delay_since_the_event_arrived_then():
    world = world_with("[{delay: 10m}]")
    world.arrive("10:00", "raw", KEY)
    world.tick("11:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_freed_slot_wakes_the_job():
    world = arrived("[{concurrency: {max: 1}}]", before=[busy()])
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.run("11:00", "q", "failed", "hand")
    world.tick("11:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_after_the_active_run_the_time_since_it_counts():
    world = arrived("[{since_last_run: {for: 30m}}]", before=[busy()])
    world.run("11:00", "q", "succeeded", "hand")
    world.tick("11:00")
    assert (world.outcome("s"), world.only("s").next_check_at) == (
        ("PENDING_CONSTRAINT", "W-LAST-RUN"),
        at("11:30"),
    )
    world.tick("11:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_job_blocked_on_two_slots_launches_when_both_are_free_whatever_the_order():
    for first, second in (("x", "y"), ("y", "x")):
        world = World(
            f"{S}, constraints: [{{concurrency: {{max: 1}}}}, {{concurrency: {{max: 1, group: g}}}}]}}\n"
            "t: {program: r, status: suspended, trigger: {partitions: {dataset: other}},"
            " constraints: [{concurrency: {max: 9, group: g}}]}"
        )
        world.run("09:00", "q", "started", "x")
        world.run("09:00", "r", "started", "y")
        world.arrive("10:00", "raw", KEY)
        world.tick("10:00")
        world.run("11:00", "q" if first == "x" else "r", "succeeded", first)
        world.tick("11:00")
        assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
        world.run("12:00", "q" if second == "x" else "r", "succeeded", second)
        world.tick("12:00")
        assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_an_event_at_the_instant_of_the_launch_still_joins():
    world = arrived("[{delay: 10m}]")
    world.arrive("10:10", "raw", "2026-03-08")
    world.tick("10:10")
    assert world.only("s").launch.manifest == {"raw": ("2026-03-08", KEY)}


def test_an_event_after_the_launch_opens_the_next_job():
    world = arrived("[{delay: 10m}]")
    world.tick("10:10")
    world.arrive("10:11", "raw", KEY)
    world.tick("10:11")
    assert [str(job.state) for job in world.jobs("s")] == ["PENDING_LAUNCH", "PENDING_CONSTRAINT"]


# --- slots among jobs ---

TWO = """
low:
  {program: q, priority: low, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}]}
high:
  {program: r, priority: high, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}]}
"""


def test_two_schedules_cannot_both_take_the_last_slot_and_the_higher_priority_takes_it():
    world = World(TWO)
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    assert world.outcome("high") == ("PENDING_LAUNCH", None)
    assert world.outcome("low") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")


def test_a_slot_is_held_from_the_decision_to_the_end_of_the_run():
    world = World(TWO)
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.tick("10:02")
    assert world.outcome("low") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.end("10:05", job)
    world.tick("10:05")
    assert world.outcome("low") == ("PENDING_LAUNCH", None)


def test_among_equals_the_one_satisfied_first_takes_the_slot():
    world = World(
        "s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{concurrency: {max: 1}}]}"
    )
    world.run("09:00", "q", "started", "hand")
    for minute, key in (("10:02", "2026-03-01"), ("10:01", "2026-03-09"), ("10:03", "2026-03-05")):
        world.arrive(minute, "raw", key)
    world.tick("10:05")
    world.run("11:00", "q", "succeeded", "hand")
    world.tick("11:00")
    assert [job.key for job in world.jobs("s") if not job.waiting] == ["2026-03-09"]


def test_a_second_ready_job_of_the_same_program_sees_the_first_as_active():
    world = World(
        "s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{since_last_run: {for: 1h, otherwise: skip}}]}"
    )
    world.arrive("10:00", "raw", "2026-03-08", "2026-03-09")
    world.tick("10:00")
    assert sorted(str(job.state) for job in world.jobs("s")) == ["DISCARDED", "PENDING_LAUNCH"]


# --- timeouts ---


def test_a_satisfied_job_is_discarded_at_its_timeout():
    world = arrived('[{window: {from: "22:00", to: "23:00"}}]', rest=", timeout: {after: 2h}")
    assert world.only("s").next_check_at == at("12:00")
    world.tick("11:59:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-WINDOW")
    world.tick("12:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_the_default_timeout_is_a_day():
    world = arrived('[{window: {from: "22:00", to: "23:00", days: [sun]}}]')
    assert world.only("s").next_check_at == at("1d 10:00")


def test_constraints_are_judged_before_the_timeout():
    world = arrived("[{delay: 2h}]", rest=", timeout: {after: 2h}")
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_timeout_that_runs_overrides_what_waits():
    world = arrived('[{window: {from: "22:00", to: "23:00"}}]', rest=", timeout: {after: 2h, then: run}")
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    (launch,) = [entry for entry in world.journal("s") if entry.kind == "launch"]
    assert launch.data["overridden"] == ["W-WINDOW"]


def test_a_timeout_that_runs_never_overrides_concurrency():
    world = arrived(
        '[{window: {from: "22:00", to: "23:00"}}, {concurrency: {max: 1}}]',
        before=[busy()],
        rest=", timeout: {after: 2h, then: run}",
    )
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    assert world.only("s").next_check_at is None
    world.run("13:00", "q", "succeeded", "hand")
    world.tick("13:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_timeout_that_runs_still_skips():
    world = arrived(
        "[{delay: 5h}, {since_last_run: {for: 10h, otherwise: skip}}]",
        before=SUCCESS,
        rest=", timeout: {after: 2h, then: run}",
    )
    world.tick("12:00")
    assert world.outcome("s") == ("DISCARDED", "D-LAST-RUN")


def test_a_half_collected_job_does_not_age():
    world = World(
        "s: {program: q, status: active, timeout: 1h, trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    world.tick("9d 10:00")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    assert world.only("s").next_check_at is None


def test_a_half_collected_job_ages_when_the_timeout_counts_from_the_first_event():
    world = World(
        "s: {program: q, status: active, timeout: {after: 1h, from: first_event},"
        " trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    assert world.only("s").next_check_at == at("11:00")
    world.tick("11:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")
    assert world.ledger("s").discarded == {"D-TIMEOUT": 1}


# --- by hand ---


def test_trigger_takes_the_waiting_job_with_what_it_has():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    world.trigger("10:30", "s")
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.only("s").launch.manifest == {"raw": (KEY,)}


def test_trigger_without_a_waiting_job_opens_an_empty_one():
    world = world_with("[]")
    world.trigger("10:30", "s")
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.only("s").launch.manifest == {}


def test_trigger_leaves_the_constraints_in_force_and_they_count_from_now():
    world = world_with('[{delay: 10m}, {window: {from: "00:00", to: "12:00"}}]')
    world.trigger("10:30", "s")
    world.tick("10:30")
    assert (world.outcome("s"), world.only("s").next_check_at) == (
        ("PENDING_CONSTRAINT", "W-DELAY"),
        at("10:40"),
    )


def test_force_overrides_the_constraints():
    world = arrived(
        '[{window: {from: "22:00", to: "23:00"}}, {since_last_run: {for: 1d, otherwise: skip}}]',
        before=SUCCESS,
    )
    world.trigger("10:30", "s", force=True)
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_force_never_overrides_concurrency():
    world = arrived('[{window: {from: "22:00", to: "23:00"}}, {concurrency: {max: 1}}]', before=[busy()])
    world.trigger("10:30", "s", force=True)
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.run("11:00", "q", "succeeded", "hand")
    world.tick("11:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_forced_job_without_a_slot_times_out_like_any_other():
    world = world_with("[{concurrency: {max: 1}}]", ", timeout: 2h")
    world.run("09:00", "q", "started", "hand")
    world.trigger("10:00", "s", force=True)
    world.tick("10:00")
    assert world.only("s").next_check_at == at("12:00")
    world.tick("12:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_force_skips_where_concurrency_says_skip():
    world = world_with("[{concurrency: {max: 1, otherwise: skip}}]")
    world.run("09:00", "q", "started", "hand")
    world.trigger("10:00", "s", force=True)
    world.tick("10:00")
    assert world.outcome("s") == ("DISCARDED", "D-CONCURRENCY")


def test_a_job_by_hand_without_events_times_out_from_when_it_was_triggered():
    world = world_with(
        '[{window: {from: "22:00", to: "23:00"}}]', ", timeout: {after: 1h, from: first_event}"
    )
    world.trigger("10:00", "s")
    world.tick("10:00")
    assert world.only("s").next_check_at == at("11:00")
    world.tick("11:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")
