"""Play a scenario: deploy its app into an empty store, run the clock, and check the expectations.

The summary of a played scenario: the launched, discarded and remaining jobs of each schedule and table. It
counts the moments of the timeline and the jobs of the last snapshot.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import assert_never

import msgspec

from tidegate.compiler.compile import CompiledApp
from tidegate.compiler.scenarios.model.maintenance import (
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
)
from tidegate.compiler.scenarios.model.scenario import (
    Expectation,
    ExpectNone,
    ExpectWaiting,
    ExpectWithheld,
    Scenario,
)
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances
from tidegate.compiler.scope.project_files import ReadFile
from tidegate.compiler.scope.project_files import no_files as no_project
from tidegate.domain.model import App
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.simulation.expectation import Failure, judge
from tidegate.scheduler.simulation.given import ActionRunner
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.observed import count_instances, observe_instance, observe_withheld
from tidegate.scheduler.simulation.observed_tables import observe_debt, observe_operation
from tidegate.scheduler.simulation.simulation import Simulation, SimulationLimit
from tidegate.scheduler.simulation.snapshot import Snapshot, WaitingJob, snapshot
from tidegate.scheduler.simulation.table_actions import name_of_table
from tidegate.scheduler.simulation.task_actions import BY
from tidegate.scheduler.simulation.wording import Observed
from tidegate.scheduler.simulation.world import SimulatedWorld, World
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store

STARTS = ("launched", "maintained")
"""Kinds of moments at which a run begins."""


class ScheduleSummary(Value, kw_only=True):
    """The counts of one schedule, or of one table.

    Attributes:
        schedule: its name within the app; of another app "app/name". Of a table its name.
        ended: ended runs, by status.
        discarded: discarded jobs, by reason.
        waiting: the jobs that wait at the end.
        running: the number of active runs at the end.
        events: its events by outcome: consumed, pending, or the reason code of a failure or a discard.
    """

    schedule: str
    launched: int = 0
    ended: dict[str, int] = {}
    discarded: dict[str, int] = {}
    waiting: tuple[WaitingJob, ...] = ()
    running: int = 0
    events: dict[str, int] = {}


def summaries(
    schedules: Iterable[str],
    moments: Sequence[Moment],
    left: Snapshot,
    events: Mapping[str, Mapping[str, int]],
) -> tuple[ScheduleSummary, ...]:
    """Return one summary for each schedule, by name.

    Args:
        schedules: names that get a summary even without moments.
        left: the unfinished jobs at the end.
        events: the events of each schedule by outcome, see `ScheduleSummary.events`.
    """
    launched = Counter(moment.schedule for moment in moments if moment.kind in STARTS)
    ended = _by_schedule([(m.schedule, m.text) for m in moments if m.kind == "ended"])
    discarded = _by_schedule([(m.schedule, m.reason or "") for m in moments if m.kind == "discarded"])
    running = Counter(left.active)
    names = {*schedules, *launched, *ended, *discarded, *running, *(job.schedule for job in left.waiting)}
    return tuple(
        ScheduleSummary(
            schedule=name,
            launched=launched[name],
            ended=ended.get(name, {}),
            discarded=discarded.get(name, {}),
            waiting=tuple(job for job in left.waiting if job.schedule == name),
            running=running[name],
            events=dict(events.get(name, {})),
        )
        for name in sorted(names)
    )


def _by_schedule(pairs: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (schedule, word), count in sorted(Counter(pairs).items()):
        found.setdefault(schedule, {})[word] = count
    return found


class Performance(Value, kw_only=True):
    """A scenario that was played: its timeline, a summary of each schedule, and the failures."""

    scenario: Scenario
    app: str
    timezone: str
    moments: tuple[Moment, ...]
    summary: tuple[ScheduleSummary, ...]
    failures: tuple[Failure, ...]

    @property
    def ok(self) -> bool:
        return not self.failures


def no_files(name: str) -> bytes:
    """Raise FileNotFoundError: the default for an app without files beside it."""
    raise FileNotFoundError(name)


def simulated(store: Store, scenario: Scenario) -> World:
    """Return the world of a scenario in which every run is simulated."""
    return SimulatedWorld(store, scenario.behaviours)


def play(
    scenario: Scenario,
    compiled: CompiledApp,
    store: Store | None = None,
    read_file: Callable[[str], bytes] = no_files,
    judged: bool = True,
    world: Callable[[Store, Scenario], World] = simulated,
    variables: Mapping[str, str] | None = None,
    project: ReadFile = no_project,
) -> Performance:
    """Play one scenario of an app.

    Args:
        store: an empty store; in memory by default.
        read_file: the contents of a file that a `deploy` names.
        judged: whether to check the expectations.
        world: makes what ticks, launches and runs, once the app is deployed.
        variables: the values of `${env.NAME}` in files that a `deploy` names.
        project: returns the files of the project that such a file names.

    Raises:
        OSError: `read_file` cannot read a file that a `deploy` names.
    """
    app = compiled.app
    store = MemoryStore() if store is None else store
    start = scenario.start
    with store.transaction() as transaction:
        deploy(transaction, {app.name: app, **_stages(compiled.others)}, start, by=BY)
    simulation = Simulation(store, start, app.name, world(store, scenario))
    runner = ActionRunner(
        simulation, app.name, compiled.document, read_file,
        compiled.on_update, compiled.default_format, variables, project,
    )  # fmt: skip
    if any(dataset.deadline is not None for dataset in app.datasets.values()):
        # The scheduler works from the start on: a first deadline is not one that it finds on its return.
        simulation.at(start, lambda: None)
    for given in scenario.given:
        simulation.at(given.when, lambda given=given: runner.do(given))
    snapshots: dict[datetime, Snapshot] = {}
    states: dict[int, Observed] = {}
    for number, expectation in enumerate(scenario.expect):
        expected = expectation.expected
        if isinstance(expected, ExpectWaiting | ExpectNone):
            when = expected.when
            simulation.look_at(when, lambda when=when: snapshots.update({when: snapshot(simulation)}))
        elif isinstance(expected, ExpectInstance | ExpectInstances | ExpectWithheld | ExpectDue | ExpectDebt):
            look = partial(_observe, simulation, app.name, states, number, expected)
            simulation.look_at(expected.when, look)
    failures: tuple[Failure, ...] = ()
    try:
        simulation.run_until(scenario.until)
    except SimulationLimit as limit:
        failures = (Failure(at=scenario.at, expected="an end", observed=str(limit)),)
    if judged and not failures:
        named = with_names_of_tables(scenario, simulation)
        with simulation.store.reading() as reader:
            deployed = [state for state in reader.schedules() if state.spec.task is not None]
        tasks = frozenset(simulation.name_of(state.ref) for state in deployed)
        failures = judge(named, simulation.moments, snapshots, app.timezone, states, tasks)
    return Performance(
        scenario=scenario,
        app=app.name,
        timezone=app.timezone,
        moments=tuple(simulation.moments),
        summary=_summary(simulation, app),
        failures=failures,
    )


def _observe(
    simulation: Simulation,
    app: str,
    states: dict[int, Observed],
    number: int,
    expected: ExpectInstance | ExpectInstances | ExpectWithheld | ExpectDue | ExpectDebt,
) -> None:
    if isinstance(expected, ExpectDue | ExpectDebt):
        simulation.world.tables.measure(simulation.now, expected.table)
    with simulation.store.reading() as reader:
        match expected:
            case ExpectInstance():
                states[number] = observe_instance(reader, app, expected)
            case ExpectInstances():
                states[number] = count_instances(reader, app, expected)
            case ExpectWithheld():
                states[number] = observe_withheld(reader, app, expected)
            case ExpectDue():
                states[number] = observe_operation(reader, expected, simulation.now)
            case ExpectDebt():
                states[number] = observe_debt(reader, expected, simulation.now)
            case _:
                assert_never(expected)


def with_names_of_tables(scenario: Scenario, simulation: Simulation) -> Scenario:
    """Return a scenario that names each table by its one name, which the store knows."""
    with simulation.store.reading() as reader:
        return msgspec.structs.replace(
            scenario,
            expect=tuple(_with_name(reader, each) for each in scenario.expect),
            expect_only=None
            if scenario.expect_only is None
            else tuple(name_of_table(reader, name) for name in scenario.expect_only),
        )


def _with_name(reader: EngineReader, expectation: Expectation) -> Expectation:
    expected = expectation.expected
    if not isinstance(expected, ExpectMaintain | ExpectDiscardedOperation):
        return expectation
    named = msgspec.structs.replace(expected, table=name_of_table(reader, expected.table))
    return msgspec.structs.replace(expectation, expected=named)


def _stages(others: tuple[App, ...]) -> dict[str, App]:
    """Return other apps as a scenario needs them: their datasets and programs, and nothing of other apps.

    Their schedules launch nothing, and their policies maintain nothing.
    """
    return {
        other.name: msgspec.structs.replace(
            other,
            schedules={},
            policies={},
            maintenance=None,
            programs={name: msgspec.structs.replace(p, reads=()) for name, p in other.programs.items()},
        )
        for other in others
    }


def _summary(simulation: Simulation, app: App) -> tuple[ScheduleSummary, ...]:
    with simulation.store.reading() as reader:
        rows = reader.ledger()
    events = {
        simulation.name_of(row.schedule): (
            Counter(consumed=row.succeeded + row.running, pending=row.pending)
            + Counter(row.failed)
            + Counter(row.discarded)
        )
        for row in rows
    }
    return summaries(app.schedules, simulation.moments, snapshot(simulation), events)
