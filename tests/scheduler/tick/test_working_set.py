"""A tick over many instants: what an earlier instant moved is not done at its old time; ends of a tick."""

from datetime import timedelta

from tests.worlds.world import World, at
from tidegate.scheduler.decision.decide import Decision, Launch, Wait
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict
from tidegate.scheduler.tick import apply as apply_module
from tidegate.scheduler.tick import due_rows
from tidegate.scheduler.tick import tick as tick_module
from tidegate.scheduler.tick.apply import LOOK_AGAIN_AFTER

DAILY = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}"


def test_a_clock_that_an_earlier_instant_set_back_does_not_run_out_at_its_old_time():
    world = World("s: {program: q, status: active, trigger: {elapsed: {for: 10m}}}")
    world.tick("00:00")
    world.run("00:04", "q", "started", "x")
    world.run("00:05", "q", "succeeded", "x")
    world.tick("00:12")
    assert world.jobs("s") == ()
    world.tick("00:15")
    assert world.only("s").satisfied_at == at("00:15")


def test_a_check_that_an_earlier_instant_put_off_is_not_made_at_its_old_time():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}, quiet: 5m}}")
    world.arrive("00:01", "raw", "2026-03-08")
    world.tick("00:01")
    world.arrive("00:03", "raw", "2026-03-09")
    world.tick("00:07")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-QUIET")
    assert world.only("s").next_check_at == at("00:08")


def test_a_tick_that_stops_after_a_transaction_is_gone_on_with_by_the_next(monkeypatch):
    monkeypatch.setattr(due_rows, "ROWS_PER_PAGE", 1)
    monkeypatch.setattr(tick_module, "DECISIONS_AT_ONCE", 1)
    world = World(DAILY.replace("program", "for_each: partition, program"))
    world.tick("10:00")
    for minute in range(1, 6):
        world.arrive(f"10:0{minute}", "raw", f"2026-03-0{minute}")
    ticks = 0
    while len(world.jobs("s")) < 5:
        ticks += 1
        assert tick_module.tick(world.store, at("10:06"), lambda transaction: False).routed > 0
    assert ticks > 1
    assert [job.satisfied_at for job in world.jobs("s")] == [at(f"10:0{minute}") for minute in range(1, 6)]


def test_a_decision_that_asks_for_its_own_instant_again_is_made_later(monkeypatch):
    wait = Wait(state=JobState.PENDING_TRIGGER, reason=Reason.W_TRIGGER, next_check=at("10:00"))
    verdict = Verdict(kind="partitions", met=False, summary="")
    decision = Decision(outcome=wait, satisfied_at=None, deadline=None, trigger=verdict, constraints=())
    monkeypatch.setattr(apply_module, "decide", lambda part, now: decision)
    world = World(DAILY)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert world.only("s").next_check_at == at("10:00") + LOOK_AGAIN_AFTER


def test_an_error_in_the_second_look_at_a_ready_job_leaves_the_others_alone(monkeypatch):
    world = World(DAILY + "\n" + DAILY.replace("s:", "t:", 1))
    original, looks = apply_module.decide, []

    def fails(part, now):
        looks.append(part.schedule.name)
        decision = original(part, now)
        assert isinstance(decision.outcome, Launch)
        if len(looks) == 3:
            raise RuntimeError("a bug of ours")
        return decision

    monkeypatch.setattr(apply_module, "decide", fails)
    world.arrive("10:00", "raw", "2026-03-09")
    report = world.tick("10:00")
    assert len(looks) == 3
    assert report.errors == (f"a/{looks[2]}: RuntimeError: a bug of ours",)
    assert world.outcome(looks[2])[0] == "PENDING_TRIGGER"
    assert world.last(looks[2]).next_check_at == at("10:00") + timedelta(minutes=5)
    (other,) = {"s", "t"} - {looks[2]}
    assert world.outcome(other) == ("PENDING_LAUNCH", None)
