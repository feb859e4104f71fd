"""Java failures of Iceberg as exceptions: the table has changed, or the outcome is not known."""

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

STALE = (
    "org.apache.iceberg.exceptions.AlreadyExistsException",
    "org.apache.iceberg.exceptions.CommitFailedException",
)
"""The Java errors of a commit on a table that has changed since: the commit certainly did not happen."""


class StaleTable(Exception):
    """The table has changed since it was read; nothing was committed."""


class IcebergFailure(OSError):
    """Java failed. The caller must verify whether a commit happened."""


@contextmanager
def java_failures(doing: str) -> Iterator[None]:
    """Convert Java failures to the exceptions of this module.

    Raises:
        StaleTable: the table has changed since it was read.
        IcebergFailure: any other failure.
    """
    try:
        yield
    except Py4JJavaError as error:
        if error.java_exception.getClass().getName() in STALE:
            raise StaleTable(f"{doing}: {error.java_exception.getMessage()}") from error
        raise IcebergFailure(f"{doing}: {error.java_exception.toString()}") from error
    except (Py4JError, CapturedException) as error:
        raise IcebergFailure(f"{doing}: {error}") from error
