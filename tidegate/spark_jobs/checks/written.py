"""Checks that users write: a query, and a function, each in a session of its own that cannot write.

    staged rows ──► table NAME, readers' rows ──► NAME__published, inputs ──► tables ──► query ──► bad rows
    staged rows ──► function(spark, rows, params) ──► bad rows, or None

A query has the fences of an SQL program. The session of a function has no catalog of tables, and no file is
committed in it; what Python itself can write, as in a program, nothing prevents.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tidegate.domain.model import RunCheck, SqlCheck, SqlQuery
from tidegate.domain.model.check import PUBLISHED
from tidegate.spark_jobs.checks.compared import Beside
from tidegate.spark_jobs.checks.conditions import not_judged
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.declared_columns import declared_schema
from tidegate.spark_jobs.errors import ProgramError, SparkJobError
from tidegate.spark_jobs.programs.loading import load_check
from tidegate.spark_jobs.programs.own_session import (
    CANNOT_WRITE,
    NO_COMMITTER,
    frame_in,
    program_session,
    refuse_writes,
)
from tidegate.spark_jobs.programs.program import ProgramExited, call_program

Written = SqlCheck | RunCheck
T = TypeVar("T")


def look_at(
    ref: DatasetRef,
    check: Written,
    rows: DataFrame,
    beside: Beside,
    take: Callable[[DataFrame], T],
) -> T | None:
    """Let a user's check find bad rows, and return what `take` makes of them; None where it returns None.

    Args:
        take: evaluates the bad rows, in the session of the check.

    Raises:
        NotJudged: the query does not compile, or the function raises or returns something else.
    """
    with program_session(rows.sparkSession) as own:
        try:
            bad = _bad_rows(own, ref, check, rows, beside)
            return None if bad is None else take(bad)
        except ProgramError as error:
            raise not_judged(ref, check, error.message) from error
        except SparkJobError:
            raise
        except (PySparkException, Py4JJavaError, ProgramExited) as error:
            raise not_judged(ref, check, _why(error)) from error


def refuse_written(
    spark: SparkSession, ref: DatasetRef, check: Written, columns: StructType, beside: Beside
) -> None:
    """Refuse a query that does not compile over these columns, or a function that there is not.

    Raises:
        NotJudged: it cannot be judged.
    """
    if isinstance(check, RunCheck):
        try:
            load_check(check.run)
        except ProgramError as error:
            raise not_judged(ref, check, error.message) from error
        except Exception as error:
            raise not_judged(ref, check, f"{type(error).__name__}: {error}") from error
        return
    look_at(ref, check, spark.createDataFrame([], columns), beside, lambda bad: bad.schema)


def _bad_rows(
    own: SparkSession, ref: DatasetRef, check: Written, rows: DataFrame, beside: Beside
) -> DataFrame | None:
    staged = frame_in(own, rows)
    if isinstance(check, SqlCheck):
        # It brings the parser of SQL, which no other publish needs.
        from tidegate.spark_jobs.programs.sql_program import run_query

        query = SqlQuery(output=ref.name, file="its query", text=check.sql)
        return run_query(own, query, _tables(own, ref, staged, beside), beside.params)
    refuse_writes(own)
    function = load_check(check.run)
    try:
        bad = call_program(check.run, lambda: function(own, staged, beside.params))
    except (ProgramExited, SparkJobError):
        raise
    except Exception as error:
        raise not_judged(ref, check, f"{check.run} raises {_why(error)}") from error
    if bad is None or isinstance(bad, DataFrame):
        return bad
    raise not_judged(ref, check, f"{check.run} returns a DataFrame or None, got {type(bad).__name__}")


def _why(error: BaseException) -> str:
    """Return the first line of an error, without the call of Java that it came through."""
    if CANNOT_WRITE in str(error) or f"{NO_COMMITTER}.<init>" in str(error):
        return "an error, since it writes: a check reads, and its session commits nothing"
    java: Any = error.java_exception if isinstance(error, Py4JJavaError) else error
    return f"{type(error).__name__}: {str(java).strip().splitlines()[0]}"


def _tables(own: SparkSession, ref: DatasetRef, staged: DataFrame, beside: Beside) -> dict[str, DataFrame]:
    """Return what a query may read; an input that never had data only where its columns are declared."""
    found: dict[str, DataFrame] = {}
    for name, frame in beside.inputs.items():
        declared = beside.reads[name].columns if name in beside.reads else ()
        if frame is not None:
            found[name] = frame_in(own, frame)
        elif declared:
            found[name] = own.createDataFrame([], declared_schema(declared))
    published = beside.read(ref)
    found[f"{ref.name}{PUBLISHED}"] = (
        own.createDataFrame([], staged.schema) if published is None else frame_in(own, published)
    )
    # Last: a program that reads its own output has that under this name.
    found[ref.name] = staged
    return found
