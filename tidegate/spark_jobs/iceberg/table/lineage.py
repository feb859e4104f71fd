"""Whether a publish is still part of its table: its snapshot must be an ancestor of the current one.

    current ─► parent ─► … ─► the publish's snapshot ............................. kept
                          ├─► an older publish, or the first snapshot of the table: withdrawn
                          └─► expired ─► a younger publish was met before ........ kept
                                      └─► earlier metadata files name the parents; else unknown

The log of publishes is a table property, which a rollback leaves as it is. So the log proves that a
publish happened, and only the snapshots prove that its rows remain. The chain is read on demand:
for the newest publish it is one or two snapshots long.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

from tidegate.spark_jobs.commit.step import DONE, Verified, unknown
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable, java_failures
from tidegate.spark_jobs.iceberg.table.log import Publish, PublishLog

MAX_SNAPSHOTS = 10_000
"""Maximum number of snapshots that are followed back."""
MAX_METADATA_FILES = 100
"""Maximum number of earlier metadata files that are read; Iceberg keeps as many by default."""

BEGINNING: Final = "beginning"
"""Follows the first snapshot of the table."""
EXPIRED: Final = "expired"
"""Precedes the snapshots that only earlier metadata files list."""
Link = int | str
"""A snapshot id, `BEGINNING` or `EXPIRED`."""


class Place(StrEnum):
    """The relation of a publish to the current state of its table."""

    KEPT = "kept"
    WITHDRAWN = "withdrawn"
    UNKNOWN = "unknown"


class Lineage:
    """The publishes of a log, along a chain of snapshots from the current one back."""

    def __init__(self, log: PublishLog, chain: Iterable[Link]) -> None:
        self._order = {one.snapshot: number for number, one in enumerate(log.recent)}
        self._rest = iter(chain)
        self._links: list[Link] = []

    def place(self, publish: Publish) -> Place:
        """Return whether a publish of the log is still part of the table."""
        own, younger = self._order[publish.snapshot], False
        for link in self._chain():
            if link == publish.snapshot:
                return Place.KEPT
            if link == BEGINNING:
                return Place.WITHDRAWN
            if link == EXPIRED and younger:
                return Place.KEPT
            number = self._order.get(link) if isinstance(link, int) else None
            if number is not None and number < own:
                return Place.WITHDRAWN
            younger = younger or number is not None
        return Place.KEPT if younger else Place.UNKNOWN

    def _chain(self) -> Iterator[Link]:
        yield from self._links
        for link in self._rest:
            self._links.append(link)
            yield link


def lineage_of(catalog: IcebergCatalog, table: Any, log: PublishLog) -> Lineage:
    """Return the lineage of a table in the state that `table` has."""
    return Lineage(log, _ancestors(catalog, table))


def _ancestors(catalog: IcebergCatalog, table: Any) -> Iterator[Link]:
    """Yield the current snapshot and its ancestors."""
    with java_failures("follow the snapshots"):
        snapshot = table.currentSnapshot()
        for _ in range(MAX_SNAPSHOTS):
            if snapshot is None:
                yield BEGINNING
                return
            yield int(snapshot.snapshotId())
            parent = snapshot.parentId()
            snapshot = None if parent is None else table.snapshot(parent)
            if parent is not None and snapshot is None:
                # Its child names it, so this one is known.
                yield int(parent)
                yield EXPIRED
                yield from _expired_ancestors(catalog, table, int(parent))
                return


def _expired_ancestors(catalog: IcebergCatalog, table: Any, parent: int) -> Iterator[Link]:
    """Yield the ancestors of an expired snapshot, as far as earlier metadata files list them."""
    for before in earlier_metadata(catalog, table):
        snapshot = before.snapshot(parent)
        while snapshot is not None:
            above = snapshot.parentId()
            if above is None:
                yield BEGINNING
                return
            parent = int(above)
            yield parent
            snapshot = before.snapshot(parent)


def earlier_metadata(catalog: IcebergCatalog, table: Any) -> Iterator[Any]:
    """Yield the earlier metadata of a table, the newest first, as far as its files exist."""
    files = list(table.operations().current().previousFiles())[-MAX_METADATA_FILES:]
    for entry in reversed(files):
        try:
            with java_failures("read earlier metadata"):
                before = catalog.api.TableMetadataParser.read(table.io(), entry.file())
        except (IcebergFailure, StaleTable):
            # It was removed, and so were those before it.
            return
        yield before


def withdrawn(name: TableName, publish: Publish) -> str:
    """Return what has happened to a withdrawn publish, and the remedy."""
    return (
        f"snapshot {publish.snapshot} of commit {publish.commit} is not an ancestor of the current one, so "
        "the table was rolled back and these rows are gone; to have them again, run CALL tidegate.system."
        f"set_current_snapshot('{'.'.join(name)}', {publish.snapshot}), otherwise compute them again"
    )


def verify_publish(
    catalog: IcebergCatalog, name: TableName, table: Any, log: PublishLog, publish: Publish
) -> Verified:
    """Return "done" for a listed publish that is still part of the table, else "unknown"."""
    match lineage_of(catalog, table, log).place(publish):
        case Place.KEPT:
            return DONE
        case Place.WITHDRAWN:
            return unknown(f"{sql_name(name)}: {withdrawn(name, publish)}")
        case Place.UNKNOWN:
            return unknown(
                f"{sql_name(name)} lists the commit, but its snapshot {publish.snapshot} has expired, and so "
                "has what shows whether the table was rolled back since"
            )
