"""The `size` trigger: `size: {dataset: raw, bytes: 100GB}` or `rows`, over what the partitions report."""

from tidegate.compiler.reader.node import ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written, checks_of
from tidegate.compiler.values.texts import size_at
from tidegate.domain.model import SizeTrigger
from tidegate.domain.wording import shown


def _build(written: Written, scope: Scope) -> SizeTrigger | None:
    node = written.node.mapping("size")
    name = node.get("dataset") if node else None
    if node is None or not isinstance(name, ScalarNode):
        return None
    dataset = scope.dataset(name)
    size = size_at(node.get("bytes"), scope)
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
        checks=checks_of(node, dataset, scope),
        **written.options,
    )


KIND = TriggerKind(key="size", build=_build)
