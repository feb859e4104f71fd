"""`TidegateIOManager`: the outputs of PySpark assets of any Dagster project, published exactly once.

    from dagster import Definitions
    from tidegate import TidegateIOManager, recovery_definitions

    tables = TidegateIOManager(warehouse="warehouse", store="sqlite:///store.db")
    defs = Definitions.merge(
        Definitions(assets=assets, resources={"io_manager": tables}),
        recovery_definitions(tables, assets),
    )

Neither YAML nor a program is needed. This module connects settings to `dagster_defs.io_manager`;
docs/io-manager.md describes the use.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from dagster import (
    AssetKey,
    AssetsDefinition,
    ConfigurableIOManager,
    Definitions,
    EnvVar,
    InitResourceContext,
    InputContext,
    OutputContext,
    PartitionsDefinition,
    ResourceDependency,
)
from pydantic import PrivateAttr
from pyspark.sql import DataFrame, SparkSession

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.io_manager.dataset import dataset_of
from tidegate.dagster_defs.io_manager.pyspark_resource import session_of
from tidegate.dagster_defs.io_manager.tables import AssetTables
from tidegate.dagster_defs.run.recovery import recovery_job, recovery_schedule
from tidegate.project.settings.settings import Settings, settings_with
from tidegate.project.spark import spark_settings
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.patience import patient_commits
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.files.all_files import AllFiles
from tidegate.spark_jobs.session.session import active_session, properties, session

__all__ = ["TidegateIOManager", "recovery_definitions"]

DEFAULT_APP = "assets"


class TidegateIOManager(ConfigurableIOManager):
    """Publishes the Spark DataFrames that assets return, and loads them for other assets.

    Settings that are left out come from `tidegate.toml`, which is not needed if `warehouse` and `store` are
    given. Relative paths begin in its folder, or in the working folder where there is none.

    Attributes:
        project: the folder of `tidegate.toml`; default: the working folder or one above it.
        warehouse: the folder or URL of the tables.
        store: the URL of the schedule store, which keeps what a publish has promised; it is made if missing.
        catalog: options of the Iceberg catalog, as in `[iceberg.catalog]`.
        spark_master: Spark's master URL, for the session that Tidegate starts.
        spark_conf: Spark properties, for the session that Tidegate starts.
        app: the app of assets whose key has one part.
        format: the format of assets whose metadata names none: parquet or iceberg.
        pyspark: the `PySparkResource` of dagster-pyspark whose session is used; without it Tidegate uses the
            active session of the process, or starts one.
    """

    project: str | None = None
    warehouse: str | None = None
    store: str | None = None
    catalog: dict[str, str] = {}
    spark_master: str | None = None
    spark_conf: dict[str, str] = {}
    app: str = DEFAULT_APP
    format: str = "parquet"
    pyspark: ResourceDependency[Any] = cast(Any, None)

    _tables: AssetTables | None = PrivateAttr(default=None)

    def handle_output(self, context: OutputContext, obj: Any) -> None:
        """Stage the output of an asset; with the last output of its step, publish all of them."""
        self._assets().handle_output(context, obj)

    def load_input(self, context: InputContext) -> DataFrame | None:
        """Return the rows of the partitions that the input depends on, from one published snapshot."""
        return self._assets().load_input(context)

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Remove what was staged and not published."""
        tables, self._tables = self._tables, None
        if tables is not None:
            tables.close()

    def dataset_of(
        self, key: AssetKey, metadata: Mapping[str, Any], partitions: PartitionsDefinition | None
    ) -> DatasetRef:
        """Return the dataset that an asset is published to.

        Raises:
            OutputError: the metadata of the asset is wrong.
        """
        return dataset_of(key, metadata, partitions, app=_value(self.app), default_format=_value(self.format))

    @property
    def spark_session(self) -> SparkSession:
        """The session of this process, for assets that create DataFrames; it is started if there is none."""
        # A `PySparkResource` has none before Dagster has set it up; then its session is the active one.
        own = None if self.pyspark is None else session_of(self.pyspark)
        # A session that the code of an asset has started is the one that its frames belong to.
        return own or active_session() or session(spark_settings(self._settings()))

    def spark_properties(self) -> dict[str, str]:
        """Return the Spark properties that tables need, for a session that is started elsewhere.

        A `PySparkResource` gets them as its `spark_config`; without them it cannot write Iceberg tables.
        """
        return properties(spark_settings(self._settings()))

    def location(self) -> Location:
        """Return the places of the tables and of the store, with the settings of the session."""
        settings = self._settings()
        spark = spark_settings(settings)

        def store() -> SqlStore:
            return _open_store(settings.store_url)

        return Location(
            open_store=store,
            open_commits=lambda: patient_commits(SqlCommitStepStore(store().engine)),
            warehouse=Warehouse(
                path=settings.warehouse, project=settings.paths_from, files=AllFiles(self._spark)
            ),
            project=settings.name,
            spark=spark,
        )

    def _assets(self) -> AssetTables:
        if self._tables is None:
            self._tables = AssetTables(self, self.dataset_of, self.location(), self._spark)
        return self._tables

    def _spark(self) -> SparkSession:
        return self.spark_session

    def _settings(self) -> Settings:
        given = {
            "warehouse": {"path": _value(self.warehouse)},
            "store": {"url": _value(self.store)},
            "iceberg": {"catalog": self.catalog or None},
            "spark": {"master": _value(self.spark_master), "conf": self.spark_conf or None},
        }
        chosen = {
            section: {key: value for key, value in values.items() if value is not None}
            for section, values in given.items()
        }
        project = _value(self.project)
        return settings_with(None if project is None else Path(project), chosen)


def recovery_definitions(
    io_manager: TidegateIOManager, assets: Iterable[AssetsDefinition] = ()
) -> Definitions:
    """Return the job and the schedule that finish what runs were publishing when they died.

    The next run of an asset does the same for the asset. The schedule is on by default and looks each minute.

    Args:
        assets: the assets of the IO manager; the staging of their dead runs is removed.

    Raises:
        OutputError: the metadata of an asset is wrong.
    """
    refs = tuple(
        io_manager.dataset_of(spec.key, spec.metadata, spec.partitions_def)
        for one in assets
        for spec in one.specs
    )
    location = io_manager.location()
    return Definitions(jobs=[recovery_job(refs, location)], schedules=[recovery_schedule(location)])


@cache
def _open_store(url: str) -> SqlStore:
    """Open a store once for each process."""
    return open_sql_store(url)


def _value(given: str | None) -> Any:
    """Return a setting; one that is given as an environment variable is read where it is needed."""
    return given.get_value() if isinstance(given, EnvVar) else given
