"""Tables: what is reported of tables from outside: that they exist, that they are gone, and their health.

A report takes effect at its instant: earlier polls are replayed first.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Health, TableHistory, TableState
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.maintenance.by_hand import try_again
from tidegate.scheduler.tick.maintenance.policies import load_policies
from tidegate.scheduler.tick.maintenance.records import update_records
from tidegate.scheduler.tick.maintenance.tables import (
    forgotten,
    gone,
    look_again,
    tables_of_datasets,
)
from tidegate.scheduler.tick.tick import advance_before


class TableFound(Value, kw_only=True):
    """A table that exists.

    Attributes:
        catalog_name: "catalog.namespace.table".
        dataset: "app/dataset" if it is known to be the table of one.
    """

    catalog_name: str
    dataset: str | None = None


def report_tables(
    transaction: EngineTransaction,
    found: Sequence[TableFound],
    now: datetime,
    *,
    listed: Collection[str] = (),
) -> tuple[str, ...]:
    """Take in which tables exist.

    Args:
        listed: prefixes of catalog names ("catalog.") that were listed completely: a table that the store
            knows there and that was not found is gone.

    Returns:
        The names of the tables that are new, or have come back.
    """
    advance_before(transaction, now)
    datasets = {
        table.catalog_name: table for table in tables_of_datasets(d.app for d in transaction.records(APPS))
    }
    names = {_one_name(each, datasets): each for each in found}
    known = {table.name: table for table in transaction.records(MAINTAINED_TABLES, name=names)}
    new = [
        TableState(
            name=name,
            catalog_name=each.catalog_name,
            dataset=name if "/" in name else None,
            history=known[name].history if name in known else TableHistory(),
        )
        for name, each in names.items()
        if name not in known or known[name].gone
    ]
    transaction.put_records(MAINTAINED_TABLES, new)
    lost: list[TableState] = []
    if listed:
        lost = [
            table
            for table in transaction.records(MAINTAINED_TABLES)
            if not table.gone
            and table.dataset is None
            and table.name not in names
            and table.catalog_name.startswith(tuple(listed))
        ]
    if new or lost:
        _changed(transaction, new, lost, now)
    return tuple(table.name for table in new)


def _one_name(found: TableFound, datasets: Mapping[str, TableState]) -> str:
    """Return the one name of a table: that of the dataset whose table it is, else its catalog name."""
    if found.dataset is not None:
        return found.dataset
    return datasets[found.catalog_name].name if found.catalog_name in datasets else found.catalog_name


def report_gone(transaction: EngineTransaction, names: Collection[str], now: datetime) -> None:
    """Take in that tables are gone: what waits for them is discarded, and their past counts no longer."""
    advance_before(transaction, now)
    lost = [table for table in transaction.records(MAINTAINED_TABLES, name=names) if not table.gone]
    if lost:
        _changed(transaction, (), lost, now)


def _changed(
    transaction: EngineTransaction, new: Sequence[TableState], lost: Sequence[TableState], now: datetime
) -> None:
    """Bring the records of tables up to date that are new, which are stored, or lost."""
    dropped = [gone(table, now) for table in lost]
    transaction.put_records(MAINTAINED_TABLES, dropped)
    policies = load_policies(transaction, now)
    update_records(transaction, policies, [*new, *dropped], now)
    if dropped:
        try_again(transaction, policies, now)


def report_health(transaction: EngineTransaction, measured: Mapping[str, Health], now: datetime) -> None:
    """Take in what was measured of tables, by name; a dataset that is not known yet becomes known.

    What was measured before a change of the table is left out: the table is still to be measured.
    """
    advance_before(transaction, now)
    policies = load_policies(transaction, now)
    datasets = {table.name: table for table in tables_of_datasets(policies.apps.values())}
    known = {name: datasets[name] for name in measured if name in datasets}
    known |= {table.name: table for table in transaction.records(MAINTAINED_TABLES, name=measured)}
    transaction.put_records(
        MAINTAINED_TABLES,
        [
            msgspec.structs.replace(table, health=_noted(measured[name], table.health), wanted_at=None)
            for name, table in known.items()
            if not table.gone and _is_current(measured[name], table)
        ],
    )
    look_again(transaction, measured, policies, now)


def _noted(health: Health, before: Health | None) -> Health:
    """Return what was measured; of a failure with when the first one in a row was."""
    if not health.failure:
        return health
    since = None if before is None or not before.failure else before.failing_since
    return msgspec.structs.replace(health, failing_since=since or health.measured_at)


def _is_current(health: Health, table: TableState) -> bool:
    return table.changed_at is None or health.measured_at >= table.changed_at


def forget_health(transaction: EngineTransaction, names: Collection[str], now: datetime) -> None:
    """Forget what was measured of tables that were written."""
    advance_before(transaction, now)
    forgotten(transaction, dict.fromkeys(names, now), now)
