"""Activation: a schedule's fire times and timers when it starts and stops accepting events.

A schedule starts when it is created active, resumed, or changed by a deploy, also if it is suspended
with `hold` or `backlog`, which keep collecting. From then on events and fires count, those of this
very instant included, and the timer of every `elapsed` leaf runs. `scheduler.commands.by_hand.manual` and
`scheduler.commands.deployment.deploy` decide which schedules are active.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.decision.fires import next_fire, program_timed, programs_timed, timer_leaves
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.due import MICROSECOND


def takes_events(state: ScheduleState) -> bool:
    """Return whether events and fires reach the schedule's jobs."""
    return state.fires


def start_clocks(reader: EngineReader, states: Sequence[ScheduleState], now: datetime) -> list[ScheduleState]:
    """Return the schedules with their fire times and timers, started at `now`.

    The timer of an `elapsed` leaf since the last run counts from the end of the program's last
    finished run, or else from now (rule 21); one since the last event counts from now.
    """
    programs = {program for state in states for program in programs_timed(state)}
    history = reader.history(programs) if programs else {}
    found: list[ScheduleState] = []
    for state in states:
        clocks: dict[str, datetime] = {}
        for leaf, _ in timer_leaves(state):
            program = program_timed(state, leaf)
            clocks[leaf.path] = now if program is None else history[program].last_ended or now
        before = now - MICROSECOND
        begun = msgspec.structs.replace(state, active_since=now, fires_after=before, clocks=clocks)
        found.append(msgspec.structs.replace(begun, next_fire_at=next_fire(begun, before)))
    return found


def stop_clocks(state: ScheduleState) -> ScheduleState:
    """Return the schedule without next fire and timers: it fires nothing until it is started again."""
    return msgspec.structs.replace(state, next_fire_at=None, clocks={})


def clock_entries(states: Sequence[ScheduleState], now: datetime) -> Iterator[Entry]:
    """Return the entries for the timers of schedules that were just started."""
    for state in states:
        for path, since in state.clocks.items():
            yield Entry(
                at=now,
                kind=EntryKind.CLOCK,
                schedule=state.ref,
                data={"leaf": path, "from": since.isoformat()},
            )
