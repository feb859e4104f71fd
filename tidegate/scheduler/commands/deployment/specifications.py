"""The specifications that deployments wrote: kept with each one, and put together again.

A deployment keeps only what it has changed. What was deployed after it is, for each app and schedule, the
newest specification up to it.

Where each project of the store has its data, recorded at its deployments. A deployment compares its folders
with those of the other projects (`compiler.plan.shared_folders`).
"""

from collections.abc import Collection, Iterator

import msgspec

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.ownership import Scope, Storage
from tidegate.domain.part_name import name_of
from tidegate.scheduler.model.deployed import APPS, DeployedApp, whole_app
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.records.specification import SPECIFICATIONS, Specification, kept
from tidegate.scheduler.store.answers import Numbered
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

RECORD = "storages"
"""Name of the cursor that holds the record."""


def storages_of(reader: EngineReader) -> dict[str, Storage]:
    """Return where each project has its data, by project."""
    return msgspec.convert(reader.cursor(RECORD) or {}, dict[str, Storage])


def record_storage(transaction: EngineTransaction, scope: Scope) -> None:
    """Record where the project of a deployment has its data, if that is known and new."""
    known = storages_of(transaction)
    if scope.storage is not None and known.get(scope.project) != scope.storage:
        transaction.set_cursor(RECORD, msgspec.to_builtins({**known, scope.project: scope.storage}))


ALL = 2**63 - 1
"""The number behind that of every deployment."""


def keep_specifications(transaction: EngineTransaction, changes: Diff) -> None:
    """Keep what the newest deployment has changed, in the transaction that has made it."""
    number = newest_deployment(transaction).number
    if changes.renames:
        refs = _everything(transaction)
    else:
        refs = {change.name for change in changes.apps if change.action != "unchanged"}
        refs |= {each.ref for each in changes.schedules() if each.touches}
    apps = {
        app.name: msgspec.structs.replace(app, digest="")
        for app in transaction.records(APPS, name={ref for ref in refs if "/" not in ref})
    }
    states = {state.ref: state for state in transaction.schedules(refs={ref for ref in refs if "/" in ref})}
    transaction.put_records(
        SPECIFICATIONS,
        [kept(ref, number, states[ref].spec if ref in states else apps.get(ref)) for ref in sorted(refs)],
    )


def newest_deployment(reader: EngineReader) -> Numbered:
    """Return the entry of the newest deployment; there is one."""
    (found,) = reader.journal_page(kinds=(EntryKind.DEPLOY,), limit=1)
    return found


def deployment_entry(reader: EngineReader, number: int) -> Entry | None:
    """Return the entry of a deployment; None if there is none of this number."""
    found = reader.journal(kinds=(EntryKind.DEPLOY,), after=number - 1, until=number)
    return next(iter(found), None)


def _everything(reader: EngineReader) -> set[str]:
    """Return what is deployed or was once: a rename moves apps and what is in them."""
    known = {each.ref for each in reader.specifications(ALL) if not each.gone}
    return known | {app.name for app in reader.records(APPS)} | {state.ref for state in reader.schedules()}


def deployed_at(
    reader: EngineReader, number: int, apps: Collection[str] | None = None
) -> dict[str, DeployedApp]:
    """Return the apps as they were after a deployment, by name, with their schedules; some, or all."""
    found = [each for each in reader.specifications(number, apps=apps) if not each.gone]
    schedules: dict[str, list[Specification]] = {}
    for each in found:
        if "/" in each.ref:
            schedules.setdefault(each.app, []).append(each)
    return {app.name: app for app in _with_schedules(found, schedules)}


def _with_schedules(
    found: list[Specification], schedules: dict[str, list[Specification]]
) -> Iterator[DeployedApp]:
    import msgspec

    for each in found:
        if "/" in each.ref:
            continue
        deployed = each.deployed_app()
        specs = {name_of(one.ref): one.schedule() for one in schedules.get(each.ref, ())}
        whole = msgspec.structs.replace(whole_app(deployed, ()), schedules=specs)
        yield msgspec.structs.replace(deployed, app=whole)
