"""Publishes a staged Iceberg output: one commit on the table, which readers see whole or not at all.

    read the table ─► is our commit in its log? ─► data files by write mode ─► compare and swap
          ▲                  └──yes──► done                                         │
          └─────────────────────────── the table has changed meanwhile ◄────────────┘

What was looked at is exactly what is replaced: the new metadata is swapped in only for the
metadata that was read, without Iceberg's own retries, which would not look again. The
commit brings the rows, the entry in the table's log that `verify` looks for, and a summary
for people: commit id, token, job and partitions. Snapshot ids are not evidence; they expire.
"""

import json
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import msgspec

from compiler.value import Value
from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.step import DONE, NOT_DONE, Verified, step_kind, unknown
from spark_jobs.errors import OutputError
from spark_jobs.io.iceberg_catalog import STAGING_NAMESPACE, IcebergCatalog, StaleTable, java_failures, spoken
from spark_jobs.io.iceberg_log import PROPERTY, Publish, encode_log
from spark_jobs.io.iceberg_merge import MergedFiles, merge_files
from spark_jobs.io.iceberg_table import (
    SUMMARY_KEYS,
    added_files,
    check_partitions,
    described,
    keys_of,
    log_of,
    partition_filter,
)

CONFLICT_TRIES = 100
"""How many commits of others may come between our reading the table and our commit, in a row."""


@step_kind("publish_iceberg")
class PublishIceberg(Value, kw_only=True):
    """Brings the data files of a staging table into a table.

    Attributes:
        table: namespace and name.
        staging: name of the staging table.
        snapshot: id of the staging table's snapshot, by which it is recognised.
        mode: what happens to the rows that stand there.
        merge_keys: columns that name a row within its partition.
        dimensions: the partition columns.
        partitions: of every partition written, the values of the partition columns, by key.
        commit: commit id of the publish.
        token: fencing token of the run.
        job: the job's key, or the id of a run started by hand.
        base: how many publishes the table had when this was staged.
        facts: what else the snapshot's summary says, for example the manifest and the watermarks.
    """

    only_cleans: ClassVar[bool] = False

    table: tuple[str, str]
    staging: str
    snapshot: int
    mode: Literal["append", "overwrite_partitions", "merge", "full"]
    merge_keys: tuple[str, ...]
    dimensions: tuple[str, ...]
    partitions: dict[str, tuple[str, ...]]
    commit: str
    token: int
    job: str
    base: int
    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        catalog = IcebergCatalog(context.spark())
        # Staging goes only after the publish, so it is looked at first.
        staged = self._staged(catalog)
        table = catalog.table(self.table)
        if table is None:
            return unknown(f"{spoken(self.table)} does not exist")
        try:
            log = log_of(table)
        except ValueError as error:
            return unknown(f"the property {PROPERTY} of {spoken(self.table)} cannot be read: {error}")
        if log.find(self.commit) is not None:
            return DONE
        since = log.since(self.base)
        if since is None:
            return unknown(
                f"{spoken(self.table)} has had {log.number} publishes, and {self.base} when this began; "
                "what it remembers of them does not tell"
            )
        if staged is None:
            return unknown(f"neither is it published nor is its staging table {self.staging} there")
        if self._is_fenced() and any(
            one.token > self.token and keys_of(table, one.snapshot) is None for one in since
        ):
            return unknown("which partitions later runs have written is no longer known: snapshots are gone")
        return NOT_DONE

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
        raise OSError(f"{CONFLICT_TRIES} times the table had changed meanwhile: {last}") from last

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        return f"{self.mode.replace('_', ' ')} in {spoken(self.table)}, {len(self.partitions)} partitions"

    def _try(self, catalog: IcebergCatalog) -> None:
        """One attempt. When what it needs is gone it does nothing, and `verify` tells why."""
        staged, table = self._staged(catalog), catalog.table(self.table)
        if staged is None or table is None:
            return
        with java_failures(f"publish into {spoken(self.table)}"):
            # From here on everything is read from, and swapped for, this one state of the table.
            transaction = table.newTransaction()
            read, view = table.operations().current(), transaction.table()
            log = log_of(view)
            if log.find(self.commit) is not None:
                return
            check_partitions(view, self.table, self.dimensions)
            since = log.since(self.base)
            if since is None:
                return
            keys = self._keys_to_write(view, since)
            merged = self._merged(catalog, table, keys)
            change = transaction.newOverwrite()
            self._replace(catalog, change, keys, merged)
            for file in self._files(catalog, view, staged, keys, merged):
                change.addFile(file)
            for name, value in self._summary(keys).items():
                change.set(name, value)
            change.commit()
            snapshot = view.currentSnapshot().snapshotId()
            ours = Publish(commit=self.commit, token=self.token, snapshot=snapshot)
            transaction.updateProperties().set(PROPERTY, encode_log(log.then(ours))).commit()
            with catalog.exclusive(self.table):
                table.operations().commit(read, view.operations().current())

    def _is_fenced(self) -> bool:
        """Whether it takes the place of what other runs have written."""
        return self.mode in ("overwrite_partitions", "full")

    def _staged(self, catalog: IcebergCatalog) -> Any | None:
        """The staging table as it was when the sequence was made, or None."""
        staged = catalog.table((STAGING_NAMESPACE, self.staging))
        snapshot = None if staged is None else staged.currentSnapshot()
        return staged if snapshot is not None and snapshot.snapshotId() == self.snapshot else None

    def _keys_to_write(self, table: Any, since: tuple[Publish, ...]) -> dict[str, tuple[str, ...]]:
        """The partitions but for those that a run with a larger token has replaced since.

        That run began later, so its rows are what would stand had both published in the order
        they began. Rows that are added, or merged, take no other run's place.
        """
        if not self._is_fenced():
            return self.partitions
        replaced: set[str] = set()
        for one in since:
            if one.token > self.token:
                written = keys_of(table, one.snapshot)
                if written is None:
                    raise OSError(f"{spoken(self.table)}: the snapshot of commit {one.commit} is gone")
                replaced.update(written)
        return {key: values for key, values in self.partitions.items() if key not in replaced}

    def _merged(
        self, catalog: IcebergCatalog, table: Any, keys: dict[str, tuple[str, ...]]
    ) -> MergedFiles | None:
        if self.mode != "merge":
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

    def _replace(
        self,
        catalog: IcebergCatalog,
        change: Any,
        keys: dict[str, tuple[str, ...]],
        merged: MergedFiles | None,
    ) -> None:
        """Takes away what the write mode replaces."""
        if self._is_fenced():
            if keys:
                change.overwriteByRowFilter(partition_filter(catalog, self.dimensions, keys.values()))
        elif merged is not None:
            for file in merged.replaced:
                change.deleteFile(file)

    def _files(
        self,
        catalog: IcebergCatalog,
        table: Any,
        staged: Any,
        keys: dict[str, tuple[str, ...]],
        merged: MergedFiles | None,
    ) -> Iterable[Any]:
        """The data files to add, bound to the table's own partition spec."""
        wanted = set(keys.values())
        found = [
            file
            for file in added_files(staged, staged.currentSnapshot())
            if described(catalog, file, self.dimensions).values in wanted
        ]
        for file in (*found, *(merged.survivors if merged is not None else ())):
            yield catalog.api.DataFiles.builder(table.spec()).copy(file).build()

    def _summary(self, keys: dict[str, tuple[str, ...]]) -> dict[str, str]:
        return {
            **self.facts,
            "tidegate.commit": self.commit,
            "tidegate.token": str(self.token),
            "tidegate.job": self.job,
            "tidegate.write": self.mode,
            SUMMARY_KEYS: json.dumps(list(keys), ensure_ascii=False),
        }
