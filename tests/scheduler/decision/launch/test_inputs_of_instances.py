"""What the run of an instance is launched for: the partitions that its upstream instances are about."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.store.memory.store import MemoryStore

HEAD = """
app: a
datasets:
  feed: {partitions: {hour: {cycle: hour, start: 2026-01-01-00:00}, site: [x, y]}}
  clean: {partitions: {cycle: hour, start: 2026-01-01-00:00}}
  daily: {partitions: {cycle: day, start: 2026-01-01}}
  state: {}
  rates: {partitions: {cycle: week, start: 2026-01-04}}
  log: {partitions: {cycle: hour, start: 2026-01-01-00:00}}
programs:
  clean: {run: programs.clean, reads: [feed], writes: [clean]}
  rates: {run: programs.rates, writes: [rates]}
  daily: {run: programs.daily, reads: [clean, rates, daily], writes: [daily, state]}
  log: {run: programs.log, reads: [daily, state], writes: [log]}
tasks:
"""
FEED = "  feed: {type: source, dataset: feed, cycle: hour, status: active}\n"
CLEAN = "  clean: {program: clean, cycle: hour, depends_on: [feed], status: active}\n"
RATES = '  rates: {program: rates, cycle: week, at: {weekdays: [tue], time: "00:30"}, status: active}\n'
DAILY = "  daily: {program: daily, cycle: day, depends_on: [DEPENDS], status: active}\n"
LOG = "  log: {program: log, cycle: hour, depends_on: [daily], status: active}\n"
TODAY, YESTERDAY = "2026-03-10", "2026-03-09"


class Day(TaskWorld):
    """A day of an app of tasks, all of whose runs succeed at once."""

    def __init__(self, tasks: str, start: str = "00:00") -> None:
        self.store = MemoryStore()
        self._events = 0
        self.seen = []
        self.redeploy(start, tasks)

    def redeploy(self, clock: str, schedules: str, *, update: bool = True) -> None:
        self.app = app_of(schedules)
        with self.store.transaction() as transaction:
            deploy(transaction, {"a": self.app}, at(clock), update_schedules=update, by=CLI)

    def until(self, *clocks: str) -> None:
        for clock in clocks:
            self.tick(clock)
            while launched := self.launch_all(clock):
                for job in launched:
                    self.end(clock, job)
                self.tick(clock)

    def launch(self, task: str, key: str, number: int = 0) -> LaunchPlan:
        plan = self.instance(task, key, number).launch
        assert plan is not None
        return plan


def app_of(tasks: str) -> App:
    compilation = compile_files({"a.yaml": (HEAD + tasks).encode()})
    assert compilation.ok, "\n".join(f"{d.at} {d.code} {d.summary}" for d in compilation.diagnostics)
    return compilation.apps["a"].app


def test_a_source_is_about_all_partitions_of_its_dataset_that_contain_its_business_date() -> None:
    day = Day(FEED + CLEAN)
    day.until("05:00")

    plan = day.launch("clean", f"{TODAY}-05:00")

    assert plan.manifest == {"feed": (f"{TODAY}-04:00|x", f"{TODAY}-04:00|y")}
    assert plan.partitions == (f"{TODAY}-04:00",)


def test_a_task_is_about_what_it_wrote_also_where_several_are_picked() -> None:
    day = Day(FEED + CLEAN + DAILY.replace("DEPENDS", "{task: clean, select: all}"))
    day.until("23:00")

    plan = day.launch("daily", TODAY)

    assert plan.manifest == {
        "clean": (f"{YESTERDAY}-23:00", *(f"{TODAY}-{hour:02}:00" for hour in range(23)))
    }


def test_an_output_without_partitions_is_one_without_a_key_and_self_is_the_partition_before() -> None:
    day = Day(DAILY.replace("DEPENDS", "self") + LOG)
    day.until("00:00", "00:30", "1d 00:00")

    assert day.launch("daily", "2026-03-11").manifest == {"daily": (YESTERDAY,)}
    assert day.launch("log", "2026-03-11-00:00").manifest == {"daily": (TODAY,), "state": ("",)}


def test_an_empty_run_is_about_nothing() -> None:
    day = Day(RATES + DAILY.replace("DEPENDS", "rates"))
    day.until("00:30", "1d 00:30")

    assert day.launch("daily", TODAY).manifest == {"rates": ("2026-03-08",)}
    assert day.launch("daily", "2026-03-11").manifest == {}


def test_an_instance_without_upstream_instances_is_launched_for_nothing() -> None:
    day = Day(RATES)
    day.until("00:30")

    assert day.launch("rates", TODAY).manifest == {}


@pytest.mark.parametrize("constraint", ["", "constraints: [{delay: 1h}], "], ids=["at once", "later"])
def test_an_instance_that_was_marked_is_about_what_it_would_have_written(constraint: str) -> None:
    """The upstream instances of one that waits for its constraints are those that were recorded."""
    depends = f"[daily], {constraint}status"
    day = Day(DAILY.replace("DEPENDS", "self") + LOG.replace("[daily], status", depends))
    day.act("00:00", "daily", TODAY, Action.MARK_SUCCESSFUL)
    day.until("00:00", "00:30", "01:00")

    assert day.launch("log", f"{TODAY}-00:00").manifest == {"daily": (YESTERDAY,), "state": ("",)}


def test_in_a_backfill_it_is_about_the_instances_of_the_backfill() -> None:
    day = Day(FEED + CLEAN + DAILY.replace("DEPENDS", "clean"))
    day.backfill("12:00", "daily", "2026-03-05", "2026-03-05", upstream=True)
    day.until("12:00", "12:01", "12:02")

    plan = day.launch("daily", "2026-03-06", 1)

    assert plan.partitions == ("2026-03-05",)
    assert plan.manifest == {"clean": tuple(f"2026-03-05-{hour:02}:00" for hour in range(24))}


def test_a_source_of_a_dataset_of_another_app_is_about_that() -> None:
    other = """
app: b
programs: {p: {run: programs.p, reads: [a/feed]}}
tasks:
  gate: {type: source, dataset: a/feed, cycle: hour, status: active}
  p: {program: p, cycle: hour, depends_on: [gate], status: active}
"""
    compiled = compile_files({"a.yaml": (HEAD + FEED).encode(), "b.yaml": other.encode()})
    assert compiled.ok, compiled.diagnostics
    day = Day(FEED)
    with day.store.transaction() as transaction:
        deploy(transaction, {name: each.app for name, each in compiled.apps.items()}, at("00:00"), by=CLI)
    day.tick("05:00")

    with day.store.reading() as reader:
        plans = {job.key: job.launch for job in reader.jobs(schedules=["b/p"]) if job.launch is not None}

    assert plans[f"{TODAY}-05:00"].manifest == {"a/feed": (f"{TODAY}-04:00|x", f"{TODAY}-04:00|y")}
