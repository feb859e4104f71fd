"""Spark properties that a program may not set, because tables or other programs rely on them. Pure.

Lint refuses them (`compiler.builders.program`), and the session sets `FIXED` whatever anybody else says
(`spark_jobs.session`).
"""

from collections.abc import Mapping

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
    "spark.master",
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


def fault_of(name: str) -> str | None:
    """Return the rule against a property of a program; None if a program may set it."""
    if name in FIXED:
        return f"tables rely on {name} = {FIXED[name]}"
    if name in OF_THE_PROJECT or name.startswith(CATALOGS):
        return "a project has one Spark master, warehouse and set of catalogs"
    return None
