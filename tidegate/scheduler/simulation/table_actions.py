"""The given actions on tables, carried out by the same functions that the commands and the daemon use."""

from datetime import datetime
from typing import assert_never

from tidegate.compiler.scenarios.model.maintenance import MaintainByHand, OperationEnds, TableWritten
from tidegate.domain.part_name import SEPARATOR, whole_name
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.intake.tables import (
    TableFound,
    forget_health,
    report_gone,
    report_tables,
)
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, TableState
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.simulation.tables import SimulatedTables
from tidegate.scheduler.simulation.task_actions import BY
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.maintenance.tables import table_named, tables_of_datasets

TableAction = TableWritten | OperationEnds | MaintainByHand

UNKNOWN_TABLE = "E-TABLE"


def act_on_tables(
    store: Store, tables: SimulatedTables, app: str, action: TableAction, now: datetime
) -> None:
    """Carry out an action on a table.

    Raises:
        MaintenanceRefused: the action is refused.
    """
    match action:
        case TableWritten():
            _write(store, tables, action, now)
        case OperationEnds(table=table):
            with store.reading() as reader:
                tables.plan(name_of_table(reader, table), action)
        case MaintainByHand(table=table, operation=operation, policy=policy):
            policy = None if policy is None else whole_name(app, policy)
            with store.transaction() as transaction:
                run_by_hand(transaction, table, now, operation=operation, policy=policy, by=BY)
        case _:
            assert_never(action)


def name_of_table(reader: EngineReader, text: str) -> str:
    """Return the one name of a table, gone or not; the text itself for one that the store does not know."""
    found = _known(reader, text)
    return text if found is None else found.name


def _known(reader: EngineReader, text: str) -> TableState | None:
    """Return the table with one of its names: one that exists, else one that is gone."""
    found = table_named(reader, text)
    if found is not None:
        return found
    datasets = tables_of_datasets(deployed.app for deployed in reader.records(APPS))
    # A table that was known before it was that of a dataset has the name of the dataset.
    every = (*datasets, *reader.records(MAINTAINED_TABLES))
    return next((table for table in every if text in (table.name, table.catalog_name)), None)


def _write(store: Store, tables: SimulatedTables, action: TableWritten, now: datetime) -> None:
    """Report a table, and forget what was measured; or report that it is gone."""
    with store.transaction() as transaction:
        found = _known(transaction, action.table)
        if found is None and SEPARATOR in action.table and "." not in action.table:
            raise MaintenanceRefused(UNKNOWN_TABLE, f"no dataset {action.table} with a table is deployed")
        if action.gone:
            report_gone(transaction, [action.table if found is None else found.name], now)
            return
        report = (
            TableFound(catalog_name=action.table)
            if found is None
            else TableFound(catalog_name=found.catalog_name, dataset=found.dataset)
        )
        report_tables(transaction, [report], now)
        name = name_of_table(transaction, action.table)
        forget_health(transaction, [name], now)
    tables.set_health(name, action.health)
