"""The builder of `watch`: how the folder of a landed dataset is watched."""

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.duration import optional_duration
from tidegate.domain.model.dataset import SETTLE, Watch


def watch_of(node: MappingNode, scope: Scope) -> Watch | None:
    """Return how a dataset is watched; None if it is not."""
    written = node.get("watch")
    if isinstance(written, ScalarNode):
        return Watch() if written.value is True else None
    if not isinstance(written, MappingNode):
        return None
    marker = written.text("marker")
    if marker and "settle" in written.values:
        scope.findings.add(
            "V209",
            written.keys["settle"],
            "with a `marker` that file alone says that a partition is complete, got `settle` beside it",
            "delete `settle`",
        )
    return Watch(
        marker=marker,
        settle=optional_duration(written, "settle", scope) or SETTLE,
        existing="ignore" if written.text("existing") == "ignore" else "report",
    )
