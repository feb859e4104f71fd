"""Staging of runs that died before they could publish: found, and removed when nobody can need it.

    list what is staged ──► open attempts ──► unfinished sequences ──► the rest is orphaned

Everything staged carries its run's fencing token. A token that may still publish belongs to
an open attempt, or to a sequence that is not finished; the store turns the one into the other
in one transaction. So the three are looked at in this order: what was staged by a run
that is at work is seen in the second or the third look, however long they take, and what a later run
stages is not in the first. A dead run's attempt is closed first (`give_up_dead`): from then on its
`put` is refused, even if it was only asleep.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from pyspark.sql import SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CommitAttempt
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.table_report import Orphan
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.publication.formats import formats
from tidegate.spark_jobs.repair.leftovers import dead_attempts


def give_up_dead(store: CommitStepStore, now: datetime) -> tuple[CommitAttempt, ...]:
    """Closes the attempts whose lease has run out; returns those that were closed here."""
    return tuple(one for one in dead_attempts(store, now) if store.give_up(one.token, now))


def find_orphans(
    refs: Sequence[DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    spark: Callable[[], SparkSession],
) -> tuple[Orphan, ...]:
    """What is staged for these datasets and is needed by no run. Spark is started where a format needs it.

    Raises:
        CommitUnknown: an unfinished sequence cannot be read, so what it needs is not known.
    """
    staged: list[Orphan] = []
    for name, format in formats().items():
        mine = [ref for ref in refs if ref.format == name]
        if mine:
            staged += format.staged(mine, warehouse, spark)
    needed = needed_tokens(store) if staged else frozenset[int]()
    return tuple(one for one in staged if one.token not in needed)


def needed_tokens(store: CommitStepStore) -> frozenset[int]:
    """The tokens under which something may still be published. What is staged is to be listed before."""
    open_now = {attempt.token for attempt in store.attempts()}
    bodies = [(commit, store.get(commit)) for commit in store.list_unfinished()]
    return frozenset(open_now | {_token(commit, body) for commit, body in bodies if body is not None})


def remove_orphans(
    orphans: Iterable[Orphan],
    refs: Sequence[DatasetRef],
    warehouse: Warehouse,
    spark: Callable[[], SparkSession],
) -> None:
    """Removes what `find_orphans` has found.

    Raises:
        OSError: a file system or catalog failed; what was not reached is found again.
    """
    orphans, by_id = tuple(orphans), {ref.id: ref for ref in refs}
    for name, format in formats().items():
        mine = [one for one in orphans if one.format == name]
        if mine:
            format.remove(mine, by_id, warehouse, spark)


def _token(commit: str, body: str) -> int:
    try:
        return int(json.loads(body)["token"])
    except (ValueError, KeyError, TypeError) as error:
        raise CommitUnknown(
            f"commit {commit} cannot be read, so no staging can be told to be orphaned: {error}",
            "finish it with the version of tidegate that wrote it",
        ) from error
