"""What a table really holds: read from the files themselves, with none of our code.

The judge of the crash tests. It knows the published formats only: of Iceberg the metadata file,
the manifest list and the manifests; of our Parquet tables the newest file of `_versions`. The
data files it opens with pyarrow. It takes one state at a time, so it is also the reader that
looks while tables are being written. A row is known by its `id`, which no two rows share.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.spark_jobs.crash_table.avro import read_avro

DELETED = 2
"""The status of a manifest's entry that is no longer part of the table."""
LOOKS = 50
"""How often the newest state may vanish between being found and being read."""

Rows = Counter[int]
"""The ids in a table, with how often each is there."""


@dataclass
class Oracle:
    """Reads states of tables; data files never change, so each is opened once."""

    _ids: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def iceberg(self, table: Path) -> Rows:
        """The rows of an Iceberg table of a `hadoop` catalog, as of its newest metadata."""
        metadata = newest_metadata(table)
        return self.rows(live_files(metadata, metadata.get("current-snapshot-id")))

    def iceberg_states(self, table: Path) -> list[Rows]:
        """The rows as of each snapshot, the oldest first."""
        metadata = newest_metadata(table)
        found = sorted(metadata.get("snapshots", []), key=lambda one: one["sequence-number"])
        return [self.rows(live_files(metadata, one["snapshot-id"])) for one in found]

    def parquet(self, table: Path) -> Rows:
        """The rows of one of our Parquet tables, as of its newest version."""
        for _ in range(LOOKS):
            versions = sorted(table.glob("_versions/[0-9]*.json"))
            if not versions:
                return Counter()
            try:
                return self.parquet_version(table, versions[-1])
            except FileNotFoundError:
                continue  # pruned in this moment
        raise AssertionError(f"{table}: its newest version vanishes again and again")

    def parquet_version(self, table: Path, version: Path) -> Rows:
        """The rows as of one version."""
        entries = json.loads(version.read_text())["partitions"].values()
        folders = [table / name for entry in entries for name in entry_folders(entry)]
        return self.rows(str(file) for folder in folders for file in data_files(folder))

    def rows(self, files: Any) -> Rows:
        """The ids in some data files."""
        found: Rows = Counter()
        for file in files:
            if file not in self._ids:
                self._ids[file] = tuple(pq.read_table(file, columns=["id"])["id"].to_pylist())
            found.update(self._ids[file])
        return found


def newest_metadata(table: Path) -> dict[str, Any]:
    """The metadata of an Iceberg table that readers use: the highest version, as the hint may be behind."""
    files = table.glob("metadata/v*.metadata.json")
    numbers = [int(file.name.removeprefix("v").partition(".")[0]) for file in files]
    if not numbers:
        return {}
    return json.loads((table / f"metadata/v{max(numbers)}.metadata.json").read_text())


def live_files(metadata: dict[str, Any], snapshot: int | None) -> list[str]:
    """The data files of a snapshot. The tables of these tests have no delete files."""
    chosen = [one for one in metadata.get("snapshots", []) if one["snapshot-id"] == snapshot]
    if not chosen:
        return []
    manifests = [one["manifest_path"] for one in read_avro(plain(chosen[0]["manifest-list"]))]
    return [
        plain(entry["data_file"]["file_path"])
        for manifest in manifests
        for entry in read_avro(plain(manifest))
        if entry["status"] != DELETED
    ]


def entry_folders(entry: dict[str, Any]) -> list[str]:
    """The folders of a partition in a version of a Parquet table."""
    return [folder for folder in (entry.get("path"), *entry.get("more", ())) if folder]


def data_files(folder: Path) -> list[Path]:
    """The data files of a published folder, which is there, or the state was not whole."""
    return sorted(file for file in folder.iterdir() if file.name[0] not in "._")


def plain(location: str) -> str:
    """A location on this machine without its scheme."""
    return location.removeprefix("file:")
