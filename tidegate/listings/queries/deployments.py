"""Deployments as all faces show them, the list of them, and one by its number."""

from collections.abc import Collection

import msgspec

from tidegate.listings.deployments import ChangedApp, LoggedDeployment
from tidegate.listings.read import Asked
from tidegate.scheduler.commands.deployment.deployments import no_deployment
from tidegate.scheduler.commands.deployment.specifications import deployment_entry
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader


def list_deployments(asked: Asked) -> list[LoggedDeployment]:
    """Return the newest deployments that match, each with its changes of the apps that are listed."""
    before, found = None if asked.after is None else asked.after[0], list[LoggedDeployment]()
    while len(found) < asked.limit:
        rows = asked.reader.journal_page(kinds=(EntryKind.DEPLOY,), before=before, limit=asked.limit)
        seen = (_public(row.number, row.entry, asked.apps) for row in reversed(rows))
        found += [each for each in seen if each is not None and _matches(asked, each)]
        if len(rows) < asked.limit:
            break
        before = rows[0].number
    return found


def find_deployment(
    reader: EngineReader, number: int, apps: Collection[str] | None = None
) -> LoggedDeployment:
    """Return the deployment of a number.

    Raises:
        Refused: there is none, or it has changed none of these apps.
    """
    entry = deployment_entry(reader, number)
    deployment = None if entry is None else _public(number, entry, apps)
    if deployment is None:
        raise no_deployment(number)
    return deployment


def _public(number: int, entry: Entry, apps: Collection[str] | None) -> LoggedDeployment | None:
    """Return a deployment with its changes of some apps; None for one that changed none of these."""
    noted = entry.data["apps"].items()
    changed = {name: change for name, change in noted if apps is None or name in apps}
    if not changed and apps is not None:
        return None
    return LoggedDeployment(
        number=number,
        at=entry.at,
        by=entry.data.get("by", ""),
        reason=entry.data.get("why", ""),
        update_schedules=entry.data["update_schedules"],
        force=entry.data["force"],
        rollback_to=entry.data.get("rollback_to"),
        apps=msgspec.convert(changed, dict[str, ChangedApp]),
    )


def _matches(asked: Asked, each: LoggedDeployment) -> bool:
    by, since = asked.wanted.get("by"), asked.wanted.get("since")
    return by in (None, each.by) and (since is None or each.at >= since)
