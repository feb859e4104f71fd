"""The operation rewrite_data_files on a Parquet table of a dataset: small files of a partition become few.

    newest version ─► candidates ─► for each slice: stop? yield? ─► stage ─► put the sequence ─► publish
          ▲                                                                                       │
          └────── partitions that others have replaced: planned again, up to 3 times ◄────────────┘

The rows are staged and published like those of a run, by a commit sequence of its own, so a process that dies
leaves either nothing or a sequence that is finished later. Its id is made of the folders that it replaces:
what a process has left is found and finished by the next run, and nothing is compacted twice. Consumers do
not read published Parquet tables incrementally, so no watermark is concerned. It reports no partitions:
nothing is new. Only a run that could replace nothing has lost the race, as for an Iceberg table.

The partitions of a Parquet table that a compaction makes better, and the folders of each that it replaces.
A folder belongs to one publish and has whole files. It is replaced if it has a small file. A partition is
compacted if so many small files come together, and fewer files result.

A partition that does not have the files of its publishes is damaged, and left as it is: its folders show what
is missing, or was put there by others, and can be restored. The compacted rows would be what they are now.
"""

import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import msgspec

from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.publish import publish, state_of
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.commit.state import New
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, commit_folder
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.maintenance.parquet.health import newest_version
from tidegate.spark_jobs.maintenance.progress import RACE_TRIES, LostRace, Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest
from tidegate.spark_jobs.maintenance.slicing import slices
from tidegate.spark_jobs.parquet.folders.publish_folder import data_files, harm_of
from tidegate.spark_jobs.parquet.folders.read_folders import read_folders
from tidegate.spark_jobs.parquet.output import DATA_FOLDER, STAGING_FOLDER, staging_folder
from tidegate.spark_jobs.parquet.partition_entry import Compaction, PartitionEntry
from tidegate.spark_jobs.parquet.staging import StagedFolder, seal, write_by_key
from tidegate.spark_jobs.parquet.steps.compaction import PublishCompaction
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion
from tidegate.spark_jobs.parquet.version_log import TableVersion, head
from tidegate.spark_jobs.publication.table import largest_token, states_of

SMALL_SHARE = 0.75
"""A file is small below this share of the target, as it is for Iceberg."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Folders of a partition, and how many files they become.

    Attributes:
        folders: relative to the table's root.
        files: number of their data files.
        bytes: size of these.
        outputs: number of files that are written.
    """

    key: str
    folders: tuple[str, ...]
    files: int
    bytes: int
    outputs: int


class Findings(NamedTuple):
    """What was found in a version.

    Attributes:
        candidates: the partitions that are worth compacting.
        damaged: what has happened to others, by key.
    """

    candidates: list[Candidate]
    damaged: dict[str, str]


def find_candidates(
    files: FileSystem,
    root: str,
    version: TableVersion,
    options: Mapping[str, Any],
    excluded: Collection[str],
) -> Findings:
    """Look for the partitions of a version that are worth compacting.

    Args:
        options: all that have a default.
        excluded: keys of the partitions to leave out.
    """
    target = int(options["target_file_size"])
    rewrites_all = bool(options["rewrite_all"])
    least = 1 if rewrites_all else int(options["min_input_files"])
    limit = float("inf") if rewrites_all else SMALL_SHARE * target
    findings = Findings([], {})
    for key, entry in sorted(version.partitions.items()):
        if key in excluded or entry.files < least:
            continue
        found = {folder: list(data_files(files, f"{root}/{folder}").values()) for folder in entry.folders}
        if not _is_whole(entry, found):
            if head(files, root).partitions.get(key) == entry:
                findings.damaged[key] = _harm(files, root, entry)
            # Otherwise it was published into meanwhile, and its folders may be gone.
            continue
        chosen = {folder: sizes for folder, sizes in found.items() if any(size < limit for size in sizes)}
        sizes = [size for one in chosen.values() for size in one]
        outputs = max(1, ceil(sum(sizes) / target))
        if sum(size < limit for size in sizes) >= least and outputs < len(sizes):
            findings.candidates.append(
                Candidate(key=key, folders=tuple(chosen), files=len(sizes), bytes=sum(sizes), outputs=outputs)
            )
    return findings


def _is_whole(entry: PartitionEntry, found: Mapping[str, list[int]]) -> bool:
    """Return whether the sizes of a partition's files, by folder, agree with what was published."""
    sizes = [size for one in found.values() for size in one]
    return (len(sizes), sum(sizes)) == (entry.files, entry.bytes)


def _harm(files: FileSystem, root: str, entry: PartitionEntry) -> str:
    for folder in entry.folders:
        harm = harm_of(files, f"{root}/{folder}")
        if harm is not None:
            return f"{folder}, {harm}"
    return f"{', '.join(entry.folders)}: not {entry.files} files of {entry.bytes} bytes in all"


DIGEST_DIGITS = 32
SHOWN_PARTITIONS = 3
"""Damaged ones in a message."""

log = logging.getLogger(__name__)


def compact(request: OperationRequest, context: MaintenanceContext, progress: Progress) -> None:
    """Compact a table.

    Raises:
        TableGone, LandedFiles: see `newest_version`.
        LostRace: nothing could be replaced, since other runs were faster each time.
        TimedOut, Yielded: between two slices.
        SparkJobError: a commit sequence could not be put or finished.
    """
    ref, warehouse, store = request.table.ref, context.warehouse, context.store
    assert ref is not None, "only a dataset is in Parquet"
    assert warehouse is not None, "a dataset has a warehouse"
    assert store is not None, "a dataset is published through the store"
    progress.add(files_rewritten=0, files_added=0, bytes_added=0, commits=0)
    if request.excluded and ref.scheme is None:
        progress.not_applicable("all of it is left out, since a pipeline writes it")
        return
    lost = 0
    for _ in range(RACE_TRIES):
        progress.pause()
        version, lost = newest_version(ref, warehouse), 0
        found = find_candidates(
            warehouse.files, ref.root(warehouse), version, request.options, request.excluded
        )
        if found.damaged:
            _report(ref, found.damaged, progress)
        for part in slices(found.candidates, int(request.options["max_commits"])):
            progress.pause()
            lost += _compact_slice(_Slice(context, warehouse, ref, version, part), progress)
        if not lost:
            return
        progress.lose(lost)
    if not progress.changed:
        raise LostRace(f"other runs replaced {lost} partitions, {RACE_TRIES} times in a row")


def _report(ref: DatasetRef, damaged: Mapping[str, str], progress: Progress) -> None:
    """Say which partitions are left as they are, since others have changed their files."""
    progress.results["damaged"] = len(damaged)
    shown = [f"{key or 'the table'}: {harm}" for key, harm in damaged.items()][:SHOWN_PARTITIONS]
    progress.remark = (
        f"{len(damaged)} damaged partitions of {ref.id} are not compacted; see: tidegate commits fsck"
        f" ({'; '.join(shown)})"
    )
    log.warning("%s", progress.remark)


class _Slice:
    """The partitions that one commit sequence compacts."""

    def __init__(
        self,
        context: MaintenanceContext,
        warehouse: Warehouse,
        ref: DatasetRef,
        version: TableVersion,
        parts: Sequence[Candidate],
    ) -> None:
        self.ref = ref
        self.root = ref.root(warehouse)
        self.parts = parts
        self.version = version
        self.warehouse = warehouse
        self.context = context
        self.context_of_steps = CommitContext(files=warehouse.files, spark=context.spark)
        content = msgspec.json.encode([ref.id, [one.folders for one in parts]])
        self.commit = f"compaction-{hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]}"


def _compact_slice(part: _Slice, progress: Progress) -> int:
    """Compact one slice. Return the number of partitions that others have replaced meanwhile."""
    store, spark = part.context.store, part.context.spark
    assert store is not None, "`compact` has looked"
    state = state_of(part.commit, store, part.context_of_steps)
    commit = state.commit
    if isinstance(state, New):
        at_least = largest_token(states_of([part.ref], part.warehouse, store, spark))
        with AttemptLease(store, commit, (part.ref.id,), at_least=at_least) as token:
            try:
                sequence = _staged(part, commit, token)
            except Exception:
                part.warehouse.files.delete(staging_folder(part.root, commit, token))
                raise
            publish(sequence, store, part.context_of_steps)
    files, done = part.warehouse.files, 0
    now = head(files, part.root)
    for one in part.parts:
        entry, path = now.partitions.get(one.key), _path(part.ref, one.key, commit)
        if entry is None or entry.path != path:
            continue
        done += 1
        written = data_files(files, f"{part.root}/{path}")
        progress.bytes += one.bytes
        progress.add(files_rewritten=one.files, files_added=len(written), bytes_added=sum(written.values()))
    progress.add(commits=min(done, 1))
    return len(part.parts) - done


def _staged(part: _Slice, commit: str, token: int) -> CommitSequence:
    """Write the rows of a slice, and return the sequence that publishes them."""
    staging = staging_folder(part.root, commit, token)
    staged: dict[str, StagedFolder] = {}
    compacted: dict[str, Compaction] = {}
    for number, one in enumerate(part.parts):
        staged[one.key] = folder = _write(part, one, f"{staging}/{number}", commit, token)
        compacted[one.key] = Compaction(
            folders=one.folders,
            files=one.files,
            bytes=one.bytes,
            into=folder.entry(_path(part.ref, one.key, commit), token),
            columns=part.version.schema,
        )
    folders = [staged[key].step(f"{part.root}/{one.into.path}") for key, one in compacted.items()]
    return CommitSequence(
        id=commit,
        datasets=(part.ref.id,),
        token=token,
        steps=(
            *folders,
            PublishCompaction(root=part.root, commit=commit, base=part.version.number, partitions=compacted),
            ShowVersion(root=part.root, commit=commit),
            DeleteStaging(folder=f"{part.root}/{STAGING_FOLDER}/{commit_folder(commit)}"),
        ),
        result=(),
    )


def _write(part: _Slice, one: Candidate, folder: str, commit: str, token: int) -> StagedFolder:
    """Write the rows of some folders of a partition into a new one.

    Raises:
        OSError: other rows were written than were read, or others have changed the files meanwhile.
    """
    files, spark = part.warehouse.files, part.context.spark()
    folders = [f"{part.root}/{path}" for path in one.folders]
    rows: Any = read_folders(spark, part.version.schema, folders, part.version.narrower(part.root))
    # The partition columns are in the files, so the partition is written as one without dimensions.
    written = write_by_key(rows.coalesce(one.outputs), (), (one.key,), files, folder)
    if written.get(one.key) != rows.count():
        raise OSError(f"{part.root}: {written} rows of {one.key!r} were written, and {rows.count()} read")
    read = [size for path in one.folders for size in data_files(files, f"{part.root}/{path}").values()]
    if (len(read), sum(read)) != (one.files, one.bytes):
        raise OSError(f"{part.root}: others have changed files of {one.key!r} while they were read")
    return seal(files, folder, (one.key,), written, commit=commit, token=token)[one.key]


def _path(ref: DatasetRef, key: str, commit: str) -> str:
    middle = ref.data_folder(key)
    return "/".join(part for part in (DATA_FOLDER, middle, commit_folder(commit)) if part)
