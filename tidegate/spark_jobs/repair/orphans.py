"""Finds and removes the staging of runs that died before they could publish.

    list all staging ──► open attempts ──► withheld sequences ──► unfinished ones ──► the rest is orphaned

All staging carries its run's fencing token. A token that may still publish belongs to an open attempt, to
a withheld or to an unfinished sequence; the store turns an attempt into a sequence, and a withheld one into
an unfinished one, in one transaction. So the four are read in this order: the token of a running run is found
in one of the later steps, however long they take, and the staging of a later run is not in the
first. The attempts of dead runs are closed before (`expire_dead_attempts`): from then on the store refuses
their `put`, even if the run was only paused.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CommitAttempt
from tidegate.spark_jobs.datasets.dataset_ref import CHECKPOINTS, DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.table_report import Orphan
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.publication.formats import formats
from tidegate.spark_jobs.repair.leftovers import dead_attempts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def expire_dead_attempts(
    store: CommitStepStore, now: datetime, others: Collection[str] = ()
) -> tuple[CommitAttempt, ...]:
    """Close the attempts whose lease has expired. Return those that this call closed.

    Args:
        others: the apps of other projects, which close their own attempts.
    """
    return tuple(one for one in dead_attempts(store, now, others) if store.expire(one.token, now))


def find_orphans(
    refs: Sequence[DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    spark: "Callable[[], SparkSession]",
) -> tuple[Orphan, ...]:
    """Return the staging of these datasets that no run needs. Spark is started where a format needs it.

    Raises:
        CommitUnknown: an unfinished sequence cannot be read, so the staging it needs is unknown.
    """
    staged: list[Orphan] = []
    for name, format in formats().items():
        mine = [ref for ref in refs if ref.format == name]
        if mine:
            staged += format.staged(mine, warehouse, spark)
    staged += _checkpoints(warehouse)
    needed = needed_tokens(store) if staged else frozenset[int]()
    return tuple(one for one in staged if one.token not in needed)


def needed_tokens(store: CommitStepStore) -> frozenset[int]:
    """Return the tokens that may still publish. List the staging before this call."""
    needed = {attempt.token for attempt in store.attempts()}
    needed |= {kept.token for kept in store.list_withheld()}
    bodies = [(commit, store.get(commit)) for commit in store.list_unfinished()]
    return frozenset(needed.union(*(_tokens(commit, body) for commit, body in bodies if body is not None)))


def remove_orphans(
    orphans: Iterable[Orphan],
    refs: Sequence[DatasetRef],
    warehouse: Warehouse,
    spark: "Callable[[], SparkSession]",
) -> None:
    """Remove the staging that `find_orphans` returned.

    Raises:
        OSError: a file system or catalog failed; the next call finds the rest again.
    """
    orphans, by_id = tuple(orphans), {ref.id: ref for ref in refs}
    for name, format in formats().items():
        mine = [one for one in orphans if one.format == name]
        if mine:
            format.remove(mine, by_id, warehouse, spark)
    for one in orphans:
        if one.format == CHECKPOINTS:
            warehouse.files.delete(one.place)


def _checkpoints(warehouse: Warehouse) -> Iterator[Orphan]:
    """Yield the folders of checkpoints, needed or not."""
    folder = warehouse.checkpoints()
    for entry in warehouse.files.list(folder):
        if entry.is_folder and entry.name.isdecimal():
            place = f"{folder}/{entry.name}"
            yield Orphan(token=int(entry.name), dataset="", place=place, format=CHECKPOINTS)


def _tokens(commit: str, body: str) -> set[int]:
    """Return the tokens of the attempt that put a sequence, and of the run that staged it."""
    try:
        fields = json.loads(body)
        return {int(fields["token"]), int(fields.get("staged", fields["token"]))}
    except (ValueError, KeyError, TypeError) as error:
        raise CommitUnknown(
            f"commit {commit} cannot be read, so orphaned staging cannot be determined: {error}",
            "finish it with the version of tidegate that wrote it",
        ) from error
