"""Deploy: make the store match the project's YAML, in the caller's one transaction.

`compiler.plan.diff` decides the changes; here they are carried out (docs/rules.md: rules 11 and
23). An unchanged schedule keeps its jobs, status, fire times and timers;
`scheduler.commands.deployment.replace` handles changed ones.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import assert_never

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.diff import AppChange, Diff, ScheduleChange
from tidegate.compiler.plan.ownership import Scope
from tidegate.domain.model import App, Schedule
from tidegate.domain.part_name import DEFAULT_NAMESPACE
from tidegate.domain.time.expiry import Until
from tidegate.domain.value import Value
from tidegate.scheduler.commands.change_jobs import change_jobs
from tidegate.scheduler.commands.deployment.live import WHOLE, difference
from tidegate.scheduler.commands.deployment.policies import change_policies
from tidegate.scheduler.commands.deployment.rename import apply_renames, forget_former, subscribe
from tidegate.scheduler.commands.deployment.replace import carry_schedules, created, reset_schedules
from tidegate.scheduler.commands.deployment.reread_crons import note_crons_read
from tidegate.scheduler.commands.deployment.specifications import keep_specifications
from tidegate.scheduler.commands.deployment.storages import record_storage
from tidegate.scheduler.commands.overrides.record import Cause, record_overrides
from tidegate.scheduler.commands.tasks.deployed_tasks import change_tasks, wake_consumers
from tidegate.scheduler.decision.changes.fate import Change
from tidegate.scheduler.decision.changes.overrides import after_call, after_deployment, mark_of
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState, Source, noted
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.expected import follow_datasets
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.missed import has_missed, spans_of
from tidegate.scheduler.tick.tick import advance_before, is_away, route_before


def deploy(
    transaction: Transaction,
    wanted: Mapping[str, App],
    now: datetime,
    update_schedules: bool = True,
    force: bool = False,
    scope: Scope = WHOLE,
    *,
    by: By,
    rollback_to: int | None = None,
) -> Diff:
    """Deploy all apps of a project.

    Args:
        wanted: the apps by name; a deployed app of the project that is missing here is removed.
        update_schedules: whether schedules follow the YAML. If not, they are not created, changed or
            deleted, except that those of a removed program or app are always deleted.
        force: carry out a removal that leaves schedules without the dataset or program that triggers them, or
            tasks without an upstream task.
        scope: the project that deploys, and which of its apps are deployed and removed.
        rollback_to: the deployment that is deployed once more, for the journal.

    Returns:
        The difference that was carried out.

    Raises:
        Refused: another project owns an app of a wanted name, a removal would leave schedules without the
            dataset or program that triggers them, a rename or removal has to wait for a run or publish, or
            a dataset would share its folder with another project's.
    """
    advance_before(transaction, now)
    changes = difference(transaction, wanted, update_schedules=update_schedules, scope=scope)
    if not changes.taken and (is_away(transaction, now) or has_missed(transaction)):
        # What arrived since then belongs to the schedules as they are, and to their jobs.
        route_before(transaction, now, {*spans_of(transaction), *map(_ref, changes.schedules())})
        changes = difference(transaction, wanted, update_schedules=update_schedules, scope=scope)
    if changes.taken:
        raise _taken(changes, scope)
    _refuse_blocked(changes, force)
    if changes.renames:
        found, left = changes.renames, changes.left
        apply_renames(transaction, found, now)
        changes = difference(transaction, wanted, update_schedules=update_schedules, scope=scope)
        changes = msgspec.structs.replace(changes, renames=found, left=left)
    deeds = Deeds(
        owners=dict.fromkeys(wanted, scope.project),
        namespace=scope.namespace,
        force=force,
        by=by,
        rollback_to=rollback_to,
    )
    carry_out(transaction, changes, wanted, deeds, now)
    record_storage(transaction, scope)
    return changes


class Deeds(Value, kw_only=True):
    """How a difference is carried out.

    Attributes:
        owners: the owner of each remaining app.
        namespace: of these apps from now on; None leaves it.
        source: who creates the schedules that are new. A call for one schedule makes a changed one an
            override, a deployment ends that.
        until: when the override of a call expires.
        cause: why overrides end.
    """

    owners: Mapping[str, str]
    namespace: str | None = None
    force: bool
    by: By
    source: Source = "deploy"
    until: Until | None = None
    cause: Cause = "deployed"
    rollback_to: int | None = None


def carry_out(
    transaction: Transaction, changes: Diff, wanted: Mapping[str, App], deeds: Deeds, now: datetime
) -> None:
    """Carry out a difference.

    Raises:
        Refused: a removal would leave schedules without the dataset or program that triggers them.
    """
    if changes.refusals and not deeds.force:
        raise _refused(changes)
    before = {deployed.name: deployed.app for deployed in transaction.apps()}
    known, after = _overrides(transaction, changes, wanted, deeds, now)
    _put_apps(transaction, changes, deeds, now)
    forget_former(transaction, changes.after)
    note_crons_read(transaction, changes.after)
    overridden = frozenset(each.ref for each in after if each.kind == "specification")
    _put_schedules(transaction, changes, wanted, deeds.source, overridden, now)
    _record(transaction, known, after, deeds, now)
    change_policies(transaction, before, now)
    follow_datasets(transaction, now)
    if not changes.empty:
        transaction.add_journal([_entry(changes, deeds, now)])
        keep_specifications(transaction, changes)


def _overrides(
    transaction: Transaction, changes: Diff, wanted: Mapping[str, App], deeds: Deeds, now: datetime
) -> tuple[list[Override], list[Override]]:
    """Return the overrides of the apps of a difference, as they are and as it leaves them."""
    names = {app.name for app in changes.apps}
    known = [each for each in transaction.overrides() if each.app in names]
    if deeds.source == "deploy":
        return known, after_deployment(known, changes)
    states = {state.ref: state for state in transaction.schedules()}
    return known, after_call(known, changes, states, wanted, mark_of(deeds.by, deeds.until, now))


def _record(
    transaction: Transaction, known: list[Override], after: list[Override], deeds: Deeds, now: datetime
) -> None:
    """Record what has become of overrides; that of a status ends with its schedule, whatever its expiry."""
    gone = [each for each in known if each.kind == "status" and each not in after]
    if deeds.source == "api":
        record_overrides(transaction, gone, [], now, deeds.by, "deleted")
        known = [each for each in known if each not in gone]
    record_overrides(transaction, known, after, now, deeds.by, deeds.cause)


def _taken(changes: Diff, scope: Scope) -> Refused:
    apps = "; ".join(taken.summary for taken in changes.taken)
    return Refused(f'{apps}, and this project is "{scope.project}"', changes.taken[0].remedy)


def _refuse_blocked(changes: Diff, force: bool) -> None:
    blocked = [each for each in changes.blocked if not (force and each.forcible)]
    if blocked:
        raise Refused("; ".join(each.summary for each in blocked), blocked[0].remedy)


def _refused(changes: Diff) -> Refused:
    parts: dict[str, list[str]] = {}
    for refusal in changes.refusals:
        parts.setdefault(refusal.deed, []).append(refusal.summary)
    what = "; and ".join(f"{deed} {'; '.join(summaries)}" for deed, summaries in parts.items())
    return Refused(f"the deployment would {what}", changes.refusals[0].remedy)


def _put_schedules(
    transaction: Transaction,
    changes: Diff,
    wanted: Mapping[str, App],
    source: Source,
    overridden: frozenset[str],
    now: datetime,
) -> None:
    """Carry out the changes of schedules, in sets: a project may have thousands."""
    states = {state.ref: state for state in transaction.schedules()}
    gone: list[str] = []
    new: list[ScheduleState] = []
    reset: list[tuple[ScheduleState, Schedule]] = []
    carried: list[tuple[ScheduleState, Schedule]] = []
    amended: list[ScheduleState] = []
    tasks: list[tuple[ScheduleState, Schedule]] = []
    for change in changes.schedules():
        ref = _ref(change)
        match change.action:
            case "create":
                new.append(_new(ref, wanted[change.app].schedules[change.name], source, now))
            case "replace" if _stays_task(states[ref], wanted[change.app].schedules[change.name]):
                tasks.append((states[ref], wanted[change.app].schedules[change.name]))
            case "replace" if change.carries:
                carried.append((states[ref], wanted[change.app].schedules[change.name]))
            case "replace":
                reset.append((states[ref], wanted[change.app].schedules[change.name]))
            case "amend" | "unchanged":
                # An unchanged schedule may have moved in its file: `why` shows its lines.
                spec, state = wanted[change.app].schedules[change.name], states[ref]
                if spec != state.spec or state.overridden != (ref in overridden):
                    amended.append(_amended(state, spec))
            case "delete":
                gone.append(ref)
            case "kept":
                pass
            case _:
                assert_never(change.action)
    change_jobs(transaction, Change.DELETED, [states[ref] for ref in gone], now)
    transaction.delete_schedules(gone)
    started = created(transaction, new, now)
    started += reset_schedules(transaction, [state for state, _ in reset], [spec for _, spec in reset], now)
    started += change_tasks(transaction, [state for state, _ in tasks], [spec for _, spec in tasks], now)
    # The changed apps are written already.
    apps = load_apps(transaction, [msgspec.structs.replace(state, spec=spec) for state, spec in carried])
    started += carry_schedules(
        transaction, [state for state, _ in carried], [spec for _, spec in carried], apps, now
    )
    started, amended = (
        [_overriding(state, state.ref in overridden) for state in each] for each in (started, amended)
    )
    transaction.put_schedules([*started, *amended])
    subscribe(transaction, states, started, now)
    after = {state.ref: state for state in (*started, *amended)}
    wake_consumers(transaction, {*after, *gone}, now)
    transaction.add_journal(list(_schedule_entries(changes, after, now)))


def _stays_task(state: ScheduleState, spec: Schedule) -> bool:
    return state.spec.task is not None and spec.task is not None


def _ref(change: ScheduleChange) -> str:
    return f"{change.app}/{change.name}"


def _amended(state: ScheduleState, spec: Schedule) -> ScheduleState:
    """Return a schedule with other harmless fields, text or place; a new place alone makes none."""
    found = fingerprint(spec)
    same = found == state.fingerprint and spec.written == state.spec.written
    revision = state.revision if same else state.revision + 1
    return msgspec.structs.replace(state, spec=spec, fingerprint=found, revision=revision)


def _overriding(state: ScheduleState, overrides: bool) -> ScheduleState:
    if state.overridden == overrides:
        return state
    return msgspec.structs.replace(state, overridden=overrides)


def _new(ref: str, spec: Schedule, source: Source, now: datetime) -> ScheduleState:
    return ScheduleState(
        ref=ref,
        spec=spec,
        fingerprint=fingerprint(spec),
        status=spec.status,
        changed_by="deploy",
        deployed_at=now,
        source=source,
    )


def _put_apps(transaction: Transaction, changes: Diff, deeds: Deeds, now: datetime) -> None:
    deployed = {app.name: app for app in transaction.apps()}
    gone = [change.name for change in changes.apps if change.action == "delete"]
    changed: list[DeployedApp] = []
    for change in changes.apps:
        if change.action == "delete":
            continue
        bare = msgspec.structs.replace(changes.after[change.name], schedules={})
        before, owner = deployed.get(change.name), deeds.owners[change.name]
        namespace = deeds.namespace or (DEFAULT_NAMESPACE if before is None else before.namespace)
        if before is None or change.action != "unchanged":
            revision = 1 if before is None else before.revision + 1
            new = DeployedApp(app=bare, revision=revision, deployed_at=now, project=owner)
            changed.append(msgspec.structs.replace(new, namespace=namespace))
        else:
            same = msgspec.structs.replace(before, app=bare, project=owner, namespace=namespace)
            if same != before:
                changed.append(same)
    transaction.put_apps(changed)
    transaction.delete_apps(gone)
    actions = {change.name: change.action for change in changes.apps if change.action != "unchanged"}
    entries = [_app_entry(name, actions[name], None, now) for name in gone]
    entries += [_app_entry(d.name, actions[d.name], d, now) for d in changed if d.name in actions]
    transaction.add_journal(entries)


def _app_entry(name: str, action: str, deployed: DeployedApp | None, now: datetime) -> Entry:
    spec = None if deployed is None else msgspec.to_builtins(noted(deployed.app))
    revision = None if deployed is None else deployed.revision
    data = {"app": name, "action": action, "revision": revision, "spec": spec}
    if deployed is not None and deployed.namespace != DEFAULT_NAMESPACE:
        data["namespace"] = deployed.namespace
    return Entry(at=now, kind=EntryKind.SPEC, data=data)


def _schedule_entries(changes: Diff, after: Mapping[str, ScheduleState], now: datetime) -> Iterator[Entry]:
    """Return the entry of each changed schedule; a schedule that only moved in its file has none."""
    for change in changes.schedules():
        if change.action in ("unchanged", "kept"):
            continue
        state = after.get(_ref(change))
        data: dict[str, object] = {"action": change.action, "spec": None}
        if state is not None:
            data |= {"spec": msgspec.to_builtins(noted(state.spec)), "status": state.status}
        if change.action == "replace":
            data["carries"] = change.carries
        yield Entry(at=now, kind=EntryKind.SPEC, schedule=_ref(change), data=data)


def _entry(changes: Diff, deeds: Deeds, now: datetime) -> Entry:
    return Entry(
        at=now,
        kind=EntryKind.DEPLOY,
        data={
            "update_schedules": changes.update_schedules,
            "force": deeds.force,
            **deeds.by.noted,
            **({} if deeds.rollback_to is None else {"rollback_to": deeds.rollback_to}),
            **({"overrides": msgspec.to_builtins(changes.overrides)} if changes.overrides else {}),
            "apps": {change.name: _noted(change) for change in changes.apps if change.action != "unchanged"},
        },
    )


def _noted(change: AppChange) -> dict[str, object]:
    touched = {s.name: s.action for s in change.schedules if s.action not in ("unchanged", "kept")}
    parts = [f"{part.action} {part.section}.{part.name}" for part in change.parts]
    return {"action": change.action, "schedules": touched, "parts": parts}
