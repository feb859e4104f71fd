"""The builder of the columns that a dataset declares: their names, their types, and what is said of each.

`columns: {flight_id: bigint, delay: {type: int, nullable: false}}`. That rows have them is judged where they
are published, in tidegate/spark_jobs.
"""

from collections.abc import Iterator

from msgspec import structs

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.column_type import ColumnTypeError, is_reserved, parse_type, type_text
from tidegate.domain.model import Check, DeclaredColumn, OnNewColumn, PartitionScheme
from tidegate.domain.model.dataset import PARTITION_TYPE
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown


def build_columns(
    node: MappingNode, partitions: PartitionScheme | None, checks: tuple[Check, ...], scope: Scope
) -> tuple[DeclaredColumn, ...]:
    """Return the columns of a dataset in the order of the file; report those that do not fit.

    Args:
        checks: those of the dataset, which read declared columns.
    """
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
        known = found.keys() | dimensions
        for place, column, use in _used(node, checks):
            if column.lower() not in known:
                hint = did_you_mean(column, known, "columns")
                summary = f"{use} a declared column, got {shown(column)}"
                scope.findings.add("V271", place, summary, hint)
    return tuple(found.values())


def null_checks(
    node: MappingNode, columns: tuple[DeclaredColumn, ...], checks: tuple[Check, ...], scope: Scope
) -> Iterator[Check]:
    """Yield the checks of the columns that are not nullable, each with the place of its `nullable`."""
    taken = {check.name for check in checks}
    declared = node.mapping("columns")
    for column in columns:
        written = declared.get(column.name) if declared is not None else None
        check = column.null_check()
        if check is None or not isinstance(written, MappingNode):
            continue
        place = written.keys["nullable"]
        if "asset" in node.values:
            wrong = "its own code writes an asset of others, got `nullable: false`, which is a check"
            scope.findings.add("V263", place, wrong, "delete `nullable`, or delete `asset`")
        elif check.name in taken:
            wrong = f"the name of a check is unique, got {shown(check.name)} again, of `nullable: false`"
            scope.findings.add("V276", place, wrong, "give the other one another `name`")
        else:
            taken.add(check.name)
            yield structs.replace(check, at=scope.at(place))


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


def _used(node: MappingNode, checks: tuple[Check, ...]) -> Iterator[tuple[Place, str, str]]:
    """Yield the columns that the dataset itself needs, each with its place and its use in words."""
    for column in node.strings("merge_keys"):
        yield column, str(column.value), "a merge key is"
    for check in checks:
        if check.at is not None:
            for name in check.columns_read:
                yield check.at, name, f"the check {check.name} reads"
