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
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CommitAttempt
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.leftovers import dead_attempts
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.iceberg.catalog import STAGING_NAMESPACE, IcebergCatalog, java_failures, spoken
from tidegate.spark_jobs.iceberg.output import table_name
from tidegate.spark_jobs.iceberg.staging import DATA_PATH, drop_staging
from tidegate.spark_jobs.iceberg.table import draft_table
from tidegate.spark_jobs.parquet.table import STAGING_FOLDER
from tidegate.spark_jobs.publication.table import ICEBERG

STAGING_TABLE = re.compile(r"s[0-9a-f]{32}_([0-9]+)(?:_[0-9a-f]{32})?")
"""The name of a staging table; what a merge keeps of replaced files stands in one with a longer name."""


class Orphan(Value, kw_only=True):
    """Something staged that nobody can publish.

    Attributes:
        token: fencing token of the run that staged it.
        dataset: "app/dataset".
        place: the folder, or the table as SQL names it.
        table: name of the staging table, "" for a folder.
    """

    token: int
    dataset: str
    place: str
    table: str = ""


def give_up_dead(store: CommitStepStore, now: datetime) -> tuple[CommitAttempt, ...]:
    """Closes the attempts whose lease has run out; returns those that were closed here."""
    return tuple(one for one in dead_attempts(store, now) if store.give_up(one.token, now))


def find_orphans(
    refs: Sequence[DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    spark: Callable[[], SparkSession],
) -> tuple[Orphan, ...]:
    """What is staged for these datasets and belongs to nobody. Spark is started for Iceberg only.

    Raises:
        CommitUnknown: an unfinished sequence cannot be read, so what it needs is not known.
    """
    staged = [*_folders(refs, warehouse)]
    if any(ref.format == ICEBERG for ref in refs):
        staged += _tables(refs, IcebergCatalog(spark()))
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
    orphans = tuple(orphans)
    for one in orphans:
        if not one.table:
            warehouse.files.delete(one.place)
    tables = [one for one in orphans if one.table]
    if tables:
        catalog = IcebergCatalog(spark())
        by_id = {ref.id: ref for ref in refs}
        for one in tables:
            _drop(catalog, one.table, by_id.get(one.dataset))


def _folders(refs: Sequence[DatasetRef], warehouse: Warehouse) -> Iterable[Orphan]:
    files = warehouse.files
    for ref in refs:
        if ref.format == ICEBERG:
            continue
        staging = f"{ref.root(warehouse)}/{STAGING_FOLDER}"
        for commit in files.list(staging):
            for attempt in files.list(f"{staging}/{commit.name}"):
                if attempt.is_folder and attempt.name.isdecimal():
                    place = f"{staging}/{commit.name}/{attempt.name}"
                    yield Orphan(token=int(attempt.name), dataset=ref.id, place=place)


def _tables(refs: Sequence[DatasetRef], catalog: IcebergCatalog) -> Iterable[Orphan]:
    """The staging tables of these datasets. Others in the catalog may be those of another project."""
    names = [name for name in catalog.names(STAGING_NAMESPACE) if STAGING_TABLE.fullmatch(name)]
    tables = [ref for ref in refs if ref.format == ICEBERG] if names else []
    folders = {folder: ref.id for ref in tables if (folder := _data_folder(catalog, ref))}
    unborn = [ref for ref in tables if ref.id not in folders.values()]
    for name in names:
        found = STAGING_TABLE.fullmatch(name)
        staging = catalog.table((STAGING_NAMESPACE, name))
        if found is None or staging is None:
            continue
        folder = str(staging.properties().get(DATA_PATH) or "").rpartition("/")[0]
        dataset = folders.get(folder) or _would_stand_in(catalog, folder, staging.schema(), unborn)
        if dataset is not None:
            place = spoken((STAGING_NAMESPACE, name))
            yield Orphan(token=int(found[1]), dataset=dataset, place=place, table=name)


def _data_folder(catalog: IcebergCatalog, ref: DatasetRef) -> str | None:
    table = catalog.table(table_name(ref))
    return None if table is None else _folder_of(table)


def _would_stand_in(
    catalog: IcebergCatalog, folder: str, schema: Any, refs: Sequence[DatasetRef]
) -> str | None:
    """The dataset whose first publish would make a table with its data in this folder."""
    for ref in refs:
        if folder == _folder_of(draft_table(catalog, table_name(ref), schema, ()).table()):
            return ref.id
    return None


def _folder_of(table: Any) -> str:
    return str(table.properties().get(DATA_PATH) or f"{table.location()}/data")


def _drop(catalog: IcebergCatalog, name: str, ref: DatasetRef | None) -> None:
    """Drops a staging table, and its data files but for those that the table has taken over.

    Those are looked for in every snapshot that the table still has: this one's commit may be
    finished, and only the broom at its end have failed. Where the dataset is not known, all stay.
    """
    published = None if ref is None else _taken_over(catalog, name, ref)
    drop_staging(catalog, [name], published)


def _taken_over(catalog: IcebergCatalog, name: str, ref: DatasetRef) -> frozenset[str]:
    table = table_name(ref)
    if catalog.table(table) is None:
        return frozenset()
    with java_failures(f"list the files of {spoken(table)}"):
        files: Any = catalog.spark.read.format("iceberg").load(f"{spoken(table)}.all_data_files")
        ours = files.where(files.file_path.contains(f"/_{name}/")).select("file_path").distinct()
        return frozenset(row[0] for row in ours.collect())


def _token(commit: str, body: str) -> int:
    try:
        return int(json.loads(body)["token"])
    except (ValueError, KeyError, TypeError) as error:
        raise CommitUnknown(
            f"commit {commit} cannot be read, so no staging can be told to be orphaned: {error}",
            "finish it with the version of tidegate that wrote it",
        ) from error
