"""Deploy: makes the store say what the project's YAML says, in the caller's one transaction.

What changes is decided by `compiler.diff` alone; here the changes are only carried out
(DESIGN §10, rules 11 and 23). A schedule that does not change keeps its jobs, its status and
its place in time; one that does is deleted and created again with the status that it had.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import assert_never

import msgspec

from compiler.diff import AppChange, Diff
from compiler.fingerprint import fingerprint
from compiler.model import App, Schedule, leaves
from scheduler.deployed import DeployedApp, ScheduleState
from scheduler.event import Subscription, listens_to
from scheduler.journal import Entry, EntryKind
from scheduler.live import difference
from scheduler.manual import activated, discard_unlaunched, discard_waiting
from scheduler.reason import Reason
from scheduler.refused import Refused
from scheduler.store.protocol import Transaction


def deploy(
    transaction: Transaction,
    wanted: Mapping[str, App],
    now: datetime,
    update_schedules: bool = True,
    force: bool = False,
) -> Diff:
    """Deploy all apps of a project.

    Args:
        wanted: the apps by name; a deployed app that is missing here is removed.
        update_schedules: whether schedules follow the YAML. If not, they are neither created,
            changed nor deleted, but those of a removed program or app always go.
        force: carry out a removal that leaves schedules without what triggers them.

    Returns:
        The difference that was carried out.

    Raises:
        Refused: the removal of a part would leave schedules without what triggers them.
    """
    changes = difference(transaction, wanted, update_schedules=update_schedules)
    if changes.refusals and not force:
        raise _refused(changes)
    _put_schedules(transaction, changes, wanted, now)
    _put_apps(transaction, changes, now)
    if not changes.empty:
        transaction.add_journal([_entry(changes, force, now)])
    return changes


def _refused(changes: Diff) -> Refused:
    parts = [
        f"{refusal.section.removesuffix('s')} {refusal.app}/{refusal.name}, which triggers"
        f" {', '.join(refusal.schedules)}"
        for refusal in changes.refusals
    ]
    return Refused(
        f"the deployment would remove {'; '.join(parts)}",
        "deploy with --update-schedules, put the removed part back, or deploy with --force",
    )


def _put_schedules(transaction: Transaction, changes: Diff, wanted: Mapping[str, App], now: datetime) -> None:
    """Carry out the changes of schedules, as sets: a project may have thousands."""
    states = {state.ref: state for state in transaction.schedules()}
    by_action = {action: _of_action(changes, action) for action in ("create", "replace", "delete")}
    for refs, reason in ((by_action["replace"], Reason.D_UPDATED), (by_action["delete"], Reason.D_DELETED)):
        discard_waiting(transaction, refs, reason, now)
        discard_unlaunched(transaction, refs, now, reason)
    transaction.delete_schedules(by_action["delete"])
    created: list[ScheduleState] = []
    moved: list[ScheduleState] = []
    for change in changes.schedules():
        ref = f"{change.app}/{change.name}"
        match change.action:
            case "create":
                spec = wanted[change.app].schedules[change.name]
                created.append(_created(ref, spec, spec.status == "active", "deploy", now))
            case "replace":
                spec, state = wanted[change.app].schedules[change.name], states[ref]
                created.append(_created(ref, spec, state.active, state.changed_by, now))
            case "amend" | "unchanged":
                # Unchanged text may have moved in its file: `why` shows its lines.
                spec, state = wanted[change.app].schedules[change.name], states[ref]
                if spec != state.spec:
                    moved.append(msgspec.structs.replace(state, spec=spec, fingerprint=fingerprint(spec)))
            case "delete" | "kept":
                pass
            case _:
                assert_never(change.action)
    transaction.put_schedules([*created, *moved])
    transaction.put_subscriptions(
        [state.ref for state in created], [each for state in created for each in _subscriptions(state)]
    )


def _of_action(changes: Diff, action: str) -> list[str]:
    return [f"{change.app}/{change.name}" for change in changes.schedules() if change.action == action]


def _created(ref: str, spec: Schedule, active: bool, by: str, now: datetime) -> ScheduleState:
    state = ScheduleState(
        ref=ref,
        spec=spec,
        fingerprint=fingerprint(spec),
        status="suspended",
        changed_by=by,
        deployed_at=now,
    )
    return activated(state, now, by) if active else state


def _subscriptions(state: ScheduleState) -> Iterable[Subscription]:
    for leaf in leaves(state.spec.trigger):
        for event_key in listens_to(state.app, state.ref, leaf, state.spec.program):
            yield Subscription(event_key=event_key, schedule=state.ref, leaf=leaf.path)


def _put_apps(transaction: Transaction, changes: Diff, now: datetime) -> None:
    deployed = {app.name: app for app in transaction.apps()}
    gone = [change.name for change in changes.apps if change.action == "delete"]
    standing: list[DeployedApp] = []
    for change in changes.apps:
        if change.action == "delete":
            continue
        bare = msgspec.structs.replace(changes.after[change.name], schedules={})
        before = deployed.get(change.name)
        if before is None or change.action != "unchanged":
            revision = 1 if before is None else before.revision + 1
            standing.append(DeployedApp(app=bare, revision=revision, deployed_at=now))
        elif before.app != bare:
            standing.append(msgspec.structs.replace(before, app=bare))
    transaction.put_apps(standing)
    transaction.delete_apps(gone)


def _entry(changes: Diff, force: bool, now: datetime) -> Entry:
    return Entry(
        at=now,
        kind=EntryKind.DEPLOY,
        data={
            "update_schedules": changes.update_schedules,
            "force": force,
            "apps": {change.name: _noted(change) for change in changes.apps if change.action != "unchanged"},
        },
    )


def _noted(change: AppChange) -> dict[str, object]:
    touched = {s.name: s.action for s in change.schedules if s.action not in ("unchanged", "kept")}
    parts = [f"{part.action} {part.section}.{part.name}" for part in change.parts]
    return {"action": change.action, "schedules": touched, "parts": parts}
