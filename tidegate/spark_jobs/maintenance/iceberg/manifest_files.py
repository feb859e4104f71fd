"""The files of an Iceberg table as its manifests list them, read by the driver without a Spark job.

For a small table that is faster than a job. For a huge one it reads a sample: the first files of manifests
that are spread evenly over the table's history, since the newest manifests list the newest, smallest files.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.file_counts import File, spread

SAMPLED_MANIFESTS = 20
"""The most manifests of a sample; each one that is opened costs a request to the store."""


class Manifest(NamedTuple):
    """A manifest of the current snapshot.

    Attributes:
        files, rows: live ones that it lists; None where an old table does not say.
        length: bytes.
        deletes: whether it lists delete files.
    """

    java: Any
    files: int | None
    rows: int | None
    length: int
    deletes: bool


class DeleteFile(NamedTuple):
    """A delete file; several entries may be in one file."""

    location: str
    rows: int


def manifests_of(table: Any, snapshot: Any) -> list[Manifest]:
    """Return the manifests of a snapshot, in Iceberg's order, which is the newest first."""
    return [_manifest(one) for one in each(snapshot.allManifests(table.io()))]


def read_files(api: Any, table: Any, manifests: Sequence[Manifest], limit: int | None = None) -> list[File]:
    """Return the live data files of manifests, or about `limit` of them, taken evenly from some manifests."""
    data = [one for one in manifests if not one.deletes and one.files != 0]
    if limit is None:
        return [file for one in data for file in _data_files(api, table, one.java, None)]
    chosen = spread(data, min(SAMPLED_MANIFESTS, limit))
    found: list[File] = []
    for number, one in enumerate(chosen):
        share = (limit - len(found)) // (len(chosen) - number)
        found += _data_files(api, table, one.java, max(share, 1))
    return found


def read_delete_files(api: Any, table: Any, manifests: Sequence[Manifest]) -> list[DeleteFile]:
    """Return the live entries of delete files."""
    found: list[DeleteFile] = []
    for one in manifests:
        if one.deletes and one.files != 0:
            reader = api.ManifestFiles.readDeleteManifest(one.java, table.io(), table.specs())
            files = _rest(reader)
            found += (DeleteFile(str(file.location()), int(file.recordCount())) for file in files)
    return found


def _manifest(java: Any) -> Manifest:
    counts = java.addedFilesCount(), java.existingFilesCount()
    rows = java.addedRowsCount(), java.existingRowsCount()
    return Manifest(
        java=java,
        files=None if None in counts else sum(counts),
        rows=None if None in rows else sum(rows),
        length=int(java.length()),
        deletes=java.content().name() == "DELETES",
    )


def _data_files(api: Any, table: Any, manifest: Any, limit: int | None) -> list[File]:
    reader = api.ManifestFiles.read(manifest, table.io(), table.specs())
    spec = table.specs().get(manifest.partitionSpecId())
    return [
        File(
            partition=(int(spec.specId()), str(spec.partitionToPath(file.partition()))),
            size=int(file.fileSizeInBytes()),
            rows=int(file.recordCount()),
        )
        for file in _rest(reader, limit)
    ]


def _rest(reader: Any, limit: int | None = None) -> Iterator[Any]:
    try:
        for number, file in enumerate(each(reader)):
            if limit is not None and number >= limit:
                return
            yield file
    finally:
        reader.close()
