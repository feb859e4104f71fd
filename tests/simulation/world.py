"""The world around the engine: hands, what they have put in, and the oracle that judges all of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.hands import Hands
from tests.simulation.kept_counts import counts_are_right
from tests.simulation.oracle.oracle import Oracle
from tests.simulation.places import without_places
from tidegate.domain.model import App, Schedule
from tidegate.scheduler.model.deployed import noted
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import ACTIVE, WAITING, Job


class World(Hands):
    """Hands, and a judge who reads what the journal says of what they did."""

    oracle_kind: type[Oracle] = Oracle

    def __init__(self, store: FaultyStore, start: datetime) -> None:
        super().__init__(store, start)
        self.oracle = self.oracle_kind()
        self._asked_for: list[dict[str, Any]] = [{}]
        self.oracle.deployed = self._asked_for
        self._inputs: dict[str, tuple[str, int]] = {}

    def deploy(self, app: App, *, update_schedules: bool = True) -> None:
        """What was put in before is judged by what was deployed before."""
        self.judge()
        if update_schedules:
            self._asked_for.append({f"{app.name}/{name}": bare(spec) for name, spec in app.schedules.items()})
        super().deploy(app, update_schedules=update_schedules)
        self.judge()

    def add(self, events: Sequence[Event]) -> None:
        """Each of them must be heeded."""
        super().add(events)
        for event in events:
            self._inputs.setdefault(event.id, (event.key, self.oracle.read))

    # --- judgement ---

    def judge(self) -> None:
        """Let the oracle read what is new in the journal."""
        with self.store.reading() as reader:
            entries = reader.journal()
            counts_are_right(reader)
        self.oracle.read_all(entries[self.oracle.read :])

    def judge_after_tick(self) -> None:
        """The same, when a tick at the newest time was the last deed."""
        self.judge()
        self.oracle.stuck(self.now)

    def judge_at_the_end(self) -> None:
        """Everything that was put in was heeded, and the tables say what the journal says."""
        self.judge()
        self.oracle.heeded_all(self._inputs, self.now)
        with self.store.reading() as reader:
            assert not reader.unrouted_events(1), "no loss: an event was never routed"
            jobs = {job.id: job for job in reader.jobs()}
            waiting = reader.jobs(states=WAITING | ACTIVE)
            taken = reader.slots(sorted(self.oracle.known.holders))
            ledger = {row.schedule: row for row in reader.ledger()}
        self._same_jobs(jobs)
        held = {name: len(holders) for name, holders in self.oracle.known.holders.items()}
        assert taken == held, f"slots {taken}, the journal says {held}"
        for job in waiting:
            assert (
                job.next_check_at or job.blocked_on or str(job.reason) in IDLE or job.run_id or job.launch
            ), f"liveness: no tick will ever look at {job}"
        for ref, row in ledger.items():
            counted = row.consumed + row.pending + sum(row.discarded.values())
            assert counted == self.oracle.heeded.counted(ref), f"the ledger of {ref} does not close: {row}"

    def _same_jobs(self, jobs: dict[str, Job]) -> None:
        journaled = self.oracle.known.jobs
        assert jobs.keys() == journaled.keys(), "jobs: the journal and the table disagree"
        for id, job in jobs.items():
            states = STATES[journaled[id].state]
            assert str(job.state) in states, f"{job.state} in the table, {journaled[id]} in the journal"
            assert job.recovered == journaled[id].recovered, f"{job}, {journaled[id]}"
            if job.recovered and journaled[id].state == "ended":
                assert str(job.state) == "SUCCEEDED" or job.reason == "F-CANCELLED", f"{job} was published"
            if journaled[id].state == "waiting":
                assert journaled[id].reason in (None, job.reason) or job.by_hand, f"{job}, {journaled[id]}"
            if job.launch is not None:
                assert sum(journaled[id].launches.values()) >= 1, job


IDLE = ("W-TRIGGER", "W-HELD", "W-QUIET")
"""Waits that only an event, or a person, can end."""

STATES = {
    "waiting": ("PENDING_TRIGGER", "PENDING_CONSTRAINT"),
    "launched": ("PENDING_LAUNCH",),
    "running": ("LAUNCHED",),
    "ended": ("SUCCEEDED", "FAILED"),
    "discarded": ("DISCARDED",),
    "dead": ("FAILED",),
}
"""What a job that the journal leaves in a state may be in the table."""


def bare(spec: Schedule) -> Any:
    """A spec as the journal keeps it."""
    return without_places(msgspec.json.decode(msgspec.json.encode(noted(spec))))
