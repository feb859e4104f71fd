"""Missed fires that are still to get their jobs: some at each tick, the oldest first (rule 19).

At the return of the scheduler `decision.missed` has judged them all, once. What one tick may not make is
noted here, by schedule and leaf, and the next ticks go on. Before a schedule changes, it takes all that are
left. Part of the shell.
"""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import msgspec

from tidegate.scheduler.decision.fires import caught_up, cron_leaves
from tidegate.scheduler.decision.missed import Span
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

MISSED = "missed"
"""Name of the cursor that holds the spans of missed fires, by schedule and leaf."""

Spans = dict[str, dict[str, list[Span]]]
"""By schedule ("app/name") and leaf. A second absence may come before all fires of the first have jobs."""


class Cursors(Protocol):
    """A transaction, or the working set of a tick."""

    def cursor(self, name: str) -> Any: ...

    def set_cursor(self, name: str, value: Any) -> None: ...


def note_missed(cursors: Cursors, rest: Mapping[str, Mapping[str, Span]]) -> None:
    """Note missed fires that get their jobs later, by schedule and leaf."""
    if not any(rest.values()):
        return
    spans = spans_of(cursors)
    for ref, leaves in rest.items():
        for path, span in leaves.items():
            spans.setdefault(ref, {}).setdefault(path, []).append(span)
    cursors.set_cursor(MISSED, msgspec.to_builtins(spans))


def spans_of(cursors: "Cursors | EngineReader") -> Spans:
    """Return the missed fires that are still to get their jobs."""
    return msgspec.convert(cursors.cursor(MISSED) or {}, Spans)


def has_missed(reader: EngineReader) -> bool:
    """Return whether missed fires are still to get their jobs."""
    return bool(reader.cursor(MISSED))


def fire_missed(
    transaction: EngineTransaction, refs: Collection[str] | None = None, *, whole: bool = False
) -> int:
    """Turn the next missed fires of each cron into events; return how many.

    Args:
        refs: the schedules; None for all.
        whole: all fires of these schedules, since they are about to change.
    """
    spans = spans_of(transaction)
    wanted = [ref for ref in sorted(spans) if refs is None or ref in refs]
    if not wanted:
        return 0
    events: list[Event] = []
    # A schedule that is gone has no fires.
    kept = {ref: each for ref, each in spans.items() if ref not in wanted}
    for state in transaction.schedules(refs=wanted):
        found, left = _next(state, spans[state.ref])
        while whole and left:
            more, left = _next(state, left)
            found += more
        events += found
        if left:
            kept[state.ref] = left
    transaction.add_events(events)
    transaction.set_cursor(MISSED, msgspec.to_builtins(kept) if kept else None)
    return len(events)


def _next(state: ScheduleState, spans: Mapping[str, list[Span]]) -> tuple[list[Event], dict[str, list[Span]]]:
    """Return the events of the next fires of each leaf, and what is left."""
    events: list[Event] = []
    left: dict[str, list[Span]] = {}
    for leaf, cron in cron_leaves(state):
        first, *others = spans.get(leaf.path) or [None]
        if first is None:
            continue
        found, rest = caught_up(state, leaf, cron, first)
        events += found
        kept = [span for span in (rest, *others) if span is not None]
        if kept:
            left[leaf.path] = kept
    return events, left
