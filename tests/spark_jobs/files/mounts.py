"""Gives a local folder the URL of a cluster's file system, by Hadoop's own mount tables.

Behind it is a local disk; what is gone through is Hadoop: its paths, its
FileContext, its exceptions, the very calls of that scheme.
"""

from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

OVERLOADED = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"
_names = (f"mount{number}" for number in count())


def mounted(spark: SparkSession, scheme: str, folder: Path) -> str:
    """The URL under which the session finds the folder."""
    context: Any = spark.sparkContext
    conf, name = context._jsc.hadoopConfiguration(), next(_names)
    if scheme != "viewfs":
        conf.set(f"fs.{scheme}.impl", OVERLOADED)
    conf.set(f"fs.viewfs.mounttable.{name}.link./lake", f"file://{folder}")
    return f"{scheme}://{name}/lake"
