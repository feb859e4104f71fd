"""The values of the parameters of a query, bound by Spark: no value ever becomes part of a text.

PySpark 3.5 binds no lists; `sql(text, map)` of the JVM takes a Java array in their place. A value of a known
type that is missing is null of this type, so that a column of it can be written.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from tidegate.domain.model import SqlQuery
from tidegate.domain.sql.parameters import OF_EVERY_RUN, wrong_values
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.java.jvm import java_classes, of_expression
from tidegate.spark_jobs.programs.params import Params

_NULLS = {"text": "StringType", "instant": "TimestampType", "number": "IntegerType"}


def values_of(params: Params) -> dict[str, Any]:
    """Return the value of each parameter that a query may have in this run."""
    return {**params.args, **{name: getattr(params, name) for name in OF_EVERY_RUN}}


def java_values(spark: SparkSession, query: SqlQuery, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as the JVM binds them.

    Raises:
        ProgramError: a value that cannot be bound, such as a mapping.
    """
    for name, what in wrong_values(dict(values)):
        raise ProgramError(
            f"{query.file}: the parameter :{name} is {what}, which cannot be bound",
            "pass a text, a number, true, false, null, or a list of one of them",
        )
    return {name: _java_value(spark, name, value) for name, value in values.items()}


def _java_value(spark: SparkSession, name: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return _array(spark, list(value))
    kind = _NULLS.get(OF_EVERY_RUN.get(name, ""))
    if value is None and kind is not None:
        java: Any = java_classes(spark)
        type_ = getattr(java.org.apache.spark.sql.types.DataTypes, kind)
        return of_expression(spark, java.org.apache.spark.sql.catalyst.expressions.Literal(None, type_))
    column: Any = lit(value)
    return column._jc


def _array(spark: SparkSession, members: list[Any]) -> Any:
    """Return a list of one type as a Java array; one without members is of texts."""
    context: Any = spark.sparkContext
    gateway = context._gateway
    if all(isinstance(member, bool) for member in members) and members:
        kind = gateway.jvm.boolean
    elif all(isinstance(member, int) for member in members) and members:
        kind = gateway.jvm.long
    elif all(isinstance(member, int | float) for member in members) and members:
        kind, members = gateway.jvm.double, [float(member) for member in members]
    else:
        kind = gateway.jvm.java.lang.String
    array = gateway.new_array(kind, len(members))
    for index, member in enumerate(members):
        array[index] = member
    return array
