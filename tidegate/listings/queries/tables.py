"""Tables as all faces show them, and the list of them in a chosen order."""

from collections.abc import Iterator

import msgspec

from tidegate.domain.part_name import app_of
from tidegate.listings.read import Asked
from tidegate.listings.tables import DebtOfTable, HealthOfTable, MaintainedTable, Sort
from tidegate.scheduler.explain.measured import Measured, known_tables, measured
from tidegate.scheduler.tick.maintenance.policies import load_policies

LAST = 1.0
"""Behind every table of which is known what the order is by: the largest is first."""


def public_table(known: Measured) -> MaintainedTable:
    """Return what of a table all faces show."""
    table, health = known.table, known.health
    return MaintainedTable(
        table=table.name,
        catalog_name=table.catalog_name or None,
        dataset=table.dataset,
        health=None if health is None else msgspec.convert(health, HealthOfTable, from_attributes=True),
        age_seconds=None if known.age is None else known.age.total_seconds(),
        usable=known.usable,
        measurement_asked_for=table.wanted_at,
        debt=msgspec.convert(known.debt, DebtOfTable, from_attributes=True),
        failures_in_a_row=table.history.failures,
        health_policy=table.health_policy,
    )


def list_tables(asked: Asked) -> Iterator[MaintainedTable]:
    """Yield the tables that the caller sees; those of catalogs are of no app."""
    now, sort = asked.source.now, asked.wanted.get("sort", (Sort.DEBT,))[-1]
    policies = load_policies(asked.reader, now)
    of_catalogs = asked.scope.catalogs and "app" not in asked.wanted
    for table in known_tables(asked.reader):
        if of_catalogs if table.dataset is None else asked.sees(app_of(table.dataset)):
            found = public_table(measured(policies, table, now))
            yield msgspec.structs.replace(found, rank=_rank(found, sort))


def _rank(table: MaintainedTable, sort: Sort) -> float | None:
    match sort:
        case Sort.NAME:
            return 0.0
        case Sort.DEBT:
            return -table.score
        case Sort.FAILURES:
            return -float(table.failures_in_a_row)
        case Sort.AGE:
            return None if table.age_seconds is None else -table.age_seconds
        case _:
            value = table.measure(sort.value)
            return LAST if value is None else -value
