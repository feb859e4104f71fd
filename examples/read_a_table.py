"""Read a published Parquet table from outside: its files, with pyarrow, and with Spark.

Run it as `python examples/read_a_table.py FOLDER [KEY…]`, with the folder of a table such as the one that
`io_manager.py` prints. Neither settings nor a store are needed.
"""

import sys

from pyspark.sql import SparkSession

import tidegate.read


def count_files(table: str) -> int:
    """Return the number of data files of the newest version."""
    return len(tidegate.read.files(table))


def read_rows(table: str, keys: list[str] | None = None) -> list[dict[str, object]]:
    """Return the rows of the newest version with pyarrow, without a JVM; of some partitions or of all."""
    return tidegate.read.pyarrow(table, keys=keys).to_table().to_pylist()


def total(session: SparkSession, table: str) -> int:
    """Return a sum with Spark. All that is computed from this DataFrame sees one version of the table."""
    return tidegate.read.spark(session, table).agg({"quantity": "sum"}).collect()[0][0]


if __name__ == "__main__":
    print(*read_rows(sys.argv[1], sys.argv[2:] or None), sep="\n")
