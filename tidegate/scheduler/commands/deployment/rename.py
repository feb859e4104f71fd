"""Rename: what a deployment with `renamed_from` does to the store, in the deployment's one transaction.

    the YAML has `renamed_from` ──► no run works under the old name? ──no──► refused
                                        │yes
              rows get the new name ──► places and former names are noted ──► the deployment compares

After it the store looks as if the parts had always had their new names. A dataset without a path stays
where its rows are: its place is recorded. Former names are recorded too, so that what still comes under
one of them (a run that was started before, a report) is recognised.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import msgspec

from tidegate.compiler.plan.blocked import Blocked, at_work, touched, unfinished
from tidegate.compiler.plan.renamed_app import renamed_app
from tidegate.compiler.plan.renames import Renames, moved_places, without_paths
from tidegate.domain.model import App, leaves
from tidegate.domain.part_name import app_of, name_in, name_of, whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.commands.backfills.cancel import rename_left
from tidegate.scheduler.commands.backfills.request import backfills
from tidegate.scheduler.commands.by_hand.held_apps import rename_held
from tidegate.scheduler.commands.deployment.withheld import withheld_blocks
from tidegate.scheduler.decision.changes.renamed import (
    renamed_delivery,
    renamed_job,
    renamed_override,
    renamed_state,
)
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState, noted
from tidegate.scheduler.model.event import FORMER, SUBSCRIPTIONS, Delivery, Subscription, listens_to
from tidegate.scheduler.model.job import ACTIVE, FINISHED, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.renamed import move_records
from tidegate.scheduler.tick.clock import AWAY_AFTER, engine_clock
from tidegate.scheduler.tick.upstream import backfill_cursor

V = TypeVar("V", bound=Value)

RECORD = "renamed"
"""Name of the cursor that holds the record of renames."""


class Record(Value, kw_only=True):
    """What is recorded of renames.

    Attributes:
        places: the place in the warehouse, "app/name", of datasets that are not at their own name.
        former: the present name of each former name of a dataset or program, "app/name".
    """

    places: dict[str, str] = {}
    former: dict[str, str] = {}


def record_of(reader: EngineReader) -> Record:
    """Return what is recorded of renames."""
    return msgspec.convert(reader.cursor(RECORD) or {}, type=Record)


def blocks(
    reader: EngineReader,
    names: Renames,
    deployed: Mapping[str, App],
    removed: frozenset[str],
    after: Mapping[str, App],
) -> Iterator[Blocked]:
    """Yield what is in the way of renames, and of the removal of apps.

    Args:
        deployed: the deployed apps under their former names.
        removed: the apps that are removed.
        after: the apps that the deployment is about, after it.
    """
    every = reader.commitments()
    yield from withheld_blocks(every, names, deployed, removed, after)
    commitments = [each for each in every if not each.withheld]
    for name in sorted(removed):
        app = deployed[name]
        refs = {f"{name}/{part}" for part in (*app.datasets, *app.programs)}
        for commitment in commitments:
            if commitment.unfinished and commitment.touches(refs):
                yield unfinished(name, commitment.commit)
    if not names:
        return
    renamed = {**names.programs, **names.datasets}
    for commitment in commitments:
        for old, new in sorted(renamed.items()):
            if commitment.touches({old}):
                yield at_work(old, new, f"commit {commitment.commit} is not finished")
                break
    busy = _busy(reader)
    for app in deployed.values():
        for program, old, new in touched(names, app):
            if program in busy:
                yield at_work(old, new, f"{busy[program]} of {program} is active")


def _busy(reader: EngineReader) -> dict[str, str]:
    """Return an active run, or a job that is about to have one, of each program that has one."""
    found = {run.program: f"run {run.run_id}" for run in reader.runs(active=True)}
    for job in reader.jobs(states=ACTIVE):
        if job.launch is not None:
            found.setdefault(f"{job.app}/{job.launch.program}", f"job {job.id}")
    return found


def apply_renames(transaction: EngineTransaction, names: Renames, now: datetime) -> None:
    """Give everything in the store its new name."""
    apps = transaction.records(APPS)
    states = transaction.schedules()
    former = {deployed.name: deployed.app for deployed in apps}
    transaction.rename(names)
    renamed = [
        msgspec.structs.replace(each, app=renamed_app(each.app, names))
        for each in apps
        if renamed_app(each.app, names) != each.app
    ]
    for kind, renamed_by in RENAMED.items():
        move_records(transaction, kind, partial(renamed_by, names=names))
    changed = [(state, renamed_state(state, names)) for state in states]
    changed = [(old, new) for old, new in changed if old != new]
    transaction.delete_schedules([old.ref for old, new in changed if old.ref != new.ref])
    transaction.put_schedules([new for _, new in changed])
    others = transaction.records(APPS, name={new.app for _, new in changed})
    transaction.put_records(APPS, [msgspec.structs.replace(each, digest="") for each in others])
    put_subscriptions(
        transaction,
        [new.ref for _, new in changed],
        [each for _, new in changed for each in subscriptions(new)],
    )
    _put_jobs(transaction, names, former)
    record = record_of(transaction)
    every = {**names.programs, **names.datasets}
    known = {old: every.get(new, new) for old, new in record.former.items()} | every
    kept = Record(
        places=moved_places(record.places, without_paths(names, former)),
        former={old: new for old, new in known.items() if old not in every.values()},
    )
    transaction.set_cursor(RECORD, msgspec.to_builtins(kept))
    rename_held(transaction, names.apps)
    _rename_backfills(transaction, names)
    transaction.add_journal(list(_entries(names, renamed, [new for _, new in changed], now)))


def _rename_backfills(transaction: EngineTransaction, names: Renames) -> None:
    """Let backfills have the new names of their apps and tasks."""
    for each in backfills(transaction):
        task = None if each.task is None else names.schedule(whole_name(each.app, each.task))
        app = names.app(each.app)
        renamed = msgspec.structs.replace(
            each,
            app=app,
            task=None if task is None else name_in(app, task),
            tasks=tuple(map(names.schedule, each.tasks)),
            disabled=tuple(map(names.schedule, each.disabled)),
        )
        if renamed != each:
            transaction.set_cursor(backfill_cursor(each.number), msgspec.to_builtins(renamed))
            rename_left(transaction, each.number, names.schedule)


def _put_jobs(transaction: EngineTransaction, names: Renames, apps: Mapping[str, App]) -> None:
    """Put the jobs that may still be launched; those that have ended well are history."""
    states = frozenset(JobState) - FINISHED | {JobState.FAILED}
    parts = (*names.programs, *names.datasets, *names.schedules)
    touched_apps = {app_of(ref) for ref in parts} & set(apps)
    former = {new: old for old, new in names.schedules.items()}
    for app in sorted({*touched_apps, *names.apps}):
        jobs = transaction.jobs(apps=(names.app(app),), states=states)
        # Their schedules have the new name already, and what they name is meant by the former one.
        before = [msgspec.structs.replace(job, schedule=_former(job, app, former)) for job in jobs]
        transaction.put_jobs([renamed_job(job, names) for job in before])


def _former(job: Job, app: str, former: Mapping[str, str]) -> str:
    """Return the former name of the schedule of a job, or of the policy of an operation on a table."""
    known = former.get(job.schedule) if job.maintenance is None else None
    return known or f"{app}/{name_of(job.schedule)}"


def put_subscriptions(
    transaction: EngineTransaction, refs: Collection[str], rows: Iterable[Subscription]
) -> None:
    """Replace every row of the reverse index of some schedules."""
    before, after = set(transaction.records(SUBSCRIPTIONS, schedule=refs)), set(rows)
    transaction.drop_records(SUBSCRIPTIONS, map(SUBSCRIPTIONS.key_of, before - after))
    transaction.put_records(SUBSCRIPTIONS, after - before)


def subscriptions(state: ScheduleState) -> Iterator[Subscription]:
    """Yield the rows of the reverse index for a schedule."""
    for leaf in leaves(state.spec.trigger):
        for event_key in listens_to(state.app, state.ref, leaf, state.spec.program):
            yield Subscription(event_key=event_key, schedule=state.ref, leaf=leaf.path)


def subscribe(
    transaction: EngineTransaction,
    before: Mapping[str, ScheduleState],
    after: Sequence[ScheduleState],
    now: datetime,
) -> None:
    """Let changed schedules listen to what their texts name.

    What only a former text listened to is remembered: an event of it that arrived before the change, and is
    read after it, has a row in the ledger (rule 11). A schedule may change several times before that.
    """
    clock = engine_clock(transaction)
    read = None if clock is None else clock - AWAY_AFTER
    rows = [each for state in after for each in subscriptions(state)]
    refs = [state.ref for state in after]
    kept = [each for each in transaction.records(SUBSCRIPTIONS, schedule=refs) if _is_unread(each, read)]
    for state in after:
        counted = {key for key, _ in _counted(state)}
        old = () if state.ref not in before else _counted(before[state.ref])
        former = [
            *(each for each in kept if each.schedule == state.ref),
            *(
                Subscription(event_key=key, schedule=state.ref, leaf=f"{FORMER}{now.isoformat()} {path}")
                for key, path in old
            ),
        ]
        rows += [each for each in former if each.event_key not in counted]
    put_subscriptions(transaction, refs, rows)


def _is_unread(listener: Subscription, read: datetime | None) -> bool:
    """Return whether only a former text listened, and events from before its change may still come."""
    return listener.former is not None and (read is None or listener.former[0] > read)


def _counted(state: ScheduleState) -> list[tuple[str, str]]:
    """Return the event keys that leaves of a schedule count, with these leaves; not fires and tasks."""
    return [
        (listens_to(state.app, state.ref, leaf, state.spec.program)[0], leaf.path)
        for leaf in leaves(state.spec.trigger)
        if not leaf.trigger.fires_by_clock and leaf.trigger.tasks_heard is None
    ]


def _entries(
    names: Renames, apps: list[DeployedApp], states: list[ScheduleState], now: datetime
) -> Iterator[Entry]:
    """Yield the entries: `why --at` reads schedules and apps from them."""
    data: dict[str, Any] = {"apps": names.apps, "programs": names.programs, "datasets": names.datasets}
    if names.schedules:
        data["schedules"] = names.schedules
    yield Entry(at=now, kind=EntryKind.RENAME, data=data)
    for deployed in apps:
        spec = msgspec.to_builtins(noted(deployed.app))
        yield Entry(
            at=now,
            kind=EntryKind.SPEC,
            data={"app": deployed.name, "action": "rename", "revision": deployed.revision, "spec": spec},
        )
    for state in states:
        spec = msgspec.to_builtins(noted(state.spec))
        yield Entry(
            at=now,
            kind=EntryKind.SPEC,
            schedule=state.ref,
            data={"action": "amend", "spec": spec, "status": state.status},
        )


def forget_former(transaction: EngineTransaction, after: Mapping[str, App]) -> None:
    """Forget the former names that deployed programs and datasets have now."""
    record = record_of(transaction)
    if not record.former:
        return
    taken = {
        f"{app.name}/{part}" for app in after.values() for part in (*app.programs, *app.datasets)
    } & record.former.keys()
    if taken:
        kept = {old: new for old, new in record.former.items() if old not in taken}
        transaction.set_cursor(RECORD, msgspec.to_builtins(msgspec.structs.replace(record, former=kept)))


def _renamed_app(deployed: DeployedApp, names: Renames) -> DeployedApp:
    app = renamed_app(deployed.app, names)
    return deployed if app == deployed.app else msgspec.structs.replace(deployed, app=app, digest="")


RENAMED: Mapping[Kind[Any], Callable[..., Any]] = {APPS: _renamed_app, OVERRIDES: renamed_override}
"""How the records of a kind, which the store leaves to us, get their new names."""


class Renamed:
    """The rows that a comparison reads, under their new names, before they have been renamed."""

    def __init__(self, reader: EngineReader, names: Renames) -> None:
        self._reader = reader
        self._names = names

    def records(self, kind: Kind[V], /, *, name: Collection[str] | None = None) -> tuple[V, ...]:
        """Return apps or overrides; one that moves replaces what was left under its new name."""
        both = [(value, RENAMED[kind](value, names=self._names)) for value in self._reader.records(kind)]
        stay = {kind.key_of(new): new for old, new in both if old == new}
        move = {kind.key_of(new): new for old, new in both if old != new}
        found = sorted((stay | move).values(), key=kind.place_of)
        return tuple(each for each in found if name is None or kind.key_of(each)[0] in name)

    def schedules(
        self, *, refs: Collection[str] | None = None, app: str | None = None
    ) -> tuple[ScheduleState, ...]:
        """Return the deployed schedules, by ref."""
        found = (renamed_state(state, self._names) for state in self._reader.schedules())
        wanted = (each for each in found if (refs is None or each.ref in refs) and app in (None, each.app))
        return tuple(sorted(wanted, key=lambda each: each.ref))

    def jobs(self, *, states: frozenset[JobState], schedules: Collection[str]) -> tuple[Job, ...]:
        """Return the jobs of some schedules in some states."""
        found = (renamed_job(job, self._names) for job in self._reader.jobs(states=states))
        return tuple(job for job in found if job.schedule in schedules)

    def deliveries(self, jobs: list[str]) -> dict[str, tuple[Delivery, ...]]:
        """Return the deliveries of each job."""
        return {
            job: tuple(renamed_delivery(each, self._names) for each in found)
            for job, found in self._reader.deliveries(jobs).items()
        }

    def watermarked(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return the parts that have watermarks, by consumer and source."""
        programs, datasets = self._names.programs, self._names.datasets
        return {
            (programs.get(consumer, consumer), datasets.get(source, source)): parts
            for (consumer, source), parts in self._reader.watermarked().items()
        }
