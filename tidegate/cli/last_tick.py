"""Whether the scheduler works, for `tidegate why` and `tidegate dev`: its last tick, and what Dagster says.

A tick is made by a dispatcher that Dagster's daemon evaluates in the code location, so a recent tick shows
that all of them are alive. Dagster itself is asked only when it is not recent, may be another project's, or
was made by the host.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tidegate.scheduler.explain.missed import last_tick_line, minutes_ago

if TYPE_CHECKING:
    from tidegate.processes.alive import DagsterState, Dispatcher
    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.launch.active_host import ActiveHost

HEARTBEAT_WITHIN = timedelta(minutes=2)
"""Dagster's daemon writes a heartbeat every 30 seconds."""

CHECK = "check the Dagster daemon, the code location and the dispatcher's switch"


def scheduler_lines(
    settings: "Settings",
    ticked_at: datetime | None,
    now: datetime,
    *,
    shared: bool,
    host: "ActiveHost | None" = None,
) -> Iterator[str]:
    """Yield when the scheduler ticked last, and what is alive.

    Args:
        ticked_at: the last tick, as the store has it; None if it never ticked.
        shared: other projects use the store, so the last tick may be one of theirs.
        host: the active host of the project. It ticks, so a recent tick says nothing of Dagster's daemon.
    """
    from tidegate.cli.printing import instant
    from tidegate.scheduler.tick.clock import is_late

    late = is_late(ticked_at, now, settings.tick_seconds)
    yield last_tick_line(ticked_at, now, late)
    if host is not None:
        from tidegate.spark_jobs.commit.process import shown

        yield f"the host is active: {shown(host.process)}, last loop at {instant(host.looped_at)}"
        if host.problem:
            yield f"the host launches nothing since {instant(host.problem_since)}: {host.problem}"
    elif not late and not shared:
        yield "Dagster's daemon and the code location are alive"
        return
    from tidegate.processes.alive import dagster_state

    state = dagster_state(settings)
    if not isinstance(state, str):
        yield from state_lines(state, now)
    elif not late:
        yield f"what ticks for this project is not known: {state}"
    elif ticked_at is not None:
        yield f"{CHECK}: {state}"


def state_lines(state: "DagsterState", now: datetime) -> Iterator[str]:
    """Yield one line each for the daemon, the code servers and the dispatchers."""
    from tidegate.cli.printing import instant

    if state.heartbeat is None:
        yield f"Dagster's daemon has never run on the instance in {state.home}"
    elif now - state.heartbeat <= HEARTBEAT_WITHIN:
        yield f"Dagster's daemon is alive: heartbeat at {instant(state.heartbeat)}"
    else:
        at = f"last heartbeat at {instant(state.heartbeat)}, {minutes_ago(state.heartbeat, now)} ago"
        yield f"Dagster's daemon does not run: {at}"
    for server in state.servers:
        yield f"code location at {server.address} {server.problem or 'is alive'}"
    for dispatcher in state.dispatchers:
        yield f"{dispatcher.name}: {_dispatcher(dispatcher)}"


def _dispatcher(dispatcher: "Dispatcher") -> str:
    from tidegate.cli.printing import instant

    if not dispatcher.on:
        return "switched off in Dagster; switch the sensor on"
    if dispatcher.at is None:
        return "never evaluated"
    problem = f", failed: {dispatcher.problem}" if dispatcher.problem else ""
    return f"last evaluated at {instant(dispatcher.at)}{problem}"


class TickWatch:
    """Watches that ticks come while Dagster runs; warns once, and again when they had come back."""

    def __init__(self, started: datetime, every: int) -> None:
        self._last = started
        self._every = every
        self._warned = False

    def look(self, ticked_at: datetime | None, now: datetime) -> str | None:
        """A warning, when none came for a while.

        Args:
            ticked_at: the last tick, as the store has it.
        """
        from tidegate.scheduler.tick.clock import is_late

        if ticked_at is not None:
            self._last = max(self._last, ticked_at)
        late = is_late(self._last, now, self._every)
        news = late != self._warned
        self._warned = late
        if not news:
            return None
        if not late:
            return "the scheduler ticks again"
        return f"warning: no tick for {minutes_ago(self._last, now)}: {CHECK}"
