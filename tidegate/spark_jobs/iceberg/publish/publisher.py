"""Publishes a staged output into an Iceberg table, in as many tries as other commits make necessary.

A try reads one state of the table, computes the change for it, and swaps. Computing a merge takes longest, so
its result is kept for the next try while no commit has touched the merged partitions: a writer that is busy
in other partitions then loses it only the swap. What was written for a try that is void is removed at once.
"""

import json
import logging
import uuid
from dataclasses import replace
from types import TracebackType
from typing import Any

from pyspark.errors import AnalysisException

from tidegate.spark_jobs.datasets.changed_rows import is_never_computed
from tidegate.spark_jobs.datasets.conflicts import never_computed, other_columns
from tidegate.spark_jobs.errors import CommitConflict, TableDamaged
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable, java_failures
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.publish.fences import Partitions, conflict_of, has_changed, keys_to_write
from tidegate.spark_jobs.iceberg.publish.promised_publish import PromisedPublish, staged_files
from tidegate.spark_jobs.iceberg.staging.files import StagedFiles, stage_files, staging_folder
from tidegate.spark_jobs.iceberg.staging.merge import MergedFiles, merge_files
from tidegate.spark_jobs.iceberg.staging.staging import drop_staging, rows_of_files
from tidegate.spark_jobs.iceberg.table.changes import SUMMARY_COMMIT, SUMMARY_MODE, History
from tidegate.spark_jobs.iceberg.table.data_files import lost_data_files
from tidegate.spark_jobs.iceberg.table.log import PROPERTY, Publish, encode_log
from tidegate.spark_jobs.iceberg.table.table import (
    SUMMARY_KEYS,
    all_but,
    check_partitions,
    draft_table,
    dropped_columns,
    file_under,
    keep_snapshots,
    log_of,
    partition_filter,
    same_numbers,
    with_columns,
)
from tidegate.spark_jobs.java.elements import Method, MethodOf

log = logging.getLogger(__name__)

DATA_FILE = ("org.apache.iceberg.DataFile",)
APPEND = Method("org.apache.iceberg.AppendFiles", "appendFile", DATA_FILE)
DELETE = Method("org.apache.iceberg.OverwriteFiles", "deleteFile", DATA_FILE)
ADD = Method("org.apache.iceberg.OverwriteFiles", "addFile", DATA_FILE)


class Publisher:
    """The tries of one process to publish: `with Publisher(catalog, step) as publisher:`."""

    def __init__(self, catalog: IcebergCatalog, step: PromisedPublish) -> None:
        self._catalog = catalog
        self._step = step
        self._history = History(catalog, step.dimensions)
        self._merged: MergedFiles | None = None
        self._written: list[str] = []
        self._swapped = False

    def __enter__(self) -> "Publisher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was written in vain. After a swap, also one with a lost answer, a later step does."""
        if not self._swapped and (kind is None or issubclass(kind, Exception)):
            self._drop_written()

    def conflict(self) -> CommitConflict | None:
        """Return what a publish into the current state of the table would lose; None for nothing."""
        step, catalog = self._step, self._catalog
        table = catalog.table(step.table)
        if table is None or not has_changed(step, table) or log_of(table).find(step.commit) is not None:
            return None
        staged = staged_files(catalog, step, table)
        if staged is None:
            return None
        with java_failures(f"read {sql_name(step.table)}"):
            return conflict_of(catalog, step, self._history, table, staged)

    def attempt(self) -> None:
        """Make one try. If a table it needs is missing, it has no effect, and `verify` reports why.

        Raises:
            CommitConflict: others have changed what it replaces since its run began.
            StaleTable: another commit came first.
            OutputError: the partitions of the table were changed.
            OSError: the catalog failed. The caller must verify whether the swap happened.
        """
        step, catalog = self._step, self._catalog
        table = catalog.table(step.table)
        staged = staged_files(catalog, step, table)
        if (
            staged is None
            or (table is None and step.base)
            or lost_data_files(catalog, staged.io, staged.listed)
        ):
            return
        with java_failures(f"publish into {sql_name(step.table)}"):
            # From here on all is read from this one state of the table, which the swap expects.
            if table is None:
                transaction = draft_table(catalog, step.table, staged.schema, step.dimensions)
            else:
                transaction = table.newTransaction()
            read, view = transaction.startMetadata(), transaction.table()
            try:
                before = log_of(view)
            except TableDamaged:
                return
            done = before.find(step.commit) is not None or step.commit in before.abandoned
            if done or before.since(step.base) is None:
                return
            check_partitions(catalog, view, step.table, step.dimensions)
            keys, kept = keys_to_write(step, view, before)
            conflict = None if table is None else conflict_of(catalog, step, self._history, table, staged)
            if conflict is not None:
                raise conflict
            merged = self._merge(table, keys)
            files = self._files(transaction, staged, keys)
            added = (files, merged.survivors) if merged and merged.survivors else (files,)
            change = self._change(transaction, keys, kept, merged)
            spec = view.spec()
            for one in added:
                self._add(change, one, spec)
            for name, value in self._summary(keys).items():
                change.set(name, value)
            change.commit()
            ours = Publish(
                commit=step.commit,
                token=step.token,
                snapshot=view.currentSnapshot().snapshotId(),
                keys=tuple(keys),
                whole=step.mode == "full" and kept is not None,
            )
            after = before.with_publish(ours)
            transaction.updateProperties().set(PROPERTY, encode_log(after)).commit()
            keep_snapshots(transaction, after.forgotten_since(before))
            self._swap(transaction, read)
            catalog.published[step.table, step.commit] = frozenset(
                file.location for one in added for file in one.listed
            )

    def _add(self, change: Any, staged: StagedFiles, spec: Any) -> None:
        """Add data files to a change of a table whose partitions are those of `spec`."""
        catalog, files, number = self._catalog, staged.files, spec.specId()
        if any(file.spec != number for file in staged.listed):
            files = catalog.java.java.util.ArrayList()
            for file, listed in zip(each(staged.files), staged.listed, strict=True):
                files.add(file if listed.spec == number else file_under(catalog, spec, file))
        catalog.elements.give(files, MethodOf(change, APPEND if self._step.mode == "append" else ADD))

    def _swap(self, transaction: Any, read: Any | None) -> None:
        self._swapped = True
        try:
            self._catalog.swap(
                self._step.table, transaction.underlyingOps(), read, transaction.currentMetadata()
            )
        except StaleTable:
            self._swapped = False
            raise

    def _merge(self, table: Any | None, keys: Partitions) -> MergedFiles | None:
        """Return the merge into this state of the table: that of an earlier try, if it is still valid."""
        if self._step.mode != "merge" or table is None:
            return None
        if self._merged is None or not self._is_valid(self._merged, table, keys):
            self._merged = None
            self._drop_written()
            merge = self._step.merge(tuple(keys.values()))
            try:
                self._merged = merge_files(self._catalog, self._step.table, table, merge, self._new())
            except AnalysisException as error:
                if not is_never_computed(error):
                    raise
                # Computed again, it is refused before anything is promised.
                raise never_computed(self._step.commit, sql_name(self._step.table), error) from error
        return self._merged

    def _is_valid(self, merged: MergedFiles, table: Any, keys: Partitions) -> bool:
        """Return whether no commit since, a compaction neither, has touched what was merged."""
        if merged.schema != table.schema().schemaId():
            return False
        since = self._history.since(table, merged.snapshot)
        return not any(self._history.touched(table, change, keys) for change in since)

    def _change(
        self, transaction: Any, keys: Partitions, kept: frozenset[str] | None, merged: MergedFiles | None
    ) -> Any:
        """Return the change of the table's files, with the files that the write mode removes."""
        catalog, step = self._catalog, self._step
        if step.mode == "append":
            return transaction.newAppend()
        change = transaction.newOverwrite().caseSensitive(False)
        if merged is not None:
            if merged.replaced is not None:
                catalog.elements.give(merged.replaced, MethodOf(change, DELETE))
        elif step.mode == "full" and kept is not None:
            change.overwriteByRowFilter(all_but(catalog, step.dimensions, kept))
        elif keys:
            change.overwriteByRowFilter(partition_filter(catalog, step.dimensions, keys.values()))
        return change

    def _files(self, transaction: Any, staged: StagedFiles, keys: Partitions) -> StagedFiles:
        """Add the columns that the table lacks, and return the data files to add.

        Data files name their columns by field ids. Where the table has the name of a column with another id
        (two runs have added columns at once, or a person has dropped and added one), rows are written again.
        """
        catalog, step = self._catalog, self._step
        table, schema = transaction.table(), staged.schema
        if not schema.sameSchema(table.schema()):
            lacking = (*step.new_columns, *dropped_columns(step.columns, schema, table.schema()))
            if lacking:
                new = schema.select(catalog.texts.java_list(dict.fromkeys(lacking)))
                try:
                    with java_failures(f"add columns to {sql_name(step.table)}"):
                        with_columns(transaction.updateSchema(), new).commit()
                except IcebergFailure as clash:
                    raise other_columns(step.commit, sql_name(step.table), clash) from clash
                table = transaction.table()
            if not same_numbers(schema, table.schema()):
                rows = rows_of_files(catalog, self._new(), table, staged)
                staged = stage_files(catalog, self._new(), table, rows, len(step.dimensions))
        if len(keys) == len(step.partitions):
            return staged
        wanted, files = set(keys.values()), catalog.java.java.util.ArrayList()
        for number, file in enumerate(staged.listed):
            if file.values in wanted:
                files.add(staged.files.get(number))
        return replace(
            staged, files=files, listed=tuple(file for file in staged.listed if file.values in wanted)
        )

    def _summary(self, keys: Partitions) -> dict[str, str]:
        return {
            **self._step.facts,
            SUMMARY_COMMIT: self._step.commit,
            "tidegate.token": str(self._step.token),
            "tidegate.job": self._step.job,
            SUMMARY_MODE: self._step.mode,
            SUMMARY_KEYS: json.dumps(list(keys), ensure_ascii=False),
        }

    def _new(self) -> str:
        """Return a unique name for staging: another process may finish the same sequence."""
        self._written.append(f"{self._step.staging}_{uuid.uuid4().hex}")
        return self._written[-1]

    def _drop_written(self) -> None:
        names, self._written = self._written, []
        try:
            drop_staging(self._catalog, names)
            if names and (folder := staging_folder(self._catalog, self._step.table)) is not None:
                for name in names:
                    folder.remove(name)
        except OSError as error:
            log.warning("left to the last step of commit %s: %s", self._step.commit, error)
