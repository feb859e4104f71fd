"""The fold of the past: entries of the journal, applied in order to the rows of a store.

It begins with nothing, or with a snapshot. Entries that a tick wrote later about an earlier instant, after a
pause, belong to that instant.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.renames import Renames
from tidegate.domain.model import App, Schedule
from tidegate.domain.model.others import with_named
from tidegate.domain.part_name import DEFAULT_NAMESPACE
from tidegate.scheduler.commands.activation import takes_events
from tidegate.scheduler.decision.changes.carry import carry
from tidegate.scheduler.decision.changes.fate import Change, after_fate, fate
from tidegate.scheduler.decision.fires import starts_again, timer_leaves
from tidegate.scheduler.decision.fold import instances, maintenance
from tidegate.scheduler.decision.fold.after import after, all_opened
from tidegate.scheduler.decision.fold.end_job import released
from tidegate.scheduler.explain.past.entries import event_of, observation_of, under_present_names
from tidegate.scheduler.explain.past.rows import PastRows
from tidegate.scheduler.intake.observe import merge
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Delivery, EventKind
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.run import Gauge, Launched

_OPENS = (EntryKind.JOB_OPENED, EntryKind.MANUAL, EntryKind.INSTANCE)

_ENDS = (
    EntryKind.DISCARDED,
    EntryKind.REPAIRED,
    EntryKind.OPERATION,
    EntryKind.PAUSED,
    EntryKind.MARKED,
    EntryKind.RERUN,
    EntryKind.REPORTED,
    EntryKind.GONE,
)
"""Entries of a job that ends, or stops, without an observed run."""

Recalled = Callable[["Past", Entry], tuple[Job | None, Mapping[tuple[str, str], Delivery]]]


class Past(PastRows):
    """The rows of the store after the entries that were read so far.

    Args:
        recalled: returns a job that was over before the snapshot, as it was before one of its entries, and
            its events; None where there is no snapshot.
    """

    def __init__(self, recalled: Recalled | None = None) -> None:
        super().__init__()
        self._recalled = recalled
        self._readers: dict[EntryKind, Callable[[Entry], None]] = {
            EntryKind.SPEC: self._spec,
            EntryKind.STATUS: self._status,
            EntryKind.OVERRIDE: self._overridden,
            EntryKind.CLOCK: self._clock,
            EntryKind.GAUGE: self._gauge,
            EntryKind.BACKFILL: self._backfill,
            EntryKind.JOB_OPENED: self._opened,
            EntryKind.INSTANCE: self._opened,
            EntryKind.MANUAL: self._manual,
            EntryKind.EVENT: self._event,
            EntryKind.EVENT_DISCARDED: self._event_discarded,
            EntryKind.LAUNCH: self._launch,
            EntryKind.RUN: self._run,
            EntryKind.SLOTS_TAKEN: self._slots_taken,
            EntryKind.CLAIM: self._slots_taken,
            EntryKind.LAUNCH_FAILED: self._launch_failed,
            EntryKind.RECOVERED: self._recovered,
            EntryKind.SET_BACK: self._set_back,
            **dict.fromkeys(_ENDS, self._ended),
        }

    def with_schedules(self) -> "Past":
        """Return a past of the same apps and schedules without any job."""
        past = Past()
        past._apps, past._states = dict(self._apps), dict(self._states)
        return past

    def _recall(self, entry: Entry) -> None:
        """Take up a job that was over before the snapshot, and goes on with this entry."""
        if self._recalled is None or entry.job is None or entry.job in self._jobs:
            return
        if entry.kind in (EntryKind.JOB_OPENED, EntryKind.INSTANCE, EntryKind.COMMIT):
            return
        job, collected = self._recalled(self, entry)
        if job is not None:
            self._put(job)
            self._collected[job.id] = dict(collected)

    def read(self, entry: Entry, names: Renames) -> None:
        """Apply one entry.

        Args:
            names: the renames after it.
        """
        self._journal.append(entry)
        entry = under_present_names(entry, names)
        self._recall(entry)
        if not self._is_known(entry):
            if entry.kind is EntryKind.INSTANCE:
                # A deployment writes the first instances of a task before the task itself.
                self._note_made(entry)
            return
        if entry.kind in (EntryKind.INSTANCE, EntryKind.REMADE):
            self._note_made(entry)
        special = self._readers.get(entry.kind)
        if special is not None:
            special(entry)
        job = self._jobs.get(entry.job or "")
        if job is not None:
            self._put(after(job, entry, self._states.get(job.schedule)))

    def _is_known(self, entry: Entry) -> bool:
        """Return whether the schedule and the job of the entry are known.

        A journal may begin later than a schedule; and if a clock went back, the opening of a job may have
        a later instant than the entries that follow it.
        """
        if entry.kind in (EntryKind.SPEC, EntryKind.CLOCK) or entry.schedule is None:
            return True
        if entry.schedule not in self._states and not maintenance.opens(entry):
            return entry.job in self._jobs
        opens = entry.job is None or entry.kind in _OPENS
        return opens or entry.job in self._jobs

    # --- apps and schedules ---

    def _spec(self, entry: Entry) -> None:
        spec: Any = entry.data["spec"]
        if entry.schedule is not None:
            self._schedule_spec(entry, entry.schedule, spec)
        elif spec is None:
            self._apps.pop(entry.data["app"], None)
        else:
            app = msgspec.convert(spec, App)
            deployed = DeployedApp(
                app=app,
                revision=entry.data["revision"],
                namespace=entry.data.get("namespace", DEFAULT_NAMESPACE),
                deployed_at=entry.at,
            )
            self._apps[app.name] = deployed

    def _schedule_spec(self, entry: Entry, ref: str, written: Any) -> None:
        if written is None:
            self._deleted.add(ref)
            return
        spec = msgspec.convert(written, Schedule)
        self._deleted.discard(ref)
        before = self._states.get(ref)
        state = ScheduleState(
            ref=ref,
            spec=spec,
            fingerprint=fingerprint(spec),
            status=entry.data["status"],
            active_since=entry.at,
            deployed_at=entry.at,
        )
        carries = bool(entry.data.get("carries"))
        stays = before is not None and (carries or entry.data["action"] == "amend")
        if before is not None and stays:
            deployed_at = before.deployed_at if not carries else entry.at
            state = msgspec.structs.replace(state, active_since=before.active_since, deployed_at=deployed_at)
        # A timer that was started at this very instant was started by the same deployment.
        running = {leaf.path for leaf, _ in timer_leaves(state)}
        self._clocks[ref] = {
            path: clock
            for path, clock in self._clocks.get(ref, {}).items()
            if path in running and (stays or clock[1] == entry.at)
        }
        self._states[ref] = state
        if spec.task is not None:
            self._deployed_task(entry, state)
        elif carries:
            self._carry(before or state, state, entry.at)

    def _deployed_task(self, entry: Entry, state: ScheduleState) -> None:
        """Let the instances that its deployment has made be those of the task as it was deployed."""
        for made in self._made.get(state.ref, ()):
            if made.at != entry.at:
                continue
            ids = [id for id, _ in instances.made_together(made)] or [made.job or ""]
            if self._jobs.keys().isdisjoint(ids):
                self._opened(made)
            for job in [self._jobs[id] for id in ids if id in self._jobs]:
                deployed = {"fingerprint": state.fingerprint, "priority": state.spec.priority}
                self._put(msgspec.structs.replace(job, **deployed))

    def _carry(self, before: ScheduleState, state: ScheduleState, at: datetime) -> None:
        """Carry the waiting jobs over to the changed schedule; earlier entries have moved their events."""
        app = with_named(
            msgspec.structs.replace(self._apps[state.app].app, schedules={state.name: state.spec}),
            {name: deployed.app for name, deployed in self._apps.items()},
        )
        for id in tuple(self._waiting.get(state.ref, ())):
            deliveries = tuple(self._collected.get(id, {}).values())
            # Jobs that keep no event were discarded by earlier entries.
            job = carry(self._jobs[id], deliveries, state, app, at).job or self._jobs[id]
            self._put(after_fate(job, fate(job, Change.CARRIED, before, state), state, at))

    def _status(self, entry: Entry) -> None:
        before = self._states.get(entry.schedule or "")
        if before is None:
            return  # a person has asked for an operation
        state = msgspec.structs.replace(
            before, status=entry.data["status"], changed_by=entry.data.get("by", before.changed_by)
        )
        if state.active and not before.holding:
            state = msgspec.structs.replace(state, active_since=entry.at)
        self._states[state.ref] = state
        for id in tuple(self._waiting.get(state.ref, ())):
            # A discarded job has its own entry.
            job, change = self._jobs[id], Change.RESUMED if state.active else Change.SUSPENDED
            self._put(after_fate(job, fate(job, change, before, state), state, entry.at))
        if not takes_events(state):
            self._clocks.pop(state.ref, None)

    def _clock(self, entry: Entry) -> None:
        since = datetime.fromisoformat(entry.data["from"])
        clocks = self._clocks.setdefault(entry.schedule or "", {})
        before = clocks.get(entry.data["leaf"])
        if entry.event is not None and before is not None:
            since = max(since, before[0])
        clocks[entry.data["leaf"]] = (since, entry.at)

    def _backfill(self, entry: Entry) -> None:
        self._backfills[entry.data["backfill"]["number"]] = entry.data["backfill"]

    def _gauge(self, entry: Entry) -> None:
        name = entry.data["name"]
        self._gauges[name] = Gauge(name=name, value=entry.data["value"], reported_at=entry.at)

    # --- jobs and their events ---

    def _opened(self, entry: Entry) -> None:
        for job in all_opened(entry, self._states.get(entry.schedule or "")):
            self._put(job)

    def _manual(self, entry: Entry) -> None:
        if entry.job not in self._jobs:
            self._opened(entry)

    def _event(self, entry: Entry) -> None:
        leaf, event = entry.data["leaf"], event_of(entry)
        found = self._collected.setdefault(entry.job or "", {})
        found.pop((event.id, entry.data.get("moved_from") or ""), None)
        left = entry.data.get("left")
        if left is not None:
            self._collected.get(left, {}).pop((event.id, leaf), None)
        found[event.id, leaf] = Delivery(
            event=event, schedule=entry.schedule or "", leaf=leaf, job=entry.job, at=entry.at
        )
        if left is None:
            self._ran_out(entry, leaf, event.kind)

    def _event_discarded(self, entry: Entry) -> None:
        leaf = entry.data["leaf"]
        self._collected.get(entry.job or "", {}).pop((entry.event or "", leaf), None)
        if entry.job is None:
            self._ran_out(entry, leaf, EventKind(entry.data["kind"]))
            return
        arrivals = (delivery.event.arrived for delivery in self._collected[entry.job].values())
        first = min(arrivals, default=None)
        self._put(msgspec.structs.replace(self._jobs[entry.job], first_event_at=first))

    def _ran_out(self, entry: Entry, path: str, kind: EventKind) -> None:
        """Stop or restart the timer of an `elapsed` leaf that has fired."""
        state = self._states[entry.schedule or ""]
        if kind is not EventKind.FIRE:
            return
        for leaf, _ in timer_leaves(state):
            if leaf.path == path:
                clocks = self._clocks.setdefault(state.ref, {})
                clocks.pop(path, None)
                if starts_again(state, leaf):
                    clocks[path] = (entry.at, entry.at)

    # --- launches and runs ---

    def _launch(self, entry: Entry) -> None:
        job = self._jobs[entry.job or ""]
        self._slots[job.id] = entry.data["resources"]
        if job.maintenance is None:
            launch = Launched(program=entry.data["program"], holder=job.launch_holder, at=entry.at)
            self._launches[launch.holder] = launch

    def _slots_taken(self, entry: Entry) -> None:
        """Add the launch and the slots of a job that gave them back, and is offered again or has a run."""
        job = self._jobs[entry.job or ""]
        if job.gave_back:
            self._slots[job.id] = list(job.resources)
            holder = job.launch_holder
            self._launches[holder] = Launched(program=job.program, holder=holder, at=entry.at)

    def _launch_failed(self, entry: Entry) -> None:
        """Remove the slots and the launch of a job that is over, or gives them back until it is offered."""
        job = self._jobs[entry.job or ""]
        if entry.reason is not None:
            self._ended(entry)
        elif after(job, entry).gave_back:
            self._slots.pop(job.id, None)
            self._launches.pop(job.launch_holder, None)

    def _recovered(self, entry: Entry) -> None:
        """Remove them of a job that ends by it; a launched one ends with its run."""
        if self._jobs[entry.job or ""].state is JobState.PENDING_LAUNCH:
            self._ended(entry)

    def _ended(self, entry: Entry) -> None:
        """Remove the slots and the launch that a job releases at its end."""
        job = self._jobs[entry.job or ""]
        gone = released(job, entry)
        if gone.slots:
            self._slots.pop(job.id, None)
        if gone.launch:
            self._launches.pop(job.launch_holder, None)

    def _run(self, entry: Entry) -> None:
        if entry.job is not None:
            self._slots_taken(entry)
        run_id, holder = entry.run_id or "", entry.job or entry.run_id or ""
        run = self._runs[run_id] = merge(self._runs.get(run_id), observation_of(entry), entry.at)
        if entry.job is None and (run.active or run.started_at is not None):
            self._launches[holder] = Launched(program=run.program, holder=holder, at=run.launched_at)
        if not run.active:
            self._slots.pop(holder, None)
        elif entry.job is None:
            self._slots[holder] = entry.data["resources"]
