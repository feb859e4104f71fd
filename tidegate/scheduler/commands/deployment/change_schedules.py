"""The stages "schedules" and "events": the changes of schedules and tasks, in sets (a project has thousands).

create, replace, amend, delete ──► jobs discarded, carried or left ──► schedules written ──► overrides
what has begun ──► subscriptions ──► events that exist already ──► instances look for upstream again
"""

from collections.abc import Iterator
from typing import assert_never

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.diff import ScheduleChange
from tidegate.domain.model import Schedule
from tidegate.domain.value import Value
from tidegate.scheduler.commands.activation import takes_events
from tidegate.scheduler.commands.change_jobs import change_jobs
from tidegate.scheduler.commands.deployment.deployment import Deployment
from tidegate.scheduler.commands.deployment.rename import subscribe
from tidegate.scheduler.commands.deployment.replace import (
    Replacement,
    carry_schedules,
    create_schedules,
    move_crons,
    reset_schedules,
)
from tidegate.scheduler.commands.existing_events import collect_existing
from tidegate.scheduler.commands.overrides import record_overrides
from tidegate.scheduler.commands.tasks.deployed_tasks import change_tasks, wake_consumers
from tidegate.scheduler.decision.changes.fate import Change
from tidegate.scheduler.decision.changes.overrides import after_call, after_deployment, mark_of
from tidegate.scheduler.model.deployed import ScheduleState, noted
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.tick.expected import follow_datasets
from tidegate.scheduler.tick.load import load_apps


class _Sorted(Value, kw_only=True):
    """The changes by what they need. An unchanged schedule needs nothing."""

    deleted: list[ScheduleState] = []
    new: list[ScheduleState] = []
    reset: list[Replacement] = []
    tasks: list[Replacement] = []
    carried: list[Replacement] = []
    amended: list[ScheduleState] = []


def change_schedules(deployment: Deployment) -> None:
    """Create, change and delete schedules, with what becomes of their jobs and overrides."""
    transaction, now = deployment.transaction, deployment.now
    refs = [change.ref for change in deployment.touched()]
    deployment.before = {state.ref: state for state in transaction.schedules(refs=refs)}
    known, after = _overrides(deployment)
    overridden = frozenset(each.ref for each in after if each.kind == "specification")
    found = _sort(deployment, overridden)
    change_jobs(transaction, Change.DELETED, found.deleted, now)
    begun = create_schedules(transaction, found.new, now)
    begun += reset_schedules(transaction, found.reset, now)
    # Only what starts here may ask for events of the past: `carry` has decided for the others.
    deployment.collecting = [each for each in begun if each.spec.task is not None or takes_events(each)]
    tasks = change_tasks(transaction, [r.before for r in found.tasks], [r.spec for r in found.tasks], now)
    had_asked = {each.before.ref for each in found.tasks if each.before.spec.collect_existing}
    deployment.collecting += [state for state in tasks if state.ref not in had_asked]
    # The changed apps are written already.
    apps = load_apps(transaction, [each.changed for each in found.carried])
    begun += [*tasks, *carry_schedules(transaction, found.carried, apps, now)]
    former = deployment.before
    begun = [move_crons(transaction, former.get(state.ref, state), state, now) for state in begun]
    deployment.listening = [_overriding(state, overridden) for state in begun]
    written = [*deployment.listening, *(_overriding(state, overridden) for state in found.amended)]
    gone = [state.ref for state in found.deleted]
    transaction.delete_schedules(gone)
    transaction.drop_records(LAST_LAUNCHES, gone)
    transaction.put_schedules(written)
    deployment.changed = {state.ref: state for state in written}
    transaction.add_journal(list(_entries(deployment)))
    _record_overrides(deployment, known, after)


def listen(deployment: Deployment) -> None:
    """Let what has changed listen to its events, and look at those that exist already."""
    transaction, now = deployment.transaction, deployment.now
    subscribe(transaction, deployment.before, deployment.listening, now)
    collect_existing(transaction, deployment.collecting, now)
    gone = {change.ref for change in deployment.touched() if change.action == "delete"}
    wake_consumers(transaction, {*deployment.changed, *gone}, now)
    follow_datasets(transaction, deployment.after.values(), now)


def _sort(deployment: Deployment, overridden: frozenset[str]) -> _Sorted:
    found = _Sorted()
    for change in deployment.touched():
        match change.action:
            case "create":
                found.new.append(_new(deployment, change))
            case "replace":
                each = Replacement(deployment.before[change.ref], _spec(deployment, change))
                if each.before.spec.task is not None and each.spec.task is not None:
                    found.tasks.append(each)
                else:
                    (found.carried if change.carries else found.reset).append(each)
            case "amend" | "unchanged":
                state, spec = deployment.before[change.ref], _spec(deployment, change)
                # An unchanged schedule may have moved in its file: `why` shows its lines.
                if spec != state.spec or state.overridden != (change.ref in overridden):
                    found.amended.append(_amended(state, spec))
            case "delete":
                found.deleted.append(deployment.before[change.ref])
            case "kept":
                pass
            case _:
                assert_never(change.action)
    return found


def _spec(deployment: Deployment, change: ScheduleChange) -> Schedule:
    return deployment.wanted[change.app].schedules[change.name]


def _new(deployment: Deployment, change: ScheduleChange) -> ScheduleState:
    spec = _spec(deployment, change)
    return ScheduleState(
        ref=change.ref,
        spec=spec,
        fingerprint=fingerprint(spec),
        status=spec.status,
        changed_by="deploy",
        deployed_at=deployment.now,
        source=deployment.deeds.source,
    )


def _amended(state: ScheduleState, spec: Schedule) -> ScheduleState:
    """Return a schedule with other harmless fields, text or place; a new place alone makes none."""
    found = fingerprint(spec)
    same = found == state.fingerprint and spec.written == state.spec.written
    revision = state.revision if same else state.revision + 1
    return msgspec.structs.replace(state, spec=spec, fingerprint=found, revision=revision)


def _overriding(state: ScheduleState, overridden: frozenset[str]) -> ScheduleState:
    overrides = state.ref in overridden
    return state if state.overridden == overrides else msgspec.structs.replace(state, overridden=overrides)


def _overrides(deployment: Deployment) -> tuple[list[Override], list[Override]]:
    """Return the overrides of the apps of a difference, as they are and as it leaves them."""
    changes, deeds = deployment.changes, deployment.deeds
    names = {app.name for app in changes.apps}
    known = [each for each in deployment.transaction.records(OVERRIDES) if each.app in names]
    if deeds.source == "deploy":
        return known, after_deployment(known, changes)
    mark = mark_of(deeds.by, deeds.until, deployment.now)
    return known, after_call(known, changes, deployment.before, deployment.wanted, mark)


def _record_overrides(deployment: Deployment, known: list[Override], after: list[Override]) -> None:
    """Record what has become of overrides; that of a status ends with its schedule, whatever its expiry."""
    transaction, deeds, now = deployment.transaction, deployment.deeds, deployment.now
    gone = [each for each in known if each.kind == "status" and each not in after]
    if deeds.source == "api":
        record_overrides(transaction, gone, [], now, deeds.by, "deleted")
        known = [each for each in known if each not in gone]
    record_overrides(transaction, known, after, now, deeds.by, deeds.cause)


def _entries(deployment: Deployment) -> Iterator[Entry]:
    """Yield the entry of each changed schedule; a schedule that only moved in its file has none."""
    for change in deployment.touched():
        if not change.touches:
            continue
        state = deployment.changed.get(change.ref)
        data: dict[str, object] = {"action": change.action, "spec": None}
        if state is not None:
            data |= {"spec": msgspec.to_builtins(noted(state.spec)), "status": state.status}
        if change.action == "replace":
            data["carries"] = change.carries
        yield Entry(at=deployment.now, kind=EntryKind.SPEC, schedule=change.ref, data=data)
