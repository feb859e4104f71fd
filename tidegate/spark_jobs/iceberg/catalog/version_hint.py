"""The hint which metadata of a table is the newest, for readers that know a table by its folder only.

A `hadoop` catalog replaces `metadata/version-hint.text` after each commit: it deletes the file, and renames
a new one. A process that dies in between leaves an old hint, or none. The catalog finds the newest metadata
all the same; pyiceberg and DuckDB would read an old table, or none, until the next commit.
"""

import re
from typing import Any

from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.table_files import TableFiles

HADOOP_TABLE = "org.apache.iceberg.hadoop.HadoopTableOperations"
HINT = "version-hint.text"
TRIES = 10
"""How many commits in a row may come between reading a table and writing its hint."""

_VERSION = re.compile(r"v([0-9]+)\.")


def mend_version_hint(files: TableFiles, table: Any) -> None:
    """Let the hint name the newest metadata, if a process has died before it did so.

    Args:
        table: Iceberg's table; if its catalog is not of type `hadoop`, it has no hint.

    Raises:
        OSError: the hint cannot be read or written.
    """
    with java_failures("read the newest metadata of a table"):
        operations = table.operations()
        if operations.getClass().getName() != HADOOP_TABLE:
            return
        newest = operations.current()
    for _ in range(TRIES):
        with java_failures("read the newest metadata of a table"):
            folder, _, name = str(newest.metadataFileLocation()).rpartition("/")
        version = _VERSION.match(name)
        hint = files.first_line(f"{folder}/{HINT}")
        if version is None or (hint is not None and hint.isdecimal() and int(hint) >= int(version[1])):
            return
        files.replace(f"{folder}/{HINT}", version[1])
        with java_failures("read the newest metadata of a table"):
            newest = operations.refresh()
