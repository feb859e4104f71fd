"""Missed: what `why` says of the fires that a schedule has missed, and does not run or has not run yet."""

from datetime import datetime

from tidegate.domain.model import WallClock
from tidegate.domain.time.fire_count import count_fires
from tidegate.scheduler.decision.fires import cron_leaves
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.missed import Spans, spans_of

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
