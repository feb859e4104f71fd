"""What is seen of runs: repeated, late, out of order, of others, and of runs that lost their claim."""

from contextlib import closing

import pytest

from tests.crashes.statements import listening
from tests.doubles.dump import dump
from tests.worlds.world import World, at
from tidegate.scheduler.commands.change_jobs import change_jobs
from tidegate.scheduler.decision.changes.fate import Change
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.sql.open import open_sql_store

SCHEDULES = """
s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints: [{concurrency: {max: 1}}]}
after: {program: r, status: active, trigger: {run: {program: q}}}
ended: {program: r, status: active, trigger: {run: {program: q, status: completed}}}
"""


def launched() -> tuple[World, str]:
    """A job of s whose run is under way since ten."""
    world = World(SCHEDULES)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    return world, job


ENDS = [
    ("succeeded", "SUCCEEDED", None),
    ("failed", "FAILED", "F-RUN"),
    ("cancelled", "FAILED", "F-CANCELLED"),
]


@pytest.mark.parametrize(("status", "state", "reason"), ENDS)
def test_the_end_of_a_run_is_the_end_of_its_job(status, state, reason):
    world, job = launched()
    world.end("10:30", job, status)
    assert world.outcome("s") == (state, reason)
    assert world.job(job).ended_at == at("10:30")


def test_its_slot_is_free_once_and_wakes_who_waits():
    world, job = launched()
    world.arrive("10:10", "raw", "2026-03-08")
    world.tick("10:10")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.end("10:30", job)
    world.end("10:30", job)
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_an_observation_that_repeats_changes_nothing():
    world, job = launched()
    world.end("10:30", job)
    world.tick("10:30")
    before = dump(world.store)
    world.end("10:30", job)
    world.run("10:00", "q", "started", f"run-{job}", job)
    world.tick("10:30")
    assert dump(world.store) == before


def test_a_run_never_goes_back_and_its_first_end_is_its_end():
    world, job = launched()
    world.end("10:30", job, "failed")
    world.end("10:40", job, "succeeded")
    world.run("10:41", "q", "queued", f"run-{job}", job)
    world.tick("10:41")
    assert world.outcome("s") == ("FAILED", "F-RUN")
    assert world.jobs("after") == ()
    assert len(world.jobs("ended")) == 1


def test_a_start_that_is_seen_after_the_end_is_still_noted():
    world = World(SCHEDULES)
    world.run("10:30", "q", "succeeded", "hand")
    world.run("10:00", "q", "started", "hand")
    with world.store.reading() as reader:
        (run,) = reader.runs(ids=["hand"])
        history = reader.history(["a/q"])["a/q"]
    assert (run.status, run.started_at, run.ended_at) == ("succeeded", at("10:00"), at("10:30"))
    assert (history.last_success_started, history.last_success_ended) == (at("10:00"), at("10:30"))


def test_a_run_that_ended_before_it_was_seen_to_start():
    world = World(SCHEDULES)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (request,) = world.offer_launches("10:00")
    world.run("10:05", "q", "succeeded", "x", request.job)
    assert world.outcome("s") == ("SUCCEEDED", None)


def test_a_run_of_somebody_else_triggers_like_any_other():
    world = World(SCHEDULES)
    world.run("10:00", "q", "succeeded", "hand")
    world.tick("10:00")
    assert world.outcome("after") == ("PENDING_LAUNCH", None)


def test_a_run_of_a_program_that_nobody_deploys_is_noted_and_nothing_else():
    world = World(SCHEDULES)
    with world.store.transaction() as transaction:
        from tidegate.scheduler.intake.observe import RunObservation, observe_runs
        from tidegate.scheduler.model.run import RunStatus

        seen = RunObservation(run_id="x", program="b/none", status=RunStatus.STARTED, at=at("10:00"))
        observe_runs(transaction, [seen], at("10:00"))
        assert transaction.slots(["program:b/none"]) == {"program:b/none": 1}


def test_a_run_that_lost_its_claim_speaks_for_nobody():
    world, job = launched()
    for status in ("started", "succeeded"):
        world.run("10:20", "q", status, "second", job)
    world.tick("10:20")
    assert world.job(job).state is JobState.LAUNCHED
    assert world.jobs("after") == ()
    with world.store.reading() as reader:
        assert reader.history(["a/q"])["a/q"].last_success_ended is None
        assert reader.slots(["program:a/q"]) == {"program:a/q": 1}


def test_a_run_that_comes_after_its_job_was_given_up_counts_nowhere():
    world = World(SCHEDULES)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (request,) = world.offer_launches("10:00")
    with world.store.transaction() as transaction:
        change_jobs(transaction, Change.DELETED, transaction.schedules(refs=["a/s"]), at("10:01"))
    assert not world.claim("10:02", request.job, "late").won
    world.run("10:02", "q", "started", "late", request.job)
    world.run("10:03", "q", "succeeded", "late", request.job)
    world.tick("10:03")
    assert world.outcome("s") == ("DISCARDED", "D-DELETED")
    assert world.jobs("after") == ()
    with world.store.reading() as reader:
        assert reader.slots(["program:a/q"]) == {"program:a/q": 0}


def test_a_run_of_an_older_attempt_or_of_no_known_job_is_only_noted():
    world, job = launched()
    world.run("10:20", "q", "failed", "other", job, attempt=2)
    world.run("10:20", "q", "failed", "another", "no-such-job")
    assert world.job(job).state is JobState.LAUNCHED


def test_observations_of_one_run_in_one_batch():
    world = World(SCHEDULES)
    from tidegate.scheduler.intake.observe import RunObservation, observe_runs
    from tidegate.scheduler.model.run import RunStatus

    seen = [
        RunObservation(run_id="x", program="a/q", status=status, at=at("10:00"))
        for status in (RunStatus.QUEUED, RunStatus.STARTED, RunStatus.SUCCEEDED, RunStatus.STARTED)
    ]
    with world.store.transaction() as transaction:
        observe_runs(transaction, seen, at("10:00"))
        assert transaction.slots(["program:a/q"]) == {"program:a/q": 0}
        (run,) = transaction.runs(ids=["x"])
        assert run.status is RunStatus.SUCCEEDED


def test_what_happens_at_one_instant_advances_the_engine_once(tmp_path):
    def looks(*clocks):
        """How often the clock of the engine is moved."""
        with closing(open_sql_store(f"sqlite:///{tmp_path / str(len(set(clocks)))}", create=True)) as store:
            world, found = World(SCHEDULES, store=store), []
            world.tick("10:00")
            seen = [
                RunObservation(run_id=f"x{n}", program="a/q", status=RunStatus.STARTED, at=at(clock))
                for n, clock in enumerate(clocks)
            ]
            with (
                listening(store.engine, lambda _, __, statement, *rest: found.append(statement)),
                store.transaction() as transaction,
            ):
                observe_runs(transaction, seen, at("10:05"))
            return sum(statement.startswith('INSERT INTO "cursors"') for statement in found)

    assert looks("10:01", "10:01", "10:01") == looks("10:01")
    assert looks("10:01", "10:02", "10:03") > looks("10:01")


def test_what_happens_at_one_instant_is_folded_as_one_after_the_other():
    def outcome(at_once):
        world = World(SCHEDULES.replace("max: 1", "max: 9"))
        for clock, day in (("09:57", "2026-03-07"), ("09:58", "2026-03-08"), ("09:59", "2026-03-09")):
            world.arrive(clock, "raw", day)
            world.tick(clock)
        jobs = [request.job for request in world.offer_launches("10:00")]
        assert world.claim("10:00", jobs[1], "another").won
        statuses = (RunStatus.QUEUED, RunStatus.STARTING, RunStatus.STARTED, RunStatus.STARTED)
        begun = [(f"run-{job}", job, status) for job in jobs for status in statuses]
        second = [("second", jobs[0], RunStatus.STARTED)]
        ends = [(f"run-{job}", job, RunStatus.SUCCEEDED) for job in jobs]
        seen = [
            RunObservation(run_id=run, program="a/q", job=job, attempt=1, status=status, at=at("10:01"))
            for run, job, status in (*begun, *second, ends[0], *begun[:2], *ends)
        ]
        for together in [seen] if at_once else [[each] for each in seen]:
            with world.store.transaction() as transaction:
                observe_runs(transaction, together, at("10:01"))
        world.tick("10:02")
        return dump(world.store)

    assert outcome(at_once=True) == outcome(at_once=False)
