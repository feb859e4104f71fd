"""The step that copies one staged folder to its final place, for stores without an atomic folder rename.

Files are copied one by one and compared with the staged ones by size and SHA-256; the
marker `_commit.json` is created last. A folder without the marker is an incomplete copy: it does not
count as published and is copied again, except the files that are already there and equal. A
file at the target that was not staged belongs to another writer: the step then changes nothing.
All bytes pass through the driver, several files at a time.
"""

from typing import ClassVar

import msgspec

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.files.filesystem import FileSystem, at_once
from tidegate.spark_jobs.parquet.folders.publish_folder import MARKER, FolderMarker, data_files, fault_of


@step_kind("copy_folder")
class CopyFolder(Value, kw_only=True):
    """Copies `source` to `target`, both absolute, on one file system or on two.

    Attributes:
        digests: SHA-256 of each data file, by name.
    """

    effect: ClassVar[Effect] = Effect.PREPARES

    source: str
    target: str
    marker: FolderMarker
    digests: dict[str, str]

    def verify(self, context: CommitContext) -> Verified:
        files = context.files
        if files.exists(f"{self.target}/{MARKER}"):
            fault = fault_of(files, self.target, self.marker)
            return (
                DONE if fault is None else unknown(f"{self.target} differs from the staged folder: {fault}")
            )
        foreign = data_files(files, self.target).keys() - self.marker.files.keys()
        if foreign:
            return unknown(f"{self.target} has files that were not staged: {', '.join(sorted(foreign)[:5])}")
        fault = fault_of(files, self.source, self.marker)
        if fault is None:
            return NOT_DONE
        if files.exists(f"{self.target}/{MARKER}"):
            # Between the two reads, another process has finished the copy and deleted the staging folder.
            return self.verify(context)
        if not files.exists(self.source):
            return unknown(
                f"the staged folder {self.source} does not exist, and {self.target} has no {MARKER}"
            )
        return unknown(f"the staged folder {self.source} was changed: {fault}")

    def execute(self, context: CommitContext) -> None:
        files = context.files
        found = data_files(files, self.target)

        def copy(name: str) -> None:
            there = f"{self.target}/{name}"
            if found.get(name) == self.marker.files[name] and files.digest(there) == self.digests[name]:
                return
            files.copy(f"{self.source}/{name}", there)
            if files.digest(there) != self.digests[name]:
                raise OSError(f"{there} differs from the staged file after it was copied")

        at_once(copy, self.marker.files)
        files.put_if_absent(f"{self.target}/{MARKER}", msgspec.json.encode(self.marker, order="sorted"))

    def describe(self) -> str:
        return f"copy {len(self.marker.files)} files to {self.target}"


def digests_of(files: FileSystem, folder: str, marker: FolderMarker) -> dict[str, str]:
    """Return the SHA-256 of each data file of a staged folder, by name.

    Raises:
        FileNotFoundError: a data file does not exist.
    """

    def digest(name: str) -> str:
        found = files.digest(f"{folder}/{name}")
        if found is None:
            raise FileNotFoundError(f"the staged file {folder}/{name} does not exist")
        return found

    return dict(zip(marker.files, at_once(digest, marker.files), strict=True))
