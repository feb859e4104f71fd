"""What a look at a watched folder found, taken in: the events and what was seen, in one transaction.

    complete partition ──its files are known──► nothing
                       ──new or written again──► report (`report_partitions`) + the files, both or neither

Every writer decides by the rows that the store has then. So two watchers at once, or one that was killed
between any two writes, make one event of the same files.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Dataset, Watch
from tidegate.domain.value import Value
from tidegate.scheduler.intake.report_partitions import Landed, report_partitions
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.watched import (
    WATCHED_FOLDERS,
    WATCHED_PARTITIONS,
    Files,
    WatchedFolder,
    WatchedPartition,
    changed,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

BY_WATCHER = By(actor="watch")

PARTITIONS_PER_TRANSACTION = 500
"""The engine waits while a transaction is open."""


class Watched(Value, kw_only=True):
    """A dataset whose folder is watched.

    Attributes:
        folder: absolute path or URL.
    """

    project: str
    app: str
    dataset: Dataset
    folder: str

    @property
    def id(self) -> str:
        """The name among all apps, "app/name"."""
        return f"{self.app}/{self.dataset.name}"

    @property
    def watch(self) -> Watch:
        """How it is watched."""
        return self.dataset.watch or Watch()


class Complete(Value, kw_only=True):
    """A partition that is complete.

    Attributes:
        files: all that it has, with the marker if there is one.
    """

    key: str
    files: dict[str, tuple[int, str]]


def known_folder(reader: EngineReader, watched: Watched) -> WatchedFolder | None:
    """Return what the store knows of the folder; None before the first look, and for another folder."""
    found = reader.records(WATCHED_FOLDERS, project=watched.project, dataset=watched.id)
    return next((each for each in found if each.folder == watched.folder), None)


def begin_watching(
    transaction: EngineTransaction, watched: Watched, present: Mapping[str, Files], now: datetime
) -> None:
    """Note that a folder is watched from now on, unless it is noted.

    Args:
        present: the files of its partitions, which are known from now on where `existing: ignore` says so.
    """
    found = known_folder(transaction, watched)
    if (found is not None and found.since is not None) or not _is_watched(transaction, watched):
        return
    _forget(transaction, [watched.id])
    transaction.put_records(WATCHED_FOLDERS, [_folder(watched, now)])
    if watched.watch.existing == "ignore":
        transaction.put_records(
            WATCHED_PARTITIONS,
            [
                WatchedPartition(dataset=watched.id, key=key, files=dict(files), at=now)
                for key, files in present.items()
            ],
        )


def take_complete(
    transaction: EngineTransaction, watched: Watched, complete: Sequence[Complete], now: datetime
) -> tuple[str, ...] | None:
    """Report the partitions whose files are not known.

    Without partitions the event has the size of what is new, since updates add up; else the size of the
    whole partition, since the newest size counts.

    Returns:
        Their keys; None, and nothing is reported, if the dataset is not deployed as it was looked at.
    """
    folder = known_folder(transaction, watched)
    if folder is None or folder.since is None or not _is_watched(transaction, watched):
        return None
    keys = [each.key for each in complete]
    known = {
        each.key: each.files for each in transaction.records(WATCHED_PARTITIONS, dataset=watched.id, key=keys)
    }
    fresh: list[Complete] = []
    landed: list[Landed] = []
    for each in sorted(complete, key=lambda each: each.key):
        new = changed(each.files, known.get(each.key, {}))
        if new:
            counted = each.files if watched.dataset.partitions is not None else new
            fresh.append(each)
            landed.append(Landed(key=each.key or None, bytes=size_of(counted, watched.watch)))
    if not fresh:
        return ()
    report_partitions(
        transaction,
        watched.project,
        watched.app,
        watched.dataset.name,
        landed,
        now,
        BY_WATCHER,
        _request(folder, fresh),
    )
    transaction.put_records(
        WATCHED_PARTITIONS,
        [WatchedPartition(dataset=watched.id, key=each.key, files=each.files, at=now) for each in fresh],
    )
    return tuple(each.key for each in fresh)


def note_problem(
    transaction: EngineTransaction, watched: Watched, problem: str, remedy: str, now: datetime
) -> None:
    """Note why a folder cannot be looked at, for `tidegate doctor`; "" once it can be."""
    if not _is_watched(transaction, watched):
        return
    folder = known_folder(transaction, watched) or _folder(watched, None)
    if problem == folder.problem:
        return
    since = None if not problem else folder.problem_since or now
    noted = msgspec.structs.replace(folder, problem=problem, remedy=remedy, problem_since=since)
    transaction.put_records(WATCHED_FOLDERS, [noted])


def forget_gone(transaction: EngineTransaction, project: str) -> None:
    """Forget the folders of datasets that do not exist any more; a dataset not watched now stays known."""
    datasets = {f"{each.name}/{name}" for each in transaction.records(APPS) for name in each.app.datasets}
    known = transaction.records(WATCHED_FOLDERS, project=project)
    _forget(transaction, [each.dataset for each in known if each.dataset not in datasets])


def _forget(transaction: EngineTransaction, datasets: Sequence[str]) -> None:
    transaction.drop_records(WATCHED_FOLDERS, datasets)
    transaction.drop_records(WATCHED_PARTITIONS, datasets)


def size_of(files: Files, watch: Watch) -> int:
    """Return the bytes of files without the marker."""
    return sum(size for name, (size, _) in files.items() if name != watch.marker)


def _is_watched(reader: EngineReader, watched: Watched) -> bool:
    """Return whether the dataset is deployed as it was looked at."""
    deployed = {each.name: each.app for each in reader.records(APPS, name=[watched.app])}.get(watched.app)
    now = None if deployed is None else deployed.datasets.get(watched.dataset.name)
    return (
        now is not None
        and now.watch == watched.dataset.watch
        and now.path == watched.dataset.path
        and now.partitions == watched.dataset.partitions
    )


def _folder(watched: Watched, since: datetime | None) -> WatchedFolder:
    return WatchedFolder(dataset=watched.id, project=watched.project, folder=watched.folder, since=since)


def _request(folder: WatchedFolder, fresh: Sequence[Complete]) -> str:
    """Return the key of a report: of the cause, which is the files."""
    cause = (folder.dataset, folder.folder, folder.since, [(each.key, each.files) for each in fresh])
    return f"watch:{hashlib.sha256(msgspec.json.encode(cause, order='sorted')).hexdigest()}"
