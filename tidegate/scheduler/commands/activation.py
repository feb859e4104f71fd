"""Activation: a schedule's place in time when it begins to take events, and when it ceases to.

It begins when it is created active, resumed, or changed by a deploy; and also when it is suspended
in a way that goes on collecting (`hold`, `backlog`). From then on events and fires count, and every
`elapsed` leaf has a clock that runs. Nothing here decides who is active: that is `scheduler.commands.manual`
and `scheduler.commands.deploy`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import ElapsedTrigger
from tidegate.scheduler.decision.fires import elapsed_leaves, next_fire
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import Reader


def takes(state: ScheduleState) -> bool:
    """Whether events and fires still reach the schedule's jobs."""
    return state.active or state.holding


def started(reader: Reader, states: Sequence[ScheduleState], now: datetime) -> list[ScheduleState]:
    """The schedules with their place in time, from `now` on.

    An `elapsed` leaf counts from the end of the program's last finished run, or else from now
    (rule 21); one that waits for a silence counts from now.
    """
    programs = {
        program_of(state, elapsed)
        for state in states
        for _, elapsed in elapsed_leaves(state)
        if elapsed.since == "last_run"
    }
    history = reader.history(programs) if programs else {}
    found: list[ScheduleState] = []
    for state in states:
        clocks: dict[str, datetime] = {}
        for leaf, elapsed in elapsed_leaves(state):
            ended = history[program_of(state, elapsed)].last_ended if elapsed.since == "last_run" else None
            clocks[leaf.path] = ended or now
        begun = msgspec.structs.replace(state, active_since=now, fires_after=now, clocks=clocks)
        found.append(msgspec.structs.replace(begun, next_fire_at=next_fire(begun, now)))
    return found


def stopped(state: ScheduleState) -> ScheduleState:
    """The schedule without a place in time: it fires nothing until it is started anew."""
    return msgspec.structs.replace(state, next_fire_at=None, clocks={})


def program_of(state: ScheduleState, elapsed: ElapsedTrigger) -> str:
    """The program, as "app/program", whose runs an `elapsed` leaf counts from."""
    return f"{state.app}/{elapsed.program or state.spec.program}"


def clock_entries(states: Sequence[ScheduleState], now: datetime) -> Iterator[Entry]:
    """What the journal says of the clocks of schedules that have just been started."""
    for state in states:
        for path, since in state.clocks.items():
            yield Entry(
                at=now,
                kind=EntryKind.CLOCK,
                schedule=state.ref,
                data={"leaf": path, "from": since.isoformat()},
            )
