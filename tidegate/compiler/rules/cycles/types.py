"""The rules for the type of a task: the keys that it needs, those that it lacks, and its `update`.

A `source` and an `external` task launch nothing, so they have no program. An `acceleration` task keeps a
copy of data for faster reading: a rerun makes it again, so its outputs are never appended to.
"""

from typing import cast

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import (
    Calendar,
    Cycle,
    Dataset,
    Program,
    TaskTrigger,
    TaskType,
    TaskUpdate,
    WriteMode,
)
from tidegate.domain.time.calendar import has_every_week
from tidegate.domain.wording import listed, shown, with_article


def check_business_date(node: MappingNode, cycle: Cycle, calendar: Calendar | None, scope: Scope) -> None:
    """Report `previous_business_day` of a task of hours or minutes, or with a calendar of single days."""
    if "business_date" not in node.values:
        return
    if cycle in ("minute", "hour"):
        scope.findings.add(
            "L440",
            node.keys["business_date"],
            f"`previous_business_day` is a day, got a task whose business date is {with_article(cycle)}",
            "delete `business_date`, or choose `cycle: day`",
        )
    elif calendar is not None and not has_every_week(calendar):
        scope.findings.add(
            "L440",
            node.keys["business_date"],
            f'`previous_business_day` needs business days in every week, got calendar "{calendar.name}" with'
            " a weekend of seven days",
            "delete `business_date`, or choose another calendar",
        )


UPDATES: dict[TaskType, tuple[TaskUpdate, ...]] = {
    "source": ("periodic", "outside"),
    "external": ("outside", "periodic"),
    "materialization": ("full", "partition", "merge"),
    "acceleration": ("full", "partition", "merge"),
}
"""The values of `update` by type; the default of a source and an external task is the first."""

WRITE_MODES: dict[str, WriteMode] = {
    "full": "full",
    "partition": "overwrite_partitions",
    "merge": "merge",
}
"""The `write` of its outputs that each `update` of a program means."""

_OF_LAUNCHES = ("args", "constraints", "priority", "retries", "output_partition")
"""Keys without effect on a task that launches nothing."""


def check_type(key: ScalarNode, node: MappingNode, type_: TaskType, scope: Scope) -> bool:
    """Return whether a task has the keys of its type; report the others."""
    if type_ in ("source", "external"):
        sound = _check_gate(key, node, type_, scope)
    else:
        sound = "program" in node.values
        if not sound:
            _report_missing(key, type_, "program", "program: daily_revenue", scope)
        if "dataset" in node.values:
            scope.findings.add(
                "V209",
                node.keys["dataset"],
                f"the datasets of {_article(type_)} are those that its program writes, got `dataset` too",
                "delete `dataset`, or make it a task with `type: source`",
            )
    update = node.text("update")
    if update and update not in UPDATES[type_]:
        sound = False
        scope.findings.add(
            "L441",
            node.values["update"],
            f"the `update` of {_article(type_)} is {listed(sorted(UPDATES[type_]))}, got {shown(update)}",
            f"write one of these, or leave it out for {UPDATES[type_][0]}"
            if type_ in ("source", "external")
            else "write one of these, or leave it out: it follows from how the outputs are written",
        )
    return sound


def _article(type_: TaskType) -> str:
    return f"{with_article(type_)} task"


def _check_gate(key: ScalarNode, node: MappingNode, type_: TaskType, scope: Scope) -> bool:
    """Return whether a task that launches nothing has no program, and a source its dataset."""
    sound = True
    if "program" in node.values:
        sound = False
        scope.findings.add(
            "L440",
            node.keys["program"],
            f"{_article(type_)} launches nothing, got `program`",
            "delete `program`, or `type` for a task that runs it",
        )
    if type_ == "source" and "dataset" not in node.values:
        sound = False
        _report_missing(key, type_, "dataset", "dataset: raw_orders", scope)
    for name in _OF_LAUNCHES:
        if name in node.values:
            scope.findings.add(
                "V209",
                node.keys[name],
                f"`{name}` belongs to tasks that run a program, got {_article(type_)}",
                f"delete `{name}`",
            )
    return sound


def _report_missing(key: ScalarNode, type_: TaskType, name: str, example: str, scope: Scope) -> None:
    scope.findings.add(
        "S103", key, f"{_article(type_)} needs the key `{name}`, got none", f"add for example {example}"
    )


def update_of(node: MappingNode, type_: TaskType, program: Program | None, scope: Scope) -> TaskUpdate | None:
    """Return the `update` of a task, of a source or external one by default the first of its type.

    An `update` that its outputs do not have is reported, and so are appended outputs of an acceleration.
    """
    update = cast("TaskUpdate | None", node.text("update") or None)
    if type_ == "external" and update == "periodic":
        scope.findings.add(
            "V209",
            node.values["update"],
            "an external task is successful when it is reported, got `update: periodic`",
            "write outside, or make it a task with `type: source`",
        )
    if type_ == "external":
        return "outside"
    if type_ == "source":
        return update or "periodic"
    if program is not None:
        _check_outputs(node, type_, update, program, scope)
    return update


def check_source_cycle(
    node: MappingNode, trigger: TaskTrigger, dataset: Dataset | None, scope: Scope
) -> None:
    """Warn of a source whose dataset is cut by another cycle: its events report no instance."""
    if trigger.dataset_collected is None or dataset is None or dataset.partitions is None:
        return
    time = dataset.partitions.time
    if time is not None and time.cycle == trigger.cycle:
        return
    has = "no periods" if time is None else f"partitions for each {time.cycle}"
    scope.findings.add(
        "L446",
        node.values["cycle"],
        f"events of a dataset report a source of the same cycle, got `cycle: {trigger.cycle}` for"
        f" {dataset.name} with {has}",
        "report it with `tidegate report`" + ("" if time is None else f", or write cycle: {time.cycle}"),
    )


def _check_outputs(
    node: MappingNode, type_: TaskType, update: TaskUpdate | None, program: Program, scope: Scope
) -> None:
    for name in program.writes:
        dataset = scope.datasets.get(name)
        if dataset is None:
            continue
        mode = dataset.write_mode()
        if type_ == "acceleration" and mode == "append":
            scope.findings.add(
                "L441",
                node.values.get("type", node),
                f"an acceleration is made again by a rerun, which would append its rows a second time,"
                f" got {name} with `write: append`",
                f"let {name} be written by another mode, or use `type: materialization`",
            )
        elif update is not None and update in WRITE_MODES and mode != WRITE_MODES[update]:
            scope.findings.add(
                "L441",
                node.values["update"],
                f"`update: {update}` is `write: {WRITE_MODES[update]}` of every output,"
                f" got {name} with `write: {mode}`",
                f"write `update: {_update(mode)}`" if _update(mode) else "delete `update`",
            )


def _update(mode: WriteMode) -> str:
    return next((update for update, each in WRITE_MODES.items() if each == mode), "")
