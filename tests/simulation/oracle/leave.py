"""What must leave a job that the engine discards: the events of that instant, for a job of their own."""

from datetime import datetime
from typing import Any

from tests.simulation.knowledge import DISCARDED, JobSeen, Knowledge
from tests.simulation.oracle.dates import is_keyed
from tests.simulation.oracle.heeded import Heeded
from tests.simulation.oracle.launch import duration
from tidegate.scheduler.model.journal import Entry

BY_THE_ENGINE = ("D-TIMEOUT", "D-DELAY", "D-WINDOW", "D-LAST-RUN", "D-RATE", "D-LOAD", "D-CONCURRENCY")


class LeavingEvents:
    """Reads the ends of jobs, and the events that leave them."""

    def __init__(self) -> None:
        self._owed: dict[str, set[tuple[str, str]]] = {}
        self._allowed: dict[str, set[tuple[str, str]]] = {}
        self._at: datetime | None = None

    def discarded(self, job: JobSeen, entry: Entry, spec: dict[str, Any] | None) -> None:
        """A job is about to be discarded; one that was never launched loses what comes at that instant."""
        if entry.reason not in BY_THE_ENGINE or spec is None or job.launches:
            return
        self._at = entry.at
        deadline = _deadline(job, spec["timeout"], entry.at)
        late = self._since(job, deadline)
        now = self._since(job, entry.at)
        self._allowed[job.id] = late
        # How long it was held, and what a timeout has overridden, are not in the journal.
        exact = entry.reason == "D-TIMEOUT" and spec["on_suspend"] not in ("hold", "backlog")
        owed = late if exact else now
        self._owed[job.id] = owed if len(owed) < len(job.events) else set()

    def left(self, known: Knowledge, heeded: Heeded, job: JobSeen, entry: Entry) -> None:
        """An event has left a discarded job for one of its own."""
        before, place = known.jobs[entry.data["left"]], (entry.event or "", entry.data["leaf"])
        assert before.state == DISCARDED, f"no loss: an event left a {before.state} job"
        assert before.events.pop(place, None) is not None, "no loss: the job never had this event"
        assert before.events, f"legal states: all events have left {before}, and are discarded with it"
        assert place in self._allowed[before.id], f"legal states: {place} came before the end of {before}"
        self._owed[before.id].discard(place)
        keys = {before.key, "" if is_keyed(known.specs[job.schedule]) else before.key}
        assert job.schedule == before.schedule and job.key in keys, "it left for another key"
        job.events[place] = entry.data
        heeded.moved(entry, before.id)

    def check(self, entry: Entry) -> None:
        """All that came at the instant of a discard has left before another instant."""
        if self._at is not None and entry.at != self._at:
            self.check_all()

    def check_all(self) -> None:
        """The same, at the end of a transaction."""
        owed = {job: places for job, places in self._owed.items() if places}
        assert not owed, f"no loss: what came at the instant of its discard is discarded with {owed}"
        self._owed, self._allowed, self._at = {}, {}, None

    @staticmethod
    def _since(job: JobSeen, at: datetime) -> set[tuple[str, str]]:
        arrivals = {place: datetime.fromisoformat(facts["arrived"]) for place, facts in job.events.items()}
        return {place for place, arrived in arrivals.items() if arrived >= at}


def _deadline(job: JobSeen, timeout: dict[str, Any], now: datetime) -> datetime:
    """The earliest instant at which it may have timed out."""
    first = min((datetime.fromisoformat(facts["arrived"]) for _, facts in job.collected), default=None)
    begun = first if timeout["from"] == "first_event" and first is not None else job.since
    return now if begun is None else min(now, begun + duration(timeout["after"]))
