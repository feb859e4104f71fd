"""Runs the queries of an SQL program, in the program's own session. A query reads its inputs, nothing else.

    text ─► judged as by lint ─► parsed by Spark: no command ─► bound, analysed ─► its leaves are inputs

Each fence is whole without the one before it. Spark carries out a command as soon as it sees it, so its
parser is asked first, which carries out nothing. The session has none of the refused functions, replaces no
`${…}` in a text, and reads no file by its path. What a query reads is looked at in its analysed plan, before
anything is staged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tidegate.domain.model import Program, SqlQuery
from tidegate.domain.sql.fault import Fault, place_in
from tidegate.domain.sql.parameters import in_list_hint
from tidegate.domain.sql.query import judge_names, quoted, read_query
from tidegate.domain.sql.refused import FUNCTIONS
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.java.jvm import java_classes
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.programs.sql_parameters import java_values, values_of

SETTINGS = {"spark.sql.runSQLOnFiles": "false", "spark.sql.variable.substitute": "false"}
"""Of the session: a name is not a path, and a text is not replaced in before it is parsed."""

HARMLESS_LEAVES = ("CTERelationRef", "LocalRelation", "OneRowRelation", "Range")
"""What makes rows from the text of a query alone, or refers to another part of it."""

_PLANS = "org.apache.spark.sql.catalyst.plans.logical."
_ACTIONS = (f"{_PLANS}Command", f"{_PLANS}ParsedStatement", f"{_PLANS}ScriptTransformation")
_PLACE = re.compile(r"line (\d+),? pos (\d+)")


NOT_DECLARED: Mapping[str, StructType] = {}


def run_queries(
    own: SparkSession,
    program: Program,
    inputs: Mapping[str, DataFrame | None],
    params: Params,
    columns: Mapping[str, StructType] = NOT_DECLARED,
) -> dict[str, DataFrame]:
    """Return the rows of each output, as frames of the program's session that were not evaluated.

    Args:
        columns: the declared ones of the inputs; one that never had data has them, and no rows.

    Raises:
        ProgramError: an input never had data, a query is refused, or a parameter has no value.
    """
    frames = _frames(own, program, inputs, columns)
    leaves = _prepare(own, frames)
    values = values_of(params)
    outputs: dict[str, DataFrame] = {}
    for query in program.sql:
        rows = _run(own, query, [*frames, *outputs], values, leaves)
        rows.createOrReplaceTempView(f"`{query.output}`")
        outputs[query.output] = rows
    return outputs


def run_query(
    own: SparkSession, query: SqlQuery, tables: Mapping[str, DataFrame], params: Params
) -> DataFrame:
    """Return the rows of one query over some tables, as a frame of its session that was not evaluated.

    Raises:
        ProgramError: the query is refused, or a parameter has no value.
    """
    leaves = _prepare(own, tables)
    return _run(own, query, [*tables], values_of(params), leaves)


def _prepare(own: SparkSession, tables: Mapping[str, DataFrame]) -> list[Any]:
    """Fence a session, and give it its tables; return the leaves of their plans."""
    _fence(own)
    leaves = [leaf for frame in tables.values() for leaf in _leaves(_analysed(frame))]
    for name, frame in tables.items():
        frame.createOrReplaceTempView(f"`{name}`")
    return leaves


def _frames(
    own: SparkSession,
    program: Program,
    inputs: Mapping[str, DataFrame | None],
    columns: Mapping[str, StructType],
) -> dict[str, DataFrame]:
    """Return the inputs; one that never had data has columns to name only where they are declared."""
    found = {name: frame for name, frame in inputs.items() if frame is not None}
    for name in inputs.keys() - found.keys():
        if name in columns:
            found[name] = own.createDataFrame([], columns[name])
    missing = [quoted(name) for name in program.reads if name not in found]
    if missing:
        raise ProgramError(
            f"program {program.name} reads {', '.join(missing)}, which never had any data",
            "declare its `columns`, or run it once there is some: a table without data has no columns for a"
            " query to name",
        )
    return found


def _fence(own: SparkSession) -> None:
    """Take from a session what no query may have."""
    for name, value in SETTINGS.items():
        own.conf.set(name, value)
    java: Any = java_classes(own)
    session: Any = own._jsparkSession
    functions = session.sessionState().functionRegistry()
    identifier, some = java.org.apache.spark.sql.catalyst.FunctionIdentifier, java.scala.Some
    for name in FUNCTIONS:
        try:
            functions.dropFunction(identifier(name))
        except Py4JJavaError:
            # Newer versions of Spark know a function by its whole name alone.
            functions.dropFunction(identifier(name, some("builtin"), some("system")))


def _run(
    own: SparkSession,
    query: SqlQuery,
    tables: Sequence[str],
    values: Mapping[str, Any],
    leaves: Sequence[Any],
) -> DataFrame:
    wanted = _judged(query, tables, values)
    try:
        _refuse_actions(own, query)
        session: Any = own._jsparkSession
        java = session.sql(query.text, java_values(own, query, {n: values[n] for n in wanted}))
        rows = DataFrame(java, own)
    except PySparkException as error:
        raise _refused_by_spark(query, error) from error
    for leaf in _leaves(_analysed(rows)):
        if not _is_harmless(leaf) and not any(leaf.sameResult(known) for known in leaves):
            raise ProgramError(
                f"{query.file}: a query reads its inputs alone, got {leaf.nodeName()}",
                f"name one of its tables: {', '.join(map(quoted, tables)) or 'none'}",
            )
    return rows


def _judged(query: SqlQuery, tables: Sequence[str], values: Mapping[str, Any]) -> set[str]:
    """Return the parameters of a query; refuse what lint refuses, by the text that was deployed."""
    read = read_query(query.text)
    for fault in (*read.faults, *judge_names(read, tables)):
        raise _fault(query, fault)
    for use in read.parameters:
        if use.name not in values:
            known = ", ".join(f":{name}" for name in sorted(values))
            raise _fault(query, use.fault("Q107", f"got the parameter :{use.name} without a value", known))
    for use in read.alone_in:
        if isinstance(values[use.name], list | tuple):
            summary = f"a list is compared as a whole in IN, got IN (:{use.name})"
            raise _fault(query, use.fault("Q109", summary, in_list_hint(use.name)))
    return {use.name for use in read.parameters}


def _fault(query: SqlQuery, fault: Fault) -> ProgramError:
    place = place_in(query.text, fault.start, fault.end)
    return ProgramError(
        f"{query.file}:{place.line}:{place.column}: {fault.summary} ({fault.code})", fault.hint
    )


def _refuse_actions(own: SparkSession, query: SqlQuery) -> None:
    """Refuse what Spark's own parser finds in a text beside a query; parsing carries out nothing."""
    session: Any = own._jsparkSession
    parsed = session.sessionState().sqlParser().parsePlan(query.text)
    java: Any = java_classes(own)
    actions = [java.java.lang.Class.forName(name) for name in _ACTIONS]
    for node in _nodes(parsed):
        if any(action.isInstance(node) for action in actions):
            raise ProgramError(
                f"{query.file}: a query does nothing, got {node.nodeName()}",
                "write a SELECT: Tidegate writes its rows to the output",
            )


def _nodes(parsed: Any) -> Iterator[Any]:
    """Yield the nodes of a parsed plan, with those of its CTEs and subqueries."""
    waiting = [parsed]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [*_items(node.children()), *_items(node.innerChildren())]


def _analysed(frame: DataFrame) -> Any:
    java: Any = frame._jdf
    return java.queryExecution().analyzed()


def _leaves(plan: Any) -> list[Any]:
    """Return the leaves of a plan and of the plans of its subqueries."""
    plans = [plan, *_items(plan.subqueriesAll())]
    return [leaf for each in plans for leaf in _items(each.collectLeaves())]


def _is_harmless(leaf: Any) -> bool:
    package, _, name = str(leaf.getClass().getName()).rpartition(".")
    return f"{package}." == _PLANS and name in HARMLESS_LEAVES


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]


def _refused_by_spark(query: SqlQuery, error: PySparkException) -> ProgramError:
    """Return what Spark says of a text, with its line in the file."""
    # Its first line; then it prints the text again, and the plan.
    text = str(error).strip().split("\n")[0].rstrip(";'")
    place = _PLACE.search(text)
    line = f":{place[1]}:{int(place[2]) + 1}" if place else ""
    return ProgramError(
        f"{query.file}{line}: Spark refuses the query: {text}", "correct the query, and deploy it"
    )
