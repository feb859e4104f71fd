"""The life of jobs as a state machine, driven by Hypothesis through the engine's public functions.

Two schedules with every sort of end: launched, refused, dead and queued again, discarded by hand, by a
timeout, by a suspend, by a deployment. After every step the oracle reads the journal, and every job
in the table has moved only as the table of transitions allows; a minimal sequence of steps is what
a failure shows.
"""

from contextlib import suppress
from datetime import datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.long_scenario import START
from tests.simulation.world import World
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.manual import cancel, resume, suspend, trigger
from tidegate.scheduler.explain.work import dead_letters
from tidegate.scheduler.launch.dead_letter import requeue
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import TRANSITIONS, WAITING, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.memory.store import MemoryStore

APP = """
app: a
datasets: {{raw: {{}}}}
programs: {{p: {{run: programs.p}}, q: {{run: programs.q}}}}
schedules:
  one: {{program: p, status: active, on_suspend: {one}, on_update: carry,
         trigger: {{partitions: {{dataset: raw, count: {count}, distinct: false}}}},
         constraints: [{{concurrency: {{max: 1}}}}, {{delay: 2m}}],
         timeout: {{after: 3h}}}}
  two: {{program: q, status: active, on_suspend: hold, max_batch: 2, trigger: {{any: [{{run: {{program: p}}}},
         {{partitions: {{dataset: raw}}}}]}}, constraints: [{{concurrency: {{max: 1, otherwise: skip}}}}]}}
"""
SCHEDULES = st.sampled_from(["a/one", "a/two"])


def app(one: str, count: int) -> App:
    compilation = compile_files({"a.yaml": APP.format(one=one, count=count).encode()})
    assert compilation.ok, compilation.diagnostics
    return compilation.apps["a"].app


def reachable(state: JobState) -> set[JobState]:
    """What a job may have become after any number of transitions."""
    found, edge = {state}, {state}
    while edge:
        edge = {after for before in edge for after in TRANSITIONS[before]} - found
        found |= edge
    return found


class Lifecycle(RuleBasedStateMachine):
    """Jobs, and all that can happen to them."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(FaultyStore(MemoryStore()), START)
        self.world.deploy(app("discard", 2))
        self.states: dict[str, JobState] = {}

    @rule(minutes=st.sampled_from([0, 1, 10, 200]))
    def time_passes(self, minutes: int) -> None:
        self.world.now += timedelta(minutes=minutes)
        self.world.tick()

    @rule(count=st.integers(1, 3))
    def data_arrives(self, count: int) -> None:
        now, number = self.world.now, self.world.number("e")
        self.world.add([event(f"{number}.{member}", now) for member in range(count)])

    @rule(how=st.sampled_from(["start", "twice", "lose", "refuse"]))
    def launches_are_asked_for(self, how: str) -> None:
        for request in self.world.offer_launches():
            if how == "refuse":
                self.world.reject(request)
            for _ in range({"start": 1, "twice": 2}.get(how, 0)):
                self.world.start(request)

    @rule()
    def launches_are_refused_until_they_are_dead(self) -> None:
        for _ in range(8):
            for request in self.world.offer_launches():
                self.world.reject(request)
            self.world.now += timedelta(minutes=10)

    @precondition(lambda self: self.world.runs)
    @rule(status=st.sampled_from([RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED]))
    def a_run_ends(self, status: RunStatus) -> None:
        self.world.end(next(iter(self.world.runs)), status)

    @rule(program=st.sampled_from("pq"))
    def somebody_starts_a_run(self, program: str) -> None:
        self.world.start_by_hand(program)

    @rule(ref=SCHEDULES, force=st.booleans())
    def a_schedule_is_triggered(self, ref: str, force: bool) -> None:
        with suppress(Refused):
            self.world.within(lambda t: trigger(t, ref, self.world.now, force=force, by=CLI))

    @rule(ref=SCHEDULES, active=st.booleans())
    def a_schedule_is_switched(self, ref: str, active: bool) -> None:
        switch = resume if active else suspend
        self.world.within(lambda t: switch(t, ref, self.world.now, CLI))

    @rule()
    def a_job_is_discarded(self) -> None:
        with self.world.store.reading() as reader:
            waiting = reader.jobs(states=WAITING)
        if waiting:
            with suppress(Refused):
                self.world.within(lambda t: cancel(t, waiting[0].id, self.world.now, by=CLI))

    @rule()
    def dead_letters_are_queued_again(self) -> None:
        with self.world.store.reading() as reader:
            dead = [job.id for job in dead_letters(reader)]
        for job in dead:
            self.world.within(lambda t, job=job: requeue(t, job, self.world.now, by=CLI))

    @rule(one=st.sampled_from(["discard", "drain", "hold", "backlog"]), count=st.integers(1, 3))
    def a_deployment_changes_a_schedule(self, one: str, count: int) -> None:
        self.world.deploy(app(one, count))

    @invariant()
    def the_promises_are_kept(self) -> None:
        self.world.judge()
        with self.world.store.reading() as reader:
            jobs = reader.jobs()
        for job in jobs:
            assert job.state in reachable(self.states.get(job.id, JobState.PENDING_TRIGGER)), job
            self.states[job.id] = job.state
        assert self.states.keys() == {job.id for job in jobs}, "a job has vanished"

    def teardown(self) -> None:
        self.world.now += timedelta(minutes=1)
        self.world.tick()
        self.world.judge_after_tick()
        self.world.judge_at_the_end()


def event(id: str, at: datetime) -> Event:
    return Event(
        id=id,
        kind=EventKind.PARTITION,
        key=partition_event_key("a", "raw"),
        time=at,
        arrived=at,
        partition="",
    )


Lifecycle.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestLifecycle = Lifecycle.TestCase
