"""Activation: a schedule's place in time when it begins to take events, and when it ceases to.

It begins when it is created active, resumed, or changed by a deploy; and also when it is suspended
in a way that goes on collecting (`hold`, `backlog`). From then on events and fires count, and every
`elapsed` leaf has a clock that runs. Nothing here decides who is active: that is `scheduler.commands.manual`
and `scheduler.commands.deploy`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Leaf
from tidegate.scheduler.decision.fires import next_fire, timer_leaves
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import Reader


def takes_events(state: ScheduleState) -> bool:
    """Whether events and fires still reach the schedule's jobs."""
    return state.active or state.holding


def started(reader: Reader, states: Sequence[ScheduleState], now: datetime) -> list[ScheduleState]:
    """The schedules with their place in time, from `now` on.

    An `elapsed` leaf counts from the end of the program's last finished run, or else from now
    (rule 21); one that waits for a silence counts from now.
    """
    programs = {
        program
        for state in states
        for leaf, _ in timer_leaves(state)
        if (program := _program_timed(state, leaf)) is not None
    }
    history = reader.history(programs) if programs else {}
    found: list[ScheduleState] = []
    for state in states:
        clocks: dict[str, datetime] = {}
        for leaf, _ in timer_leaves(state):
            program = _program_timed(state, leaf)
            clocks[leaf.path] = now if program is None else history[program].last_ended or now
        begun = msgspec.structs.replace(state, active_since=now, fires_after=now, clocks=clocks)
        found.append(msgspec.structs.replace(begun, next_fire_at=next_fire(begun, now)))
    return found


def stopped(state: ScheduleState) -> ScheduleState:
    """The schedule without a place in time: it fires nothing until it is started anew."""
    return msgspec.structs.replace(state, next_fire_at=None, clocks={})


def _program_timed(state: ScheduleState, leaf: Leaf) -> str | None:
    """The program, as "app/program", from whose runs the timer of a leaf counts."""
    runs = leaf.trigger.runs_heard(state.spec.program)
    return None if runs is None else f"{state.app}/{runs[0]}"


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
