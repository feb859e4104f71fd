"""The `partitions` trigger: `count`, `keys` or `complete` over the partitions of a dataset.

A dataset without partitions can be waited for too: each of its updates is one event.

The rule for `complete`: the partitions of the dataset must make up the period. Minutes make up hours, hours
make up days, days make up weeks, months and years, and months make up years. Weeks do not make up months or
years, which begin in the middle of a week.
"""

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, plain
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written, checks_of
from tidegate.domain.model import Cycle, Dataset, PartitionScheme, PartitionsTrigger
from tidegate.domain.nearest_key import read_key
from tidegate.domain.time.cycle import CYCLES, nests_in
from tidegate.domain.wording import shown, with_article


def check_complete(period: Cycle, dataset: Dataset, place: Node, scope: Scope) -> bool:
    """Return whether a trigger's period can be completed by its dataset; reports why not."""
    time = dataset.partitions.time if dataset.partitions else None
    if time is None:
        scope.findings.add(
            "L403",
            place,
            f'`complete: {period}` needs a time dimension, got "{dataset.name}" without one',
            "name the keys with `keys: [...]`",
        )
        return False
    if not nests_in(time.cycle, period):
        longer = [cycle for cycle in CYCLES if nests_in(time.cycle, cycle)]
        scope.findings.add(
            "L403",
            place,
            f"{with_article(period)} is not made of the partitions of {dataset.name},"
            f" got one for each {time.cycle}",
            f"write one of {', '.join(longer)}",
        )
        return False
    return True


_WAYS = ("count", "keys", "complete")


def _build(written: Written, scope: Scope) -> PartitionsTrigger | None:
    node = written.node.mapping("partitions")
    name = node.get("dataset") if node else None
    if node is None or not isinstance(name, ScalarNode):
        return None
    dataset = scope.dataset(name)
    if dataset is None or not _one_way(node, scope) or not _fits(node, dataset, scope):
        return None
    keys = tuple(_key(k, dataset, scope) for k in node.items("keys"))
    distinct = node.get("distinct")
    trigger = PartitionsTrigger(
        dataset=dataset.name,
        count=node.number("count", 1),
        distinct=not (isinstance(distinct, ScalarNode) and distinct.value is False),
        keys=tuple(dict.fromkeys(k for k in keys if k is not None)),
        complete=node.text("complete") or None,  # pyright: ignore[reportArgumentType] - the schema's enum
        checks=checks_of(node, dataset, scope),
        **written.options,
    )
    period = trigger.complete
    if period is not None and not check_complete(period, dataset, node.values["complete"], scope):
        return None
    return trigger


def _one_way(node: MappingNode, scope: Scope) -> bool:
    ways = [key for key in node.keys if key in _WAYS]
    for way in ways[1:]:
        scope.findings.add(
            "V208",
            node.keys[way],
            f"partitions are counted in one way, got `{ways[0]}` and `{way}`",
            f"keep one of {', '.join(_WAYS)}; combine two with `all`",
        )
    if "distinct" in node.values and ways and ways[0] != "count":
        scope.findings.add(
            "V208",
            node.keys["distinct"],
            f"`distinct` belongs to `count`, got it beside `{ways[0]}`",
            f"delete it: with `{ways[0]}` each key counts once",
        )
        return False
    return len(ways) < 2


def _fits(node: MappingNode, dataset: Dataset, scope: Scope) -> bool:
    """Return whether a dataset without partitions is asked for nothing that needs them."""
    if dataset.partitions is not None:
        return True
    for way in ("keys", "complete"):
        if way in node.values:
            scope.findings.add(
                "L407",
                node.keys[way],
                f"`{way}` needs a dataset with partitions, got {shown(dataset.name)}, which has none",
                f"give `partitions` to the dataset, or delete `{way}`: each update of it is then one event",
            )
            return False
    distinct = node.get("distinct")
    if node.number("count", 1) > 1 and not (isinstance(distinct, ScalarNode) and distinct.value is False):
        scope.findings.add(
            "L407",
            node.keys["count"],
            f"`count` above 1 needs a dataset with partitions, got {shown(dataset.name)}, which has none",
            "give `partitions` to the dataset, or add `distinct: false` to count its updates",
        )
        return False
    return True


def _key(node: Node, dataset: Dataset, scope: Scope) -> str | None:
    """Return a key in its canonical form, or None with a finding."""
    scheme = dataset.partitions or PartitionScheme()
    key = read_key(scheme, plain(node) if isinstance(node, MappingNode) else str(plain(node)))
    if isinstance(key, str):
        return key
    scope.findings.add("V205", node, key.summary, key.hint)
    return None


KIND = TriggerKind(key="partitions", build=_build)
