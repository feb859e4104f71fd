"""The `elapsed` trigger: `elapsed: {for: 4h}` since a run or an event.

The run is the last one of the schedule's program, the event the last one of a dataset.
"""

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.model import ElapsedTrigger


def _build(written: Written, scope: Scope) -> ElapsedTrigger | None:
    node = written.node.mapping("elapsed")
    for_ = duration_at(node.get("for"), scope) if node else None
    if node is None or for_ is None:
        return None
    if node.text("since", "last_run") == "last_run":
        if "dataset" in node.values:
            scope.findings.add(
                "S111",
                node.keys["dataset"],
                "`dataset` belongs beside `since: last_event`, got it beside `since: last_run`",
                "delete it, or write `since: last_event`",
            )
            return None
        return ElapsedTrigger(for_=for_, since="last_run", program=written.program, **written.options)
    dataset = _dataset(node, scope)
    if dataset is None:
        return None
    return ElapsedTrigger(for_=for_, since="last_event", dataset=dataset, **written.options)


def _dataset(node: MappingNode, scope: Scope) -> str | None:
    name = node.get("dataset")
    if not isinstance(name, ScalarNode):
        scope.findings.add(
            "S103",
            node.keys["since"],
            "an elapsed trigger `since: last_event` needs the key `dataset`, got none",
            "add for example dataset: raw_flights",
        )
        return None
    dataset = scope.dataset(name)
    return dataset.name if dataset is not None else None


KIND = TriggerKind(key="elapsed", build=_build)
