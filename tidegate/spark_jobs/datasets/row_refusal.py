"""Rows that are refused while Spark evaluates them, as an error that says why.

A value that cannot be kept is met only when a query runs, perhaps far from where the condition was written.
The query then fails with the reason between two marks, of which the process that runs it makes our error.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as sf

from tidegate.spark_jobs.errors import OutputError

_BEGIN, _END = "[refused: ", " :refused]"
_REFUSED = re.compile(re.escape(_BEGIN) + "(.*?)" + re.escape(_END), re.DOTALL)

_NULL = re.compile(
    r"Null value appeared in non-nullable field:\n((?:[^\n]+\n)+?)If the schema", re.IGNORECASE
)
"""Spark's own message for a nested column."""


def refusal(*texts: Column) -> Column:
    """Return a column whose evaluation fails with a text."""
    return sf.raise_error(sf.concat(sf.lit(_BEGIN), *texts, sf.lit(_END)))


@contextmanager
def refused_rows(name: str) -> Iterator[None]:
    """Make an error of ours of a query that failed on such a column.

    Args:
        name: whose rows they are, for the message.

    Raises:
        OutputError: a row was refused.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError, OSError) as error:
        if nested := _NULL.search(str(error)):
            column = ".".join(line.strip() for line in nested[1].splitlines())
            raise OutputError(
                f"{name}: the column {column} is NOT NULL in the table, and a row of the output has no "
                "value in it",
                "fill it, or leave such rows out",
            ) from error
        found = _REFUSED.search(str(error))
        if found is None:
            raise
        what, _, hint = found[1].partition("; ")
        raise OutputError(f"{name}: {what}", hint) from error
