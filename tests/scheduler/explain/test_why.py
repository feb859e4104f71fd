"""`why`: the same decision as the tick's, shown to a person, at any instant, changing nothing."""

import pytest

from tests.doubles.dump import dump
from tests.worlds.by import CLI
from tests.worlds.world import DATASETS, World, app_of, at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.gauge import report_gauges
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.outcome import outcome_line, waiting_line
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.outbox import reject
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.refused import Refused

S = """
s:
  program: q
  trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}], wait_at_most: 3h}
  constraints: [{delay: 10m}, {window: {from: "22:00", to: "06:00"}}, {concurrency: {max: 1}}]
  status: active
"""


def ask(world: World, clock: str, target: str = "a/s") -> Explanation:
    before = dump(world.store)
    with world.store.reading() as reader:
        (found,) = explain(reader, target, at(clock))
    assert dump(world.store) == before
    return found


def test_a_schedule_for_which_nothing_has_come():
    found = ask(World(S), "10:00")
    assert found.headline == "no waiting job: no event has arrived since the last job"
    assert [part.summary for part in found.trigger.parts] == [
        "0 of 1 new partitions of raw",
        "0 of 1 new partitions of other",
    ]
    assert (found.job, found.next_check, found.can_run_at) == (None, None, None)


def test_a_suspended_schedule_says_so():
    world = World(S)
    world.suspend("09:00", "s")
    assert ask(world, "10:00").headline == "suspended: events are ignored until it is resumed"


def test_a_suspended_schedule_with_a_backlog_says_that_it_keeps_what_comes():
    world = World(S.replace("status: active", "status: active\n  on_suspend: backlog"))
    world.suspend("09:00", "s")
    assert ask(world, "10:00").headline.startswith("suspended: no waiting job yet; new events are kept")


def test_a_cron_says_when_it_comes():
    world = World('s: {program: q, status: active, trigger: {cron: "0 6 * * *"}}', start="07:00")
    found = ask(world, "10:00")
    assert found.next_check == found.can_run_at == at("1d 06:00")
    assert found.trigger.summary == 'next fire of "0 6 * * *" at 2026-03-11T06:00:00+00:00'


def test_a_half_collected_job_names_what_is_missing_and_when_it_goes_on_without():
    world = World(S)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    found = ask(world, "11:00")
    assert found.headline == "W-TRIGGER: the trigger is not satisfied yet"
    assert [part.met for part in found.trigger.parts] == [True, False]
    assert found.next_check == at("13:00")
    assert [str(part.at).split(":")[0] for part in found.trigger.parts] == ["a.yaml", "a.yaml"]


def test_a_satisfied_job_names_every_unmet_constraint_the_first_being_the_reason():
    world = World(S)
    world.run("09:00", "q", "started", "hand")
    for dataset in ("raw", "other"):
        world.arrive("10:00", dataset, "2026-03-09")
    world.tick("10:00")
    found = ask(world, "10:00")
    assert found.headline == "W-DELAY: the delay after the trigger has not passed"
    assert [(v.kind, v.met, v.reason) for v in found.constraints] == [
        ("delay", False, "W-DELAY"),
        ("window", False, "W-WINDOW"),
        ("concurrency", False, "W-CONCURRENCY"),
    ]
    assert found.can_run_at is None


def test_when_only_time_is_missing_it_says_when_the_job_can_run():
    world = World(S)
    for dataset in ("raw", "other"):
        world.arrive("10:00", dataset, "2026-03-09")
    world.tick("10:00")
    assert ask(world, "10:00").can_run_at == at("22:00")
    ready = ask(world, "22:00")
    assert (ready.headline, ready.can_run_at) == ("ready: the next tick launches it", at("22:00"))


def test_what_the_next_tick_gives_up():
    world = World(
        "s: {program: q, status: active, timeout: 1h, trigger: {partitions: {dataset: raw}},"
        ' constraints: [{window: {from: "22:00", to: "23:00"}}]}'
    )
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert ask(world, "11:00").headline.startswith("the next tick discards it: D-TIMEOUT")


def test_a_period_of_which_nothing_has_come():
    world = World(
        "s: {program: q, for_each: day, status: active,"
        " trigger: {partitions: {dataset: chunks, complete: day}}}"
    )
    assert ask(world, "10:00").trigger.summary == "no partition of chunks has arrived"
    world.arrive("10:00", "chunks", "2026-03-09|JFK")
    world.tick("10:00")
    assert ask(world, "10:00").trigger.summary == (
        "1 of 3 parts of chunks of day 2026-03-09; missing 2026-03-09|EWR, 2026-03-09|LGA"
    )


def test_many_missing_keys_are_not_all_named():
    world = World(
        "s: {program: q, for_each: day, status: active,"
        " trigger: {partitions: {dataset: hourly, complete: day}}}"
    )
    world.arrive("10:00", "hourly", "2026-03-09-00:00")
    world.tick("10:00")
    assert ask(world, "10:00").trigger.summary.endswith("2026-03-09-05:00 and 18 more")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("a/none", "no schedule a/none is deployed"),
        ("none", "there is no schedule or job none"),
    ],
)
def test_what_does_not_exist_is_refused(target, message):
    with pytest.raises(Refused, match=message):
        ask(World(S), "10:00", target)


def test_a_finished_job_says_what_became_of_it_with_its_history():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    world.end("10:05", job, "failed")
    found = ask(world, "11:00", job)
    assert found.headline == f"FAILED (F-RUN: failed: the run failed), run run-{job}"
    assert found.history[0].kind == "job-opened"


def test_a_waiting_job_is_shown_in_one_line():
    world = World(
        "s: {program: q, for_each: partition, status: active,"
        " trigger: {partitions: {dataset: raw, count: 2, distinct: false}}}"
    )
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.jobs("s")
    assert waiting_line(job) == "a/s[2026-03-09]: W-TRIGGER the trigger is not satisfied yet"


def lacking(found: Explanation) -> list[tuple[str, str, object]]:
    return [(each.kind, each.what, each.by) for each in found.missing]


def test_what_would_unblock_a_half_collected_job():
    world = World(S)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert lacking(ask(world, "11:00"))[:2] == [
        ("all", "time, if no event arrives", at("13:00")),
        ("partitions", "1 more new partition of other", None),
    ]


def test_what_would_unblock_a_job_whose_trigger_is_satisfied():
    world = World(S)
    world.run("09:00", "q", "started", "hand")
    for dataset in ("raw", "other"):
        world.arrive("10:00", dataset, "2026-03-09")
    world.tick("10:00")
    assert lacking(ask(world, "10:00")) == [
        ("delay", "time", at("10:10")),
        ("window", "time", at("22:00")),
        ("concurrency", "a free slot of program a/q", None),
    ]


@pytest.mark.parametrize(
    ("trigger", "what"),
    [
        ('{cron: "0 6 * * *"}', 'a fire of "0 6 * * *", the next one at 2026-03-11T06:00:00+00:00'),
        ("{elapsed: {for: 4h}}", "4h since the last run of q to pass"),
        ("{run: {program: r, count: 2, status: failed}}", "2 more runs of r (failed)"),
        ("{size: {dataset: raw, bytes: 3GB}}", "3 GB more of raw"),
        (
            "{partitions: {dataset: raw, keys: [2026-03-01, 2026-03-02]}}",
            "2 partitions of raw: 2026-03-01, 2026-03-02",
        ),
        ("{partitions: {dataset: chunks, complete: day}}", "all parts of one day of chunks"),
        ("{partitions: {dataset: raw, count: 2, distinct: false}}", "2 more writes of raw"),
    ],
)
def test_what_each_kind_of_trigger_needs(trigger, what):
    (found,) = ask(World(f"s: {{program: q, status: active, trigger: {trigger}}}"), "10:00").missing
    assert found.what == what
    assert str(found.at).startswith("a.yaml:")


def test_what_a_period_needs_that_is_half_there_and_what_quiet_needs():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: chunks, complete: day}}}")
    world.arrive("10:00", "chunks", "2026-03-09|JFK")
    world.tick("10:00")
    assert lacking(ask(world, "10:00")) == [
        ("partitions", "2 parts of chunks of 2026-03-09: 2026-03-09|EWR, 2026-03-09|LGA", None)
    ]
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}, quiet: 10m}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert lacking(ask(world, "10:05")) == [("partitions", "nothing new for 10m", at("10:10"))]


@pytest.mark.parametrize(
    ("constraint", "what"),
    [
        ("{load: {max_active_runs: 1}}", "the end of an active run"),
        ("{load: {gauge: cpu, max: 80}}", "a lower report of gauge cpu"),
        ("{since_last_run: {for: 30m}}", "the end of the active run of a/q"),
    ],
)
def test_what_a_busy_world_has_to_give(constraint, what):
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}},"
        f" constraints: [{constraint}]}}"
    )
    with world.store.transaction() as transaction:
        report_gauges(transaction, {"cpu": 90}, at("09:00"), by=CLI)
    world.run("09:00", "q", "started", "hand")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert [each.what for each in ask(world, "10:00").missing] == [what]


def test_a_held_job_needs_its_schedule_resumed():
    world = World(
        "s: {program: q, status: active, on_suspend: hold, trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.arrive("10:00", "raw", "2026-03-08")
    world.tick("10:00")
    world.suspend("10:05", "s")
    world.arrive("10:10", "raw", "2026-03-09")
    world.tick("10:10")
    assert lacking(ask(world, "10:10")) == [
        ("held", "a/s is suspended and holds its jobs; `tidegate schedules resume` releases them", None)
    ]


def test_a_job_whose_run_is_asked_for_says_how_often_and_what_was_answered():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert ask(world, "10:00").headline == (
        "PENDING_LAUNCH: its run is asked for at the next tick of its dispatcher"
    )
    (request,) = world.offer_launches("10:01")
    assert ask(world, "10:02").headline == (
        "PENDING_LAUNCH: its run was asked for once, last at 2026-03-10 10:01:00Z; no run is seen yet"
    )
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 1, "q is not loaded", at("10:02"))
    assert ask(world, "10:02").headline == (
        "PENDING_LAUNCH: its run was asked for once; the last request was rejected: q is not loaded;"
        " it holds no slots until it is offered again"
    )
    world.tick("10:05")
    world.offer_launches("10:05")
    assert ask(world, "10:06").headline == (
        "PENDING_LAUNCH: its run was asked for 2 times, last at 2026-03-10 10:05:00Z;"
        " the answer before: q is not loaded"
    )


def test_after_a_failure_the_last_job_is_shown():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    note_failure(world.store, job, 1, f"run-{job}", "ValueError: no (p.py:3)", at("10:04"))
    world.end("10:05", job, "failed")
    world.tick("10:06")

    found = ask(world, "11:00")

    assert found.headline == "no waiting job: no event has arrived since the last job, which failed"
    assert found.failed is not None
    assert outcome_line(found.failed) == (
        f"FAILED (F-RUN: failed: the run failed), run run-{job}; ValueError: no (p.py:3)"
    )


def test_a_job_that_was_triggered_by_hand_says_so():
    world = World(S)
    world.run("09:00", "q", "started", "hand")
    world.trigger("10:00", "s")
    assert ask(world, "10:00").headline.startswith("triggered by hand; W-DELAY: ")


def test_it_says_so_too_while_its_run_is_asked_for():
    world = World("s: {program: q, trigger: {partitions: {dataset: raw}}, status: active}")
    world.trigger("10:00", "s")
    world.tick("10:00")
    job = world.only("s").id

    def headline() -> str:
        with world.store.reading() as reader:
            return explain(reader, job, at("10:00"))[0].headline

    assert headline().startswith("triggered by hand; PENDING_LAUNCH: its run is asked for")
    world.launch_all("10:00")
    assert headline().startswith("LAUNCHED")


def test_the_timeout_of_a_running_program():
    head = DATASETS.replace("q: {run: programs.q}", "q: {run: programs.q, timeout: 90m}")
    world = World("{}")
    world.app = app_of("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}", head)
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": world.app}, at("01:00"), by=CLI)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    with world.store.reading() as reader:
        (found,) = explain(reader, job, at("10:30"))
    assert found.headline == f"LAUNCHED, run run-{job}; its timeout of 90m ends at 2026-03-10 11:30:00Z"
