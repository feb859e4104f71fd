"""Walk: brings the counts of a trigger's parts from one instant to a later one.

Each leaf counts the events between two marks: from where it may count, to where it had enough, or up to now.
Both marks only move forward, so each event is counted once, and taken away once where it stops counting.

    events at a leaf    . . . . . . . . . . . . .
                              |         |
                          may count   enough, or up to now

The first mark is where a `collect_within` above the leaf begins at that instant, or just behind the instant
at which the member before it in a `sequence` was done. The second mark stops at the first instant at which a
part of the trigger holds, if only that instant matters of the part: of a member of a `sequence`, of a trigger
without its `quiet`, and of the whole trigger. Where events have stopped counting, so that such a part did not
hold then, it goes on from there.

    the part holds first here   | . . . . . . |  . . .
    an event stops counting         | . . . . . . |  .        later, never earlier

A trigger with fewer events never holds earlier, so nothing before the second mark is looked at again.
The spans of a part follow from the counts, by the code that evaluates triggers (`judge`). Counts of a trigger
without `collect_within` never read a former event, others read those at the two marks.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from typing import NamedTuple

from tidegate.domain.model import Composite, Trigger, child_path
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.counting.arrivals import BEGINNING, Arrivals, arrived, before
from tidegate.scheduler.decision.triggers.counting.leaf_counts import LeafCounts
from tidegate.scheduler.decision.triggers.counting.quiet_times import QuietTimes
from tidegate.scheduler.decision.triggers.sequence import steps
from tidegate.scheduler.decision.triggers.spans import TICK
from tidegate.scheduler.decision.triggers.tree import judge, judge_kind
from tidegate.scheduler.decision.triggers.wait_at_most import waits
from tidegate.scheduler.model.event import Delivery

Name = tuple[str, bool]
"""Identifies a part within its trigger."""


class Part(NamedTuple):
    """A part of a trigger; `kind` says that it is meant without its options."""

    trigger: Trigger
    path: str
    kind: bool = False

    @property
    def name(self) -> Name:
        """Its name."""
        return self.path, self.kind


class Cursor(NamedTuple):
    """A part of which only the first instant matters at which it holds.

    Attributes:
        find: returns that instant by its counts, also one in the future; None if only events can tell.
    """

    part: Part
    find: Callable[[], datetime | None]


class Walk:
    """The parts of a job's trigger, and how far each has come.

    Args:
        came: see `Tally`; the walk adds to it.
        scope: of the whole trigger, with a tally that is changed with the counts.
        slides: whether events may stop counting.
    """

    def __init__(
        self,
        trigger: Trigger,
        leaves: LeafCounts,
        quiet_times: QuietTimes,
        arrivals: Arrivals,
        came: dict[str, datetime],
        scope: Scope,
        *,
        slides: bool,
    ) -> None:
        self._root = self._whole(Part(trigger, ""))
        self._leaves = leaves
        self._quiet_times = quiet_times
        self._arrivals = arrivals
        self._came = came
        self._scope = scope
        self._slides = slides
        self._waits = waits(trigger)
        self._to: dict[str, datetime] = {}
        self._reached: dict[Name, datetime] = {}
        self._from: dict[Name, datetime] = {}
        self._holds: dict[Name, tuple[int, datetime | None]] = {}
        self._sequences_begun = 0

    def restore(self, time: datetime) -> None:
        """Take the counts as those of an instant."""
        self._restore_cursor(self._root, time)

    def bring(self, time: datetime, *, strict: bool = False) -> datetime | None:
        """Bring the counts to an instant, and return when the trigger holds first; None if not by then.

        Args:
            strict: an event that is exactly as old as a `collect_within` does not count.
        """
        return self._bring_cursor(self._root, BEGINNING, time, strict=strict)

    def look_again(self) -> None:
        """Look at all parts again: events have left the job."""
        self._quiet_times.look_again()
        self._from.clear()

    # --- down the tree ------------------------------------------------------------------

    def _bring(self, part: Part, lo: datetime, time: datetime, *, strict: bool = False) -> None:
        """Let a part count what arrived from `lo` to `time`."""
        trigger, path, kind = part
        if kind:
            self._bring_kind(part, lo, time, strict=strict)
            return
        if trigger.collect_within is not None:
            oldest = time - trigger.collect_within
            lo = max(lo, oldest + TICK if strict else oldest)
        if trigger.quiet is None:
            self._bring_kind(part, lo, time, strict=strict)
            return
        inner = self._whole(Part(trigger, path, kind=True))
        begun = self._bring_cursor(inner, lo, time, strict=strict)
        self._quiet_times.bring(path, trigger.quiet, lo, begun, time)

    def _bring_kind(self, part: Part, lo: datetime, time: datetime, *, strict: bool) -> None:
        trigger, path, _ = part
        if not isinstance(trigger, Composite):
            self._bring_leaf(path, lo, time)
        elif trigger.in_turn:
            self._bring_sequence(trigger, path, lo, time, strict=strict)
        else:
            for member in members_of(trigger, path):
                self._bring(member, lo, time, strict=strict)

    def _bring_sequence(
        self, trigger: Composite, path: str, lo: datetime, time: datetime, *, strict: bool
    ) -> None:
        if self._waits and path not in self._came:
            self._note_came(path, lo, time)
        done: datetime | None = None
        for cursor in self._in_turn(trigger, path):
            if lo > time:
                # A member before it was done by events that do not count any more.
                self._bring(cursor.part, lo, time)
                continue
            done = self._bring_cursor(cursor, lo, time, strict=strict)
            lo = max(lo, (time if done is None else done) + TICK)
            # Those behind it count nothing yet; with a `collect_within` they may have, and give it back.
            if done is None and not self._slides:
                return

    def _note_came(self, path: str, lo: datetime, time: datetime) -> None:
        first = self._arrivals.next_below(path, before(lo))
        if first is not None and first <= time:
            self._came[path] = first
            self._sequences_begun += 1

    def _bring_leaf(self, path: str, lo: datetime, time: datetime) -> None:
        tally = self._leaves.tallies.get(path)
        if tally is None:
            return
        to = self._to.get(path, BEGINNING)
        if tally.counted is not None and tally.counted < lo:
            self._take(path, tally.counted, lo, to)
        after = max(to, before(lo))
        if self._leaves.tallies[path].since is not None or after >= time:
            return
        for instant, together in groupby(self._arrivals.after(path, after), key=arrived):
            if instant > time:
                break
            self._to[path] = instant
            if self._leaves.add(path, list(together), instant):
                return
        self._to[path] = time

    def _take(self, path: str, first: datetime, lo: datetime, to: datetime) -> None:
        """Take away what arrived before `lo`, of the events at a leaf that count up to `to`."""
        gone: list[Delivery] = []
        counted: datetime | None = None
        for each in self._arrivals.between(path, first, to):
            if arrived(each) >= lo:
                counted = arrived(each)
                break
            gone.append(each)
        self._leaves.take(path, gone, counted)

    # --- the first instant at which a part holds ----------------------------------------

    def _bring_cursor(self, cursor: Cursor, lo: datetime, time: datetime, *, strict: bool) -> datetime | None:
        """Let a part count what arrived from `lo` on until it holds, up to `time`.

        Returns:
            When it holds first; None if not by `time`.
        """
        part = cursor.part
        reached = self._reached.get(part.name)
        if reached is not None and self._from.get(part.name) != lo:
            # Its beginning has moved: what is before it is taken away, up to where the part had come.
            self._bring(part, lo, reached)
        self._from[part.name] = lo
        holds = self._first(cursor)
        while reached is None or (reached < time and (holds is None or holds > reached)):
            # The next arrival, or the next instant at which it may hold by time alone.
            coming = self._arrivals.next_below(part.path, max(reached or BEGINNING, before(lo)))
            instant = time if coming is None else min(coming, time)
            if holds is not None and holds < instant:
                instant = holds
            self._bring(part, lo, instant)
            reached, holds = instant, self._first(cursor)
        self._reached[part.name] = reached
        if holds is not None and holds <= time:
            return holds
        if strict:
            self._bring(part, lo, time, strict=True)
        return None

    def _first(self, cursor: Cursor) -> datetime | None:
        """Return when a part holds first by its counts; it is looked for only where that may have changed."""
        version = self._leaves.version + self._quiet_times.version + self._sequences_begun
        known = self._holds.get(cursor.part.name)
        if known is None or known[0] != version:
            known = self._holds[cursor.part.name] = (version, cursor.find())
        return known[1]

    def _whole(self, part: Part) -> Cursor:
        """Return a part of which the first span counts."""

        def start() -> datetime | None:
            judged = (judge_kind if part.kind else judge)(part.trigger, part.path, self._scope)
            return judged.spans[0].start if judged.spans else None

        return Cursor(part, start)

    def _in_turn(self, trigger: Composite, path: str) -> list[Cursor]:
        """Return the members of a sequence, which are done one after the other."""

        def done(index: int) -> datetime | None:
            return next(islice(steps(trigger, path, self._scope, judge), index, None)).done

        members = members_of(trigger, path)
        return [Cursor(member, partial(done, index)) for index, member in enumerate(members)]

    # --- counts of an earlier walk ------------------------------------------------------

    def _restore_cursor(self, cursor: Cursor, time: datetime) -> datetime | None:
        """Note how far a part had come by an instant; return when it holds first."""
        holds = cursor.find()
        reached = time if holds is None else min(holds, time)
        self._reached[cursor.part.name] = reached
        self._restore(cursor.part, reached)
        return holds

    def _restore(self, part: Part, time: datetime) -> None:
        trigger, path, kind = part
        if trigger.quiet is not None and not kind:
            begun = self._restore_cursor(self._whole(Part(trigger, path, kind=True)), time)
            self._quiet_times.restore(path, begun, time)
        elif not isinstance(trigger, Composite):
            tally = self._leaves.tallies.get(path)
            self._to[path] = (None if tally is None else tally.since) or time
        elif trigger.in_turn:
            for cursor in self._in_turn(trigger, path):
                done = self._restore_cursor(cursor, time)
                # The members behind it have counted nothing.
                if done is None or done > time:
                    break
        else:
            for member in members_of(trigger, path):
                self._restore(member, time)


def members_of(trigger: Composite, path: str) -> list[Part]:
    """Return the members of a composite."""
    return [Part(inner, child_path(path, index)) for index, inner in enumerate(trigger.of)]
