"""The write mode of a dataset, and whether mode, keys, format, partitions and path fit together.

A mode that cannot work is refused here, and not at the end of a run. The modes are implemented in
tidegate/spark_jobs.
"""

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model.dataset import OnForeign, WriteMode
from tidegate.domain.model.table_format import format_facts
from tidegate.domain.wording import shown

MODES: tuple[WriteMode, ...] = ("append", "overwrite_partitions", "merge", "full")


def write_of(node: MappingNode) -> WriteMode | None:
    """Return the mode that a dataset names, or None."""
    mode = node.text("write")
    return mode if mode in MODES else None


def on_foreign_of(node: MappingNode) -> OnForeign:
    """Return what a publish does with the changes of other writers."""
    return "replace" if node.text("on_foreign") == "replace" else "refuse"


def check_write(node: MappingNode, scope: Scope) -> None:
    """Report keys that do not fit together, each at its own place."""
    mode, facts = write_of(node), format_facts(node.text("format"))
    partitioned = node.mapping("partitions") is not None
    faults: list[tuple[str, str, str]] = []
    if mode == "overwrite_partitions" and not partitioned:
        wrong = f"a dataset without partitions has no partitions to overwrite, got {shown(mode)}"
        faults.append(("write", wrong, "write full, or give the dataset `partitions`"))
    if mode == "merge" and "merge_keys" not in node.values:
        wrong = f"merging needs the columns that identify a row, got {shown(mode)} without `merge_keys`"
        faults.append(("write", wrong, "add for example merge_keys: [flight_id]"))
    if mode != "merge" and "merge_keys" in node.values:
        wrong = f"merge keys belong to `write: merge`, got {shown(mode or 'no mode')}"
        faults.append(("merge_keys", wrong, "write merge, or delete them"))
    if facts.in_catalog and "path" in node.values:
        wrong = f"the catalog chooses the path of {facts.a_table()}, got {shown(node.text('path'))}"
        faults.append(("path", wrong, "delete the path"))
    for key, wrong, hint in faults:
        scope.findings.add("V216", node.values[key], wrong, hint)
