"""The summary of a scenario that was played: for each schedule, what was launched, given up and is left.

Counts what the timeline and the last snapshot say; it decides nothing and judges nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tidegate.domain.value import Value
from tidegate.scheduler.simulation.expectation import Snapshot, WaitingJob
from tidegate.scheduler.simulation.moment import Moment


class ScheduleSummary(Value, kw_only=True):
    """What came of one schedule.

    Attributes:
        schedule: its name within the app; of another app "app/name".
        ended: runs by how they ended.
        discarded: jobs that were given up, by reason.
        waiting: jobs that wait at the end.
        running: runs that are at work at the end.
        events: what became of the events that it listened to: consumed, pending, or a reason code.
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
    """One summary for each schedule, by name.

    Args:
        schedules: names that have one even if nothing came of them.
        left: the jobs at the end.
        events: by schedule what became of its events, as `ScheduleSummary.events` says.
    """
    launched = Counter(moment.schedule for moment in moments if moment.kind == "launched")
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
