"""Tables: those of the deployed datasets, and what a write to one of them makes the store forget."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

import msgspec

from tidegate.domain.model import App
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    TableHistory,
    TableState,
    Untouched,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies


def tables_of_datasets(apps: Iterable[App]) -> Iterator[TableState]:
    """Return the tables of all datasets of some apps, as they are when nothing is known of them yet.

    An asset of others is none: its own code keeps it.
    """
    for app in apps:
        for dataset in app.datasets.values():
            if dataset.asset:
                continue
            yield TableState(
                name=f"{app.name}/{dataset.name}",
                catalog_name=dataset.table(app.name),
                dataset=f"{app.name}/{dataset.name}",
            )


def landed_datasets(apps: Iterable[App]) -> frozenset[str]:
    """Return the datasets ("app/dataset") of some apps whose files are landed: no program writes them."""
    return frozenset(
        f"{app.name}/{dataset.name}"
        for app in apps
        for written in [{name for program in app.programs.values() for name in program.writes}]
        for dataset in app.datasets.values()
        if dataset.path is not None and dataset.name not in written
    )


def table_named(reader: EngineReader, text: str) -> TableState | None:
    """Return the table with one of its names; None if there is none, or it is gone.

    A dataset has its own name, "app/dataset", and that of its table in the catalog. The dataset of a
    deployed app exists, whether or not anything is known of it yet.
    """
    for table in reader.records(MAINTAINED_TABLES, name=(text,)):
        if not table.gone:
            return table
    for table in tables_of_datasets(deployed.app for deployed in reader.records(APPS)):
        if text in (table.name, table.catalog_name):
            found = record(reader, MAINTAINED_TABLES, name=table.name) or table
            return None if found.gone else found
    return None


def gone(table: TableState, now: datetime) -> TableState:
    """Return a table that is gone: nothing of what is known of it counts when it comes back."""
    return TableState(
        name=table.name,
        catalog_name=table.catalog_name,
        dataset=table.dataset,
        gone=True,
        history=TableHistory(since=now),
    )


def forgotten(transaction: EngineTransaction, written: Mapping[str, datetime], now: datetime) -> None:
    """Forget what was measured of tables before they were written, and let the next poll look at them.

    The first publish of a dataset makes its table.

    Args:
        written: when each table was written.
    """
    stale = [
        table
        for table in transaction.records(MAINTAINED_TABLES, name=written)
        # One that is to be measured may be under way: what comes of it is too old as well.
        if table.wanted_at is not None
        or table.history.untouched is Untouched.NEVER_PUBLISHED
        or (table.health is not None and table.health.measured_at < written[table.name])
    ]
    if stale:
        transaction.put_records(
            MAINTAINED_TABLES,
            [
                # A late event does not bring back what was measured before a later change.
                msgspec.structs.replace(
                    table,
                    health=None,
                    history=_published(table.history),
                    changed_at=max(written[table.name], table.changed_at or written[table.name]),
                )
                for table in stale
            ],
        )
        new = {table.name for table in stale if table.history.untouched is Untouched.NEVER_PUBLISHED}
        policies = load_policies(transaction, now)
        look_again(transaction, {table.name for table in stale}, policies, now, new=new)


def _published(history: TableHistory) -> TableHistory:
    """Return the history of a table that was written."""
    if history.untouched is not Untouched.NEVER_PUBLISHED:
        return history
    return msgspec.structs.replace(history, untouched=None)


def look_again(
    transaction: EngineTransaction,
    tables: Collection[str],
    policies: Policies,
    now: datetime,
    *,
    new: Collection[str] = (),
) -> None:
    """Let the next poll look at what is due on tables of which something else is known now.

    Args:
        new: those of them of which nothing was looked at before.
    """
    soon = policies.poll_from(now)
    transaction.put_records(
        MAINTENANCE_RECORDS,
        [
            msgspec.structs.replace(record, next_look=soon)
            for record in transaction.records(MAINTENANCE_RECORDS, table=tables)
            if (record.table in new and record.counts)
            or (record.due_since is not None and record.next_look is not None and record.next_look > soon)
        ],
    )
