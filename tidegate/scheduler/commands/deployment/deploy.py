"""Deploy: make the store match the project's YAML, in the caller's one transaction.

    what is due is done ──► compare ──► refused? ──► rename ─► policies ─► schedules ─► events ─► journal

`compiler.plan.diff` decides the changes (docs/rules.md: rules 11 and 23) and `compiler.plan.stages` names the
stages that carry them out; `plan` shows both. An unchanged schedule keeps its jobs, status, fire times and
timers; `replace` handles changed ones.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from tidegate.compiler.plan.diff import AppChange, Diff
from tidegate.compiler.plan.ownership import Scope
from tidegate.compiler.plan.stages import STAGES, Stage
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.change_schedules import change_schedules, listen
from tidegate.scheduler.commands.deployment.deployed_rows import NO_DIGESTS, Digests
from tidegate.scheduler.commands.deployment.deployment import Deeds, Deployment
from tidegate.scheduler.commands.deployment.live import WHOLE, Compared, compared
from tidegate.scheduler.commands.deployment.policies import change_apps
from tidegate.scheduler.commands.deployment.rename import apply_renames, forget_former
from tidegate.scheduler.commands.deployment.specifications import keep_specifications, record_storage
from tidegate.scheduler.commands.deployment.withheld import give_up_withheld
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.missed import has_missed, spans_of
from tidegate.scheduler.tick.tick import advance_before, is_away, route_before


def deploy(
    transaction: EngineTransaction,
    wanted: Mapping[str, App],
    now: datetime,
    update_schedules: bool = True,
    force: bool = False,
    scope: Scope = WHOLE,
    *,
    by: By,
    rollback_to: int | None = None,
    assume_published: bool = True,
    digests: Digests = NO_DIGESTS,
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
        assume_published: whether policies find a table of every dataset, as in examples. In life one that was
            never published has none, and a poll starts nothing on it.
        digests: of wanted apps, by name, as far as they are known (`content_digest`).

    Returns:
        The difference that was carried out.

    Raises:
        Refused: another project owns an app of a wanted name, a removal would leave schedules without the
            dataset or program that triggers them, a rename or removal has to wait for a run or publish, or
            a dataset would share its folder with another project's.
    """
    advance_before(transaction, now)

    def compare_with(known: Digests | None) -> Compared:
        return compared(transaction, wanted, update_schedules=update_schedules, scope=scope, digests=known)

    def compare_now() -> Compared:
        found = compare_with(digests)
        return compare_with(None) if found.changes.empty and found.changes.same else found

    changes, deployed, _ = compare_now()
    if not changes.taken and (is_away(transaction, now) or has_missed(transaction)):
        # What arrived since then belongs to the schedules as they are, and to their jobs.
        route_before(transaction, now, {*spans_of(transaction), *(each.ref for each in changes.schedules())})
        changes, deployed, _ = compare_now()
    _refuse_taken(changes, scope)
    _refuse_blocked(changes, force)
    give_up_withheld(transaction, changes.blocked, now, by)
    deeds = Deeds(
        owners=dict.fromkeys(wanted, scope.project),
        namespace=scope.namespace,
        force=force,
        by=by,
        rollback_to=rollback_to,
        assume_published=assume_published,
    )
    carry_out(transaction, changes, wanted, deeds, now, deployed)
    record_storage(transaction, scope)
    return changes


def carry_out(
    transaction: EngineTransaction,
    changes: Diff,
    wanted: Mapping[str, App],
    deeds: Deeds,
    now: datetime,
    deployed: Mapping[str, App],
) -> None:
    """Carry out a difference, stage by stage.

    Args:
        deployed: all deployed apps, under their new names.

    Raises:
        Refused: a removal would leave schedules without the dataset or program that triggers them.
    """
    if changes.refusals and not deeds.force:
        raise _refused(changes)
    deployment = Deployment(
        transaction=transaction, changes=changes, wanted=wanted, deeds=deeds, now=now, apps=deployed
    )
    for stage in STAGES:
        _RUN[stage](deployment)


def _rename(deployment: Deployment) -> None:
    if deployment.changes.renames:
        apply_renames(deployment.transaction, deployment.changes.renames, deployment.now)
    forget_former(deployment.transaction, deployment.changes.after)


def _record(deployment: Deployment) -> None:
    """Write the record of the deployment; one that has only moved lines in a file has none."""
    if not deployment.changes.empty:
        deployment.transaction.add_journal([_entry(deployment)])
        # They have the number of the entry.
        keep_specifications(deployment.transaction, deployment.changes)


_RUN: Mapping[Stage, Callable[[Deployment], None]] = {
    "rename": _rename,
    "policies": change_apps,
    "schedules": change_schedules,
    "events": listen,
    "journal": _record,
}


def _entry(deployment: Deployment) -> Entry:
    changes, deeds = deployment.changes, deployment.deeds
    return Entry(
        at=deployment.now,
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
    touched = {each.name: each.action for each in change.schedules if each.touches}
    parts = [f"{part.action} {part.section}.{part.name}" for part in change.parts]
    return {"action": change.action, "schedules": touched, "parts": parts}


def _refuse_taken(changes: Diff, scope: Scope) -> None:
    if changes.taken:
        apps = "; ".join(taken.summary for taken in changes.taken)
        raise Refused(f'{apps}, and this project is "{scope.project}"', changes.taken[0].remedy)


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
