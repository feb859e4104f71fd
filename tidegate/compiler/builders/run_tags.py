"""The builder of `tags` of a program: those of its runs in Dagster."""

from collections.abc import Mapping

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.wording import shown

OURS = ("tidegate/", ".dagster/", "dagster/partition", "dagster/asset_partition_range_")
"""The beginnings of names of tags that the scheduler or Dagster sets."""

OF_RUNS = ("dagster/priority", "dagster/max_retries", "dagster/run_key")
"""Tags of Dagster that follow from the schedule."""

_INSTEAD: Mapping[str, str] = {
    "dagster/priority": "write `priority` at the schedule",
    "dagster/max_retries": "write `retries` at the schedule",
}


def build_tags(program: MappingNode, scope: Scope) -> dict[str, str]:
    """Return the tags of a program's runs; report those that are not for users to set."""
    written = program.mapping("tags")
    found: dict[str, str] = {}
    if written is None:
        return found
    for name, value in written.values.items():
        if name in OF_RUNS or name.startswith(OURS):
            summary = f"a run has this tag from its job, its partition or its schedule, got {shown(name)}"
            hint = _INSTEAD.get(name, "delete it, or choose another name")
            scope.findings.add("V260", written.keys[name], summary, hint)
        elif isinstance(value, ScalarNode):
            found[name] = str(value.value)
    return found
