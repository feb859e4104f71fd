"""Plans a compaction: the groups of files that are rewritten together.

Iceberg's own planner groups files by partition and size. It is asked before each series of slices, and the
groups belong to the state of the table at that moment.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.table.table import all_but
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

MAX_GROUP_BYTES = 10_000_000_000
"""A larger partition is rewritten in several groups, since a group cannot be interrupted."""
PLANNER_OPTIONS: Mapping[str, str] = {
    "target_file_size": "target-file-size-bytes",
    "min_input_files": "min-input-files",
    "delete_file_threshold": "delete-file-threshold",
    "rewrite_all": "rewrite-all",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Files of one partition that are rewritten together.

    Attributes:
        java: Iceberg's own object.
        files: number of its files.
        bytes: their size.
    """

    java: Any
    files: int
    bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The groups of a table, those with most files first.

    Attributes:
        java: Iceberg's own table; a catalog that caches its tables may renew it at any time.
        start: the snapshot that the groups belong to, which stays; None for a table without one.
    """

    java: Any
    start: Any | None
    groups: tuple[Group, ...] = ()


def plan_groups(
    table: CatalogTable,
    java: Any,
    options: Mapping[str, Any],
    ref: DatasetRef | None,
    excluded: Collection[str],
) -> Plan:
    """Plan what is rewritten of a table.

    Args:
        ref: the dataset of the table, which has partitions if any are excluded.
        excluded: keys of the partitions to leave out.
    """
    start = java.currentSnapshot()
    if start is None:
        return Plan(java=java, start=None)
    chosen = table.api.expressions.Expressions.alwaysTrue()
    if excluded:
        assert ref is not None, "only a dataset has known partitions"
        chosen = all_but(catalog_of(table.spark), ref.dimensions(), sorted(excluded))
    planner = table.api.actions.BinPackRewriteFilePlanner(java, chosen, start.snapshotId(), False)
    planner.init(_java_options(table, options))
    found = planner.plan().groups()
    try:
        groups = [
            Group(java=one, files=int(one.inputFileNum()), bytes=int(one.inputFilesSizeInBytes()))
            for one in each(found)
        ]
    finally:
        found.close()
    if excluded and int(java.specs().size()) > 1:
        # A file of an earlier partitioning may have rows of any partition.
        spec = int(java.spec().specId())
        groups = [
            one for one in groups if all(int(f.specId()) == spec for f in each(one.java.rewrittenFiles()))
        ]
    return Plan(java=java, start=start, groups=tuple(groups))


def _java_options(table: CatalogTable, options: Mapping[str, Any]) -> Any:
    made = table.java.java.util.HashMap()
    made.put("rewrite-job-order", "files-desc")
    made.put("max-file-group-size-bytes", str(MAX_GROUP_BYTES))
    for name, iceberg in PLANNER_OPTIONS.items():
        if name in options:
            made.put(iceberg, str(options[name]).lower())
    return made
