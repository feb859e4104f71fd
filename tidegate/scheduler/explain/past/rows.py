"""The rows of the past: what a fold of the journal begins with and comes to, and the store that they make."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.commands.activation import stop_clocks, takes_events
from tidegate.scheduler.commands.backfills.request import NEWEST
from tidegate.scheduler.commands.overrides import override_of, place_of
from tidegate.scheduler.decision.fires import next_fire
from tidegate.scheduler.decision.fold.after import instance_job
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.model.run import GAUGES, Gauge, Launched, Run
from tidegate.scheduler.model.set_back import job_set_back, not_ahead, schedule_set_back
from tidegate.scheduler.retention.state import State
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.generate import day_made, next_generation
from tidegate.scheduler.tick.upstream import backfill_cursor


class PastRows:
    """The rows of a store, as of the entries that were read so far."""

    def __init__(self) -> None:
        self._apps: dict[str, DeployedApp] = {}
        self._states: dict[str, ScheduleState] = {}
        self._deleted: set[str] = set()
        self._jobs: dict[str, Job] = {}
        self._waiting: dict[str, dict[str, None]] = {}
        self._collected: dict[str, dict[tuple[str, str], Delivery]] = {}
        self._clocks: dict[str, dict[str, tuple[datetime, datetime]]] = {}
        self._slots: dict[str, list[str]] = {}
        self._launches: dict[str, Launched] = {}
        self._runs: dict[str, Run] = {}
        self._gauges: dict[str, Gauge] = {}
        self._overrides: dict[tuple[str, str], Override] = {}
        self._journal: list[Entry] = []
        self._made: dict[str, list[Entry]] = {}
        """What has made instances of each task, of the newest instant at which anything has."""
        self._backfills: dict[int, object] = {}

    def begin(self, state: State, at: datetime) -> None:
        """Begin with a snapshot that was taken at an instant."""
        self._apps = {deployed.name: deployed for deployed in state.apps}
        self._states = {each.ref: each for each in state.schedules}
        for job in state.jobs:
            self._put(job)
        for each in state.deliveries:
            self._collected.setdefault(each.job or "", {})[each.event.id, each.leaf] = each
        self._clocks = {
            ref: {path: (since, at) for path, since in each.clocks.items()}
            for ref, each in self._states.items()
        }
        self._slots = {holder: list(held) for holder, held in state.slots.items()}
        self._launches = {each.holder: each for each in state.launches}
        self._runs = {run.run_id: run for run in state.runs}
        self._gauges = {gauge.name: gauge for gauge in state.gauges}
        self._overrides = {place_of(each): each for each in state.overrides}
        self._backfills = dict(state.backfills)

    def in_namespaces(self, namespaces: Mapping[str, str]) -> None:
        """Put apps into namespaces; the others stay where they were."""
        self._apps = {
            name: msgspec.structs.replace(app, namespace=namespaces.get(name, app.namespace))
            for name, app in self._apps.items()
        }

    def begin_with(self, states: Sequence[ScheduleState]) -> None:
        """Begin with some schedules."""
        self._states = {state.ref: state for state in states}

    def put_made(self, job: Job) -> None:
        """Put an instance as it was made, from what it has become."""
        state, made = self._states.get(job.schedule), job.of_task
        if state is not None:
            fresh = msgspec.structs.replace(
                made, upstream=(), diagnostics=(), attempt=0, marked=False, counts_from=None
            )
            self._put(instance_job(state, job.id, fresh, job.opened_at))

    def job(self, id: str) -> tuple[Job | None, Mapping[tuple[str, str], Delivery]]:
        """Return a job, if there is one, and its events."""
        return self._jobs.get(id), self._collected.get(id, {})

    def store(self, instant: datetime, store: MemoryStore) -> MemoryStore:
        """Fill an empty store with these rows, as of the instant, and return it."""
        deliveries = [each for found in self._collected.values() for each in found.values()]
        with store.transaction() as transaction:
            transaction.put_records(APPS, list(self._apps.values()))
            transaction.put_schedules(
                [
                    self._placed(state, instant)
                    for ref, state in self._states.items()
                    if ref not in self._deleted
                ]
            )
            transaction.add_events([delivery.event for delivery in deliveries])
            transaction.mark_routed([delivery.event.id for delivery in deliveries])
            transaction.put_jobs(list(self._jobs.values()))
            transaction.add_deliveries(deliveries)
            transaction.take_slots(self._slots)
            transaction.add_launches(list(self._launches.values()))
            transaction.put_runs(list(self._runs.values()))
            transaction.put_records(GAUGES, list(self._gauges.values()))
            transaction.put_records(OVERRIDES, list(self._overrides.values()))
            for number, backfill in self._backfills.items():
                transaction.set_cursor(backfill_cursor(number), backfill)
            if self._backfills:
                transaction.set_cursor(NEWEST, max(self._backfills))
            instances = {job.id: job.instance for job in self._jobs.values() if job.instance is not None}
            transaction.put_edges(
                {id: [edge.job for edge in each.upstream] for id, each in instances.items() if each.upstream}
            )
            transaction.add_journal(self._journal)
        return store

    def _placed(self, state: ScheduleState, instant: datetime) -> ScheduleState:
        """Return the schedule with its next fire, which follows from its crons and timers."""
        if not takes_events(state):
            return stop_clocks(state)
        task = state.spec.task
        if task is not None:
            return msgspec.structs.replace(state, next_fire_at=next_generation(task, day_made(task, instant)))
        clocks = {path: since for path, (since, _) in self._clocks.get(state.ref, {}).items()}
        placed = msgspec.structs.replace(state, clocks=clocks, fires_after=instant)
        return msgspec.structs.replace(placed, next_fire_at=next_fire(placed, instant))

    def _overridden(self, entry: Entry) -> None:
        """Read what was changed by hand, without the text that it reverts to."""
        found = override_of(entry)
        if entry.data["action"] == "ended":
            self._overrides.pop(place_of(found), None)
        else:
            self._overrides[place_of(found)] = found

    def _set_back(self, entry: Entry) -> None:
        """Let what lay ahead count as of the instant at which the clock was found to be set back."""
        now = entry.at
        ended = {run.run_id: run.ended_at for run in self._runs.values() if run.ended_at is not None}
        self._jobs = {id: job_set_back(job, now, ended) for id, job in self._jobs.items()}
        self._states = {ref: schedule_set_back(state, now) for ref, state in self._states.items()}
        self._clocks = not_ahead(self._clocks, now)
        self._collected = {
            job: {place: _arrived_by(each, now) for place, each in found.items()}
            for job, found in self._collected.items()
        }
        self._launches = not_ahead(self._launches, now)
        self._runs = not_ahead(self._runs, now)
        self._gauges = not_ahead(self._gauges, now)

    def _note_made(self, entry: Entry) -> None:
        """Note an entry that makes instances of a task, which may be deployed at this instant too."""
        made = self._made.setdefault(entry.schedule or "", [])
        if made and made[-1].at != entry.at:
            made.clear()
        made.append(entry)

    def _put(self, job: Job) -> None:
        self._jobs[job.id] = job
        waiting = self._waiting.setdefault(job.schedule, {})
        if job.waiting:
            waiting[job.id] = None
        else:
            waiting.pop(job.id, None)


def _arrived_by(delivery: Delivery, now: datetime) -> Delivery:
    event = msgspec.structs.replace(delivery.event, arrived=min(delivery.event.arrived, now))
    return msgspec.structs.replace(delivery, event=event)
