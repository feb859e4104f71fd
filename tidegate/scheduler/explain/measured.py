"""Measured: what is known of tables, however long ago it was measured, with the debt that follows from it.

A decision uses what was measured in the last minutes only. People see the last values, with their age.
"""

from datetime import datetime, timedelta

from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.health import Debt, debt, fresh
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Health, TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.policies import Policies
from tidegate.scheduler.tick.maintenance.tables import tables_of_datasets


class Measured(Value, kw_only=True):
    """One table, as it was measured last.

    Attributes:
        health: None if nothing is known.
        age: how long ago it was measured.
        usable: whether a decision would use it now.
        debt: with the failures of the table; its issues are those that were measured.
    """

    table: TableState
    health: Health | None
    age: timedelta | None
    usable: bool
    debt: Debt

    @property
    def failure(self) -> str:
        """Why the table could not be measured; "" if it could."""
        return "" if self.health is None else self.health.failure


def known_tables(reader: EngineReader) -> tuple[TableState, ...]:
    """Return every table that exists, by name: those of the store, and those of the deployed datasets."""
    stored = {table.name: table for table in reader.records(MAINTAINED_TABLES)}
    datasets = tables_of_datasets(deployed.app for deployed in reader.records(APPS))
    found = {**{table.name: table for table in datasets}, **stored}
    return tuple(table for _, table in sorted(found.items()) if not table.gone)


def measured(policies: Policies, table: TableState, now: datetime) -> Measured:
    """Return what is known of a table."""
    health = table.health
    values = None if health is None or health.failure else health
    rules, weights = policies.rules(table), policies.settings.debt
    return Measured(
        table=table,
        health=health,
        age=None if health is None else max(now - health.measured_at, timedelta(0)),
        usable=fresh(health, now, policies.settings.poll) is not None,
        debt=debt(values, table.history, rules, weights, failures=True),
    )
