"""Deployments: their log, what each changed, and the way back to an earlier one.

A rollback is a deployment of the apps as they were after an earlier one: the same difference, the same
consequences for jobs, the same refusals (`scheduler.commands.deployment.deploy`), in the caller's one
transaction. Statuses stay as they are. An app that did not exist then stays too, unless its removal is asked
for.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

import msgspec

from tidegate.compiler.plan.diff import Diff, diff
from tidegate.compiler.plan.override_change import OverrideChange
from tidegate.compiler.plan.ownership import Scope
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.commands.deployment.specifications import deployed_at, deployment_entry
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

LIST = "`tidegate deployments log` lists them"
NO_APPS: frozenset[str] = frozenset()


def no_deployment(number: int) -> Refused:
    """Return the refusal of a number that no deployment has."""
    return Refused(f"there is no deployment {number}", LIST)


def change_of(reader: EngineReader, number: int, apps: Collection[str] | None = None) -> Diff:
    """Return what a deployment changed."""
    found = _between(apps_after(reader, number - 1, apps), apps_after(reader, number, apps))
    return msgspec.structs.replace(found, overrides=_overrides(reader, number, apps))


def _overrides(reader: EngineReader, number: int, apps: Collection[str] | None) -> tuple[OverrideChange, ...]:
    """Return what a deployment did to the overrides of some apps."""
    entry = deployment_entry(reader, number)
    noted = () if entry is None else entry.data.get("overrides", ())
    changes = msgspec.convert(noted, list[OverrideChange])
    return tuple(each for each in changes if apps is None or each.app in apps)


def change_between(
    reader: EngineReader, old: int, new: int | None, project: str, apps: Collection[str] | None = None
) -> Diff:
    """Return the difference between two deployments of a project; without consequences for jobs.

    Args:
        new: None for what is deployed now.
        apps: only these; None for all apps.

    Raises:
        Refused: there is no such deployment.
    """
    for number in (old, *(() if new is None else (new,))):
        _check_exists(reader, number)
    before = apps_after(reader, old, apps, project)
    if new is not None:
        return _between(before, apps_after(reader, new, apps, project))
    owners = {each.name: each.project for each in reader.app_headers()}
    now = {
        name: app
        for name, app in deployed_apps(reader).items()
        if owners[name] == project and (apps is None or name in apps)
    }
    return _between(before, now)


def rollback(
    transaction: EngineTransaction,
    number: int,
    scope: Scope,
    now: datetime,
    by: By,
    *,
    force: bool = False,
    remove_apps: bool = False,
) -> Diff:
    """Deploy what was deployed after an earlier deployment.

    Args:
        scope: the project, and which of its apps; `removable` counts for nothing.
        remove_apps: remove those of these apps that did not exist then.

    Raises:
        Refused: there is no such deployment, nothing differs from it, or a deployment of it is refused.
    """
    wanted, scope = _wanted_again(transaction, number, scope, remove_apps)
    changes = deploy(
        transaction,
        wanted,
        now,
        force=force,
        scope=scope,
        by=by,
        rollback_to=number,
        assume_published=False,
    )
    _refuse_empty(changes, number)
    return changes


def rollback_ahead(reader: EngineReader, number: int, scope: Scope) -> Diff:
    """Return what a rollback without options would do now; of a refused one, also why (`Diff.refused`).

    Raises:
        Refused: as of `rollback`, but for refusals of the deployment.
    """
    wanted, scope = _wanted_again(reader, number, scope, remove_apps=False)
    changes = difference(reader, wanted, scope=scope)
    _refuse_empty(changes, number)
    return changes


def _wanted_again(
    reader: EngineReader, number: int, scope: Scope, remove_apps: bool
) -> tuple[dict[str, App], Scope]:
    """Return the apps that a rollback deploys, and the scope of that deployment."""
    _check_exists(reader, number)
    wanted = apps_after(reader, number, scope.only, scope.project)
    if scope.only is not None and scope.only - wanted.keys() and not remove_apps:
        missing = ", ".join(sorted(scope.only - wanted.keys()))
        raise Refused(f"{missing} did not exist after deployment {number}", "roll back to a later one")
    return wanted, msgspec.structs.replace(scope, removable=None if remove_apps else NO_APPS)


def _refuse_empty(changes: Diff, number: int) -> None:
    if changes.empty:
        raise Refused(f"nothing differs from deployment {number}", LIST)


def _check_exists(reader: EngineReader, number: int) -> None:
    if deployment_entry(reader, number) is None:
        raise no_deployment(number)


def apps_after(
    reader: EngineReader, number: int, apps: Collection[str] | None = None, project: str | None = None
) -> dict[str, App]:
    """Return the apps as they were after a deployment, by name; those of a project, or all."""
    return {
        name: deployed.app
        for name, deployed in deployed_at(reader, number, apps).items()
        if project is None or deployed.project == project
    }


def _between(before: Mapping[str, App], after: Mapping[str, App]) -> Diff:
    """Return a difference without consequences: those depend on the jobs of that time."""
    found = diff(before, after)
    apps = tuple(
        msgspec.structs.replace(
            change,
            schedules=tuple(msgspec.structs.replace(each, consequences=()) for each in change.schedules),
        )
        for change in found.apps
    )
    return msgspec.structs.replace(found, apps=apps, refusals=())
