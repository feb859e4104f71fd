"""Due: what there is to measure and to list for a project, as the store says. It reads only.

A project measures the tables of its own policies: their operations run in its Spark session too. Tables are
listed where a policy names more than datasets, so that its patterns find those that others make.
"""

import hashlib
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from tidegate.dagster_defs.run.cleaning import of_project
from tidegate.domain.maintenance.pattern import Pattern, parse_pattern
from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
from tidegate.domain.time.instant import is_recent
from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS, TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.protocol import EngineTransaction

LISTING = "maintenance-listing"
"""Name of the cursor that holds the last listing of a project, and its patterns."""

LISTED_EVERY = timedelta(minutes=10)

FAILED_AGAIN = timedelta(minutes=5)
"""A table that could not be measured is measured again at the next poll, then after as long as it has failed,
and after this pause at the latest: so one that never can be measured does not keep Spark busy."""

TABLES_LOOKED_AT = 1_000
"""Of the tables that are to be measured so many are looked at, the longest wanted first; more where these are
those of other projects."""

DIGEST_DIGITS = 16


class Due(Value, kw_only=True):
    """What there is to do.

    Attributes:
        tables: to measure, the longest wanted first.
    """

    tables: tuple[TableState, ...] = ()
    listing: bool = False

    def __bool__(self) -> bool:
        return bool(self.tables) or self.listing

    @property
    def reason(self) -> str:
        """For people."""
        parts = [f"measure {len(self.tables)} table(s)"] if self.tables else []
        return " and ".join([*parts, *(["list the tables of catalogs"] if self.listing else [])])


def due(reader: ListingReader, apps: Collection[App], project: str, now: datetime) -> Due:
    """Return what is due for the apps of a project."""
    return Due(tables=tables_due(reader, apps, now), listing=listing_due(reader, apps, project, now))


def may_be_due(reader: ListingReader, apps: Collection[App], project: str, now: datetime) -> bool:
    """Return whether anything may be due: False costs two reads, of one row each."""
    return bool(reader.due_records(MAINTAINED_TABLES, None, 1)) or listing_due(reader, apps, project, now)


def tables_due(reader: ListingReader, apps: Collection[App], now: datetime) -> tuple[TableState, ...]:
    """Return the tables to measure that the policies of some apps count for."""
    limit = TABLES_LOOKED_AT
    while True:
        wanted = reader.due_records(MAINTAINED_TABLES, None, limit)
        found = _own(reader, [table for table in wanted if not _failed_lately(table, now)], apps)
        if found or len(wanted) < limit:
            return found
        limit *= 2


def _own(reader: EngineReader, tables: Sequence[TableState], apps: Collection[App]) -> tuple[TableState, ...]:
    """Return those of some tables that the policies of some apps count for."""
    names, own = {table.name for table in tables}, {app.name for app in apps}
    records = reader.records(MAINTENANCE_RECORDS, table=names) if names else ()
    mine = {record.table for record in records if record.counts and app_of(record.policy) in own}
    return tuple(table for table in tables if table.name in mine)


def _failed_lately(table: TableState, now: datetime) -> bool:
    health = table.health
    if health is None or not health.failure:
        return False
    failing_for = health.measured_at - (health.failing_since or health.measured_at)
    return is_recent(health.measured_at, now, min(failing_for, FAILED_AGAIN))


# --- listing ----------------------------------------------------------------------------


def listing_due(reader: EngineReader, apps: Collection[App], project: str, now: datetime) -> bool:
    """Return whether the catalogs are to be listed: not lately, or since then the patterns have changed."""
    patterns = patterns_of(apps)
    if not patterns:
        return False
    last: dict[str, Any] = reader.cursor(of_project(LISTING, project)) or {}
    if last.get("patterns") != _digest(patterns):
        return True
    return not is_recent(datetime.fromisoformat(last["at"]), now, LISTED_EVERY)


def note_listing(transaction: EngineTransaction, apps: Collection[App], project: str, now: datetime) -> None:
    """Note that the catalogs are being listed, or were."""
    noted = {"at": now.isoformat(), "patterns": _digest(patterns_of(apps))}
    transaction.set_cursor(of_project(LISTING, project), noted)


def patterns_of(apps: Collection[App]) -> tuple[Pattern, ...]:
    """Return the patterns of enabled policies that may match more than datasets."""
    policies = [policy for app in apps for policy in app.policies.values() if policy.enabled]
    texts = {text for policy in policies for text in policy.tables}
    return tuple(pattern for text in sorted(texts) if (pattern := parse_pattern(text)).dataset is None)


def catalogs_to_list(patterns: Sequence[Pattern], catalogs: Sequence[str]) -> tuple[str, ...]:
    """Return those of some catalogs in which a pattern may match a table."""
    return tuple(name for name in catalogs if any(_may_match(pattern, name) for pattern in patterns))


def _may_match(pattern: Pattern, catalog: str) -> bool:
    return pattern.whole is not None or all(test(catalog) for place, test in pattern.tests if place == 0)


def _digest(patterns: Sequence[Pattern]) -> str:
    return hashlib.sha256("\0".join(each.text for each in patterns).encode()).hexdigest()[:DIGEST_DIGITS]
