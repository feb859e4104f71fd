"""Schedules: create, change and delete single ones of a deployed app, in the caller's one transaction.

It is a deployment of the app as it is, with one schedule more, changed or less: the same difference, the same
consequences for jobs, the same journal (`scheduler.commands.deployment.deploy`). The app's YAML stays as it
is. What a call created, changed or deleted is an override, and a later deployment that updates schedules ends
it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

import msgspec

from tidegate.compiler.plan.diff import Diff
from tidegate.domain.model import App, Schedule
from tidegate.domain.part_name import Ref, app_of
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.deployment.deploy import carry_out
from tidegate.scheduler.commands.deployment.deployed_rows import DeployedRows, deployed_apps
from tidegate.scheduler.commands.deployment.deployment import Deeds
from tidegate.scheduler.commands.deployment.live import compare
from tidegate.scheduler.commands.overrides import Cause, record_overrides, text_override_of
from tidegate.scheduler.decision.changes.overrides import mark_of, marked
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import route_before


def put_schedule(
    transaction: EngineTransaction,
    app: str,
    spec: Schedule,
    now: datetime,
    by: By,
    until: Until | None = None,
) -> Diff:
    """Create a schedule of a deployed app, or replace it.

    What happens to the jobs and events of a replaced one its `on_update` decides.

    Args:
        until: when it reverts to what was deployed; given for a text that is in force already by an override,
            it changes when.

    Raises:
        Refused: other schedules would be left without their trigger.
    """
    route_before(transaction, now, [f"{app}/{spec.name}"])
    before = deployed_apps(transaction)[app]
    after = msgspec.structs.replace(before, schedules={**before.schedules, spec.name: spec})
    changes = carry_out_call(transaction, {app: after}, now, by, until=until)
    if until is not None and changes.empty:
        _extend(transaction, f"{app}/{spec.name}", now, by, until)
    return changes


def _extend(transaction: EngineTransaction, ref: str, now: datetime, by: By, until: Until) -> None:
    """Give the override of a text another owner, reason and expiry."""
    known, (state,) = text_override_of(transaction, ref), transaction.schedules(refs=[ref])
    if known is None:
        raise Refused(f"{ref} is as it was deployed, so there is nothing to revert to later")
    record_overrides(transaction, [known], [marked(known, mark_of(by, until, now))], now, by)
    transaction.put_schedules([msgspec.structs.replace(state, revision=state.revision + 1)])


def delete_schedules(
    transaction: EngineTransaction, refs: Collection[str], now: datetime, *, force: bool = False, by: By
) -> Diff:
    """Delete deployed schedules ("app/name") and keep their apps; a later deploy may create them again.

    Waiting jobs and decided launches without a run are discarded with D-DELETED.

    Args:
        force: delete tasks that remaining tasks wait for, too; these then run without them.

    Raises:
        Refused: such a schedule is not deployed, or a remaining task waits for it.
    """
    route_before(transaction, now, refs)
    apps = deployed_apps(transaction)
    for ref in refs:
        app, name = Ref.of(ref)
        if app not in apps or name not in apps[app].schedules:
            raise Refused(f"no schedule {ref} is deployed", "`tidegate schedules list` shows what is")
    touched = {app_of(ref) for ref in refs}
    remaining = {
        name: msgspec.structs.replace(
            app, schedules={n: spec for n, spec in app.schedules.items() if f"{name}/{n}" not in refs}
        )
        for name, app in apps.items()
        if name in touched
    }
    return carry_out_call(transaction, remaining, now, by, force=force)


def carry_out_call(
    transaction: EngineTransaction,
    wanted: Mapping[str, App],
    now: datetime,
    by: By,
    *,
    force: bool = False,
    until: Until | None = None,
    cause: Cause = "undone",
) -> Diff:
    """Make some apps as they are wanted, as calls for single schedules; what was due before is done.

    Args:
        until: when the overrides that it makes expire.
        cause: why overrides end by it.

    Raises:
        Refused: other schedules would be left without their trigger.
    """
    owners = {app.name: app.project for app in transaction.records(APPS, name=wanted.keys())}
    rows = DeployedRows(transaction, {})
    changes = compare(rows, wanted.keys(), wanted)
    deeds = Deeds(owners=owners, force=force, by=by, source="api", until=until, cause=cause)
    carry_out(transaction, changes, wanted, deeds, now, rows.apps)
    return changes
