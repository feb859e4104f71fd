"""One look at a watched folder: list it, and report the partitions that are complete.

Since when the files of partitions have been as they are; in memory only. After a restart the time begins
again: a partition is reported later, and never too early. Times are of a clock that only goes forward; the
times of files are those of other machines.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from tidegate.domain.error import UserError
from tidegate.domain.model import Watch
from tidegate.scheduler.intake.watched import (
    PARTITIONS_PER_TRANSACTION,
    Complete,
    Watched,
    begin_watching,
    known_folder,
    note_problem,
    take_complete,
)
from tidegate.scheduler.model.records.watched import WATCHED_PARTITIONS, Files, changed
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.files.scheme import is_local, local_path
from tidegate.watcher.cloud import list_cloud, options_of, tail_in_cloud
from tidegate.watcher.found import FILES_MAX, FoundFile, Listing, WatchError, note, too_many
from tidegate.watcher.parquet import MAGIC, fault_of, tail_of
from tidegate.watcher.partitions import (
    FILES_PER_PARTITION_MAX,
    FoundPartition,
    ReadKeys,
    begins_later,
    partitions_of,
    waits_for,
)


def list_local(folder: str, dimensions: int) -> Listing:
    """Return the files below a folder; see `listing.list_folder`."""
    root = local_path(folder)
    if not Path(root).is_dir():
        raise WatchError(
            f"there is no folder {root}", "create it, mount it, or correct `path` of the dataset"
        )
    notes: list[str] = []
    files: list[FoundFile] = []
    for file in _walk(root, (), dimensions, notes):
        files.append(file)
        if len(files) > FILES_MAX:
            raise too_many(root)
    return Listing(files, notes)


def _walk(folder: str, folders: tuple[str, ...], dimensions: int, notes: list[str]) -> Iterator[FoundFile]:
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except FileNotFoundError:
        if not folders:
            raise WatchError(f"there is no folder {folder}", "create it, or mount it") from None
        # It was removed while the others were listed.
        return
    except OSError as error:
        raise WatchError(
            f"{_printable(folder)} cannot be listed: {error.strerror}", "check its permissions"
        ) from error
    for entry in found:
        if entry.is_symlink():
            note(notes, f"{_printable(entry.path)} is a link, which is not followed")
        elif entry.is_dir(follow_symlinks=False):
            if dimensions:
                yield from _walk(entry.path, (*folders, _printable(entry.name)), dimensions - 1, notes)
        elif entry.is_file(follow_symlinks=False) and not dimensions:
            try:
                stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield FoundFile(folders, _printable(entry.name), stat.st_size, str(stat.st_mtime_ns))


def _printable(name: str) -> str:
    """Return a name that every database stores: bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class Settling:
    """The partitions of one dataset that have something new."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[dict[str, tuple[int, str]], float]] = {}

    def complete(
        self, found: Mapping[str, FoundPartition], known: Mapping[str, Files], watch: Watch, now: float
    ) -> list[FoundPartition]:
        """Return the partitions that are complete.

        Without a marker that takes two looks at least, however long ago the first one was.

        Args:
            now: seconds of a monotonic clock.
        """
        complete: list[FoundPartition] = []
        since, self._since = self._since, {}
        for key, partition in found.items():
            if waits_for(partition, known.get(key, {}), watch) != "":
                continue
            files, began = since.get(key, ({}, now))
            if watch.marker:
                complete.append(partition)
            elif files != partition.files:
                self._since[key] = (partition.files, now)
            else:
                self._since[key] = (files, began)
                if now - began >= watch.settle.total_seconds():
                    complete.append(partition)
        return complete


Log = Callable[[str], None]

TAILS_IN_CLOUD_MAX = 100
"""Files of a partition whose ends are read from a cloud: some seconds of requests."""


class Place:
    """Where the folders of a project are, and how their file system is reached.

    Args:
        spark_conf: has the credentials that Spark uses.
        options: of the client of a cloud's file system, by its own names.
    """

    def __init__(self, spark_conf: Mapping[str, str], options: Mapping[str, Any]) -> None:
        self._spark_conf = spark_conf
        self._options = options

    def listing(self, watched: Watched) -> Listing:
        """Return the files of a watched folder.

        Raises:
            WatchError: see `listing.list_folder`.
        """
        scheme = watched.dataset.partitions
        dimensions = 0 if scheme is None else len(scheme.dimension_names())
        options = options_of(watched.folder, self._spark_conf, self._options)
        return list_folder(watched.folder, dimensions, options)

    def partitions(
        self, watched: Watched, read: ReadKeys | None = None
    ) -> tuple[dict[str, FoundPartition], list[str]]:
        """Return the partitions of a watched folder that have files, and notes of what was left out.

        Args:
            read: see `partitions_of`.
        """
        listing, scheme = self.listing(watched), watched.dataset.partitions
        return partitions_of(listing.files, scheme, watched.watch, listing.notes, read), listing.notes

    def fault(self, watched: Watched, folder: str, names: Iterable[str]) -> str | None:
        """Return what is wrong with the first bad file of a partition; None if all are Parquet."""
        paths = [f"{folder}/{name}".removeprefix("/") for name in names if name != watched.watch.marker]
        faults = (fault_of(path, partial(self._tail, watched, path, at)) for at, path in enumerate(paths))
        return next((fault for fault in faults if fault is not None), None)

    def _tail(self, watched: Watched, path: str, number: int) -> bytes:
        """Return the end of a file; of further ones in a cloud, each of which is a request, a good one."""
        if is_local(watched.folder):
            # A name that is not UTF-8 is known in its printed form only.
            with suppress(OSError, ValueError):
                return tail_of(Path(local_path(watched.folder)) / path)
            return MAGIC
        if number >= TAILS_IN_CLOUD_MAX:
            return MAGIC
        options = options_of(watched.folder, self._spark_conf, self._options)
        return tail_in_cloud(watched.folder, path, options, len(MAGIC))


class Look:
    """The looks at one folder, one after another.

    Args:
        seconds: a monotonic clock.
    """

    def __init__(
        self,
        watched: Watched,
        place: Place,
        log: Log,
        clock: Callable[[], datetime],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.watched = watched
        self._place = place
        self._log = log
        self._clock = clock
        self._seconds = seconds
        self._settling = Settling()
        self._known: dict[str, Files] | None = None
        self._read: ReadKeys = {}
        self._problem: str | None = None
        self._noted: tuple[str, ...] = ()

    def run(self, store: Store) -> tuple[str, ...]:
        """Look once, and return the keys that were reported; a failure is noted in the store and logged."""
        try:
            reported, problem = self._look(store), None
        except Exception as error:  # noqa: BLE001 -- one folder never stops the others
            # What the store has may be more than what is remembered here.
            self._known, reported, problem = None, (), error
        self._note(store, problem)
        return reported

    def _look(self, store: Store) -> tuple[str, ...]:
        found, notes = self._place.partitions(self.watched, self._read)
        if tuple(notes) != self._noted:
            self._noted = tuple(notes)
            for each in notes:
                self._log(f"watch of {self.watched.id}: {each}")
        known = self._begin(store, found)
        complete = self._settling.complete(found, known, self.watched.watch, self._seconds())
        now, scheme = self._clock(), self.watched.dataset.partitions
        complete = [each for each in complete if not begins_later(each, scheme, now)]
        faults = {each.key: self._fault(each, known.get(each.key, {})) for each in complete}
        complete = [each for each in complete if faults[each.key] is None]
        reported: list[str] = []
        for start in range(0, len(complete), PARTITIONS_PER_TRANSACTION):
            chunk = complete[start : start + PARTITIONS_PER_TRANSACTION]
            with store.transaction() as transaction:
                landed = [Complete(key=each.key, files=each.files) for each in chunk]
                taken = take_complete(transaction, self.watched, landed, self._clock())
            if taken is None:
                self._known = None
                break
            reported += taken
            # Of what another watcher has taken in meanwhile, the store knows the same files.
            known.update({each.key: each.files for each in chunk})
        _refuse_bad([fault for fault in faults.values() if fault is not None])
        _refuse_large(found, known)
        return tuple(reported)

    def _fault(self, found: FoundPartition, known: Files) -> str | None:
        """Return what is wrong with the new files of a partition."""
        names = sorted(changed(found.files, known))
        fault = self._place.fault(self.watched, found.folder, names)
        return fault and f"{fault} (partition {found.key})" if found.key else fault

    def _begin(self, store: Store, found: Mapping[str, FoundPartition]) -> dict[str, Files]:
        """Return the known files of each partition, as of the last look or from the store."""
        if self._known is None:
            with store.reading() as reader:
                folder = known_folder(reader, self.watched)
            if folder is None or folder.since is None:
                present = {key: each.files for key, each in found.items()}
                with store.transaction() as transaction:
                    begin_watching(transaction, self.watched, present, self._clock())
            with store.reading() as reader:
                self._known = {
                    each.key: each.files
                    for each in reader.records(WATCHED_PARTITIONS, dataset=self.watched.id)
                }
        return self._known

    def note_slow(self, store: Store, seconds: float) -> None:
        """Note that a look has not ended after some seconds."""
        slow = WatchError(
            f"a look at {self.watched.folder} has not ended after {seconds:.0f} s",
            "check the mount or the network of the folder",
        )
        self._note(store, slow)

    def _note(self, store: Store, error: Exception | None) -> None:
        """Note the result of a look where it differs from that of the look before."""
        problem, remedy = ("", "") if error is None else _text(error)
        if problem == self._problem:
            return
        if problem or self._problem:
            self._log(f"watch of {self.watched.id}: {problem or 'works again'}")
        try:
            with store.transaction() as transaction:
                note_problem(transaction, self.watched, problem, remedy, self._clock())
        except Exception as failed:  # noqa: BLE001 -- the store may be away, and the next look notes it
            self._log(f"watch of {self.watched.id}: {type(failed).__name__}: {failed}")
            return
        self._problem = problem


def _refuse_bad(faults: Sequence[str]) -> None:
    """Raise the first fault of the files of partitions, which are not reported until it is repaired."""
    if faults:
        more = f", and {len(faults) - 1} more partitions" if len(faults) > 1 else ""
        raise WatchError(
            f"{faults[0]}{more}",
            "land it again, or move it out of the folder: the partition is reported then",
        )


def _refuse_large(found: Mapping[str, FoundPartition], known: Mapping[str, Files]) -> None:
    for key, partition in found.items():
        if len(partition.files) > FILES_PER_PARTITION_MAX and known.get(key) != partition.files:
            raise WatchError(
                f"{key or 'the folder'!r:.200} has more than {FILES_PER_PARTITION_MAX:,} files",
                "move old files to another folder, or delete `watch` and report partitions",
            )


def _text(error: Exception) -> tuple[str, str]:
    if isinstance(error, UserError):
        return error.message, error.hint
    said = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {said:.500}", "the log of the host says more"


def list_folder(folder: str, dimensions: int, options: Mapping[str, Any]) -> Listing:
    """Return the files below a folder.

    Args:
        folder: absolute path or URL.
        dimensions: how many folders are between it and the files.
        options: of the file system's client, by its own names.

    Raises:
        WatchError: the folder cannot be listed, or has too many files.
    """
    if is_local(folder):
        return list_local(folder, dimensions)
    return list_cloud(folder, dimensions, options)
