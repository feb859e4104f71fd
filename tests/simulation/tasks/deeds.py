"""Deeds on instances of tasks, each judged at once: it changes what it has to, and nothing else.

What becomes of the instances follows from docs/cycles.md, by the state before the deed.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.tasks.deployments import Deployments
from tests.simulation.tasks.existing import ONE_DAY, OPEN
from tests.simulation.tasks.live import Live, identity, of
from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.grid import Slot, slot_at, slots_of_day
from tidegate.domain.tasks.key import TaskKeyError, local_day, parse_scheduled, scheduled_key
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.commands.tasks.reports import Reported, Times, report
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import EngineTransaction

BY = By(actor="dice")
RUNS_AGAIN = frozenset({"PENDING_CONSTRAINT", "PENDING_LAUNCH", "LAUNCHED", "SUCCEEDED", "FAILED"})
"""What a rerun with downstream puts back to Not Run."""

AFTER = {
    Action.MARK_SUCCESSFUL: (
        "SUCCEEDED",
        {"PENDING_TRIGGER", "PENDING_CONSTRAINT", "PENDING_LAUNCH", "FAILED", "PAUSED"},
    ),
    Action.PAUSE: ("PAUSED", {"PENDING_TRIGGER", "PENDING_CONSTRAINT", "PENDING_LAUNCH", "LAUNCHED"}),
    Action.RESUME: ("PENDING_TRIGGER", {"PAUSED"}),
    Action.RERUN: ("PENDING_TRIGGER", {"SUCCEEDED", "FAILED"}),
}
"""The status after an action, and those that allow it."""


class Deeds(Deployments):
    """Hands that know what each deed must do."""

    def __init__(self, store: FaultyStore, start: datetime) -> None:
        super().__init__(store, start)
        self.answers: dict[tuple[str, str], Reported] = {}
        self.refused = 0

    # --- runs ---

    def offered(self, app: str) -> tuple[LaunchRequest, ...]:
        """What is to be launched of an app now."""
        return self.within(lambda transaction: offer_launches(transaction, self.now, app))

    def end_run(self, run: str, status: RunStatus) -> None:
        """A run ends."""
        self.catch_up()
        self.end(run, status)

    # --- instances ---

    def act(self, job: Job, action: Action, *, downstream: bool) -> None:
        """A person does something to an instance."""
        self.catch_up()
        name = InstanceName(scheduled=of(job).key, number=of(job).number)
        live = self._live()
        states = {id: str(each.state) for id, each in live.jobs.items()}
        before = dict(live.jobs)
        changed = self._try(lambda t: act(t, job.schedule, name, action, self.now, BY, downstream=downstream))
        state, allowed = AFTER[action]
        if changed is None:
            assert states[job.id] not in allowed or not _is_named(live, job), f"{action} was refused: {job}"
            self._same(before, self._jobs(all_=True), ())
            return
        mine = before[changed[0].id]
        assert states[mine.id] in allowed, f"{action} of {mine.schedule} {name} was not refused"
        wanted = {mine.id}
        if action is Action.RERUN and downstream:
            wanted |= {id for id in live.consumers(mine) if states[id] in RUNS_AGAIN}
        after = self._jobs(all_=True)
        for id in wanted:
            assert str(after[id].state) == state, (
                f"{action}: {after[id].schedule} {of(after[id]).key} is {after[id].state}"
            )
        self._same(before, after, wanted)

    def report(self, ref: str, times: Times, status: str, request: str) -> None:
        """Instances are reported."""
        self.catch_up()
        known = self.answers.get((ref, request)) if request else None
        live = self._live()
        before, entries = dict(live.jobs), self._entries()
        answer = self._try(lambda t: report(t, ref, times, status, self.now, BY, request))
        after = self._jobs(all_=True)
        if answer is None or known is not None:
            assert known is None or (answer is not None and answer.instances == known.instances), (
                "another answer"
            )
            assert known or not self._may_report(live, ref, times), f"a report of {ref} was refused: {times}"
            self._same(before, after, ())
            assert self._entries() == entries, "a report that does nothing was journaled"
            return
        assert self._may_report(live, ref, times), f"a report of {ref} was not refused: {times}"
        if request:
            self.answers[ref, request] = answer
        slots = _slots(live.specs[ref].as_task, times)
        task = live.specs[ref].as_task
        names = {(ref, 0, scheduled_key(task, slot.scheduled)) for slot in slots}
        self.existing.reported(ref, slots)
        touched = {job.id for job in live.existing() if identity(job) in names}
        done = [before[id] for id in touched if str(before[id].state) in ("SUCCEEDED", "FAILED")]
        again = {
            id
            for job in done
            for id in live.consumers(job)
            if str(before[id].state) in RUNS_AGAIN and id not in touched
        }
        wanted = "SUCCEEDED" if status == "successful" else "FAILED"
        for job in after.values():
            if job.schedule == ref and str(job.state) != "DISCARDED" and identity(job) in names:
                assert str(job.state) == wanted, f"{ref} {of(job).key} was reported, and is {job.state}"
        for id in again:
            assert str(after[id].state) == "PENDING_TRIGGER", f"{after[id].schedule} {of(after[id]).key}"
        self._same(before, after, touched | again)

    def _may_report(self, live: Live, ref: str, times: Times) -> bool:
        """Whether a task may be reported at these times."""
        task = live.task(ref)
        if task is None or task.type not in ("source", "external") or not task.enabled:
            return False
        try:
            slots = _slots(task, times)
        except TaskKeyError:
            return False
        return bool(slots) and all(slot.scheduled <= self.now for slot in slots)

    def backfill(self, wanted: Wanted) -> None:
        """A person starts a backfill."""
        self.catch_up()
        with self.store.reading() as reader:
            newest = reader.cursor("backfills") or 0
        before = self._jobs(all_=True)
        started = self._try(lambda t: start_backfill(t, wanted, self.now, BY))
        self._same(before, self._jobs(all_=True), ())
        if started is None:
            return
        refs = self._wanted_tasks(wanted)
        # An answer that was lost with its connection: the person asks twice.
        for number in range(newest + 1, started.number + 1):
            self.existing.backfilled(number, refs, wanted.from_, wanted.to)

    def cancel_backfill(self, number: int) -> None:
        """A person cancels a backfill."""
        self.catch_up()
        before = self._jobs()
        open_ = [job for job in before.values() if of(job).number == number and str(job.state) in OPEN]
        self._try(lambda t: cancel_backfill(t, number, self.now, BY))
        after = self._jobs()
        gone = {job.id for job in open_ if job.id not in after}
        assert len(gone) in (0, len(open_)), "a backfill is cancelled in part"
        self.existing.leave(identity(job) for job in open_ if job.id in gone)
        self._same(before, after, gone)

    def open_or_failed(self) -> list[Job]:
        """What a person has to repair: failed and paused instances, and those that wait for a report."""
        specs = self._specs()
        return [
            job
            for job in self._jobs().values()
            if job.schedule in specs
            and (
                str(job.state) in ("FAILED", "PAUSED")
                or (str(job.state) == "PENDING_TRIGGER" and str(job.reason) == "W-REPORT")
            )
        ]

    def _wanted_tasks(self, wanted: Wanted) -> list[str]:
        specs = self._specs()
        refs = [f"{wanted.app}/{wanted.task}"]
        if wanted.task is None:
            refs = [ref for ref in specs if ref.startswith(f"{wanted.app}/")]
        for ref in refs:
            if wanted.upstream:
                named = (each for each in specs[ref].as_task.depends_on if not each.itself)
                found = (
                    each.task if "/" in each.task else f"{ref.partition('/')[0]}/{each.task}"
                    for each in named
                )
                refs += [each for each in found if each not in refs and each in specs]
        return [ref for ref in refs if specs[ref].as_task.enabled]

    def _try(self, deed: Callable[[EngineTransaction], Any]) -> Any:
        """Do what may be refused; a refusal changes nothing."""
        try:
            return self.within(deed)
        except InstanceRefused:
            self.refused += 1
            return None


def _is_named(live: Live, job: Job) -> bool:
    """Whether the key of an instance still names it: its task may be gone, or have another zone."""
    task = live.task(job.schedule)
    try:
        return task is not None and scheduled_key(task, parse_scheduled(task, of(job).key)) == of(job).key
    except TaskKeyError:
        return False


def _slots(task: TaskTrigger, times: Times) -> list[Slot]:
    """What a report names: its times truncated, or what the grid has in its range."""
    if times.scheduled:
        return [slot_at(task, parse_scheduled(task, key)) for key in times.scheduled]
    first, last = parse_scheduled(task, times.from_ or ""), parse_scheduled(task, times.to or "")
    days = (last - first).days + 2
    dates = [local_day(task, first) + number * ONE_DAY for number in range(days)]
    return [slot for day in dates for slot in slots_of_day(task, day) if first <= slot.scheduled <= last]
