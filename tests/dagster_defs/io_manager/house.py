"""Assets of one Dagster project, with their tables and their store, in a folder of a test."""

from pathlib import Path
from typing import Any

from dagster import AssetKey, AssetsDefinition, DagsterInstance, ExecuteInProcessResult, materialize
from pyspark.sql import SparkSession

from tests.spark_jobs.without_spark import rows_of
from tidegate import TidegateIOManager
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore

RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


class House:
    """Runs assets in this process, and looks at what they have left."""

    def __init__(self, folder: Path, instance: DagsterInstance, spark: SparkSession) -> None:
        self.folder, self.instance, self.spark = folder, instance, spark
        self.tables = TidegateIOManager(warehouse=str(folder / "house"), store=f"sqlite:///{folder / 's.db'}")

    def run(
        self, *assets: AssetsDefinition, keys: tuple[str, str] | None = None, fails: bool = False, **more: Any
    ) -> ExecuteInProcessResult:
        """Materialise assets; `keys` are the first and the last of a range."""
        tags = more.pop("tags", {}) | ({} if keys is None else dict(zip(RANGE, keys, strict=True)))
        result = materialize(
            list(assets),
            resources={"io_manager": self.tables} | more.pop("resources", {}),
            instance=self.instance,
            tags=tags,
            raise_on_error=not fails,
            **more,
        )
        assert result.success is not fails
        return result

    def again(self, parent: str, *assets: AssetsDefinition, **more: Any) -> ExecuteInProcessResult:
        """Execute a run again, as its button in the UI does."""
        tags = {"dagster/parent_run_id": parent, "dagster/root_run_id": parent}
        return self.run(*assets, tags=tags, **more)

    def rows(self, one: AssetsDefinition, name: str = "") -> list[tuple[Any, ...]]:
        """What readers see of an asset, sorted."""
        spec = next(spec for spec in one.specs if not name or spec.key.path[-1] == name)
        ref = self.tables.dataset_of(spec.key, spec.metadata, spec.partitions_def)
        found = rows_of(self.spark, ref, self.tables.location().warehouse)
        return sorted(tuple(row.values()) for row in found)

    def materialised(self, key: str) -> list[tuple[str | None, Any, Any]]:
        """Partition, rows and commit of every materialisation of an asset, oldest first."""
        found = self.instance.fetch_materializations(AssetKey(key.split("/")), limit=100, ascending=True)
        return [
            (event.partition, event.metadata["rows"].value, event.metadata["tidegate/commit"].value)
            for event in (record.asset_materialization for record in found.records)
            if event is not None
        ]

    def commits(self) -> SqlCommitStepStore:
        """The store of commit sequences."""
        return self.tables.location().open_commits()

    def staging(self) -> list[str]:
        """Files that no reader sees."""
        return [str(file) for file in self.folder.glob("house/*/*/_staging/**/*") if file.is_file()]
