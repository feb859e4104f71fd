"""One list of inputs, given to engines that tick at paces of their own.

The inputs, their instants and the real life of the runs are the same for every pace; only the
scheduler is faster or slower. A run begins and ends at instants of a grid, late enough that the
slowest scheduler has asked for it.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.doubles.dump import dump
from tests.doubles.faulty_store import FaultyStore
from tests.simulation.chance.app import NONE, ChanceApp
from tests.simulation.chance.schedule import DATASETS, GAUGE_MAX, GAUGES
from tests.simulation.hands import Hands
from tests.worlds.by import CLI
from tidegate.domain.model import Deadline
from tidegate.scheduler.commands.by_hand.manual import cancel, resume, suspend, trigger
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import advance_before

START = datetime(2026, 3, 7, 22, tzinfo=UTC)
"""The clocks of New York are put forward nine hours later."""

DURATION = timedelta(hours=12)
GRID = timedelta(minutes=20)
SLOWEST = timedelta(minutes=13)
"""The longest time between two ticks of a scheduler that is not away."""

Input = Callable[[Hands], None]
Pace = Callable[[random.Random], timedelta]
Given = Callable[[int], list[tuple[datetime, Input]]]
"""The inputs of a seed."""


def inputs(seed: int, deadlines: Mapping[str, Deadline] = NONE) -> list[tuple[datetime, Input]]:
    """What happens, and when.

    Args:
        deadlines: of the datasets.
    """
    dice = random.Random(seed)
    chance = ChanceApp(dice, deadlines=deadlines)
    found: list[tuple[datetime, Input]] = [(START, _deploying(chance)), (START, Hands.tick)]
    now = START
    while now < START + DURATION:
        # To the microsecond, and sometimes at the very same instant.
        now += timedelta(seconds=dice.choice((0, 0.000001, 1, 30, 59.5, 60, 600, 1800)))
        what = dice.choices((_arriving, _by_hand, _of_others, _gauging, _deploying_anew), (12, 3, 2, 2, 1))[0]
        found.append((now, what(dice, chance, f"{len(found)}")))
    return found


def played(seed: int, pace: Pace, given: Given = inputs) -> FaultyStore:
    """The store after all inputs of a seed, with a scheduler of this pace."""
    hands = Hands(FaultyStore(MemoryStore()), START)
    waiting = given(seed)
    waiting += [(at, _running) for at in _every(GRID)]
    waiting += [(at, Hands.tick) for at in _ticks(pace, random.Random(seed))]
    end = START + DURATION + SLOWEST
    # Sorting is stable: what happens at the instant of a tick happens before it.
    for at, what in [*sorted(waiting, key=lambda each: each[0]), (end, Hands.tick)]:
        hands.now = at
        what(hands)
    return hands.store


def every(seconds: float) -> Pace:
    """Ticks at a regular pace."""
    return lambda dice: timedelta(seconds=seconds)


def at_random(dice: random.Random) -> timedelta:
    """Ticks as they come."""
    return timedelta(seconds=dice.choice((0.25, 3, 61, 400, 770)))


PACES: dict[str, Pace] = {
    "1 s": every(1),
    "7 s": every(7),
    "60 s": every(60),
    "600 s": every(600),
    "at random": at_random,
}


def compared(seed: int, pace: str, given: Given = inputs) -> dict[str, Any]:
    """All that must be the same at every pace, by table."""
    tables = dict(dump(played(seed, PACES[pace], given)))
    del tables["cursors"]
    # A claim is written down when it comes, be the scheduler ever so far behind; that late data has landed,
    # with the tick that reads it (its row says when it landed).
    entries = [entry | {"at": ""} if entry["kind"] == "landed" else entry for entry in tables["journal"]]
    tables["journal"] = sorted(entries, key=lambda entry: (entry["at"], str(entry)))
    return tables


def compare_paces(seed: int, paces: Sequence[str], reference: str = "60 s", given: Given = inputs) -> None:
    """Play the inputs of a seed at some paces; they must come out alike."""
    wanted = compared(seed, reference, given)
    for pace in paces:
        found = compared(seed, pace, given)
        for table, rows in wanted.items():
            assert found[table] == rows, f"seed {seed}: {table} differ, a tick every {reference} and {pace}"


def _every(step: timedelta) -> Iterator[datetime]:
    at = START + step
    while at <= START + DURATION:
        yield at
        at += step


def _ticks(pace: Pace, dice: random.Random) -> Iterator[datetime]:
    at = START
    while at < START + DURATION:
        at += min(pace(dice), SLOWEST)
        yield at


def _running(hands: Hands) -> None:
    """The runs that were begun one step ago end, and those asked for by then begin."""
    for run in tuple(hands.runs):
        if run.startswith("run:"):
            hands.end(run, RunStatus.SUCCEEDED)
    with hands.store.reading() as reader:
        pending = reader.jobs(states=(JobState.PENDING_LAUNCH,))
    for job in sorted(pending, key=lambda job: job.id):
        if job.decided_at is not None and job.decided_at <= hands.now - SLOWEST:
            hands.start_job(job, f"run:{job.id}")


def _deploying(chance: ChanceApp) -> Input:
    app = chance.app
    return lambda hands: hands.deploy(app)


def _deploying_anew(dice: random.Random, chance: ChanceApp, name: str) -> Input:
    chance.change()
    return _deploying(chance)


def _arriving(dice: random.Random, chance: ChanceApp, name: str) -> Input:
    dataset = dice.choice(DATASETS)
    day = f"2026-03-0{dice.randint(1, 5)}"
    key = {"hourly": f"{day}-0{dice.randint(0, 9)}:00", "chunks": f"{day}|{dice.choice(('EWR', 'JFK'))}"}
    partition = "" if dataset == "plain" else key.get(dataset, day)
    size = dice.choice((None, 4_000_000, 30_000_000))

    def arrive(hands: Hands) -> None:
        event = Event(
            id=f"e{name}",
            kind=EventKind.PARTITION,
            key=partition_event_key("a", dataset),
            time=hands.now,
            arrived=hands.now,
            partition=partition,
            bytes=size,
            rows=None if size is None else size // 10_000,
        )
        hands.add([event])

    return arrive


def _by_hand(dice: random.Random, chance: ChanceApp, name: str) -> Input:
    ref = f"a/{dice.choice(sorted(chance.app.schedules))}"
    key = dice.choice(("", "", "2026-03-01"))
    action = dice.choice(("suspend", "resume", "resume", "trigger", "force", "cancel"))

    def act(transaction: EngineTransaction, now: datetime) -> None:
        match action:
            case "suspend":
                suspend(transaction, ref, now, by=CLI)
            case "resume":
                resume(transaction, ref, now, by=CLI)
            case "cancel":
                # A person looks at what is there before doing something about it.
                advance_before(transaction, now)
                for job in transaction.jobs(schedules=[ref], states=WAITING)[:1]:
                    cancel(transaction, job.id, now, by=CLI)
            case _:
                trigger(transaction, ref, now, key, action == "force", by=CLI)

    def give(hands: Hands) -> None:
        with suppress(Refused):
            hands.within(lambda transaction: act(transaction, hands.now))

    return give


def _of_others(dice: random.Random, chance: ChanceApp, name: str) -> Input:
    """A person starts a run of a program, or the last one of it ends."""
    program, ends = dice.choice("pqr"), dice.choice((RunStatus.SUCCEEDED, RunStatus.FAILED))

    def give(hands: Hands) -> None:
        mine = [
            run for run in hands.runs if run.startswith("hand") and hands.runs[run].program[-1] == program
        ]
        if mine:
            hands.end(mine[0], ends)
        else:
            hands.start_by_hand(program)

    return give


def _gauging(dice: random.Random, chance: ChanceApp, name: str) -> Input:
    gauge, value = dice.choice(GAUGES), dice.choice((0, GAUGE_MAX, GAUGE_MAX + 10))
    return lambda hands: hands.gauge(gauge, value)
