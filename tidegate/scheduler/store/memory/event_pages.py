"""Pages of events in memory."""

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.event import Event, app_of_key
from tidegate.scheduler.store.ledger import outcome_of
from tidegate.scheduler.store.memory.tables import DeliveryKey, DeliveryMark, Tables
from tidegate.scheduler.store.wanted import EventsWanted, Outcome


class EventPageReader:
    """See `EngineReader`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def events_page(self, wanted: EventsWanted, limit: int) -> tuple[Event, ...]:
        """See `EngineReader.events_page`."""
        found = [event for event in self._tables.events.values() if _is_wanted(event, wanted)]
        if wanted.of_delivery:
            ids = self._delivered(wanted)
            found = [event for event in found if event.id in ids]
        elif wanted.apps is not None:
            found = [event for event in found if app_of_key(event.key) in wanted.apps]
        return tuple(sorted(found, key=lambda event: (event.arrived, event.id), reverse=True)[:limit])

    def _delivered(self, wanted: EventsWanted) -> set[str]:
        """Return the events (ids) with a delivery that matches."""
        return {
            place[0]
            for job, marks in self._tables.deliveries.items()
            if wanted.job in (None, job)
            for place, mark in marks.items()
            if wanted.schedule in (None, place[1])
            and (wanted.apps is None or app_of(place[1]) in wanted.apps)
            and (not wanted.has_outcome or self._became(wanted, job, place, mark))
        }

    def _became(self, wanted: EventsWanted, job: str | None, place: DeliveryKey, mark: DeliveryMark) -> bool:
        """Return whether the event of a delivery has the wanted outcome and reason."""
        if mark.reason is not None:
            kept = job is not None and any(
                of[:2] == place[:2] and other.reason is None
                for of, other in self._tables.deliveries[job].items()
            )
            return (
                not kept
                and wanted.outcome in (None, Outcome.DISCARDED)
                and wanted.reason in (None, mark.reason)
            )
        found = None if job is None else self._tables.jobs.get(job)
        return (
            found is not None
            and wanted.schedule in (None, found.schedule)
            and wanted.outcome in (None, outcome_of(found.state, found.reason)[0])
            and wanted.reason in (None, found.reason)
        )


def _is_wanted(event: Event, wanted: EventsWanted) -> bool:
    return (
        wanted.key in (None, event.key)
        and event.key.startswith(wanted.key_prefix)
        and wanted.partition in (None, event.partition)
        and (wanted.since is None or event.arrived >= wanted.since)
        and (wanted.until is None or event.arrived < wanted.until)
        and (wanted.before is None or (event.arrived, event.id) < wanted.before)
    )
