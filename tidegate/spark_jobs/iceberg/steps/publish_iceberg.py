"""The step that publishes a staged Iceberg output by one commit, which readers see whole or not at all.

    read the table ─► is the commit in its log? ─no► data files by write mode ─► compare and swap
          ▲                  └──yes──► done                                           │
          └───────────────────────── the table has changed since ◄────────────────────┘

The new metadata replaces only the metadata that was
read, without Iceberg's own retries, which would not read the log again. The
commit adds the rows, the entry in the table's log that `verify` searches for, and a summary
for users: commit id, token, job and partitions. Snapshot ids are not evidence, because snapshots expire.
"""

import json
import uuid
from typing import Any, ClassVar, Literal

import msgspec

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import NOT_DONE, Effect, Verdict, Verified, step_kind, unknown
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog import (
    STAGING_NAMESPACE,
    IcebergCatalog,
    StaleTable,
    java_failures,
    sql_name,
)
from tidegate.spark_jobs.iceberg.data_files import lost_staged_files
from tidegate.spark_jobs.iceberg.lineage import verify_publish
from tidegate.spark_jobs.iceberg.log import PROPERTY, Publish, PublishLog, encode_log
from tidegate.spark_jobs.iceberg.merge import MergedFiles, merge_files
from tidegate.spark_jobs.iceberg.refusal import refuse_commit
from tidegate.spark_jobs.iceberg.staging import write_staging
from tidegate.spark_jobs.iceberg.table import (
    SUMMARY_KEYS,
    added_files,
    all_but,
    check_partitions,
    data_file,
    draft_table,
    dropped_columns,
    keep_snapshots,
    keys_of,
    log_of,
    partition_filter,
    same_numbers,
    with_columns,
)

SHOWN_FILES = 3
CONFLICT_TRIES = 100
"""How many times in a row another commit may change the table before the step fails."""


@step_kind("publish_iceberg")
class PublishIceberg(Value, kw_only=True):
    """Adds the data files of a staging table to a table.

    Attributes:
        table: namespace and name.
        staging: name of the staging table.
        snapshot: id of the staging table's snapshot, which identifies it.
        mode: how existing rows are treated.
        merge_keys: columns that identify a row within its partition.
        dimensions: the partition columns.
        new_columns: columns of the staging table that the table did not have, or had with a narrower type.
        columns: columns of the output; the staging table has those of the table too.
        partitions: the values of the partition columns of each written partition, by key.
        commit: commit id of the publish.
        token: fencing token of the run.
        job: the job's key, or the id of a run started by hand.
        base: number of publishes of the table when the output was staged.
        facts: further entries of the snapshot's summary, for example the manifest and the watermarks.
    """

    effect: ClassVar[Effect] = Effect.PUBLISHES

    table: tuple[str, str]
    staging: str
    snapshot: int
    mode: Literal["append", "overwrite_partitions", "merge", "full"]
    merge_keys: tuple[str, ...]
    dimensions: tuple[str, ...]
    new_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    partitions: dict[str, tuple[str, ...]]
    commit: str
    token: int
    job: str
    base: int
    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        catalog = IcebergCatalog(context.spark())
        answer = self._logged(catalog, catalog.table(self.table))
        if answer.verdict is not Verdict.NOT_DONE:
            return answer
        staged = self._staged(catalog)
        lost = () if staged is None else lost_staged_files(catalog, staged)
        if staged is not None and not lost:
            return answer
        # Staging is dropped only after the publish: another process may have done both since the first read.
        answer = self._logged(catalog, catalog.table(self.table))
        if answer.verdict is not Verdict.NOT_DONE:
            return answer
        if lost:
            return unknown(
                f"{len(lost)} of its staged data files do not exist or have another length than was written: "
                f"{', '.join(lost[:SHOWN_FILES])}; restore them, or abandon the commit and run it again"
            )
        return unknown(
            f"{sql_name(self.table)} does not list the commit, and its staging table {self.staging} "
            "does not exist"
        )

    def execute(self, context: CommitContext) -> None:
        """See `CommitStep.execute`."""
        catalog = IcebergCatalog(context.spark())
        last: StaleTable | None = None
        for _ in range(CONFLICT_TRIES):
            try:
                self._try(catalog)
            except StaleTable as stale:
                last = stale
            except OutputError as error:
                raise OSError(str(error)) from error
            else:
                return
        raise OSError(
            f"other runs committed first {CONFLICT_TRIES} times in a row; try again: {last}"
        ) from last

    def refuse(self, context: CommitContext) -> None:
        """See `RefusableStep.refuse`."""
        catalog = IcebergCatalog(context.spark())
        refuse_commit(catalog, self.table, self.commit, self.dimensions, create=not self.base)

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        return f"{self.mode.replace('_', ' ')} in {sql_name(self.table)}, {len(self.partitions)} partitions"

    def _logged(self, catalog: IcebergCatalog, table: Any | None) -> Verified:
        """Return what the table's log shows about this publish."""
        if table is None and self.base:
            return unknown(f"{sql_name(self.table)} does not exist, but existed when the commit began")
        try:
            log = PublishLog() if table is None else log_of(table)
        except ValueError as error:
            return unknown(f"the property {PROPERTY} of {sql_name(self.table)} cannot be read: {error}")
        ours = log.find(self.commit)
        if ours is not None:
            return verify_publish(catalog, self.table, table, log, ours)
        if self.commit in log.abandoned:
            return unknown(f"{sql_name(self.table)} refuses the commit, because it was abandoned")
        since = log.since(self.base)
        if since is None:
            return unknown(
                f"{sql_name(self.table)} has had {log.number} publishes, and had {self.base} when the commit "
                f"began; its log lists only the last {len(log.recent)}"
            )
        if any(keys_of(table, one) is None for one in self._fences(since)):
            return unknown(
                "the partitions that later runs have written are unknown: their snapshots have expired"
            )
        return NOT_DONE

    def _try(self, catalog: IcebergCatalog) -> None:
        """Make one attempt. If a table it needs is missing, it has no effect, and `verify` reports why."""
        staged, table = self._staged(catalog), catalog.table(self.table)
        if staged is None or (table is None and self.base) or lost_staged_files(catalog, staged):
            return
        with java_failures(f"publish into {sql_name(self.table)}"):
            # From here on all is read from this one state of the table, which the swap expects.
            if table is None:
                transaction = draft_table(catalog, self.table, staged.schema(), self.dimensions)
            else:
                transaction = table.newTransaction()
            read, view = transaction.startMetadata(), transaction.table()
            log = log_of(view)
            since = log.since(self.base)
            if log.find(self.commit) is not None or self.commit in log.abandoned or since is None:
                return
            check_partitions(view, self.table, self.dimensions)
            keys, kept = self._keys_to_write(view, since)
            merged = self._merged(catalog, table, keys)
            files = self._files(catalog, transaction, staged, keys)
            spec = view.spec()
            change = self._change(catalog, transaction, keys, kept, merged)
            for file in (*files, *(merged.survivors if merged is not None else ())):
                add = change.appendFile if self.mode == "append" else change.addFile
                add(catalog.data_files.builder(spec).copy(file).build())
            for name, value in self._summary(keys).items():
                change.set(name, value)
            change.commit()
            ours = Publish(
                commit=self.commit,
                token=self.token,
                snapshot=view.currentSnapshot().snapshotId(),
                keys=tuple(keys),
                whole=self.mode == "full" and kept is not None,
            )
            after = log.with_publish(ours)
            transaction.updateProperties().set(PROPERTY, encode_log(after)).commit()
            keep_snapshots(transaction, after.forgotten_since(log))
            catalog.swap(self.table, transaction.underlyingOps(), read, transaction.currentMetadata())

    def _fences(self, since: tuple[Publish, ...]) -> tuple[Publish, ...]:
        """Return the publishes of runs that began later, whose partitions this one must not replace.

        The result is the same as if all runs had published in the order in which they began. Added or
        merged rows replace no partition of another run.
        """
        if self.mode in ("append", "merge"):
            return ()
        return tuple(one for one in since if one.token > self.token)

    def _staged(self, catalog: IcebergCatalog) -> Any | None:
        """Return the staging table; None when it does not exist or has another snapshot."""
        staged = catalog.table((STAGING_NAMESPACE, self.staging))
        snapshot = None if staged is None else staged.currentSnapshot()
        return staged if snapshot is not None and snapshot.snapshotId() == self.snapshot else None

    def _keys_to_write(
        self, table: Any, since: tuple[Publish, ...]
    ) -> tuple[dict[str, tuple[str, ...]], frozenset[str] | None]:
        """Return the partitions to write, and those that later runs wrote; None for the whole table."""
        fences = self._fences(since)
        if any(one.whole for one in fences):
            return {}, None
        kept: set[str] = set()
        for one in fences:
            written = keys_of(table, one)
            if written is None:
                raise OSError(f"{sql_name(self.table)}: the snapshot of commit {one.commit} has expired")
            kept.update(written)
        return {key: values for key, values in self.partitions.items() if key not in kept}, frozenset(kept)

    def _merged(
        self, catalog: IcebergCatalog, table: Any | None, keys: dict[str, tuple[str, ...]]
    ) -> MergedFiles | None:
        if self.mode != "merge" or table is None:
            return None
        return merge_files(
            catalog,
            self.table,
            table,
            staging=self.staging,
            columns=tuple(dict.fromkeys((*self.dimensions, *self.merge_keys))),
            dimensions=self.dimensions,
            partitions=tuple(keys.values()),
        )

    def _change(
        self,
        catalog: IcebergCatalog,
        transaction: Any,
        keys: dict[str, tuple[str, ...]],
        kept: frozenset[str] | None,
        merged: MergedFiles | None,
    ) -> Any:
        """Return the change of the table's files, with the files that the write mode removes."""
        if self.mode == "append":
            return transaction.newAppend()
        change = transaction.newOverwrite()
        if merged is not None:
            for file in merged.replaced:
                change.deleteFile(file)
        elif self.mode == "full" and kept is not None:
            change.overwriteByRowFilter(all_but(catalog, self.dimensions, kept))
        elif keys:
            change.overwriteByRowFilter(partition_filter(catalog, self.dimensions, keys.values()))
        return change

    def _files(
        self, catalog: IcebergCatalog, transaction: Any, staged: Any, keys: dict[str, tuple[str, ...]]
    ) -> list[Any]:
        """Add the columns that the table lacks, and return the data files to add.

        Data files name their columns by field ids. Where the table has the name of a column with another id
        (two runs have added columns at once, or a person has dropped and added one), rows are written again.
        """
        table, schema = transaction.table(), staged.schema()
        if not schema.sameSchema(table.schema()):
            lacking = (*self.new_columns, *dropped_columns(self.columns, schema, table.schema()))
            if lacking:
                new = schema.select(catalog.java_list(dict.fromkeys(lacking)))
                with_columns(transaction.updateSchema(), new).commit()
                table = transaction.table()
            if not same_numbers(schema, table.schema()):
                name = f"{self.staging}_{uuid.uuid4().hex}"
                staged = write_staging(
                    catalog, name, table, catalog.spark.table(sql_name((STAGING_NAMESPACE, self.staging)))
                )
        files = list(added_files(staged, staged.currentSnapshot()))
        if len(keys) == len(self.partitions):
            return files
        wanted = set(keys.values())
        return [file for file in files if data_file(catalog, file, self.dimensions).values in wanted]

    def _summary(self, keys: dict[str, tuple[str, ...]]) -> dict[str, str]:
        return {
            **self.facts,
            "tidegate.commit": self.commit,
            "tidegate.token": str(self.token),
            "tidegate.job": self.job,
            "tidegate.write": self.mode,
            SUMMARY_KEYS: json.dumps(list(keys), ensure_ascii=False),
        }
