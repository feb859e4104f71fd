"""Effect: what an action of a person does to schedules and jobs, in sentences, before it is done.

    rehearse    the action in a transaction ──► what it has changed ──► nothing is kept
    carry_out   the same action, kept, unless it changes something else than was agreed on

The action itself says what it does: the functions that decide it, `decision.changes.fate` among them, are
asked once for the page and once for the deed. What was due before the instant is done first and not counted.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from tidegate.domain.value import Value
from tidegate.scheduler.explain.fates import Fate, fates_of_apps, fates_of_jobs, fates_of_schedules
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.alert import ALERTS
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.held_apps import HELD, held_apps
from tidegate.scheduler.tick.tick import advance_before

Act = Callable[[EngineTransaction], Any]
"""An action, within a transaction."""


class Effect(Value, kw_only=True):
    """What an action does.

    Attributes:
        agreed: the hash of the sentences: an action that was agreed to does this and nothing else.
        refs: the schedules and tasks ("app/name") whose jobs or specification it changes.
        discarded: how many jobs it discards.
        done: what the action has returned.
    """

    fates: tuple[Fate, ...]
    agreed: str
    refs: tuple[str, ...]
    discarded: int
    done: Any = None


class Moved(Exception):
    """An action would do something else now than was agreed on; nothing has changed."""

    def __init__(self, effect: Effect) -> None:
        super().__init__("something else would happen now than was shown")
        self.effect = effect


def rehearse(store: UpkeepStore, act: Act, now: datetime) -> Effect:
    """Return what an action would do now; nothing is kept of it.

    Raises:
        StoreBusy: another process writes to the store all the time.
        UserError: the action would be refused.
    """
    with store.rehearsal() as transaction:
        return carry_out(transaction, act, now)


def carry_out(transaction: EngineTransaction, act: Act, now: datetime, agreed: str | None = None) -> Effect:
    """Do what a person asks for, and return what it has changed.

    Args:
        agreed: the hash of what was shown; None if nothing was.

    Raises:
        Moved: it would do something else; the caller's transaction must not be kept.
        UserError: it is refused.
    """
    advance_before(transaction, now)
    noted = _Noted(transaction)
    done = act(cast("EngineTransaction", noted))
    effect = _effect(transaction, noted, now, done)
    if agreed is not None and agreed != effect.agreed:
        raise Moved(effect)
    return effect


class _Noted:
    """A transaction that notes which jobs and schedules are changed, with what they were before."""

    def __init__(self, transaction: EngineTransaction) -> None:
        self._transaction = transaction
        self.changed_jobs: dict[str, tuple[Job | None, Job]] = {}
        self.changed_schedules: dict[str, tuple[ScheduleState | None, ScheduleState | None]] = {}
        self.others: list[Fate] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def put_jobs(self, jobs: Sequence[Job]) -> None:
        new = {job.id for job in jobs} - self.changed_jobs.keys()
        before = {job.id: job for job in self._transaction.jobs(ids=new)} if new else {}
        for job in jobs:
            was = self.changed_jobs[job.id][0] if job.id in self.changed_jobs else before.get(job.id)
            self.changed_jobs[job.id] = (was, job)
        self._transaction.put_jobs(jobs)

    def put_schedules(self, schedules: Sequence[ScheduleState]) -> None:
        self._note({state.ref: state for state in schedules})
        self._transaction.put_schedules(schedules)

    def delete_schedules(self, refs: Iterable[str]) -> None:
        gone = list(refs)
        self._note(dict.fromkeys(gone))
        self._transaction.delete_schedules(gone)

    def set_cursor(self, name: str, value: Any) -> None:
        if name == HELD:
            self.others += fates_of_apps(self._transaction, held_apps(self._transaction), value)
        self._transaction.set_cursor(name, value)

    def put_records(self, kind: Kind[Any], values: Iterable[Any]) -> None:
        found = list(values)
        if kind is ALERTS:
            self.others += [
                Fate(state="waiting", text=f"alert {each.id} is sent to {each.channel} again")
                for each in found
            ]
        self._transaction.put_records(kind, found)

    def _note(self, after: dict[str, ScheduleState | None] | dict[str, ScheduleState]) -> None:
        new = after.keys() - self.changed_schedules.keys()
        before = {state.ref: state for state in self._transaction.schedules(refs=new)} if new else {}
        for ref, state in after.items():
            was = self.changed_schedules[ref][0] if ref in self.changed_schedules else before.get(ref)
            self.changed_schedules[ref] = (was, state)


def _effect(reader: EngineReader, noted: _Noted, now: datetime, done: Any) -> Effect:
    fates = (
        *noted.others,
        *fates_of_schedules(reader, noted.changed_schedules),
        *fates_of_jobs(reader, noted.changed_jobs, now),
    )
    text = "\n".join(each.text for each in fates)
    return Effect(
        fates=fates,
        agreed=hashlib.sha256(text.encode()).hexdigest(),
        refs=tuple(
            sorted({job.schedule for _, job in noted.changed_jobs.values()} | noted.changed_schedules.keys())
        ),
        discarded=sum(each.jobs for each in fates if each.state == "discarded"),
        done=done,
    )
