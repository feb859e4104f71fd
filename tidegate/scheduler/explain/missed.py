"""Missed: fires that a schedule has missed, silent schedules, and the last tick.

Silent: active schedules that will not fire when their crons say, for `tidegate doctor`. The store has the
next fire of each schedule. It follows from its crons, unless a clock was wrong when it was computed.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import WallClock
from tidegate.domain.time import fire_times
from tidegate.domain.time.fire_times import count_fires
from tidegate.domain.value import Value
from tidegate.domain.wording import plural
from tidegate.scheduler.decision.fires import counts_after, cron_leaves
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.clock import is_ahead
from tidegate.scheduler.tick.missed import Spans, spans_of


def last_tick_line(ticked_at: datetime | None, now: datetime, late: bool) -> str:
    """Return when the scheduler ticked last.

    Args:
        ticked_at: as the store has it; None if it never ticked.
        late: the next tick should have come long ago.
    """
    if ticked_at is None:
        return "the scheduler has never ticked: start Dagster, for example with `tidegate dev`"
    ago = f", {minutes_ago(ticked_at, now)} ago" if late else ""
    if is_ahead(ticked_at, now):
        ago = f", {(ticked_at - now).total_seconds():,.0f} s in the future: a clock is wrong"
    return f"last tick of the scheduler: {instant_text(ticked_at)}{ago}"


def minutes_ago(last: datetime, now: datetime) -> str:
    """Return the time since an instant in minutes."""
    return plural((now - last) // timedelta(minutes=1), "minute")


class SilentCron(Value, kw_only=True):
    """A schedule whose next fire in the store is later than that of its crons.

    Attributes:
        stored: its next fire in the store.
        due: the next fire of its crons.
    """

    schedule: str
    stored: datetime | None
    due: datetime


def silent_crons(reader: EngineReader, apps: frozenset[str], now: datetime) -> tuple[SilentCron, ...]:
    """Return the active schedules of some apps that will not fire when their crons say, by ref."""
    found: list[SilentCron] = []
    for state in reader.schedules():
        if not state.active or state.app not in apps or state.spec.task is not None:
            continue
        crons = ((cron, counts_after(state, leaf, now)) for leaf, cron in cron_leaves(state))
        due = earliest(fire_times.next_fire(cron, after) for cron, after in crons)
        if due is not None and (state.next_fire_at is None or state.next_fire_at > due):
            found.append(SilentCron(schedule=state.ref, stored=state.next_fire_at, due=due))
    return tuple(found)


NEWEST_DISCARDS = 20
"""Among so many discards of a schedule the last absence is looked for."""


def missed_text(reader: EngineReader, state: ScheduleState) -> str:
    """Return a line about the fires that a schedule missed last; "" without any."""
    waiting = _to_come(state, spans_of(reader))
    discards = reader.journal(schedule=state.ref, kinds={EntryKind.EVENT_DISCARDED}, limit=NEWEST_DISCARDS)
    lines = [_expired(entry) for entry in discards if _is_of_an_absence(entry)][-1:]
    if waiting:
        lines.append(f"{waiting:,} missed fires get their jobs at the next ticks")
    return "; ".join(lines)


def _to_come(state: ScheduleState, spans: Spans) -> int:
    crons: dict[str, WallClock] = {leaf.path: cron for leaf, cron in cron_leaves(state)}
    return sum(
        count_fires(crons[path], span.after, span.until)
        for path, each in spans.get(state.ref, {}).items()
        if path in crons
        for span in each
    )


def _is_of_an_absence(entry: Entry) -> bool:
    return entry.reason == str(Reason.D_EXPIRED) and "first_at" in entry.data


def _expired(entry: Entry) -> str:
    first, last = (datetime.fromisoformat(entry.data[name]) for name in ("first_at", "scheduled_for"))
    line = f"{entry.data['number']:,} fires from {instant_text(first)} to {instant_text(last)}"
    line = f"{line} were missed and are not run"
    return f"{line}: {entry.data['detail']}" if entry.data["detail"] else line
