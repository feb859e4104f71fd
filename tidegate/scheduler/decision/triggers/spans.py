"""Spans: the periods of time in which a part of a trigger holds, as known so far.

They reach into the future: a future span holds if no event arrives, such as after a `quiet`.
Both ends belong to a span, and time has the resolution of a microsecond, as in every store; so the
instant after an end is well defined. Pure arithmetic without triggers.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

TICK = timedelta(microseconds=1)
"""The smallest step of time."""

FOREVER = datetime.max.replace(tzinfo=UTC)
"""The end of a span that only new arrivals could end."""


class Span(NamedTuple):
    """From `start` to `end`, both included."""

    start: datetime
    end: datetime


Spans = tuple[Span, ...]
"""In order and not adjacent: between two of them is an instant that belongs to neither."""

NEVER: Spans = ()


def always_from(start: datetime | None) -> Spans:
    """Return the span from an instant on; None for no span."""
    return NEVER if start is None else (Span(start, FOREVER),)


def union(spans: Iterable[Span]) -> Spans:
    """Return all instants that belong to any of the spans, given in any order."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= _after(found[-1].end):
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return tuple(found)


def overlap(members: Sequence[Spans], n: int) -> Spans:
    """Return all instants that belong to at least `n` of the members; n is 1 or more."""
    starts = sorted(span.start for spans in members for span in spans)
    ends = sorted(span.end for spans in members for span in spans)
    found: list[Span] = []
    open_now = ended = 0
    for start in starts:
        while ends[ended] < start:
            ended += 1
            open_now -= 1
            if open_now == n - 1:
                found[-1] = Span(found[-1].start, ends[ended - 1])
        open_now += 1
        if open_now == n:
            found.append(Span(start, FOREVER))
    for end in ends[ended:]:
        open_now -= 1
        if open_now == n - 1:
            found[-1] = Span(found[-1].start, end)
    return union(found)


def span_at(spans: Spans, instant: datetime) -> Span | None:
    """Return the span to which an instant belongs."""
    return next((span for span in spans if span.start <= instant <= span.end), None)


def first_from(spans: Spans, instant: datetime) -> datetime | None:
    """Return the first instant of the spans that is not before the given one."""
    return next((max(span.start, instant) for span in spans if span.end >= instant), None)


def next_start(spans: Spans, after: datetime) -> datetime | None:
    """Return the first start strictly after an instant."""
    return next((span.start for span in spans if span.start > after), None)


def last_instant(spans: Spans, until: datetime) -> datetime | None:
    """Return the last instant of the spans that is not after the given one."""
    return next((min(span.end, until) for span in reversed(spans) if span.start <= until), None)


def _after(end: datetime) -> datetime:
    return end if end == FOREVER else end + TICK
