"""The builder of the columns that a dataset declares: their names, their types, and what is said of each.

`columns: {flight_id: bigint, delay: {type: int, nullable: false}}`. That rows have them is judged where they
are published, in tidegate/spark_jobs.
"""

from collections.abc import Iterator

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.column_type import ColumnTypeError, is_reserved, parse_type, type_text
from tidegate.domain.model import DeclaredColumn, OnNewColumn, PartitionScheme
from tidegate.domain.model.dataset import PARTITION_TYPE
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown


def build_columns(
    node: MappingNode, partitions: PartitionScheme | None, scope: Scope
) -> tuple[DeclaredColumn, ...]:
    """Return the columns of a dataset in the order of the file; report those that do not fit."""
    declared = node.mapping("columns")
    if declared is None:
        if "on_new_column" in node.values:
            wrong = "without `columns` every column is taken, got `on_new_column` alone"
            scope.findings.add("V209", node.keys["on_new_column"], wrong, "delete it, or declare `columns`")
        return ()
    named = partitions.dimension_names() if partitions is not None else ()
    dimensions = {name.lower() for name in named}
    found: dict[str, DeclaredColumn] = {}
    for name, written in declared.values.items():
        key = declared.keys[name]
        column = _column(key, written, scope)
        fault = _fault_of_name(name, found)
        if fault is not None:
            scope.findings.add("V271", key, *fault)
        elif name.lower() in dimensions and column is not None and column.type != PARTITION_TYPE:
            wrong = f"the partition column {name} is a string with the keys of its dimension"
            hint = "write string, or leave the column out: every table has it"
            scope.findings.add("V271", written, f"{wrong}, got {shown(column.type)}", hint)
        if column is not None:
            found.setdefault(name.lower(), column)
    if on_new_column_of(node) == "refuse":
        for fault_at, summary, hint in _merge_keys(node, found.keys() | dimensions):
            scope.findings.add("V271", fault_at, summary, hint)
    return tuple(found.values())


def on_new_column_of(node: MappingNode) -> OnNewColumn:
    """Return what a dataset says of columns that it does not declare."""
    return "add" if node.text("on_new_column") == "add" else "refuse"


def _column(key: ScalarNode, node: Node, scope: Scope) -> DeclaredColumn | None:
    """Build a column from its type, or from the mapping that has it; None after reporting an error."""
    whole = node if isinstance(node, MappingNode) else None
    written = node if whole is None else whole.get("type")
    if not isinstance(written, ScalarNode) or not isinstance(written.value, str):
        return None
    try:
        kind = type_text(parse_type(written.value))
    except ColumnTypeError as error:
        scope.findings.add("V270", written, error.message, error.hint)
        return None
    if whole is None:
        return DeclaredColumn(name=str(key.value), type=kind)
    return DeclaredColumn(
        name=str(key.value),
        type=kind,
        nullable=whole.flag("nullable", True),
        unit=whole.text("unit"),
        description=whole.text("description"),
    )


def _fault_of_name(name: str, known: dict[str, DeclaredColumn]) -> tuple[str, str] | None:
    if is_reserved(name):
        return f"a column has a name that Spark and Iceberg leave to it, got {shown(name)}", "rename it"
    if name.lower() in known:
        other = known[name.lower()].name
        return f"{name} and {other} are one name to Spark, got both", "rename or delete one of them"
    return None


def _merge_keys(node: MappingNode, known: set[str]) -> Iterator[tuple[ScalarNode, str, str]]:
    for column in node.strings("merge_keys"):
        if str(column.value).lower() not in known:
            summary = f"a merge key is a declared column, got {shown(column.value)}"
            yield column, summary, did_you_mean(str(column.value), known, "columns")
