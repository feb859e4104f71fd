"""Tables of others inside the folder of a table: nothing of theirs is an orphan.

A catalog makes such folders for nested names, any LOCATION can, and so can `write.data.path`. A folder is a
table if it has the metadata of one, of Iceberg, Delta, Hudi or ours. Places of tables without such a folder
are known from the catalogs of the session and from the deployed datasets. What a link leads to outside of the
table is not the table's either.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.catalog.table_files import TableFiles
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.orphans.real_places import RealPlaces, folder_of
from tidegate.spark_jobs.maintenance.listing import KnownPlace, iceberg_catalogs, known_places
from tidegate.spark_jobs.maintenance.progress import MaintenanceRefused, Progress

METADATA = "metadata"
OTHER_MARKS = ("_versions", "_delta_log", ".hoodie")
_MARK = re.compile("|".join(map(re.escape, (METADATA, *OTHER_MARKS))))
_METADATA_FILE = re.compile(r".*\.metadata\.json(\.gz)?|version-hint\.text")
_ANY = re.compile(r".*", re.DOTALL)
OF_ICEBERG = "default_iceberg"
"""Iceberg puts this catalog, which is a Hive metastore, into each session that reads a table by its name."""
OUTSIDE = "outside of the folder of the table"
KNOWN_FOLDERS = 100_000


class OtherTables:
    """The tables beside one table, as far as they can be known."""

    def __init__(
        self, table: CatalogTable, java: Any, places: RealPlaces, known: Iterable[tuple[str, str]]
    ) -> None:
        """Args:
        java: the table, as Iceberg's own object.
        known: name and place of each other table.

        Raises:
            MaintenanceRefused: another table has the same folder.
        """
        self._files, self._io, self._places = TableFiles(table.spark), java.io(), places
        self._is_listed_by_prefix = self._files.has_prefixes(self._io)
        self._root = places.identity(str(java.location()))
        self._known: dict[tuple[Any, ...], str] = {}
        for name, place in known:
            identity = places.identity(place)
            if identity == self._root:
                raise MaintenanceRefused(
                    f"{table.name} and {name} share the folder {java.location()}, so files of the one look "
                    "like orphans of the other",
                    "give one of them a folder of its own, or remove it from its catalog",
                )
            self._known.setdefault(identity, name)
        self._why = lru_cache(KNOWN_FOLDERS)(self._why_left)

    def why_left(self, location: str) -> str:
        """Return why a file below the table is not the table's; "" for one that is."""
        return self._why(folder_of(self._places.spelled(location)))

    def _why_left(self, folder: str) -> str:
        if not folder:
            return OUTSIDE
        identity = self._places.identity(folder)
        if identity == self._root:
            return ""
        name = self._known.get(identity)
        if name is not None:
            return f"below the table {name}"
        return f"below {folder}, which is a table" if self._is_table(folder) else self._why(folder_of(folder))

    def _is_table(self, folder: str) -> bool:
        # A store without folders is asked for what has such a prefix; all of the folder would be too much.
        marks = {METADATA, *OTHER_MARKS}
        if not self._is_listed_by_prefix:
            marks = {*self._files.entries_in(folder, _MARK, self._io)}
        if METADATA in marks and self._has(f"{folder}/{METADATA}", _METADATA_FILE):
            return True
        return any(self._has(f"{folder}/{mark}", _ANY) for mark in OTHER_MARKS if mark in marks)

    def _has(self, folder: str, name: re.Pattern[str]) -> bool:
        return bool(self._files.entries_in(folder, name, self._io))


def other_places(
    table: CatalogTable, java: Any, places: RealPlaces, datasets: Mapping[str, str], progress: Progress
) -> list[tuple[str, str]]:
    """Return name and place of all other known tables.

    Args:
        datasets: the places of the deployed datasets of other formats.

    Raises:
        MaintenanceRefused: a catalog does not answer.
    """
    catalogs = [name for name in iceberg_catalogs(table.spark) if name != OF_ICEBERG]
    listed, failures = known_places(table.spark, catalogs)
    for failure in failures:
        if failure.where in catalogs:
            raise MaintenanceRefused(
                f"orphan files were found, and tables of the catalog {failure.where}, which cannot be listed,"
                f" may have them: {failure.why}",
                "repair the catalog, or take it out of [spark.conf]",
            )
    if failures:
        # A user may not see every table. What has a folder of metadata is found without the catalog.
        progress.results["tables_not_seen"] = len(failures)
    own = {places.identity(one) for one in _versions(table.load())}
    found = [
        (one.name, place) for one in listed if not _is_same(table, one, own, places) for place in one.places
    ]
    return [*found, *datasets.items()]


def _is_same(table: CatalogTable, one: KnownPlace, own: set[tuple[Any, ...]], places: RealPlaces) -> bool:
    """Return whether a known table is this one, perhaps by another catalog."""
    return one.name == table.name or (bool(one.metadata) and places.identity(one.metadata) in own)


def _versions(java: Any) -> Iterable[str]:
    now = java.operations().current()
    return (str(now.metadataFileLocation()), *(str(one.file()) for one in each(now.previousFiles())))
