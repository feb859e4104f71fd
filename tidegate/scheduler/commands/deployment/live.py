"""Live: the deployed apps and the effects of a change on their jobs, as the compiler compares them.

`plan` shows this difference and `deploy` applies it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.blocked import Blocked, second_maintenance, shared_places
from tidegate.compiler.plan.consequence import Effect
from tidegate.compiler.plan.diff import Diff, ScheduleChange, diff
from tidegate.compiler.plan.left_behind import left_behind
from tidegate.compiler.plan.ownership import NO_PROJECT, Scope, reach
from tidegate.compiler.plan.renames import find_renames, moved_places, with_places, without_paths
from tidegate.compiler.plan.shared_folders import Neighbours, shared_folders
from tidegate.domain.model import App, TaskTrigger
from tidegate.domain.model.others import with_named
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.deployed_rows import (
    NO_DIGESTS,
    DeployedRows,
    Digests,
    deployed_rows,
)
from tidegate.scheduler.commands.deployment.rename import Renamed, blocks, record_of
from tidegate.scheduler.commands.deployment.specifications import storages_of
from tidegate.scheduler.commands.overrides import override_changes
from tidegate.scheduler.commands.tasks.deployed_tasks import days_begun
from tidegate.scheduler.decision.changes.carry import carry
from tidegate.scheduler.decision.changes.fate import Change, Fate, fate
from tidegate.scheduler.decision.changes.moved_crons import moved_crons, names_of
from tidegate.scheduler.decision.instances.changed import after_change
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import ACTIVE, WAITING, Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.clock import engine_clock

REASONS = (Reason.D_DELETED, Reason.D_UPDATED, Reason.D_SUSPENDED)
"""Why a change discards jobs, in the order in which `plan` lists them."""

WHOLE = Scope()
"""All apps without an owner, each of which may be removed."""


class Compared(NamedTuple):
    """A difference, with all deployed apps under their new names, and under those of now."""

    changes: Diff
    deployed: Mapping[str, App]
    former: Mapping[str, App]


def difference(
    reader: EngineReader, wanted: Mapping[str, App], *, update_schedules: bool = True, scope: Scope = WHOLE
) -> Diff:
    """Return the difference that a deployment of `wanted`, all apps of the project, would make."""
    return compared(reader, wanted, update_schedules=update_schedules, scope=scope).changes


def compared(
    reader: EngineReader,
    wanted: Mapping[str, App],
    *,
    update_schedules: bool = True,
    scope: Scope = WHOLE,
    digests: Digests | None = NO_DIGESTS,
) -> Compared:
    """Return the difference that a deployment of `wanted` would make, with what it was compared with.

    Args:
        digests: of wanted apps, by name, as far as they are known; None: read every app.
    """
    headers = reader.app_headers()
    owners = {each.name: each.project for each in headers}
    rows = deployed_rows(reader, wanted, digests)
    deployed = rows.apps
    chosen = {name: app for name, app in wanted.items() if scope.only is None or name in scope.only}
    # Apps of other projects are not renamed.
    own = {name: app for name, app in deployed.items() if owners[name] in (scope.project, NO_PROJECT)}
    names = find_renames(own, chosen, rows.same)
    renamed = Renamed(reader, names) if names else reader
    rows = DeployedRows(renamed, {}) if names else rows
    namespaces = {names.app(each.name): each.namespace for each in headers}
    found = reach({names.app(name): owner for name, owner in owners.items()}, wanted, scope, namespaces)
    touched = found.wanted | found.removed
    places = moved_places(record_of(reader).places, without_paths(names, deployed))
    to_deploy = with_places({name: wanted[name] for name in found.wanted}, places)
    changes = compare(rows, touched, to_deploy, update_schedules, engine_clock(reader))
    overrides = renamed.records(OVERRIDES)
    named = {each.ref for each in changes.schedules() if each.action != "unchanged"}
    states = rows.states(named | {each.ref for each in overrides})
    changes = _with_calls(changes, states, {each.ref: each for each in overrides if each.of_text})
    before = {name: app for name, app in rows.apps.items() if name in touched}
    neighbours = _neighbours(reader, rows.apps, {names.app(n): o for n, o in owners.items()}, touched)
    shared = _shared(changes, before, neighbours, scope, wanted)
    changes = msgspec.structs.replace(
        changes,
        stays=found.stays,
        adopted=found.adopted,
        taken=found.taken,
        renames=names,
        blocked=(*blocks(reader, names, deployed, found.removed, changes.after), *shared),
        left=tuple(left_behind(before, changes.after, renamed.watermarked())),
        overrides=tuple(override_changes(overrides, changes, states, to_deploy)),
    )
    return Compared(changes, rows.apps, deployed)


def _with_calls(changes: Diff, states: Mapping[str, ScheduleState], texts: Mapping[str, Override]) -> Diff:
    """Return a difference that names the changes by calls which it undoes.

    Args:
        texts: the overrides of texts, by ref.
    """

    def named(change: ScheduleChange) -> ScheduleChange:
        state = None if "unchanged" in (change.action, change.would) else states.get(change.ref)
        if state is None:
            return change
        gone = state.source == "api" and "delete" in (change.action, change.would)
        override = texts.get(state.ref)
        how = "over REST" if override is None or override.owner.startswith("rest") else "by hand"
        call = f"it was created {how}" if gone else f"it was changed {how}" if state.overridden else ""
        because = "; ".join(each for each in (call, change.because) if each)
        return msgspec.structs.replace(change, because=because)

    apps = (
        app
        if app.name in changes.same
        else msgspec.structs.replace(app, schedules=tuple(map(named, app.schedules)))
        for app in changes.apps
    )
    return msgspec.structs.replace(changes, apps=tuple(apps))


def _shared(
    changes: Diff, before: Mapping[str, App], neighbours: Neighbours, scope: Scope, wanted: Collection[str]
) -> Iterator[Blocked]:
    """Yield the blocks of what an app would have that only one may have."""
    after, project, storage = changes.after, scope.project, scope.storage
    yield from shared_places(after, neighbours.in_warehouse(project, storage))
    yield from shared_folders(before, after, neighbours, project, storage, wanted, changes.same)
    yield from second_maintenance(after, neighbours.apps)


def _neighbours(
    reader: EngineReader, apps: Mapping[str, App], owners: Mapping[str, str], touched: frozenset[str]
) -> Neighbours:
    """Return the deployed apps that a deployment is not about, with their owners."""
    rest = {name: app for name, app in apps.items() if name not in touched}
    return Neighbours(apps=rest, owners={name: owners[name] for name in rest}, storages=storages_of(reader))


def compare(
    rows: DeployedRows,
    names: Collection[str],
    wanted: Mapping[str, App],
    update_schedules: bool = True,
    clock: datetime | None = None,
) -> Diff:
    """Return the difference between the deployed apps of some names and `wanted`.

    Args:
        clock: up to when the engine has done everything; None if it has never run.
    """
    deployed = rows.apps
    others = {name: app for name, app in deployed.items() if name not in names}
    everything = {**others, **wanted}
    return diff(
        {name: app for name, app in deployed.items() if name in names},
        wanted,
        update_schedules=update_schedules,
        effects=lambda changes: effects(rows, changes, everything, clock),
        others=others,
        same=frozenset(rows.same),
    )


def effects(
    rows: DeployedRows,
    changes: Iterable[ScheduleChange],
    apps: Mapping[str, App],
    clock: datetime | None = None,
) -> dict[tuple[str, str], Effect]:
    """Return the effects of changed schedules on their jobs, by app and schedule.

    Args:
        apps: all apps after the change.
        clock: when the change is made; None: before the engine has run.
    """
    changed = {change.ref: change for change in changes if change.action in ("replace", "delete")}
    if not changed:
        return {}
    states, reader = rows.states(changed), rows.rows
    replaced = {change.app for change in changed.values() if change.action == "replace"}
    wanted = {name: with_named(apps[name], apps) for name in replaced}
    jobs: dict[str, list[Job]] = {ref: [] for ref in changed}
    for job in reader.jobs(states=WAITING | ACTIVE | {JobState.PAUSED}, schedules=changed):
        jobs[job.schedule].append(job)
    carried = [job.id for ref in changed if changed[ref].carries for job in jobs[ref] if job.waiting]
    deliveries: Mapping[str, Sequence[Delivery]] = reader.deliveries(carried) if carried else {}
    found: dict[tuple[str, str], Effect] = {}
    for ref, change in changed.items():
        before = states[ref]
        after = before if change.action == "delete" else _renewed(before, wanted[before.app])
        if change.action == "replace" and before.spec.task is not None and after.spec.task is not None:
            effect = effect_on_instances(before, after.spec.task, jobs[ref])
            made = _begun(before, after.spec.task, clock or before.deployed_at, effect.again)
            found[before.app, before.name] = msgspec.structs.replace(effect, made=made)
            continue
        kind = _kind(change)
        ends = [_end(job, kind, before, after, wanted, deliveries.get(job.id, ())) for job in jobs[ref]]
        moved = moved_crons(before, after, clock or before.deployed_at) if change.action == "replace" else ()
        found[before.app, before.name] = msgspec.structs.replace(
            _counted(before, ends),
            at_once=tuple(name for each in moved for name in names_of(each.cron, each.at_once)),
            skipped=tuple(name for each in moved for name in names_of(each.cron, each.skipped)),
        )
    return found


class _End(Value, kw_only=True):
    """The fate of one job, and the numbers of events that it keeps and loses if it is carried."""

    job: Job
    fate: Fate
    carried: bool
    events: int = 0
    dropped: int = 0


def _kind(change: ScheduleChange) -> Change:
    if change.action == "delete":
        return Change.DELETED
    return Change.CARRIED if change.carries else Change.RESET


def _renewed(state: ScheduleState, app: App) -> ScheduleState:
    spec = app.schedules[state.name]
    return msgspec.structs.replace(state, spec=spec, fingerprint=fingerprint(spec))


def _end(
    job: Job,
    change: Change,
    before: ScheduleState,
    after: ScheduleState,
    wanted: Mapping[str, App],
    deliveries: Sequence[Delivery],
) -> _End:
    if change is not Change.CARRIED or not job.waiting:
        return _End(job=job, fate=fate(job, change, before, after), carried=False)
    carried = carry(job, deliveries, after, wanted[after.app], job.opened_at)
    found = fate(job, change, before, after, emptied=carried.job is None)
    events = len({delivery.event.id for delivery in carried.kept})
    dropped = len({delivery.event.id for delivery in carried.dropped})
    return _End(job=job, fate=found, carried=found.kind != "discarded", events=events, dropped=dropped)


def _counted(state: ScheduleState, ends: Sequence[_End]) -> Effect:
    reasons = [end.fate.reason for end in ends]
    carried = [end for end in ends if end.carried]
    going_on = [end.job for end in ends if end.fate.kind != "discarded" and not end.job.waiting]
    # PENDING_LAUNCH without a run: the request may be on its way, but these are not active runs yet.
    unlaunched = [job for job in going_on if job.state is JobState.PENDING_LAUNCH and job.run_id is None]
    return Effect(
        status=state.status,
        discarded={str(reason): reasons.count(reason) for reason in REASONS if reason in reasons},
        carried=len(carried),
        carried_events=sum(end.events for end in carried),
        dropped_events=sum(end.dropped for end in carried),
        held=sum(end.fate.kind == "held" for end in ends),
        released=sum(end.fate.kind == "released" for end in ends),
        launches=len(unlaunched),
        active_runs=len(going_on) - len(unlaunched),
    )


def _begun(
    before: ScheduleState, task: TaskTrigger, now: datetime, again: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of the instances that are made since their days have begun in another zone.

    Args:
        again: those that exist.
    """
    slots = days_begun(before.spec.as_task, task, now)
    begun = (slot for slot in slots if local_day(task, slot.scheduled) <= local_day(task, now))
    names = (scheduled_key(task, slot.scheduled) for slot in begun)
    return tuple(name for name in names if name not in again)


def effect_on_instances(state: ScheduleState, task: TaskTrigger, jobs: Sequence[Job]) -> Effect:
    """Return the effect of a changed task on its instances.

    Args:
        task: as it is from now on.
        jobs: its instances that have not ended.
    """
    fates = [(job, after_change(job, task)) for job in jobs]
    kinds = [each.kind for _, each in fates]
    again = sorted((job.of_task.scheduled, job.key) for job, each in fates if each.kind == "again")
    discarded = kinds.count("discarded")
    running = [job for job in jobs if job.run_id is not None]
    return Effect(
        status=state.status,
        discarded={str(Reason.D_DELETED): discarded} if discarded else {},
        again=tuple(key for _, key in again),
        gone=kinds.count("gone"),
        active_runs=len(running),
    )
