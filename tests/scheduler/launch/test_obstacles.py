"""Existing jobs: what is in their way before a slot is taken, and runs that ended before they began."""

from datetime import timedelta

from tests.worlds.world import DATASETS, World, app_of, at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.intake.lost_starts import STARTS_MAX
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.obstacles import note_obstacles
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus

HEAD = DATASETS.replace("programs:\n", "programs:\n  e: {job: nightly, location: acme}\n")
S = """
e:
  program: e
  trigger: {cron: "0 6 * * *"}
  constraints: [{concurrency: {max: 1}}]
  status: active
"""
Q = 'q: {program: q, trigger: {cron: "0 6 * * *"}, status: active}'
AWAY = Obstacle(reason=Reason.W_LOCATION, text="the location acme is not loaded: No module named acme")


class ExistingWorld(World):
    """A world whose program `e` is a job of another location."""

    compiled = staticmethod(lambda schedules: app_of(schedules, HEAD))

    def note(self, clock: str, **found: Obstacle) -> None:
        note_obstacles(self.store, {"a": found}, at(clock))

    def lose(self, clock: str, id: str, number: int) -> None:
        """The run of the job is seen to have failed before it began."""
        seen = RunObservation(
            run_id=f"run-{number}",
            program="a/e",
            job=id,
            attempt=1,
            status=RunStatus.FAILED,
            at=at(clock),
            lost=number,
            never_began=True,
            error="its location was down",
        )
        with self.store.transaction() as transaction:
            observe_runs(transaction, [seen], at(clock))


def slots(world: World) -> int:
    with world.store.reading() as reader:
        return reader.slots(["program:a/e"])["program:a/e"]


def test_a_job_whose_location_is_away_holds_no_slot_and_is_launched_when_it_is_back() -> None:
    world = ExistingWorld(S + Q)
    world.note("05:00", e=AWAY)
    world.tick("06:00")

    assert (world.only("e").state, world.only("e").reason) == (JobState.PENDING_CONSTRAINT, Reason.W_LOCATION)
    assert (slots(world), world.only("q").state) == (0, JobState.PENDING_LAUNCH)
    with world.store.reading() as reader:
        (found,) = explain(reader, world.only("e").id, at("06:01"))
    assert AWAY.text in str(found)

    world.note("06:02")
    world.tick("06:02")
    assert (world.only("e").state, slots(world)) == (JobState.PENDING_LAUNCH, 1)


def test_an_obstacle_that_becomes_another_one_is_told_at_once_and_a_person_cannot_override_it() -> None:
    world = ExistingWorld(S)
    world.note("05:00", e=AWAY)
    job = world.trigger("05:30", "e", force=True)
    world.tick("05:30")
    assert world.job(job.id).reason is Reason.W_LOCATION

    world.note("05:31", e=Obstacle(reason=Reason.W_HOST, text="no host is active: tidegate host"))
    world.tick("05:31")
    assert world.job(job.id).reason is Reason.W_HOST


def test_a_run_that_never_began_is_no_attempt_until_three_more_are_lost() -> None:
    world = ExistingWorld(S)
    world.tick("06:00")
    id, keys, now = world.only("e").id, [], at("06:00")
    for number in range(STARTS_MAX + 1):
        (request,) = [each for each in world.offer_launches(f"{now:%H:%M}") if each.job == id]
        keys.append(request.run_key)
        assert (request.attempt, slots(world)) == (1, 1)
        world.lose(f"{now:%H:%M}", id, number)
        assert slots(world) == 0
        now += timedelta(minutes=5)
        world.tick(f"{now:%H:%M}")

    assert keys == [f"{id}:1", f"{id}:1:1", f"{id}:1:2", f"{id}:1:3"]
    ended = world.job(id)
    assert (ended.state, ended.reason, ended.attempt) == (JobState.FAILED, Reason.F_LAUNCH, 1)
    assert ended.detail == "its location was down"
