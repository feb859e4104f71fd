"""Counts for metrics in memory; see `scheduler.store.parts.counts`."""

from collections import Counter
from collections.abc import Iterable

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.parts.counts import Count, Counts, of_event_key, summed


class CountReader:
    """See `CountRows`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def counts(self) -> Counts:
        """See `CountRows.counts`."""
        held = self._tables
        dead = [
            job
            for job in held.jobs.values()
            if job.state is JobState.FAILED and job.reason is Reason.F_LAUNCH and job.maintenance is None
        ]
        return Counts(
            schedules=_counted((state.app, state.status) for state in held.schedules.values()),
            runs=_counted((_app(run.program), run.status) for run in held.runs.values()),
            launches=_counted((_app(program), "") for program, _ in held.launches.values()),
            events=_counted(of_event_key(event.key) for event in held.events.values()),
            dead_letters=_counted((job.app, "") for job in dead),
        )


def _counted(places: Iterable[tuple[str, str]]) -> tuple[Count, ...]:
    return summed(Counter((app, str(label)) for app, label in places))


def _app(whole: str) -> str:
    return whole.partition("/")[0]
