"""Play a scenario: deploy its app into an empty store, run the clock, and check the expectations."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial

import msgspec

from tidegate.compiler.compile import CompiledApp
from tidegate.compiler.scenarios.scenario import (
    ExpectInstance,
    ExpectInstances,
    ExpectNone,
    ExpectWaiting,
    Scenario,
)
from tidegate.domain.model import App, leaves
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deploy import deploy
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import ACTIVE, WAITING, Job
from tidegate.scheduler.simulation.expectation import Failure, Snapshot, WaitingJob, judge
from tidegate.scheduler.simulation.given import ActionRunner
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.observed import (
    ObservedCount,
    ObservedInstance,
    count_instances,
    observe_instance,
)
from tidegate.scheduler.simulation.simulation import Simulation, SimulationLimit
from tidegate.scheduler.simulation.summary import ScheduleSummary, summaries
from tidegate.scheduler.simulation.world import SimulatedWorld, World
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store


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
) -> Performance:
    """Play one scenario of an app.

    Args:
        store: an empty store; in memory by default.
        read_file: the contents of a file that a `deploy` names.
        judged: whether to check the expectations.
        world: makes what ticks, launches and runs, once the app is deployed.

    Raises:
        OSError: `read_file` cannot read a file that a `deploy` names.
    """
    app = compiled.app
    store = MemoryStore() if store is None else store
    start = scenario.start
    with store.transaction() as transaction:
        deploy(transaction, {app.name: app, **_stages(compiled.others)}, start)
    simulation = Simulation(store, start, app.name, world(store, scenario))
    runner = ActionRunner(
        simulation, app.name, compiled.document, read_file, compiled.on_update, compiled.default_format
    )
    for given in scenario.given:
        simulation.at(given.when, lambda given=given: runner.do(given))
    snapshots: dict[datetime, Snapshot] = {}
    observed: dict[int, ObservedInstance | ObservedCount] = {}
    for number, expectation in enumerate(scenario.expect):
        expected = expectation.expected
        if isinstance(expected, ExpectWaiting | ExpectNone):
            when = expected.when
            simulation.look_at(when, lambda when=when: snapshots.update({when: snapshot(simulation)}))
        elif isinstance(expected, ExpectInstance | ExpectInstances):
            look = partial(_observe, simulation, app.name, observed, number, expected)
            simulation.look_at(expected.when, look)
    failures: tuple[Failure, ...] = ()
    try:
        simulation.run_until(scenario.until)
    except SimulationLimit as limit:
        failures = (Failure(at=scenario.at, expected="an end", observed=str(limit)),)
    if judged and not failures:
        failures = judge(scenario, simulation.moments, snapshots, app.timezone, observed)
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
    observed: dict[int, ObservedInstance | ObservedCount],
    number: int,
    expected: ExpectInstance | ExpectInstances,
) -> None:
    with simulation.store.reading() as reader:
        if isinstance(expected, ExpectInstance):
            observed[number] = observe_instance(reader, app, expected)
        else:
            observed[number] = count_instances(reader, app, expected)


def _stages(others: tuple[App, ...]) -> dict[str, App]:
    """Return other apps as a scenario needs them: their datasets and programs, and nothing of other apps."""
    return {
        other.name: msgspec.structs.replace(
            other,
            schedules={},
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


def snapshot(simulation: Simulation) -> Snapshot:
    """Return the unfinished jobs of a simulation's store."""
    with simulation.store.reading() as reader:
        waiting = reader.jobs(states=WAITING)
        active = reader.jobs(states=ACTIVE)
        deliveries = reader.deliveries([job.id for job in waiting])
        specs = {state.ref: state.spec for state in reader.schedules()}
    repeats = {
        (ref, leaf.path)
        for ref, spec in specs.items()
        for leaf in leaves(spec.trigger)
        if leaf.trigger.counts_each_write
    }
    return Snapshot(
        waiting=tuple(
            WaitingJob(
                schedule=simulation.name_of(job.schedule),
                key=job.key,
                reason=None if job.reason is None else str(job.reason),
                next_check=job.next_check_at,
                collected=collected(job, deliveries[job.id], repeats),
            )
            for job in waiting
        ),
        active=tuple(sorted(simulation.name_of(job.schedule) for job in active)),
    )


def collected(job: Job, deliveries: tuple[Delivery, ...], repeats: set[tuple[str, str]]) -> int:
    """Count the collected events of a job: a partition once, each update of a dataset without partitions.

    Args:
        repeats: schedule and leaf of the triggers that count every write.
    """
    found: set[tuple[str, str]] = set()
    for delivery in deliveries:
        event = delivery.event
        each_write = not event.partition or (job.schedule, delivery.leaf) in repeats
        found.add((event.key, event.id if each_write else event.partition or ""))
    return len(found)
