"""The builder of programs that exist in another code location (`job:`, `assets:`), and their config.

The config of a job is a template: its texts may have the references of `args`, and `{{ args.NAME }}`. What a
reference means depends on the trigger, so each schedule and task that launches the program is judged, at the
line in `config`.
"""

from collections.abc import Iterable, Mapping

from tidegate.compiler.builders.dataset import build_partitions
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, plain
from tidegate.compiler.rules.references import ARGUMENT, Launch, check_references, references_at
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import ExistingJob
from tidegate.domain.wording import shown

OURS = ("tidegate/", "dagster/", ".dagster/")
"""The beginnings of names of tags that the scheduler or Dagster sets. Some of them make a run one of another
origin, such as `dagster/parent_run_id`, others make an asset one that Dagster does not load."""

FOR_USERS = ("dagster/max_runtime", "dagster/isolation", "dagster/concurrency_key", "dagster/image")
"""The tags of Dagster by which users say how a run is executed."""

_INSTEAD: Mapping[str, str] = {
    "dagster/priority": "write `priority` at the schedule",
    "dagster/max_retries": "write `retries` at the schedule",
}


def build_existing_job(node: MappingNode, scope: Scope) -> ExistingJob:
    """Build the job of a program; report what a job of another location cannot have."""
    partitions, config = node.mapping("partitions"), node.mapping("config")
    for entry in node.items("reads"):
        if isinstance(entry, MappingNode) and "incremental" in entry.values:
            beside = "job" if "job" in node.values else "assets"
            summary = f"`incremental` belongs to a program with `run`, got it beside `{beside}`"
            scope.findings.add(
                "S111", entry.keys["incremental"], summary, "delete it: Dagster reads by itself"
            )
    for _ in references_at(config, scope.findings):
        pass  # a text that is not a template is reported without a schedule too
    cut = [str(each.value) for each in node.strings("writes") if _has_partitions(each, scope)]
    if partitions is not None and cut:
        summary = (
            f"a run has the partitions of what its program writes, got {cut[0]} with its own beside these"
        )
        scope.findings.add("V209", node.keys["partitions"], summary, "delete `partitions`")
    return ExistingJob(
        job=node.text("job"),
        assets=node.text("assets"),
        location=node.text("location"),
        config=None if config is None else plain(config),
        tags=build_tags(node, scope),
        partitions=None if partitions is None else build_partitions(partitions, scope),
    )


def _has_partitions(name: ScalarNode, scope: Scope) -> bool:
    dataset = scope.datasets.get(str(name.value))
    return dataset is not None and dataset.partitions is not None


def build_tags(program: MappingNode, scope: Scope) -> dict[str, str]:
    """Return the tags of a program's runs; report those that are not for users to set."""
    written = program.mapping("tags")
    found: dict[str, str] = {}
    if written is None:
        return found
    for name, value in written.values.items():
        if name.startswith(OURS) and name not in FOR_USERS:
            summary = f"a run has this tag from its job, its partition or its schedule, got {shown(name)}"
            hint = _INSTEAD.get(name, "delete it, or choose another name")
            scope.findings.add("V260", written.keys[name], summary, hint)
        elif isinstance(value, ScalarNode):
            found[name] = str(value.value)
    return found


def check_arguments(launches: Iterable[Launch], configs: Mapping[str, Node | None], scope: Scope) -> None:
    """Judge the config of existing jobs for each schedule that launches them, and the arguments by it.

    Args:
        configs: as written, by program.
    """
    for schedule, _, args in launches:
        program = scope.programs.get(schedule.program)
        if program is None or program.existing is None:
            continue
        config = configs.get(schedule.program)
        check_references(schedule, config, scope, of_config=True)
        named = {reference for _, reference in references_at(config, scope.findings)}
        for name, place in args.keys.items() if isinstance(args, MappingNode) else ():
            if f"{ARGUMENT}{name}" not in named:
                summary = (
                    f"the config of {program.name} names each argument, got {shown(name)}: no run gets it"
                )
                hint = f"write {{{{ args.{name} }}}} in its `config`, or delete the argument"
                scope.findings.add("N330", place, summary, hint)
