"""What the references in a schedule's `args` mean, one sentence each."""

import msgspec
import pytest

from tests.worlds.job_view_of import job_view_of, partition, upstream
from tests.worlds.world import World, at
from tidegate.domain.launch_input import UpstreamRun
from tidegate.scheduler.decision.launch.plan import plan_launch
from tidegate.scheduler.decision.launch.references import values_of
from tidegate.scheduler.model.job import LaunchPlan

KNOWN = UpstreamRun(
    id="x",
    program="a/r",
    status="succeeded",
    args={"version": 3, "areas": ["JFK"]},
    outputs={"clean": ("2026-03-08",)},
)
ARRIVED = (
    partition("10:00", "raw", "2026-03-08", bytes=100, rows=5),
    partition("10:01", "raw", "2026-03-07", bytes=20),
    partition("10:02", "other", "2026-03-08", bytes=3),
)

ROWS = [
    ("all keys, each once, in order", "trigger.partitions", ARRIVED, ["2026-03-07", "2026-03-08"]),
    ("of one dataset", "trigger.partitions.raw", ARRIVED, ["2026-03-07", "2026-03-08"]),
    ("of the other", "trigger.partitions.other", ARRIVED, ["2026-03-08"]),
    ("of a dataset of which nothing came", "trigger.partitions.more", ARRIVED, []),
    (
        "a dataset without partitions has no keys",
        "trigger.partitions",
        (*ARRIVED, partition("10:00", "plain", "")),
        ["2026-03-07", "2026-03-08"],
    ),
    ("nor by its name", "trigger.partitions.plain", (partition("10:00", "plain", ""),), []),
    ("no keys", "trigger.partitions", (), []),
    ("the bytes of all partitions", "trigger.bytes", ARRIVED, 123),
    ("rows as far as they are known", "trigger.rows", ARRIVED, 5),
    ("rows that were not reported", "trigger.rows", ARRIVED[1:], None),
    (
        "a partition written twice has its newest size",
        "trigger.bytes",
        (*ARRIVED, partition("10:03", "raw", "2026-03-08", bytes=7)),
        30,
    ),
    (
        "every write of a dataset without partitions adds its own",
        "trigger.bytes",
        (partition("10:00", "raw", "", "e1", bytes=5), partition("10:01", "raw", "", "e2", bytes=5)),
        10,
    ),
    ("events", "trigger.count", ARRIVED, 3),
    (
        "an event at two leaves is one",
        "trigger.count",
        (partition("10:00", "raw", "k", leaf="0"), partition("10:00", "raw", "k", leaf="1")),
        1,
    ),
    ("the first event", "trigger.first_event_time", ARRIVED, "2026-03-10T10:00:00+00:00"),
    ("no event", "trigger.first_event_time", (), None),
    ("the key of the job", "key", (), "2026-03-09"),
    ("the run that triggered", "trigger.run.id", (upstream("10:00", "x", KNOWN),), "x"),
    ("its program", "trigger.run.program", (upstream("10:00", "x", KNOWN),), "r"),
    ("its status", "trigger.run.status", (upstream("10:00", "x", KNOWN),), "succeeded"),
    ("an argument of it", "trigger.run.args.version", (upstream("10:00", "x", KNOWN),), 3),
    ("an argument it did not have", "trigger.run.args.other", (upstream("10:00", "x", KNOWN),), None),
    ("what it wrote", "trigger.run.outputs.clean", (upstream("10:00", "x", KNOWN),), ["2026-03-08"]),
    (
        "the newest of several runs",
        "trigger.run.id",
        (upstream("10:00", "x", KNOWN), upstream("10:01", "y", None)),
        "y",
    ),
    ("a run of which no more is known", "trigger.run.args.version", (upstream("10:01", "y", None),), None),
    ("no run at all", "trigger.run.id", ARRIVED, None),
    ("no scheduled time", "scheduled_time", ARRIVED, None),
    ("no business date", "business_date", ARRIVED, None),
]


@pytest.mark.parametrize(("sentence", "reference", "collected", "value"), ROWS, ids=[row[0] for row in ROWS])
def test_a_reference(sentence, reference, collected, value):
    plan = plan_launch(job_view_of(deliveries=collected), at("10:05"))
    assert values_of(plan, collected, "2026-03-09")(reference) == value


def test_a_cron_gives_its_time_and_date():
    plan = LaunchPlan(program="q", scheduled_time=at("06:00"), business_date="2026-03-09")
    values = values_of(plan, (), "")
    assert values("scheduled_time") == "2026-03-10T06:00:00+00:00"
    assert values("business_date") == "2026-03-09"
    assert values("key") is None


def test_what_is_known_of_the_upstream_runs_each_once_and_the_newest_last():
    started = UpstreamRun(id="x", program="a/r", status="started")
    collected = (
        upstream("10:00", "x", started, "started"),
        upstream("10:01", "y", None, "failed"),
        upstream("10:02", "x", KNOWN),
    )
    plan = plan_launch(job_view_of(deliveries=collected), at("10:05"))
    assert plan.upstream == (UpstreamRun(id="y", program="a/r", status="failed"), KNOWN)
    assert plan.upstream_runs == ("y", "x")


# --- in the arguments of a schedule, from the YAML to the plan ---

ARGS = """
s:
  program: q
  status: active
  output_partition: none
  trigger: {any: [{partitions: {dataset: raw, count: 2}}, {run: {program: p}}]}
  args:
    days: "{{ trigger.partitions }}"
    title: "of {{ trigger.partitions.raw }} after {{ trigger.run.id }}."
    upstream: {version: "{{ trigger.run.args.version }}", wrote: ["{{ trigger.run.outputs.out }}"]}
    plain: 3
up: {program: p, status: active, trigger: {partitions: {dataset: other}}, args: {version: 7}}
"""


def test_the_arguments_say_which_partitions_came():
    world = World(ARGS)
    world.arrive("10:00", "raw", "2026-03-08", "2026-03-07")
    world.tick("10:00")
    assert world.only("s").launch.args == {
        "days": ["2026-03-07", "2026-03-08"],
        "title": "of 2026-03-07,2026-03-08 after .",
        "upstream": {"version": None, "wrote": [None]},
        "plain": 3,
    }


def test_the_arguments_and_outputs_of_the_upstream_run_are_handed_on():
    world = World(ARGS)
    world.arrive("10:00", "other", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:05", job)
    world.tick("10:05")
    plan = world.only("s").launch
    assert plan.args["upstream"] == {"version": 7, "wrote": [["2026-03-09"]]}
    assert plan.args["title"] == f"of  after run-{job}."
    assert [(run.id, run.status) for run in plan.upstream] == [(f"run-{job}", "succeeded")]


def test_a_job_by_hand_has_the_same_arguments_with_nothing_in_them():
    world = World(ARGS)
    world.trigger("10:00", "s")
    world.tick("10:00")
    assert world.only("s").launch.args == {
        "days": [],
        "title": "of  after .",
        "upstream": {"version": None, "wrote": [None]},
        "plain": 3,
    }


def test_a_stored_upstream_run_calls_its_id_run_id():
    stored = b'{"run_id":"x","program":"a/r","status":"succeeded","args":{},"outputs":{}}'

    run = msgspec.json.decode(stored, type=UpstreamRun)

    assert run == UpstreamRun(id="x", program="a/r", status="succeeded")
    assert msgspec.json.encode(run) == stored


def test_a_named_member_has_the_values_of_its_own_events():
    world = World(
        "s: {program: q, status: active, trigger: {all: [{run: {program: r}, as: first},"
        " {run: {program: t}, as: second}, {partitions: {dataset: raw, count: 2}, as: data}]},"
        ' args: {first: "{{ trigger.first.run.id }}", second: "{{ trigger.second.run.id }}",'
        ' count: "{{ trigger.data.count }}", keys: "{{ trigger.data.partitions.raw }}",'
        ' none: "{{ trigger.first.partitions.raw }}"}}'.replace(
            ', none: "{{ trigger.first.partitions.raw }}"', ""
        )
    )
    world.run("10:00", "t", "succeeded", "t-1")
    world.run("10:01", "r", "succeeded", "r-1")
    world.run("10:02", "t", "succeeded", "t-2")
    world.arrive("10:03", "raw", "2026-03-08", "2026-03-09")
    world.tick("10:03")
    job = world.only("s")
    assert job.launch.args == {
        "first": "r-1",
        "second": "t-2",
        "count": 2,
        "keys": ["2026-03-08", "2026-03-09"],
    }
    assert [each.name for each in job.launch.fired] == ["first", "second", "data"]


def test_the_outputs_of_a_dataset_are_those_of_the_newest_run_that_wrote_it():
    other = UpstreamRun(id="y", program="a/t", status="succeeded")
    runs = (upstream("10:00", "x", KNOWN), upstream("10:01", "y", other))
    launch = plan_launch(
        job_view_of(deliveries=runs, args={"days": "{{ trigger.run.outputs.clean }}"}), at("11:00")
    )
    assert launch.args == {"days": ["2026-03-08"]}
