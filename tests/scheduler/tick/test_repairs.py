"""Repairs: the next job of a key sees the events of a job that was launched early (rule 30)."""

from pathlib import Path

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.decision.deadlines import due_at
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.sql.open import open_sql_store

DAY, BEFORE = "2026-03-09", "2026-03-08"
BOTH = "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}], wait_at_most: 1h}"
JOIN = f"s: {{program: p, status: active, for_each: day, trigger: {BOTH}, repair: true%s}}"


def play(world: World, *arrivals: tuple[str, str, str]) -> None:
    for clock, dataset, key in arrivals:
        world.arrive(clock, dataset, key)
        world.tick(clock)


def shown(job: Job) -> tuple[str, dict[str, tuple[str, ...]], bool, bool]:
    """When it was launched, with what, and whether it is provisional and a repair."""
    assert job.launch is not None and job.launch.now is not None
    repairs = job.repairs is not None
    assert repairs == (job.launch.repairs is not None)
    return f"{job.launch.now:%H:%M}", job.launch.manifest, bool(job.launch.provisional), repairs


def launches(world: World, schedule: str = "s") -> list[tuple[str, dict[str, tuple[str, ...]], bool, bool]]:
    return [shown(job) for job in world.jobs(schedule) if job.launch is not None]


RAW, WHOLE = {"raw": (DAY,)}, {"other": (DAY,), "raw": (DAY,)}


def test_the_late_part_is_launched_with_what_came_before() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    play(world, ("15:00", "other", DAY))
    assert launches(world) == [("11:00", RAW, True, False), ("15:00", WHOLE, False, True)]
    first, second = world.jobs("s")
    assert second.repairs is not None and second.repairs.jobs == (first.id,)
    assert second.launch is not None and second.launch.repairs == first.id
    # Its sizes and times are of both, and the ledger counts each event once.
    assert second.launch.sizes.keys() == {"raw", "other"}
    assert second.launch.first_event_time == at("10:00")
    row = world.ledger("s")
    assert (row.pending, row.discarded) == (2, {})


def test_a_repair_that_is_not_whole_is_launched_after_its_own_wait_and_is_provisional_again() -> None:
    world = World(f"s: {{program: p, status: active, for_each: day, trigger: {THREE}, repair: true}}")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    play(world, ("15:00", "other", DAY))
    world.tick("15:09")
    assert len(launches(world)) == 1
    world.tick("15:10")
    play(world, ("16:00", "young", DAY))
    whole = {**WHOLE, "young": (DAY,)}
    assert launches(world) == [
        ("11:00", RAW, True, False),
        ("15:10", WHOLE, True, True),
        ("16:00", whole, False, True),
    ]


THREE = (
    "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}, {partitions: {dataset: young}}],"
    " wait_at_most: 1h}"
)


def test_a_period_is_read_with_all_its_parts_and_collect_within_drops_none_of_them() -> None:
    hours = [f"2026-03-09-{hour:02}:00" for hour in range(24)]
    trigger = "{partitions: {dataset: hourly, complete: day}, wait_at_most: 1h, collect_within: 2h}"
    world = World(f"s: {{program: p, status: active, for_each: day, trigger: {trigger}, repair: true}}")
    world.arrive("10:00", "hourly", *hours[:23])
    world.tick("10:00")
    world.tick("11:00")
    play(world, ("20:00", "hourly", hours[23]))
    ((_, first, early, _), (clock, second, late, repair)) = launches(world)
    assert (len(first["hourly"]), early) == (23, True)
    assert (clock, len(second["hourly"]), late, repair) == ("20:00", 24, False, True)


def test_rewritten_input_of_a_whole_job_runs_again_with_its_other_side() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY), ("10:30", "other", DAY), ("14:00", "raw", DAY))
    assert launches(world) == [("10:30", WHOLE, False, False), ("14:00", WHOLE, False, True)]


def test_what_a_whole_job_did_not_consume_is_new_data() -> None:
    trigger = "{any: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}"
    world = World(f"s: {{program: p, status: active, for_each: day, trigger: {trigger}, repair: true}}")
    play(world, ("10:00", "raw", DAY), ("11:00", "other", DAY))
    assert launches(world) == [("10:00", RAW, False, False), ("11:00", {"other": (DAY,)}, False, False)]


def test_beyond_its_bounds_an_event_of_a_provisional_key_is_discarded() -> None:
    world = World(JOIN.replace("repair: true", "repair: {at_most: 1, within: 5h}") % "")
    play(world, ("10:00", "raw", DAY), ("10:00", "raw", BEFORE))
    world.tick("11:00")
    # Too late for the one, and within its time for the other, which is still not whole.
    play(world, ("15:00", "raw", BEFORE))
    world.tick("15:10")
    play(world, ("16:00:01", "other", DAY))
    play(world, ("17:30", "other", BEFORE))
    assert [(each[0], each[2], each[3]) for each in launches(world)] == [
        ("11:00", True, False),
        ("11:00", True, False),
        ("15:10", True, True),
    ]
    dropped = [e for e in world.journal("s") if e.kind == "event-discarded"]
    assert [(e.reason, e.data["partition"]) for e in dropped] == [("D-REPAIR", DAY), ("D-REPAIR", BEFORE)]


def test_beyond_the_bounds_rewritten_input_of_a_whole_job_is_new_data() -> None:
    world = World(JOIN.replace("repair: true", "repair: {within: 1h}") % "")
    play(world, ("10:00", "raw", DAY), ("10:30", "other", DAY), ("14:00", "raw", DAY))
    world.tick("15:00")
    assert launches(world)[1] == ("15:00", RAW, True, False)


def test_the_bound_counts_along_the_chain_from_the_job_that_was_no_repair() -> None:
    world = World(JOIN.replace("repair: true", "repair: {at_most: 2}") % "")
    play(world, ("10:00", "raw", DAY), ("10:30", "other", DAY))
    for hour in (11, 12, 13):
        play(world, (f"{hour}:00", "raw", DAY))
    assert [each[3] for each in launches(world)] == [False, True, True]
    assert [job.repairs.number for job in world.jobs("s") if job.repairs is not None] == [1, 2]


def test_what_joins_a_waiting_repair_is_not_bounded() -> None:
    world = World(JOIN.replace("repair: true", "repair: {after: 2h, within: 5h}").replace(BOTH, THREE) % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    play(world, ("15:59", "raw", DAY), ("16:30", "other", DAY))
    world.tick("17:59")
    assert launches(world)[-1] == ("17:59", WHOLE, True, True)


@pytest.mark.parametrize("quiet", [", quiet: 20m", ""])
def test_quiet_counts_from_the_repair_and_joins_more(quiet: str) -> None:
    trigger = BOTH.replace("wait_at_most: 1h", f"wait_at_most: 1h{quiet}")
    world = World(
        f"s: {{program: p, status: active, for_each: day, trigger: {trigger}, repair: {{after: 2h}}}}"
    )
    play(world, ("10:00", "raw", DAY), ("10:10", "other", DAY))
    world.tick("10:30")
    play(world, ("14:00", "raw", DAY), ("14:15", "other", DAY))
    world.tick("14:35")
    expected = ["10:30", "14:35"] if quiet else ["10:10", "14:00", "14:15"]
    assert [each[0] for each in launches(world)] == expected


def test_by_hand_a_repair_sees_both_and_is_whole_then() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    world.trigger("12:00", "s", key=DAY)
    world.tick("12:00")
    assert launches(world)[-1] == ("12:00", RAW, False, True)
    # Its key is not provisional any more.
    play(world, ("13:00", "other", DAY))
    world.tick("14:00")
    assert launches(world)[-1] == ("14:00", {"other": (DAY,)}, True, False)


def test_by_hand_a_repair_has_what_came_too_late_for_one(tmp_path: Path) -> None:
    hours = [f"2026-03-09-{hour:02}:00" for hour in range(4)]
    trigger = "{partitions: {dataset: hourly, complete: day}, wait_at_most: 1h}"
    world = World(
        f"s: {{program: p, status: active, for_each: day, trigger: {trigger}, repair: {{within: 5h}}}}",
        store=open_sql_store(f"sqlite:///{tmp_path / 'store.db'}"),
    )
    world.arrive("10:00", "hourly", *hours[:2])
    world.tick("10:00")
    world.tick("11:00")
    play(world, ("17:00", "hourly", hours[2]), ("17:00", "hourly", "2026-03-08-07:00"))
    assert len(launches(world)) == 1
    world.trigger("18:00", "s", key=DAY)
    world.tick("18:00")
    assert launches(world)[-1] == ("18:00", {"hourly": tuple(hours[:3])}, False, True)
    assert [(row.discarded, row.pending) for row in [world.ledger("s")]] == [({"D-REPAIR": 1}, 4)]
    # What it has brought is not brought once more.
    world.trigger("19:00", "s", key=DAY)
    world.tick("19:00")
    assert launches(world)[-1][1] == {}


def test_a_repair_has_no_deadline_and_may_start_while_the_provisional_run_works() -> None:
    world = World(JOIN.replace("repair: true", 'repair: true, deadline: "2h"') % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    (first,) = world.launch_all("11:00")
    play(world, ("12:00", "other", DAY))
    assert world.job(first).state is JobState.LAUNCHED
    assert launches(world)[-1] == ("12:00", WHOLE, False, True)
    spec = world.app.schedules["s"]
    assert [due_at(spec, job) for job in world.jobs("s")] == [at("13:00"), None]


def test_a_reset_forgets_what_was_provisional() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    play(world, ("12:00", "raw", DAY))
    world.redeploy("12:05", JOIN % ", priority: high")
    assert world.last("s").reason == "D-UPDATED"
    play(world, ("13:00", "other", DAY))
    world.tick("14:00")
    assert launches(world)[-1] == ("14:00", {"other": (DAY,)}, True, False)


def test_carry_judges_the_events_of_both_by_the_new_trigger() -> None:
    world = World(JOIN.replace(BOTH, THREE) % ", on_update: carry")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    play(world, ("12:00", "other", DAY))
    swapped = "{all: [{partitions: {dataset: other}}, {partitions: {dataset: raw}}], wait_at_most: 1h}"
    world.redeploy("12:05", JOIN.replace(BOTH, swapped) % ", on_update: carry")
    world.tick("12:05")
    assert launches(world)[-1] == ("12:05", WHOLE, False, True)


def test_adding_repair_resets_nothing_and_counts_for_later_launches() -> None:
    world = World(JOIN.replace(", repair: true", "") % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    play(world, ("11:30", "raw", BEFORE))
    world.redeploy("11:40", JOIN % "")
    play(world, ("11:50", "other", DAY))
    world.tick("12:30")
    world.tick("12:50")
    play(world, ("13:00", "other", BEFORE))
    assert launches(world) == [
        ("11:00", RAW, True, False),
        ("12:30", {"raw": (BEFORE,)}, True, False),
        ("12:50", {"other": (DAY,)}, True, False),
        ("13:00", {"other": (BEFORE,), "raw": (BEFORE,)}, False, True),
    ]


def test_a_failed_provisional_job_is_repaired_too() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    (first,) = world.launch_all("11:00")
    world.end("11:30", first, "failed")
    play(world, ("12:00", "other", DAY))
    assert world.job(first).state is JobState.FAILED
    assert launches(world)[-1] == ("12:00", WHOLE, False, True)


def test_a_provisional_run_that_would_begin_after_its_repair_is_refused() -> None:
    """It would be the later run, and replace the rows of its repair."""
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    (early,) = world.offer_launches("11:00")
    play(world, ("12:00", "other", DAY))
    (whole,) = (each for each in world.offer_launches("12:00") if each.job != early.job)
    assert world.claim("12:01", whole.job, "whole").won
    refused = world.claim("12:02", early.job, "early")
    assert not refused.won and refused.refusal == f"job {whole.job} has begun, which repairs it"
    ended = world.job(early.job)
    assert (ended.state, ended.reason) == (JobState.DISCARDED, Reason.D_REPAIRED)
    assert world.job(whole.job).state is JobState.LAUNCHED
    world.tick("12:03")
    assert world.offer_launches("12:30") == ()


def test_a_provisional_run_may_begin_before_its_repair_and_after_one_that_failed() -> None:
    for status in ("", "failed"):
        world = World(JOIN % "")
        play(world, ("10:00", "raw", DAY))
        world.tick("11:00")
        (early,) = world.offer_launches("11:00")
        play(world, ("12:00", "other", DAY))
        (whole,) = (each for each in world.offer_launches("12:00") if each.job != early.job)
        if status:
            assert world.claim("12:01", whole.job, "whole").won
            world.run("12:01", "p", status, "whole", whole.job)
        assert world.claim("12:02", early.job, "early").won


def test_a_further_attempt_is_no_later_launch_of_its_key() -> None:
    world = World(JOIN.replace(BOTH, THREE) % ", retries: {max: 1, wait: 3h}")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    (first,) = world.launch_all("11:00")
    world.end("11:30", first, "failed")
    play(world, ("12:00", "other", DAY))
    world.tick("12:10")
    world.tick("14:30")
    play(world, ("15:00", "young", DAY))
    assert launches(world)[-1] == ("15:00", {**WHOLE, "young": (DAY,)}, False, True)
    assert [len(job.repairs.jobs) for job in world.jobs("s") if job.repairs is not None] == [1, 2]


def test_a_renamed_schedule_repairs_what_it_launched_under_its_former_name() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    world.redeploy("11:30", (JOIN % ", renamed_from: s").replace("s: {", "renamed: {", 1))
    play(world, ("12:00", "other", DAY))
    assert launches(world, "renamed")[-1] == ("12:00", WHOLE, False, True)


def test_a_deleted_schedule_leaves_nothing_to_repair() -> None:
    world = World(JOIN % "")
    play(world, ("10:00", "raw", DAY))
    world.tick("11:00")
    world.redeploy("11:30", (JOIN % "").replace("s: {", "another: {", 1))
    world.redeploy("11:40", JOIN % "")
    play(world, ("12:00", "other", DAY))
    world.tick("13:00")
    assert launches(world)[-1] == ("13:00", {"other": (DAY,)}, True, False)
