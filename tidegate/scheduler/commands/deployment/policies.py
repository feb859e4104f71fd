"""The stage "policies": the apps are written as they are wanted, with the records of their maintenance.

The change of a policy takes effect at the next poll (docs/maintenance.md): records of new policies and tables
come, those of others go with their waiting jobs, and a changed cron, interval or zone gives a new next run,
counted from the last start.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.plan.diff import AppChange
from tidegate.compiler.plan.refusal import refusals_within
from tidegate.domain.model import App
from tidegate.domain.part_name import DEFAULT_NAMESPACE
from tidegate.scheduler.commands.deployment.deployed_rows import stored_digest
from tidegate.scheduler.commands.deployment.deployment import Deployment
from tidegate.scheduler.model.deployed import APPS, DeployedApp, noted
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, TableState, Untouched
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.answers import AppHeader
from tidegate.scheduler.store.engine_rows import MaintenanceRows
from tidegate.scheduler.tick.maintenance.by_hand import try_again
from tidegate.scheduler.tick.maintenance.policies import (
    POLLS,
    Policies,
    policies_of,
    polls_noted,
)
from tidegate.scheduler.tick.maintenance.records import update_records
from tidegate.scheduler.tick.maintenance.tables import gone, landed_datasets, tables_of_datasets


def change_apps(deployment: Deployment) -> None:
    """Write the apps without their schedules, and bring maintenance up to date with them."""
    transaction, now = deployment.transaction, deployment.now
    headers = {header.name: header for header in transaction.app_headers()}
    changes = [change for change in deployment.changes.apps if _is_looked_at(deployment, change, headers)]
    deployed = {app.name: app for app in transaction.records(APPS, name=[change.name for change in changes])}
    gone = [change.name for change in changes if change.action == "delete"]
    digests = _digests(deployment, changes)
    changed = [
        after
        for change in changes
        if change.action != "delete"
        and (after := _after(deployment, change, deployed.get(change.name), digests))
        != deployed.get(change.name)
    ]
    transaction.put_records(APPS, changed)
    transaction.drop_records(APPS, gone)
    actions = {change.name: change.action for change in changes if change.action != "unchanged"}
    entries = [_entry(name, actions[name], None, now) for name in gone]
    entries += [_entry(each.name, actions[each.name], each, now) for each in changed if each.name in actions]
    transaction.add_journal(entries)
    _change_policies(deployment)


def _is_looked_at(deployment: Deployment, change: AppChange, headers: Mapping[str, AppHeader]) -> bool:
    """Return whether the row of an app may change."""
    if change.name not in deployment.changes.same:
        return True
    header, deeds = headers[change.name], deployment.deeds
    return (header.project, header.namespace) != (
        deeds.owners[change.name],
        deeds.namespace or header.namespace,
    )


def _digests(deployment: Deployment, changes: Collection[AppChange]) -> Mapping[str, str]:
    """Return the digests of apps by which later deployments know them (`deployed_rows`).

    An app that was changed by a call, has overrides, or lacks what its triggers name is compared each time.
    """
    if deployment.deeds.source != "deploy":
        return {}
    overridden = {each.app for each in deployment.transaction.records(OVERRIDES)}
    written = (_written(deployment, change) for change in changes if change.action != "delete")
    return {
        app.name: stored_digest(app)
        for app in written
        if app.name not in overridden and not any(refusals_within(app.name, app))
    }


def _written(deployment: Deployment, change: AppChange) -> App:
    """Return an app with its schedules as the stage "schedules" writes them: places may be other ones."""
    after = deployment.changes.after[change.name]
    kept = {each.name for each in change.schedules if each.action == "kept"}
    wanted = deployment.wanted[change.name].schedules
    schedules = {name: spec if name in kept else wanted[name] for name, spec in after.schedules.items()}
    return msgspec.structs.replace(after, schedules=schedules)


def _after(
    deployment: Deployment, change: AppChange, before: DeployedApp | None, digests: Mapping[str, str]
) -> DeployedApp:
    """Return an app as it is deployed from now on; one that is unchanged keeps its revision."""
    app = msgspec.structs.replace(deployment.changes.after[change.name], schedules={})
    owner = deployment.deeds.owners[change.name]
    namespace = deployment.deeds.namespace or (DEFAULT_NAMESPACE if before is None else before.namespace)
    digest = digests.get(change.name, "")
    if before is not None and change.action == "unchanged":
        return msgspec.structs.replace(before, app=app, project=owner, namespace=namespace, digest=digest)
    return DeployedApp(
        app=app,
        revision=1 if before is None else before.revision + 1,
        deployed_at=deployment.now,
        project=owner,
        namespace=namespace,
        digest=digest,
    )


def _entry(name: str, action: str, deployed: DeployedApp | None, now: datetime) -> Entry:
    spec = None if deployed is None else msgspec.to_builtins(noted(deployed.app))
    revision = None if deployed is None else deployed.revision
    data = {"app": name, "action": action, "revision": revision, "spec": spec}
    if deployed is not None and deployed.namespace != DEFAULT_NAMESPACE:
        data["namespace"] = deployed.namespace
    return Entry(at=now, kind=EntryKind.SPEC, data=data)


def _change_policies(deployment: Deployment) -> None:
    """Bring tables and records up to date with the deployed apps."""
    transaction, now = deployment.transaction, deployment.now
    after = policies_of(transaction, deployment.after.values(), now)
    if transaction.cursor(POLLS) is None:
        transaction.set_cursor(POLLS, polls_noted(after, None))
    old = policies_of(transaction, deployment.apps.values(), now)
    if not (old.policies or after.policies):
        return
    if _same(old, after):
        return
    tables = {table.name: table for table in transaction.records(MAINTAINED_TABLES)}
    datasets = {table.name: table for table in tables_of_datasets(after.apps.values())}
    existed = {table.name for table in tables_of_datasets(old.apps.values())}
    named = {table.catalog_name for table in datasets.values()}
    changed = [
        _deployed(each, tables.get(name), comes_back=name not in existed) for name, each in datasets.items()
    ]
    if not deployment.deeds.assume_published:
        landed = landed_datasets(after.apps.values())
        goes_on = existed & tables.keys()
        changed = [_with_untouched(transaction, each, landed, goes_on) for each in changed]
    changed += [
        gone(table, now)
        for name, table in tables.items()
        if name not in datasets and not table.gone and (table.dataset is not None or name in named)
    ]
    transaction.put_records(MAINTAINED_TABLES, changed)
    everything = {**tables, **{table.name: table for table in changed}}
    update_records(transaction, after, list(everything.values()), now, old.policies)
    try_again(transaction, old, now)


def _deployed(table: TableState, known: TableState | None, *, comes_back: bool) -> TableState:
    """Return the table of a deployed dataset; one that is gone comes back with its dataset."""
    if known is None:
        return table
    kept = msgspec.structs.replace(known, catalog_name=table.catalog_name)
    return msgspec.structs.replace(kept, gone=False) if comes_back else kept


def _with_untouched(
    rows: MaintenanceRows, table: TableState, landed: Collection[str], goes_on: Collection[str]
) -> TableState:
    """Return the table of a dataset with why polls start nothing on it.

    Args:
        landed: the datasets whose files are landed.
        goes_on: the datasets of which that is known.
    """
    before = table.history.untouched
    found = before
    if table.name in landed:
        found = Untouched.LANDED
    elif table.name not in goes_on or before is Untouched.LANDED:
        found = None if rows.keys_written(table.name) else Untouched.NEVER_PUBLISHED
    if found is before:
        return table
    return msgspec.structs.replace(table, history=msgspec.structs.replace(table.history, untouched=found))


def _forms(policies: Policies) -> list[Any]:
    every = sorted(policies.policies.items())
    return [canonical(policies.settings), [(name, canonical(policy)) for name, policy in every]]


def _same(old: Policies, after: Policies) -> bool:
    """Return whether nothing that maintenance depends on has changed; where it is written does not count."""
    was, will = old.apps.values(), after.apps.values()
    return (
        _forms(old) == _forms(after)
        and list(tables_of_datasets(was)) == list(tables_of_datasets(will))
        and landed_datasets(was) == landed_datasets(will)
    )
