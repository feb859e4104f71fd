"""`why --at` of instances of tasks: from the journal alone, a past moment looks as it did then."""

from tests.scheduler.explain.past.test_past import assert_recalled
from tests.worlds.tasks import FEED, TaskWorld
from tests.worlds.world import at
from tidegate.scheduler.commands.backfills.request import progress
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.retention.prune import prune

FOREVER = Keep(journal=None, events=None, finished_jobs=None, launches=None)

FIVE, SIX = "2026-03-10-05:00", "2026-03-10-06:00"


def short(tasks: str = FEED) -> str:
    """The tasks with few instances a day, since the witness asks about each."""
    hours = 'at: {from: "05:00", to: "07:00"}, status'
    return tasks.replace("outside, status", f"outside, {hours}").replace(
        "{minute: 10}", '{minute: 10, from: "05:00", to: "07:00"}'
    )


def lived_a_day(world: TaskWorld) -> None:
    for clock in ("00:00", "02:00", "05:00"):
        world.tick(clock)
    world.reported("05:05", "feed", FIVE)
    world.tick("05:10")
    (job,) = world.launch_all("05:11")
    world.tick("05:12")
    world.end("05:20", job, "failed")
    world.tick("05:21")
    world.act("05:30", "clean", FIVE, Action.RERUN)
    for clock in ("05:31", "05:32"):
        world.tick(clock)
    world.act("05:33", "clean", FIVE, Action.PAUSE)
    world.tick("05:34")
    world.act("05:35", "clean", FIVE, Action.RESUME)
    world.tick("05:36")
    (job,) = world.launch_all("05:37")
    world.tick("05:38")
    world.act("05:40", "clean", FIVE, Action.PAUSE)
    world.tick("05:41")
    world.act("05:42", "clean", FIVE, Action.MARK_SUCCESSFUL)
    world.tick("05:43")
    world.reported("06:01", "feed", SIX, status="failed")
    world.tick("06:10")
    world.reported("06:20", "feed", FIVE)
    world.tick("06:21")
    world.suspend("06:30", "clean")
    world.tick("06:31")
    world.resume("06:40", "clean")
    world.tick("06:41")
    world.tick("22:00")


def test_a_day_with_reports_failures_and_actions():
    world = TaskWorld(short())
    lived_a_day(world)
    assert_recalled(world)


def test_changed_and_deleted_tasks():
    world = TaskWorld(short())
    world.tick("00:00")
    changed = short().replace("minute: 10", "minute: 20").replace('"07:00"', '"06:00"')
    world.redeploy("01:00", changed + "  more: {program: t, cycle: day, status: active}\n")
    world.tick("01:01")
    world.tick("05:20")
    world.redeploy("05:30", changed)
    world.tick("05:31")
    assert_recalled(world)


DAYS = "  day: {program: p, cycle: day, status: active}\n"


def lived_with_a_backfill(world: TaskWorld) -> None:
    world.tick("12:00")
    world.backfill("12:10", "day", "2026-03-01", "2026-03-03")
    world.tick("12:11")
    (job,) = world.launch_all("12:12")
    world.tick("12:13")
    world.end("12:20", job)
    world.tick("12:21")
    world.cancel_backfill("12:30", 1)
    world.tick("12:31")


def test_a_backfill_and_its_progress():
    world = TaskWorld(DAYS, start="12:00")
    lived_with_a_backfill(world)
    assert_recalled(world)
    assert_progress(world)


def assert_progress(world: TaskWorld) -> None:
    for clock, running in (("12:13", 1), ("12:21", 0)):
        with world.store.reading() as reader:
            past = store_at(reader, at(clock))
        with past.reading() as reader:
            assert progress(reader, 1).counts["running"] == running
            assert progress(reader, 1).total == 3


def test_a_deleted_task_s_run_that_is_observed_again_leaves_the_instance_as_it_ended():
    world = TaskWorld("  daily: {program: q, cycle: day, depends_on: [], status: active}\n")
    world.tick("05:00")
    (job,) = world.launch_all("05:01")
    world.end("05:30", job)
    world.tick("05:31")
    world.redeploy("06:00", "  other: {program: r, cycle: day, depends_on: [], status: active}\n")
    world.tick("06:10")
    prune(world.store, FOREVER, at("06:11"))
    began_earlier = RunObservation(
        run_id=f"run-{job}-1", program="a/q", job=job, attempt=1, status=RunStatus.STARTED, at=at("05:00:30")
    )
    with world.store.transaction() as transaction:
        observe_runs(transaction, [began_earlier], at("06:20"))
    world.tick("06:21")
    with world.store.reading() as reader, store_at(reader, at("06:25")).reading() as past:
        assert reader.snapshot(at("06:25")) is not None
        assert reader.journal(job=job)[-1].data["at"] == began_earlier.at.isoformat()
        (ended,) = past.jobs(ids=[job])
        assert (ended, ended.state) == (world.job(job), JobState.SUCCEEDED)
        assert past.schedules(refs=["a/daily"]) == ()
