"""For eight seconds the clock of the machine was a year ahead, and since then nothing has run at all.

A tick sees a wrong time, the next one the right time again: crons, pauses, rates, timers, polls, deadlines
and waiting jobs go on as if the wrong tick had been now.
"""

from datetime import timedelta

import pytest

from tests.scheduler.tick.expecting import BY_SHOP, Expecting
from tests.worlds.world import World, at
from tidegate.cli.operate.health.findings import Engine, engine_findings
from tidegate.scheduler.alerts.collect import collect
from tidegate.scheduler.alerts.outbox import take
from tidegate.scheduler.explain.missed import silent_crons
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.alert import AlertRules

AHEAD = "400d 10:00:04"
"""What the clock shows for one tick."""

HOURLY = 'c: {{program: q, status: active, trigger: {{cron: "0 * * * *", catch_up: {}}}}}'


def state_of(world: World, schedule: str):
    with world.store.reading() as reader:
        return next(iter(reader.schedules(refs=[f"a/{schedule}"])))


def wrong_for_one_tick(world: World) -> None:
    world.tick("10:00")
    world.tick(AHEAD)
    world.tick("10:00:08")


@pytest.mark.parametrize("catch_up", ["none", "latest"])
def test_crons_go_on_at_their_next_fire(catch_up: str) -> None:
    world = World(HOURLY.format(catch_up), start="09:30")
    wrong_for_one_tick(world)
    assert state_of(world, "c").next_fire_at == at("11:00")
    world.tick("11:00")
    world.tick("12:00")
    assert {at("11:00"), at("12:00")} <= {job.first_event_at for job in world.jobs("c")}


def test_what_was_only_recorded_as_expired_is_taken_back() -> None:
    world = World(HOURLY.format("none"), start="09:30")
    world.tick("10:00")
    world.tick(AHEAD)
    assert world.ledger("c").discarded["D-EXPIRED"] > 9_000
    world.tick("10:00:08")
    assert world.ledger("c").discarded == {}
    world.tick("11:00")
    assert world.ledger("c").landed == 2 + 1


def test_a_fire_that_a_job_has_taken_does_not_happen_again() -> None:
    world = World(HOURLY.format("all"), start="09:30")
    world.tick("10:00")
    world.tick("16:30")
    taken = {job.first_event_at for job in world.jobs("c")}
    world.tick("10:00:08")
    for hour in range(11, 19):
        world.tick(f"{hour}:00")
    fires = [each for each in world.journal("c") if each.data.get("scheduled_for")]
    assert len(fires) == len({each.event for each in fires})
    assert len(world.jobs("c")) == len(taken) + 2


def test_a_fire_that_lies_behind_and_was_recorded_as_expired_is_caught_up_with() -> None:
    world = World(HOURLY.format("latest"), start="09:30")
    world.tick("10:00")
    world.tick(AHEAD)
    # The clock was wrong for hours.
    world.tick("13:30")
    assert at("13:00") in {job.first_event_at for job in world.jobs("c")}
    assert world.ledger("c").discarded == {"D-EXPIRED": 2}


def test_pauses_between_attempts_are_counted_from_now() -> None:
    world = World(
        "r: {program: q, status: active, trigger: {partitions: {dataset: raw}}, retries: {max: 3, wait: 5m}}"
    )
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    world.tick(AHEAD)
    world.end(AHEAD, job, "failed")
    world.tick("10:00:08")
    assert world.job(job).retry_at == at("10:05:08")
    world.tick("10:05:08")
    assert world.job(job).state is JobState.PENDING_LAUNCH


LIMITS = [("since_last_run: 1h", "11:00:08"), ("rate: {max: 1, per: 2h}", "12:00:08")]


@pytest.mark.parametrize(("limit", "free"), LIMITS)
def test_runs_and_launches_that_limits_count_are_of_now(limit: str, free: str) -> None:
    trigger = "trigger: {partitions: {dataset: raw}}"
    world = World(f"s: {{program: q, status: active, {trigger}, constraints: [{{{limit}}}]}}")
    world.tick("10:00")
    world.arrive(AHEAD, "raw", "2026-03-01")
    world.tick(AHEAD)
    (job,) = world.launch_all(AHEAD)
    world.end(AHEAD, job)
    world.tick("10:00:08")
    world.arrive("10:10", "raw", "2026-03-02")
    world.tick("10:10")
    assert world.last("s").next_check_at == at(free)
    world.tick(free)
    assert world.last("s").state is JobState.PENDING_LAUNCH


def test_timers_count_from_now() -> None:
    world = World(
        "e: {program: q, status: active, trigger: {elapsed: {for: 2h, since: last_run}}}", start="09:30"
    )
    world.tick("10:00")
    world.tick(AHEAD)
    world.tick("10:00:08")
    due = state_of(world, "e").next_fire_at
    assert due == at("12:00:08")


def test_what_arrived_then_is_routed_and_waits_from_now() -> None:
    world = World(
        "d: {program: q, status: active, constraints: [{delay: 10m}],"
        " trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.tick("10:00")
    world.arrive("400d 10:00:03", "raw", "2026-03-01")
    world.tick("400d 10:00:04")
    world.arrive("400d 10:00:06", "raw", "2026-03-02")
    world.tick("10:00:08")
    job = world.only("d")
    assert (job.first_event_at, job.satisfied_at) == (at("10:00:08"), at("10:00:08"))
    world.tick("10:10:08")
    assert world.only("d").state is JobState.PENDING_LAUNCH


def test_jobs_that_were_opened_stay_and_time_out_from_now() -> None:
    world = World(
        HOURLY.format("latest").replace("status", "constraints: [{load: {gauge: busy, max: 1}}], status")
    )
    world.report("09:00", busy=5)
    world.tick("10:00")
    world.tick(AHEAD)
    world.tick("10:00:08")
    newest = max(world.jobs("c"), key=lambda job: job.opened_at)
    assert newest.satisfied_at is not None and newest.satisfied_at <= at("10:00:08")
    assert newest.next_check_at is None or newest.next_check_at <= at("10:00:08") + timedelta(hours=24)


def test_doctor_compares_next_fires_with_their_crons() -> None:
    world = World(HOURLY.format("latest"), start="09:30")
    world.tick("10:00")
    world.tick(AHEAD)
    with world.store.reading() as reader:
        (silent,) = silent_crons(reader, frozenset({"a"}), at("10:00:08"))
    assert (silent.schedule, silent.due) == ("a/c", at("11:00"))
    engine = Engine(apps=["a"], ticked_at=at("10:00:08"), host=None, silent=[silent])
    (found,) = [each for each in engine_findings(engine, at("10:00:08"), 5) if "next fire" in each.part]
    assert found.health == "wrong"
    world.tick("10:00:08")
    with world.store.reading() as reader:
        assert silent_crons(reader, frozenset({"a"}), at("10:00:08")) == ()


def late_by_then(world: Expecting) -> list[str]:
    """The days that were late in these days, and not in those that the wrong tick saw."""
    return [key for noted, key in world.late() if noted < "03-20"]


def test_part_of_a_day_that_landed_then_has_landed_now() -> None:
    world = Expecting(BY_SHOP)
    world.tick("1d 07:00")
    world.arrive("400d 10:00:03", "raw", "2026-03-10|north")
    world.return_at(AHEAD)
    world.return_at("1d 07:00:08")
    world.arrive("1d 07:30", "raw", "2026-03-10|south")
    world.tick("1d 08:10")
    assert late_by_then(world) == []


@pytest.mark.parametrize(("south", "late"), [("07:30", []), ("08:05", ["2026-03-10"])])
def test_a_deadline_that_was_judged_then_is_judged_when_it_comes(south: str, late: list[str]) -> None:
    world = Expecting(BY_SHOP)
    world.arrive("12:00", "raw", "2026-03-10|north")
    world.tick("1d 07:00")
    world.tick(AHEAD)
    assert "2026-03-10" in {key for _, key in world.late()}
    world.return_at("1d 07:00:08")
    world.arrive(f"1d {south}", "raw", "2026-03-10|south")
    world.tick("1d 08:10")
    assert late_by_then(world) == late


def test_alerts_of_then_are_sent_now_and_silence_nothing() -> None:
    rules = AlertRules(default={"failed": ("ops",)})
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, retries: 0}")

    def fail(clock: str, day: str) -> int:
        world.arrive(clock, "raw", day)
        world.tick(clock)
        (job,) = world.launch_all(clock)
        world.end(clock, job, "failed")
        return collect(world.store, "", rules, at(clock))

    world.tick("10:00")
    assert fail(AHEAD, "2026-03-01") == 1
    world.tick("10:00:08")
    sent = take(world.store, "", at("10:00:08"))
    assert sent is not None
    assert (sent.kind, sent.tries) == ("failed", 1)
    fail("10:10", "2026-03-02")
    collect(world.store, "", rules, at("11:10"))
    with world.store.reading() as reader:
        assert max(each.message.count for each in reader.alerts("")) == 2


def test_a_small_step_back_only_waits() -> None:
    world = World(HOURLY.format("latest"), start="09:30")
    world.tick("10:00")
    world.tick("10:10")
    world.tick("10:00:08")
    with world.store.reading() as reader:
        assert not [entry for entry in reader.journal() if entry.kind == "set-back"]
    assert state_of(world, "c").next_fire_at == at("11:00")
