"""What people do by hand, and what the engine refuses to do for them."""

import pytest

from tests.doubles.dump import dump
from tests.worlds.world import World, at
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.refused import Refused

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}"
EACH = "s: {program: q, for_each: day, status: active, trigger: {partitions: {dataset: raw, count: 2}}}"


def half_collected(schedule: str = S) -> World:
    world = World(schedule)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    return world


def test_suspend_discards_what_waits_and_ignores_what_comes():
    world = half_collected()
    assert world.suspend("11:00", "s")
    world.arrive("11:30", "raw", "2026-03-08")
    world.tick("11:30")
    assert world.outcome("s") == ("DISCARDED", "D-SUSPENDED")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 2}


def test_suspend_lets_a_launched_job_go_on():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    world.suspend("10:01", "s")
    (job,) = world.launch_all("10:02")
    world.end("10:03", job)
    assert world.outcome("s") == ("SUCCEEDED", None)


def test_doing_it_twice_changes_nothing():
    world = half_collected()
    assert not world.resume("10:30", "s")
    assert world.suspend("11:00", "s")
    before = dump(world.store)
    assert not world.suspend("12:00", "s")
    assert dump(world.store) == before


def test_an_event_that_arrived_before_the_resume_does_not_count():
    world = World(S.replace("active", "suspended"))
    world.arrive("10:00", "raw", "2026-03-09")
    world.resume("10:30", "s")
    world.tick("10:30")
    assert world.jobs("s") == ()
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1}


def test_an_event_at_the_instant_of_the_resume_counts():
    world = World(S.replace("active", "suspended"))
    world.resume("10:30", "s")
    world.arrive("10:30", "raw", "2026-03-09")
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")


def test_status_changes_are_journaled_with_who_made_them():
    world = half_collected()
    world.suspend("11:00", "s")
    (entry,) = [entry for entry in world.journal("s") if entry.kind == "status"]
    assert entry.data == {"status": "suspended", "by": "cli"}


def test_trigger_with_a_key_takes_the_job_of_that_key():
    world = half_collected(EACH)
    job = world.trigger("11:00", "s", key="2026-03-09")
    world.trigger("11:00", "s", key="2026-03-01")
    world.tick("11:00")
    assert {job.key: str(job.state) for job in world.jobs("s")} == {
        "2026-03-01": "PENDING_LAUNCH",
        "2026-03-09": "PENDING_LAUNCH",
    }
    assert world.job(job.id).launch.manifest == {"raw": ("2026-03-09",)}


def test_triggering_twice_at_one_instant_is_one_job():
    world = World(S)
    assert world.trigger("10:00", "s").id == world.trigger("10:00", "s").id
    world.tick("10:00")
    with pytest.raises(Refused, match="already"):
        world.trigger("10:00", "s")
    assert world.only("s").state is JobState.PENDING_LAUNCH


def test_a_suspended_schedule_can_be_triggered_by_hand():
    world = World(S.replace("active", "suspended"))
    world.trigger("10:00", "s")
    world.tick("10:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_cancel_discards_a_waiting_job():
    world = half_collected()
    world.cancel("11:00", world.only("s").id)
    assert world.outcome("s") == ("DISCARDED", "D-CANCELLED")
    assert world.only("s").ended_at == at("11:00")


REFUSED = [
    ("no schedule", lambda w: w.suspend("11:00", "none"), "no schedule a/none is deployed"),
    ("no schedule to trigger", lambda w: w.trigger("11:00", "none"), "no schedule a/none is deployed"),
    ("a key where there is none", lambda w: w.trigger("11:00", "s", key="x"), "has no for_each, got key 'x'"),
    ("no job", lambda w: w.cancel("11:00", "none"), "there is no job none"),
]


@pytest.mark.parametrize(("sentence", "deed", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_with_a_hint(sentence, deed, message):
    world = half_collected()
    before = dump(world.store)
    with pytest.raises(Refused, match=message) as refusal:
        deed(world)
    assert refusal.value.hint
    assert dump(world.store) == before


def test_a_schedule_for_each_key_is_not_triggered_without_one():
    with pytest.raises(Refused, match="runs for each day, and no key was given"):
        half_collected(EACH).trigger("11:00", "s")


def test_a_key_of_another_form_is_refused():
    with pytest.raises(Refused, match="2026-13-40"):
        half_collected(EACH).trigger("11:00", "s", key="2026-13-40")


def test_a_key_is_judged_by_the_members_that_have_keys():
    schedule = (
        "s: {program: q, for_each: day, status: active,"
        ' trigger: {all: [{cron: "0 6 * * *"}, {size: {dataset: raw, rows: 5}}]}}'
    )
    world = World(schedule)
    with pytest.raises(Refused, match="2026-13-40"):
        world.trigger("11:00", "s", key="2026-13-40")
    assert world.trigger("11:00", "s", key="2026-03-09").key == "2026-03-09"


def test_a_key_of_a_schedule_for_each_partition_is_one_of_its_dataset():
    world = World(EACH.replace("for_each: day", "for_each: partition").replace("raw", "hourly"))
    with pytest.raises(Refused, match="2026-03-09"):
        world.trigger("11:00", "s", key="2026-03-09")
    assert world.trigger("11:00", "s", key="2026-03-09-05:00").key == "2026-03-09-05:00"


def test_a_key_of_a_period_that_has_not_begun_is_refused():
    world = half_collected(EACH)
    with pytest.raises(Refused, match="the period of 2026-03-11 has not begun") as refusal:
        world.trigger("11:00", "s", key="2026-03-11")
    assert refusal.value.hint
    assert world.trigger("11:00", "s", key="2026-03-10").key == "2026-03-10"


def test_a_launched_job_is_not_cancelled():
    world = half_collected()
    world.trigger("11:00", "s")
    world.tick("11:00")
    (job,) = world.launch_all("11:00")
    with pytest.raises(Refused, match="is LAUNCHED and cannot be discarded"):
        world.cancel("11:01", job)


def test_a_job_whose_run_was_asked_for_and_is_not_seen_is_cancelled_and_gives_back_its_slots():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}},"
                  " constraints: [{concurrency: {max: 1}}, {rate: {max: 1, per: 1d}}]}")  # fmt: skip
    world.arrive("10:00", "raw", "2026-03-08")
    world.tick("10:00")
    (request,) = world.offer_launches("10:00")
    world.cancel("10:01", request.job)
    assert world.outcome("s") == ("DISCARDED", "D-CANCELLED")

    world.arrive("10:02", "raw", "2026-03-09")
    world.tick("10:02")
    assert [str(job.state) for job in world.jobs("s")] == ["DISCARDED", "PENDING_LAUNCH"]


def test_the_run_of_a_cancelled_job_that_appears_later_does_nothing():
    world = half_collected()
    world.trigger("11:00", "s")
    world.tick("11:00")
    (request,) = world.offer_launches("11:00")
    world.cancel("11:01", request.job)
    assert "the job is DISCARDED (D-CANCELLED)" in world.claim("11:02", request.job, "late").refusal
    world.run("11:03", "q", "succeeded", "late", request.job)
    assert world.outcome("s") == ("DISCARDED", "D-CANCELLED")
