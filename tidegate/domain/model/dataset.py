"""Datasets with their partition schemes, and the programs that read and write them.

`domain.partition_key` defines the text of partition keys, `domain.time.cycle` how cycles nest.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from tidegate.domain.model.check import Check, NotNullCheck, check_name
from tidegate.domain.model.shared import At, Day, Deadline, Routes
from tidegate.domain.model.table_format import LANDED, DatasetFormat
from tidegate.domain.value import Value

Cycle = Literal["minute", "hour", "day", "week", "month", "year"]
EvaluateOnce = Literal["cache", "checkpoint", "never"]
WriteMode = Literal["append", "overwrite_partitions", "merge", "full"]
OnForeign = Literal["refuse", "replace"]
OnNewColumn = Literal["refuse", "add"]

PARTITION_TYPE = "string"
"""The type of the partition columns of every table."""

CATALOG = "tidegate"
"""The Spark catalog with the tables of the datasets, each at "tidegate.app.dataset"."""

SETTLE = timedelta(seconds=10)
"""`settle` of a watched folder that has none."""


class TimeDimension(Value, kw_only=True):
    """A partition dimension with one partition for each period of a cycle.

    Attributes:
        name: the column that holds the key; by default the name of the cycle.
        cycle: length of one partition.
        start: first partition key, for example "2013-01-01".
        timezone: zone in which the cycle begins and ends.
        week_starts: the first day of its weeks: of its partitions if they are weeks, and of the weeks to
            which finer partitions belong.
    """

    name: str
    cycle: Cycle
    start: str
    timezone: str = "UTC"
    week_starts: Day = "sun"


class StaticDimension(Value, kw_only=True):
    """A partition dimension with a fixed list of keys, for example the three airports of a feed."""

    name: str
    keys: tuple[str, ...]


class PartitionScheme(Value, kw_only=True):
    """The partition dimensions of a dataset: one time dimension, one static dimension, or both.

    With one dimension, the key of a partition is that dimension's key. With two dimensions it is the
    same as in Dagster: the keys joined by "|" in the alphabetical order of the dimensions' names.
    """

    time: TimeDimension | None = None
    static: StaticDimension | None = None

    def dimension_names(self) -> tuple[str, ...]:
        """Return the names of the dimensions in their order in a partition key."""
        return tuple(sorted(d.name for d in (self.time, self.static) if d is not None))


class Watch(Value, kw_only=True):
    """How the folder of a landed dataset is watched: complete partitions become events by themselves.

    Attributes:
        marker: name of the file that says that a partition is complete; "" to judge by its files.
        settle: how long the files of a partition are unchanged before it is complete, without a marker.
        existing: whether partitions that are there at the first look are reported.
    """

    marker: str = ""
    settle: timedelta = SETTLE
    existing: Literal["report", "ignore"] = "report"


class DeclaredColumn(Value, kw_only=True):
    """A column that a dataset promises to its readers.

    Attributes:
        type: by the name that Spark prints for it, such as "bigint"; see `domain.column_type`.
        nullable: whether rows may have no value in it.
        unit: of its values, for people, such as "min".
    """

    name: str
    type: str
    nullable: bool = True
    unit: str = ""
    description: str = ""

    @property
    def comment(self) -> str:
        """What tables and Dagster say of it: the description, with the unit in brackets."""
        unit = f"[{self.unit}]" if self.unit else ""
        return " ".join(part for part in (self.description, unit) if part)

    def null_check(self, at: At | None = None) -> NotNullCheck | None:
        """Return the check of a column that is not nullable, with the name column_NAME; None for others."""
        if self.nullable:
            return None
        return NotNullCheck(name=check_name("column", self.name), columns=(self.name,), at=at)


class Dataset(Value, kw_only=True):
    """A named table or file set.

    Attributes:
        path: folder of the files, relative to the project; None for a folder of the warehouse.
        write: what a publish does with the existing rows; None for the mode that replaces what the run
            writes: `overwrite_partitions`, or `full` without partitions.
        merge_keys: for `merge`, the columns that identify a row within its partition.
        on_foreign: what a publish does with rows that other writers than Tidegate have changed since its run
            began: it replaces them, or it refuses to.
        checks: what the rows of each run that writes it promise, in the order of the YAML.
        columns: what its rows have, in order; empty where nothing is declared. The partition columns, which
            are texts, may be among them.
        on_new_column: what a publish does with a column that is not among them.
        renamed_from: former names; the first one that is deployed goes on under this name.
        stored_as: the place in the warehouse, "app/name", of a dataset without path that was renamed; the
            store records it, the YAML does not have it.
        allow_empty: a reported partition of landed files may be without files, and then has no rows.
        watch: how its folder is watched; None if its partitions are reported.
        asset: the key of an asset of another code location, by its parts, whose materialisations are its
            events; empty for the asset "app/name" of our own location.
        deadline: until when each period has landed, or the next update; None if nothing is expected.
        owner: for people.
        alerts: the channels by kind of alert; a kind that is left out follows the app.
    """

    name: str
    format: DatasetFormat = LANDED
    partitions: PartitionScheme | None = None
    path: str | None = None
    write: WriteMode | None = None
    merge_keys: tuple[str, ...] = ()
    on_foreign: OnForeign = "refuse"
    checks: tuple[Check, ...] = ()
    columns: tuple[DeclaredColumn, ...] = ()
    on_new_column: OnNewColumn = "refuse"
    renamed_from: tuple[str, ...] = ()
    stored_as: str | None = None
    allow_empty: bool = False
    watch: Watch | None = None
    asset: tuple[str, ...] = ()
    deadline: Deadline | None = None
    owner: str = ""
    alerts: Routes = {}
    description: str = ""
    at: At | None = None

    def all_columns(self) -> tuple[DeclaredColumn, ...]:
        """Return the declared columns, then the partition columns that are not among them; none without any.

        A partition column is a text: the key of its dimension.
        """
        if not self.columns or self.partitions is None:
            return self.columns
        known = {column.name.lower() for column in self.columns}
        rest = (name for name in self.partitions.dimension_names() if name.lower() not in known)
        return (*self.columns, *(DeclaredColumn(name=name, type=PARTITION_TYPE) for name in rest))

    def table(self, app: str) -> str:
        """Return the name of its Iceberg table in SQL, "tidegate.app.dataset"."""
        place = self.stored_as or f"{app}/{self.name}"
        return f"{CATALOG}.{place.replace('/', '.')}"

    def write_mode(self) -> WriteMode:
        """Return the effective write mode: the given one or the default."""
        return self.write or ("full" if self.partitions is None else "overwrite_partitions")


class ExistingJob(Value, kw_only=True):
    """A job, or assets, of a Dagster code location that does not know Tidegate.

    Attributes:
        job: its name there; "" for assets.
        assets: in place of a job: which, in Dagster's selection syntax.
        location: the name of the code location; "" where only one location of the workspace has them.
        config: the run config, with references; None for what the job configures itself.
        tags: of its runs, over those of the job.
        partitions: of its runs, where the program writes nothing with partitions.
    """

    job: str = ""
    assets: str = ""
    location: str = ""
    config: dict[str, Any] | None = None
    tags: dict[str, str] = {}
    partitions: PartitionScheme | None = None

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"job {self.job}" if self.job else f'assets "{self.assets}"'

    @property
    def place(self) -> str:
        """The same with its location, where the program names one."""
        return f"{self.title} of {self.location}" if self.location else self.title


class SqlQuery(Value, kw_only=True):
    """The query of one output of an SQL program. Its text is part of the deployment.

    Attributes:
        output: the dataset whose rows it makes.
        file: relative to the project, as in the YAML.
    """

    output: str
    file: str
    text: str


class Program(Value, kw_only=True):
    """A PySpark function that reads datasets and writes datasets, queries that do, or a job that exists.

    Attributes:
        run: dotted path of the function, for example "tidegate.demo.flights.join_delays"; "" without one.
        existing: the job that its runs are of, in place of a function.
        sql: in place of a function a query for each output; a later one may read an earlier output.
        incremental: the datasets of which it reads only the data that is new since its last commit. True
            if the dataset's format finds the new data, else the dotted path of a module that does.
        cluster: the section `[spark.clusters.NAME]` that its runs use; "" for `[spark]`.
        spark_conf: Spark properties of its runs, over those of the cluster.
        evaluate_once: how what several outputs share is kept, so that it is evaluated once for all of them.
        tags: of its runs and its assets in Dagster, unless it is an existing job, which has its own.
        timeout: a run that takes longer is terminated and has failed; None for no limit.
        renamed_from: former names; the first one that is deployed goes on under this name.
    """

    name: str
    run: str = ""
    existing: ExistingJob | None = None
    sql: tuple[SqlQuery, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    incremental: dict[str, bool | str] = {}
    cluster: str = ""
    spark_conf: dict[str, str] = {}
    evaluate_once: EvaluateOnce = "cache"
    tags: dict[str, str] = {}
    timeout: timedelta | None = None
    renamed_from: tuple[str, ...] = ()
    description: str = ""
    at: At | None = None

    def outputs(self, datasets: Mapping[str, Dataset]) -> tuple[Dataset, ...]:
        """Return the declared datasets that it writes.

        An existing job that has partitions, and writes nothing that has, counts as one more of them.
        """
        found = tuple(datasets[name] for name in self.writes if name in datasets)
        job = self.existing
        if job is None or job.partitions is None or any(each.partitions for each in found):
            return found
        return (*found, Dataset(name=job.title, partitions=job.partitions))

    def schemes(self, datasets: Mapping[str, Dataset]) -> tuple[PartitionScheme, ...]:
        """Return the partition schemes of its outputs; lint requires that they agree."""
        found = (each.partitions for each in self.outputs(datasets))
        return tuple(scheme for scheme in found if scheme is not None)
