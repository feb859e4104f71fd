"""The summary of a played scenario: the launched, discarded and remaining jobs of each schedule and table.

It counts the moments of the timeline and the jobs of the last snapshot.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tidegate.domain.value import Value
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.snapshot import Snapshot, WaitingJob

STARTS = ("launched", "maintained")
"""Kinds of moments at which a run begins."""


class ScheduleSummary(Value, kw_only=True):
    """The counts of one schedule, or of one table.

    Attributes:
        schedule: its name within the app; of another app "app/name". Of a table its name.
        ended: ended runs, by status.
        discarded: discarded jobs, by reason.
        waiting: the jobs that wait at the end.
        running: the number of active runs at the end.
        events: its events by outcome: consumed, pending, or the reason code of a failure or a discard.
    """

    schedule: str
    launched: int = 0
    ended: dict[str, int] = {}
    discarded: dict[str, int] = {}
    waiting: tuple[WaitingJob, ...] = ()
    running: int = 0
    events: dict[str, int] = {}


def summaries(
    schedules: Iterable[str],
    moments: Sequence[Moment],
    left: Snapshot,
    events: Mapping[str, Mapping[str, int]],
) -> tuple[ScheduleSummary, ...]:
    """Return one summary for each schedule, by name.

    Args:
        schedules: names that get a summary even without moments.
        left: the unfinished jobs at the end.
        events: the events of each schedule by outcome, see `ScheduleSummary.events`.
    """
    launched = Counter(moment.schedule for moment in moments if moment.kind in STARTS)
    ended = _by_schedule([(m.schedule, m.text) for m in moments if m.kind == "ended"])
    discarded = _by_schedule([(m.schedule, m.reason or "") for m in moments if m.kind == "discarded"])
    running = Counter(left.active)
    names = {*schedules, *launched, *ended, *discarded, *running, *(job.schedule for job in left.waiting)}
    return tuple(
        ScheduleSummary(
            schedule=name,
            launched=launched[name],
            ended=ended.get(name, {}),
            discarded=discarded.get(name, {}),
            waiting=tuple(job for job in left.waiting if job.schedule == name),
            running=running[name],
            events=dict(events.get(name, {})),
        )
        for name in sorted(names)
    )


def _by_schedule(pairs: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (schedule, word), count in sorted(Counter(pairs).items()):
        found.setdefault(schedule, {})[word] = count
    return found
