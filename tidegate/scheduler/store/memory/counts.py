"""The ledger and counts for metrics in memory."""

from collections import Counter
from collections.abc import Iterable

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import FINISHED, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import Count, Counts, Damage, LedgerRow, of_event_key
from tidegate.scheduler.store.ledger import ledger_rows, outcome_of
from tidegate.scheduler.store.memory.retention import RetentionReader


class CountReader(RetentionReader):
    """See `EngineReader`."""

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        """See `EngineReader.ledger`."""
        groups = [
            (group.schedule, group.state, group.reason, group.events)
            for group in self._groups()
            if app is None or group.schedule.startswith(f"{app}/")
        ]
        sums = [
            (schedule, outcome, reason, events)
            for (schedule, _, outcome, reason), events in self._tables.sums.items()
            if app is None or schedule.startswith(f"{app}/")
        ]
        return tuple(row for row in ledger_rows(groups, sums) if row.schedule > after)[:limit]

    def damage(self) -> tuple[Damage, ...]:
        """See `EngineReader.damage`."""
        return ()

    def counts(self) -> Counts:
        """See `EngineReader.counts`."""
        held = self._tables
        dead = [
            job
            for job in held.jobs.values()
            if job.state is JobState.FAILED and job.reason is Reason.F_LAUNCH and job.maintenance is None
        ]
        finished = (job for job in held.jobs.values() if job.state in FINISHED)
        return Counts(
            schedules=_counted((state.app, state.status) for state in held.schedules.values()),
            runs=_counted((app_of(run.program), run.status) for run in held.runs.values()),
            launches=_counted((app_of(program),) for program, _ in held.launches.values()),
            events=_summed(_numbers(held.events.values())),
            finished_jobs=_counted((job.app, job.state, job.reason or "") for job in finished),
            outcomes=_summed(self._outcomes()),
            dead_letters=_counted((job.app,) for job in dead),
        )

    def _outcomes(self) -> Counter[tuple[str, ...]]:
        found: Counter[tuple[str, ...]] = Counter()
        for (schedule, _, outcome, reason), events in self._tables.sums.items():
            found[app_of(schedule), outcome, reason] += events
        for group in self._groups():
            found[app_of(group.schedule), *outcome_of(group.state, group.reason)] += group.events
        return found


def _numbers(events: Iterable[Event]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for event in events:
        found[of_event_key(event.key)] += event.number
    return found


def _counted(places: Iterable[tuple[str, ...]]) -> tuple[Count, ...]:
    return _summed(Counter(places))


def _summed(found: Counter[tuple[str, ...]]) -> tuple[Count, ...]:
    named = sorted(((*map(str, place), "", "")[:3], number) for place, number in found.items())
    return tuple(
        Count(app=app, label=label, reason=reason, number=number) for (app, label, reason), number in named
    )
