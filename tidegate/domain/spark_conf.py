"""Where a program's Spark runs, and the properties that it may not set. Pure.

Tables or other programs rely on those: lint refuses them (`compiler.builders.program`), and the session sets
`FIXED` whatever anybody else says (`spark_jobs.session`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MASTER = "spark.master"

FIXED: Mapping[str, str] = {
    # Instants are spelled as partition keys in the zone of their dimension, starting from UTC.
    "spark.sql.session.timeZone": "UTC",
    # Partition keys are strings: "007" is not 7 and "2013-12-22" is not a date.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # Names of columns are compared in any case: a later publish may spell one otherwise.
    "spark.sql.caseSensitive": "false",
    # pandas writes nanoseconds. They are read as numbers, and become microseconds where nothing is lost.
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    # Staged files are published by their commit, never by Spark's marker file.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # A skipped file is lost rows that a watermark counts as read.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.files.ignoreMissingFiles": "false",
    "spark.files.ignoreCorruptFiles": "false",
}
"""Properties that the layout of tables depends on. They override those of a project."""

OF_THE_PROJECT = (
    MASTER,
    "spark.submit.deployMode",
    "spark.app.name",
    "spark.sql.extensions",
    "spark.sql.defaultCatalog",
    "spark.sql.warehouse.dir",
    "spark.hadoop.fs.defaultFS",
)
"""Properties that say where all programs of a project run and find their tables."""

CATALOGS = "spark.sql.catalog."
"""Prefix of the properties of catalogs, which belong to the project as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A section `[spark.clusters.NAME]` of the settings: what differs there from `[spark]`.

    Attributes:
        master: Spark's master URL; "" for that of `[spark]`.
        conf: Spark properties, over those of `[spark.conf]`.
        history_url: address of Spark's history server; "" for that of `[spark]`.
    """

    master: str = ""
    conf: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    history_url: str = ""

    def over(self, conf: Mapping[str, str]) -> dict[str, str]:
        """Return the properties of a program that runs there, the master among them.

        Args:
            conf: the program's own, which come last.
        """
        return {**self.conf, **({MASTER: self.master} if self.master else {}), **conf}


def is_one_process(master: str) -> bool:
    """Return whether driver and executors of a master are one process, with the same modules and jars."""
    return master == "local" or master.startswith("local[")


def fault_of(name: str) -> str | None:
    """Return the rule against a property of a program; None if a program may set it."""
    if name in FIXED:
        return f"tables rely on {name} = {FIXED[name]}"
    if name in OF_THE_PROJECT or name.startswith(CATALOGS):
        return "a project has one Spark master, warehouse and set of catalogs"
    return None
