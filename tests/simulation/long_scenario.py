"""One long scenario over the whole language, in steps: what a day brings, with a redeployment in it.

Every step is deterministic and made of hands that can be interrupted anywhere.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.simulation.hands import Hands
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.manual import cancel, resume, suspend, trigger
from tidegate.scheduler.explain.work import dead_letters
from tidegate.scheduler.launch.dead_letter import requeue
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.engine_reader import EngineReader

START = datetime(2026, 3, 10, 6, tzinfo=UTC)

Step = Callable[[Hands], None]

HEAD = """
app: a
calendars: {office: {closed: ["2026-03-11"]}}
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  other: {partitions: {cycle: day, start: 2026-01-01}}
  plain: {deadline: 40m}
  out: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  p: {run: programs.p, writes: [out]}
  q: {run: programs.q}
  broken: {run: programs.broken}
schedules:
  both_of_a_day:
    {program: p, for_each: day, status: active, trigger: {all: [{partitions: {dataset: raw}},
     {partitions: {dataset: other}}], wait_at_most: 2h}, constraints: [{concurrency: {max: 2, group: g}}]}
  in_turn:
    {program: q, status: active, on_suspend: hold, priority: low,
     trigger: {sequence: [{partitions: {dataset: plain}}, {partitions: {dataset: raw, count: 2}}]},
     constraints: [{delay: 5m}, {concurrency: {max: 1}}, {load: {gauge: cpu, max: 80}}]}
  hourly:
    {program: q, status: active, trigger: {cron: "0 * * * *", calendar: office},
     constraints: [{concurrency: {max: 1}}, {rate: {max: 2, per: 90m}}], args: {at: "{{ scheduled_time }}"}}
  enough:
    {program: p, status: active, on_suspend: drain, trigger: {at_least: {n: 1, of: [
     {size: {dataset: raw, bytes: 100MB}}, {elapsed: {for: 3h}}]}, quiet: 10m, quiet_at_most: 30m},
     constraints: [{concurrency: {max: 2, group: g}}, {load: {max_active_runs: 3}}]}
  never_starts: {program: broken, status: active, trigger: {partitions: {dataset: plain, count: 2,
     distinct: false}}}
"""
BEFORE = """
  each: {program: p, status: active, batching: each, trigger: {run: {program: q}},
         constraints: [{since_last_run: 30m}]}
  recent: {program: q, status: active, on_update: carry, trigger: {partitions: {dataset: other, count: 3},
           collect_within: 2h}, constraints: [{concurrency: {max: 1}}]}
"""
AFTER = """
  recent: {program: q, status: active, on_update: carry, trigger: {partitions: {dataset: other, count: 2},
           collect_within: 6h}, constraints: [{concurrency: {max: 1, otherwise: skip}}]}
  added: {program: p, status: active, max_batch: 2, trigger: {partitions: {dataset: other}}}
"""


def app(tail: str) -> App:
    """The app with one of the two tails."""
    compilation = compile_files({"a.yaml": (HEAD + tail.lstrip("\n")).encode()})
    assert compilation.ok, compilation.diagnostics
    return compilation.apps["a"].app


def scenario() -> list[Step]:
    """Every step, in order."""
    first = [
        deploying(BEFORE),
        arriving("raw", "2026-03-09", "2026-03-08"),
        ticking,
        *asking_twice(),
        arriving("other", "2026-03-09"),
        arriving("plain", ""),
        ticking,
        later(minutes=7),
        ticking,
        *asking_twice(),
        gauging(90),
        arriving("raw", "2026-03-07", "2026-03-06", "2026-03-05", "2026-03-05"),
        later(minutes=20),
        ticking,
        ending(RunStatus.SUCCEEDED),
        ticking,
        *asking_twice(),
        suspending("in_turn"),
        suspending("enough"),
        arriving("plain", ""),
        later(minutes=30),
        ticking,
        gauging(10),
        by_hand("hourly"),
        ticking,
        *asking_twice(),
        ending(RunStatus.FAILED),
    ]
    second = [
        deploying(AFTER),
        arriving("other", "2026-03-04", "2026-03-03"),
        ticking,
        resuming("in_turn"),
        resuming("enough"),
        ticking,
        *asking_twice(),
        cancelling,
        ending(RunStatus.SUCCEEDED),
        seeing_a_run_of_somebody_else,
        ticking,
        queueing_again,
    ]
    evening = [
        step
        for _ in range(8)
        for step in (later(minutes=25), ticking, *asking_twice(), later(minutes=1), ticking, ending_all)
    ]
    rejected_for_good = [*asking_twice(), ticking] * 20
    return first + rejected_for_good + second + evening


def asking_twice() -> list[Step]:
    """A request that is lost with the process that held it is handed out again soon."""
    return [launching, later(minutes=1), launching]


def deploying(tail: str) -> Step:
    """The app is deployed."""
    wanted = app(tail)
    return lambda hands: hands.deploy(wanted)


def arriving(dataset: str, *keys: str) -> Step:
    """Partitions arrive."""

    def step(hands: Hands) -> None:
        prefix = hands.number("e")
        hands.add(
            [
                Event(
                    id=f"{prefix}.{number}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("a", dataset),
                    time=hands.now,
                    arrived=hands.now,
                    partition=key,
                    bytes=40_000_000,
                )
                for number, key in enumerate(keys)
            ]
        )

    return step


def later(*, minutes: int) -> Step:
    """Time passes."""

    def step(hands: Hands) -> None:
        hands.now += timedelta(minutes=minutes)

    return step


def ticking(hands: Hands) -> None:
    """The scheduler ticks."""
    hands.tick()


def launching(hands: Hands) -> None:
    """What is offered is launched; the broken program's requests fail."""
    for request in hands.offer_launches():
        if request.launch.program == "broken":
            hands.reject(request)
        else:
            hands.start(request)


def ending(status: RunStatus) -> Step:
    """The run that began first ends."""

    def step(hands: Hands) -> None:
        if hands.runs:
            hands.end(next(iter(hands.runs)), status)

    return step


def ending_all(hands: Hands) -> None:
    """All runs succeed."""
    for run in tuple(hands.runs):
        hands.end(run, RunStatus.SUCCEEDED)


def seeing_a_run_of_somebody_else(hands: Hands) -> None:
    """A person starts the program q."""
    hands.start_by_hand("q")


def gauging(value: int) -> Step:
    """The load of the cluster is reported."""
    return lambda hands: hands.gauge("cpu", value)


def suspending(schedule: str) -> Step:
    """A schedule is suspended."""
    return lambda hands: hands.within(lambda t: suspend(t, f"a/{schedule}", hands.now, by=CLI)) and None


def resuming(schedule: str) -> Step:
    """A schedule is resumed."""
    return lambda hands: hands.within(lambda t: resume(t, f"a/{schedule}", hands.now, by=CLI)) and None


def by_hand(schedule: str) -> Step:
    """A person triggers a schedule."""
    return lambda hands: hands.within(lambda t: trigger(t, f"a/{schedule}", hands.now, by=CLI)) and None


def cancelling(hands: Hands) -> None:
    """A person discards the oldest waiting job; done twice it would take the next one."""
    with hands.store.reading() as reader:
        waiting = reader.jobs(states=WAITING)
    if waiting:
        hands.within(
            lambda t: t.jobs(ids=[waiting[0].id])[0].waiting and cancel(t, waiting[0].id, hands.now, by=CLI)
        )


def queueing_again(hands: Hands) -> None:
    """A person queues the dead letters again."""
    with hands.store.reading() as reader:
        dead = [job.id for job in dead_letters(reader)]
    for job in dead:
        hands.within(lambda t, job=job: _is_dead(t, job) and requeue(t, job, hands.now, by=CLI))


def _is_dead(reader: EngineReader, job: str) -> bool:
    return any(letter.id == job for letter in dead_letters(reader))
