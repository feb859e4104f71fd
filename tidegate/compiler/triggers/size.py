"""The `size` trigger: `size: {dataset: raw, bytes: 100GB}` or `rows`, over what the partitions report."""

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import SizeTrigger
from tidegate.domain.size import SizeError, parse_size
from tidegate.domain.wording import shown


def _build(written: Written, scope: Scope) -> SizeTrigger | None:
    node = written.node.mapping("size")
    name = node.get("dataset") if node else None
    if node is None or not isinstance(name, ScalarNode):
        return None
    dataset = scope.dataset(name)
    size = _bytes(node, scope)
    if dataset is None or (size is None and "bytes" in node.values):
        return None
    distinct = node.get("distinct")
    if distinct is not None and dataset.partitions is None:
        scope.findings.add(
            "V209",
            node.keys["distinct"],
            f"without partitions every update adds its size, got `distinct` for {shown(dataset.name)}",
            "delete `distinct`, or give `partitions` to the dataset",
        )
    return SizeTrigger(
        dataset=dataset.name,
        bytes=size,
        rows=node.number("rows", 1) if "rows" in node.values else None,
        distinct=not (isinstance(distinct, ScalarNode) and distinct.value is False),
        **written.options,
    )


def _bytes(node: MappingNode, scope: Scope) -> int | None:
    """Return the bytes that are asked for; None without any, or after an error has been reported."""
    place = node.get("bytes")
    if not isinstance(place, ScalarNode) or not isinstance(place.value, str):
        return node.number("bytes", 1) if place is not None else None
    try:
        return parse_size(place.value)
    except SizeError as error:
        scope.findings.add("V213", place, error.message, error.hint)
        return None


KIND = TriggerKind(key="size", build=_build)
