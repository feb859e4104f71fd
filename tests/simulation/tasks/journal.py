"""What the journal of cycle tasks must say: it folds to the table, and no gate opened too early."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec

from tests.simulation.tasks.landed_journal import DataRead, rerun_by_data
from tests.simulation.tasks.live import Live, members_of, named, of
from tidegate.domain.model import Schedule
from tidegate.domain.tasks.grid import generation_time, slots_of_day
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.scheduler.decision.fold.after import after, all_opened
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader

ONE_DAY = timedelta(days=1)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
RUN_STATES = ("PENDING_LAUNCH", "LAUNCHED")

DEEDS = (
    EntryKind.INSTANCE,
    EntryKind.PASSED,
    EntryKind.MARKED,
    EntryKind.PAUSED,
    EntryKind.RERUN,
    EntryKind.REPORTED,
    EntryKind.BACKFILL,
    EntryKind.LAUNCH,
    EntryKind.RETRY,
)
"""What happens to instances in every scenario and in some histories, as the journal has it."""


def judge_journal(entries: Sequence[Entry], reader: EngineReader) -> None:
    """The journal folds to the table, and at no instant of it a gate opened that had to be closed."""
    _Fold(reader).read_all(entries)


class _Fold:
    """The instances and the tasks after the entries that were read so far."""

    def __init__(self, reader: EngineReader) -> None:
        self._now = Live.of_store(reader)
        self._then = Live({}, members_of(reader))
        self._data = DataRead()
        self._states: dict[str, ScheduleState] = {}
        self._changed: dict[str, datetime] = {}
        self._by_data: set[str] = set()

    def read_all(self, entries: Sequence[Entry]) -> None:
        """Read the whole journal."""
        ahead = [entry for entry in entries if entry.kind is EntryKind.SPEC and entry.schedule is not None]
        for entry in ahead:
            self._changed[entry.schedule or ""] = entry.at
        self._by_data = {entry.job for entry in entries if entry.kind is EntryKind.INSTANCE and entry.job}
        position, again = 0, 0
        for number, entry in enumerate(entries):
            self._data.time_passes(entry.at)
            if number >= again and (group := rerun_by_data(entries, number)):
                self._data.judge_rerun(self._then, group)
                again = number + len(group)
            if entry.kind is EntryKind.SPEC and entry.schedule is not None:
                position += 1
                self._spec(entry)
            elif entry.kind is EntryKind.STATUS:
                ref = entry.schedule or ""
                self._states[ref] = msgspec.structs.replace(self._states[ref], status=entry.data["status"])
            elif entry.kind is EntryKind.INSTANCE:
                # A deployment makes the first instances of a task before it says what the task is.
                state = self._states.get(entry.schedule or "") or _state(
                    next(each for each in ahead[position:] if each.schedule == entry.schedule)
                )
                for job in all_opened(entry, state):
                    self._then.put(job)
            elif entry.job in self._then.jobs:
                self._read(entry, self._then.jobs[entry.job])
        for id, job in self._now.jobs.items():
            mine, theirs = facts(job), facts(self._then.jobs[id])
            assert mine == theirs, f"{id}: the table says {mine}, the journal {theirs}"

    def _spec(self, entry: Entry) -> None:
        ref = entry.schedule or ""
        if entry.data["spec"] is None:
            del self._states[ref], self._then.specs[ref]
        else:
            self._states[ref] = _state(entry)
            self._then.specs[ref] = self._states[ref].spec

    def _read(self, entry: Entry, job: Job) -> None:
        state = self._states.get(job.schedule)
        match entry.kind:
            case EntryKind.EVENT:
                self._data.joined(self._then, job, entry)
            case EntryKind.REPORTED if entry.event:
                self._data.reported(self._then, job, entry)
            case EntryKind.SATISFIED:
                self._judge_gate(job, entry)
                self._judge_slices(job, entry)
            case EntryKind.RUN:
                # A repeated observation is not journaled, and a run of an attempt that is over has no job.
                assert str(job.state) in RUN_STATES, f"a fenced run of {job.id} counts"
            case EntryKind.LAUNCH:
                self._judge_launch(job, entry, state)
            case _:
                pass
        self._then.put(after(job, entry, state))

    def _judge_gate(self, job: Job, entry: Entry) -> None:
        """An instance that left Not Run had the upstream instances of the matrix, and all were successful."""
        if self._data.is_reported(self._then, job):
            assert of(job).scheduled <= entry.at, f"the data of {job.schedule} {of(job).key} counts too early"
            return
        assert of(job).start <= entry.at, f"{job.schedule} {of(job).key} left Not Run before its start time"
        recorded = {edge["job"] for edge in entry.data["upstream"]}
        wanted = self._then.upstream(job)
        assert recorded == {each.id for found in wanted.values() for each in found}, (
            f"edges of {job.schedule} {of(job).key}: {recorded}, the matrix says {wanted}"
        )
        missing = [name for name, found in wanted.items() if not found and not name.endswith(" self")]
        codes = [each["code"] for each in entry.data["diagnostics"]]
        assert codes.count("E-NO-EDGE") == len(missing), f"diagnostics of {job.id}: {missing}"
        self._judge_hole(job, codes)
        made_at = self._then.made_at(job)
        early = made_at is not None and made_at > entry.at
        assert not early, f"{job.schedule} {of(job).key} left Not Run before {made_at}, when all are made"
        closed = [id for id in recorded if str(self._then.jobs[id].state) != "SUCCEEDED"]
        assert not closed, f"{job.schedule} {of(job).key} left Not Run, and {closed} are not successful"
        lots = [
            each.id
            for each in (self._then.of_backfill(of(job).number) if of(job).lot and not of(job).empty else ())
            if of(each).lot < of(job).lot and str(each.state) != "SUCCEEDED"
        ]
        assert not lots, f"{job.schedule} {of(job).key} left Not Run before the lot before it: {lots[:3]}"

    def _judge_hole(self, job: Job, codes: Sequence[str]) -> None:
        """An instance that follows its own one says so if its task has scheduled times between."""
        if self._then.holes(job):
            assert "E-HOLE" in codes, f"{job.schedule} {of(job).key} waits for what was never made: {codes}"
            return
        task = self._then.task(job.schedule)
        mine = (
            []
            if task is None
            else [found for name, found in self._then.upstream(job).items() if "self" in name]
        )
        before = next((each[0] for each in mine if each), None)
        if task is None or before is None or of(job).number:
            assert "E-HOLE" not in codes, f"{job.schedule} {of(job).key} follows nothing"
            return
        first, last = (date.fromisoformat(of(each).key[:10]) for each in (before, job))
        slots = [s for n in range((last - first).days + 1) for s in slots_of_day(task, first + n * ONE_DAY)]
        between = [
            scheduled_key(task, slot.scheduled)
            for slot in slots
            if not slot.empty and of(before).scheduled < slot.scheduled < of(job).scheduled
        ]
        hole = any(of(before).key < key < of(job).key for key in between)
        assert hole == ("E-HOLE" in codes), f"{job.schedule} {of(job).key} follows {of(before).key}: {codes}"

    def _judge_slices(self, job: Job, entry: Entry) -> None:
        """No gate opened while an upstream instance that was due to be made did not exist yet."""
        task = self._now.task(job.schedule)
        if task is None or self._changed[job.schedule] >= entry.at:
            return
        refs = [named(job, each) for each in task.depends_on]
        if any(self._changed.get(ref, LONG_AGO) >= entry.at for ref in refs):
            return
        for each in (each for found in self._now.upstream(job).values() for each in found):
            theirs = self._now.task(each.schedule)
            assert theirs is not None
            due = generation_time(theirs, local_day(theirs, of(each).scheduled))
            # What data has made had been left out.
            grid = of(each).kind == "periodic" and each.id not in self._by_data
            early = grid and due <= entry.at and each.id not in self._then.jobs
            assert not early, f"{job.schedule} {of(job).key} left Not Run before {each.schedule} was made"

    def _judge_launch(self, job: Job, entry: Entry, state: ScheduleState | None) -> None:
        assert job.satisfied_at is not None, f"{job.schedule} {of(job).key} is launched, and is Not Run"
        assert state is not None, f"{job.schedule} {of(job).key} is launched, and its task is deleted"
        held = not state.active and state.spec.on_suspend != "drain"
        assert not held, f"{job.schedule} {of(job).key} is launched, and its task is suspended"
        if of(job).number and of(job).priority is None:
            passed = [each.id for each in self._then.of_task(job.schedule) if self._was_ready(each, entry)]
            assert not passed, f"{job.schedule}: a backfill takes the slot that {passed} waits for"

    def _was_ready(self, job: Job, entry: Entry) -> bool:
        """Whether an instance lacked nothing but a slot, and comes before those of a backfill."""
        behind = of(job).number and of(job).priority is None
        if behind or (str(job.state), job.reason) != ("PENDING_CONSTRAINT", "W-CONCURRENCY"):
            return False
        date = of(job).business_date
        beside = [each for each in self._then.of_task(job.schedule) if str(each.state) in RUN_STATES]
        pausing = job.retry_at is not None and job.retry_at > entry.at
        return not pausing and job.held_at is None and all(of(each).business_date != date for each in beside)


def _state(entry: Entry) -> ScheduleState:
    return ScheduleState(
        ref=entry.schedule or "",
        spec=msgspec.convert(entry.data["spec"], Schedule),
        fingerprint="",
        status=entry.data["status"],
        deployed_at=entry.at,
    )


def facts(job: Job) -> dict[str, Any]:
    """What the journal must hold of an instance."""
    names = ("state", "attempt", "commit", "satisfied_at", "run_id", "instance")
    return {name: getattr(job, name) for name in names}
