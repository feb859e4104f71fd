"""Reads the actions of `given:`: one table, one reader for each kind.

A new action is one entry in `ACTIONS` and in the JSON Schema, its value in
`compiler.scenarios.model.scenario`, and what it does in `scheduler.simulation`. The schema has
checked the shapes, so that a reader only checks names, keys and times.

Reads the actions of `given:` on tables: `table`, `operation_ends`, `maintain` and `disable`. Names are
taken as they are written, but for the dataset that `table` or `operation_ends` names. A table or policy
that does not exist is refused when the example is played, so that `refused` can expect it.

Reads the actions of `given:` on tasks: `instance`, `report`, `backfill` and `cancel_backfill`. Names and
times are taken as they are written. One that does not exist is refused when the example is played, so that
`refused` can expect it.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, plain
from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.scenario import (
    Action,
    Delete,
    Deploy,
    Down,
    EndWithheld,
    FailLaunch,
    Given,
    PartitionsArrive,
    Replay,
    ReportGauges,
    Restart,
    Resume,
    RunSeen,
    Suspend,
    TriggerByHand,
    Update,
)
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ReportInstances,
    ResumeBackfill,
    StartBackfill,
)
from tidegate.compiler.scenarios.scope import ExampleScope, read_fields, text_of, texts
from tidegate.compiler.triggers.kind import check_checks
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.part_name import name_in
from tidegate.domain.wording import shown


def table(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the writing of a table, or its end; `health` and `gone` are beside its name."""
    name = scope.table(node.values["table"])
    gone = node.flag("gone", False)
    if gone and "health" in node.values:
        summary = "a table that is gone has no health, got `gone` and `health`"
        scope.findings.add("S110", node.keys["health"], summary, "delete one of the two")
        return None
    if node.text("health"):
        return None if name is None else TableWritten(table=name, health=None)
    found = node.mapping("health")
    health = {} if found is None else _health(found, scope)
    if name is None or health is None:
        return None
    return TableWritten(table=name, health=health, gone=gone)


def _health(node: MappingNode, scope: ExampleScope) -> dict[str, float] | None:
    """Return what is measured, each measure in its unit; None after a mistake was reported."""
    found: dict[str, float] = {}
    for name, value in node.values.items():
        match MEASURES[name].unit:
            case "bytes":
                number = scope.size(value)
            case "seconds":
                age = scope.duration(value)
                number = None if age is None else age.total_seconds()
            case _:
                number = node.decimal(name, 0)
        if number is not None:
            found[name] = float(number)
    return found if len(found) == len(node.values) else None


def operation_ends(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return how the coming runs of an operation go; one end may be given without a list."""
    one = node.text("ends")
    ends = (one,) if one else texts(node, "ends")
    return read_fields(OperationEnds, node, scope, {"table": scope.table(node.values["table"]), "ends": ends})


def maintain(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return a run by hand."""
    return read_fields(MaintainByHand, node, scope, {"table": scope.any_table(node.values["table"])})


def disable(node: ScalarNode, _scope: ExampleScope) -> Action:
    """Return the deployment that disables a policy."""
    return DisablePolicy(policy=text_of(node))


def instance(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return an action of a person on an instance."""
    return read_fields(ActOnInstance, node, scope, _task(node, scope))


def report(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return a report of instances; one scheduled time may be given without a list."""
    read, scheduled = _task(node, scope), node.get("scheduled")
    if scheduled is not None:
        several = isinstance(scheduled, SequenceNode)
        read["scheduled"] = texts(node, "scheduled") if several else (text_of(scheduled),)
    return read_fields(ReportInstances, node, scope, read)


def backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the start of a backfill of a schedule or a task, or of the whole app."""
    if not _own_app(node, scope):
        return None
    only = tuple(name_in(scope.app.name, name) for name in texts(node, "only"))
    keys = texts(node, "keys")
    if keys and ("from" in node.values or "to" in node.values):
        summary = "a backfill is about a range or about single keys, got `keys` beside `from` or `to`"
        scope.findings.add("S110", node.keys["keys"], summary, "leave one of them out")
        return None
    return read_fields(StartBackfill, node, scope, {**_task(node, scope), "only": only, "keys": keys})


def cancel_backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the cancelling of a backfill."""
    return read_fields(CancelBackfill, node, scope, _task(node, scope)) if _own_app(node, scope) else None


def resume_backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the resuming of a backfill."""
    return read_fields(ResumeBackfill, node, scope, _task(node, scope)) if _own_app(node, scope) else None


def _task(node: MappingNode, scope: ExampleScope) -> dict[str, Any]:
    """Return what an action is about as `task`, a schedule too: both share one set of names."""
    task = node.get("task") or node.get("schedule")
    return {} if task is None else {"task": name_in(scope.app.name, text_of(task))}


def _own_app(node: MappingNode, scope: ExampleScope) -> bool:
    """Return whether the app, if one is named, is the one of the example; report another one."""
    app = node.get("app")
    if app is None or text_of(app) == scope.app.name:
        return True
    summary = f"an example is about its own app, got a backfill of {shown(text_of(app))}"
    scope.findings.add("S105", app, summary, f"write app: {scope.app.name}")
    return False


def read_given(node: MappingNode, scope: ExampleScope) -> Given | None:
    """Return one action with its instant, or None after a mistake was reported."""
    kind = next(key for key in node.keys if key in ACTIONS)
    when = scope.instant(node.values["at"], "`at`")
    action = ACTIONS[kind](node if kind in WITH_OPTIONS else node.values[kind], scope)
    expires = node.get("expires")
    if expires is not None:
        action = _expiring(action, expires, kind, scope)
    if when is None or action is None:
        return None
    return Given(when=when, action=action, at=scope.findings.at(node))


def _expiring(action: Action | None, node: Node, kind: str, scope: ExampleScope) -> Action | None:
    after = scope.duration(node)
    if not isinstance(action, Suspend | Resume | Update):
        summary = f"`expires` has no effect beside {kind}: only suspend, resume and update expire"
        scope.findings.add("V209", node, summary, "leave it out")
        return action
    if after is not None and not after:
        scope.findings.add("V201", node, "what expires lasts for a time, got 0s", "write for example 2h")
    return msgspec.structs.replace(action, expires=after) if after else None


def _partitions(node: MappingNode, scope: ExampleScope) -> Action | None:
    dataset = scope.name(node.values["dataset"], "dataset")
    keys = None if dataset is None else scope.dataset_keys(node.get("keys"), node, dataset)
    found = scope.app.datasets.get(dataset or "")
    if found is not None:
        check_checks(node, dataset or "", found, scope.findings)
    return read_fields(PartitionsArrive, node, scope, {"dataset": dataset, "keys": keys})


def _run(node: MappingNode, scope: ExampleScope) -> Action | None:
    program = scope.name(node.values["program"], "program")
    outputs = _outputs(node.mapping("outputs"), scope)
    return read_fields(RunSeen, node, scope, {"program": program, "outputs": outputs})


def _outputs(node: MappingNode | None, scope: ExampleScope) -> dict[str, tuple[str, ...]] | None:
    if node is None:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for name, value in node.values.items():
        dataset = scope.name(node.keys[name], "dataset")
        keys = None if dataset is None else scope.dataset_keys(value, value, dataset)
        if keys is not None:
            found[dataset or name] = keys
    return found if len(found) == len(node.values) else None


def _on_schedule(struct: type[Action]) -> Callable[[Node, ExampleScope], Action | None]:
    """Return the reader of an action on a schedule: its name alone, or a mapping that also has options."""

    def read(node: Node, scope: ExampleScope) -> Action | None:
        long = isinstance(node, MappingNode)
        name = scope.name(node.values["schedule"] if long else node, "schedule")
        return read_fields(struct, node if long else None, scope, {"schedule": name})

    return read


def _on_withheld(do: str) -> Callable[[Node, ExampleScope], Action | None]:
    """Return the reader of an action on a withheld publish: of a schedule with a key, or of an instance."""

    def read(node: Node, scope: ExampleScope) -> Action | None:
        if not isinstance(node, MappingNode):
            return read_fields(EndWithheld, None, scope, {"schedule": scope.name(node, "schedule"), "do": do})
        schedule, key = node.get("schedule"), node.get("key") or node.get("scheduled")
        name = _task(node, scope)["task"] if schedule is None else scope.name(schedule, "schedule")
        read = {"schedule": name, "do": do} | ({} if key is None else {"key": scope.key(key)})
        return read_fields(EndWithheld, None, scope, read)

    return read


def _update(node: MappingNode, scope: ExampleScope) -> Action | None:
    known = [scope.name(key, "schedule") for key in node.keys.values()]
    return None if None in known else Update(changes=plain(node))


def _deploy(node: MappingNode, scope: ExampleScope) -> Action | None:
    text, file = node.get("app"), node.get("file")
    path = None if file is None else text_of(file)
    if file is not None and path is not None and not is_inside(path):
        hint = "write a path that starts at the folder of this file"
        summary = f"a path is relative and stays inside the project, got {shown(path)}"
        scope.findings.add("V207", file, summary, hint)
        return None
    return Deploy(
        text=None if text is None else text_of(text),
        file=path,
        update_schedules=node.flag("update_schedules", True),
    )


def is_inside(path: str) -> bool:
    """Return whether a path is relative and stays inside the project."""
    return bool(path) and not path.startswith(("/", "~")) and ".." not in path.split("/")


def _replay(node: Node, scope: ExampleScope) -> Action | None:
    if not isinstance(node, MappingNode):
        name = scope.name(node, "dataset")
        return None if name is None else Replay(dataset=name)
    name, named = scope.name(node.values["dataset"], "dataset"), node.get("keys")
    keys = () if name is None or named is None else scope.dataset_keys(named, node, name)
    return read_fields(Replay, node, scope, {"dataset": name, "keys": keys})


def _gauge(node: MappingNode, _scope: ExampleScope) -> Action:
    return ReportGauges(values={name: float(value) for name, value in plain(node).items()})


def _restart(node: ScalarNode, _scope: ExampleScope) -> Action | None:
    return Restart() if node.value else None


def _down(node: ScalarNode, scope: ExampleScope) -> Action | None:
    duration = scope.duration(node)
    return None if duration is None else Down(duration=duration)


ACTIONS: dict[str, Callable[[Any, ExampleScope], Action | None]] = {
    "partitions": _partitions,
    "run": _run,
    "suspend": _on_schedule(Suspend),
    "resume": _on_schedule(Resume),
    "delete": _on_schedule(Delete),
    "update": _update,
    "deploy": _deploy,
    "trigger": _on_schedule(TriggerByHand),
    "replay": _replay,
    "gauge": _gauge,
    "restart": _restart,
    "down": _down,
    "fail_launch": _on_schedule(FailLaunch),
    "release": _on_withheld("release"),
    "abandon": _on_withheld("abandon"),
    "instance": instance,
    "report": report,
    "backfill": backfill,
    "cancel_backfill": cancel_backfill,
    "resume_backfill": resume_backfill,
    "table": table,
    "operation_ends": operation_ends,
    "maintain": maintain,
    "disable": disable,
}

WITH_OPTIONS = frozenset({"table"})
"""Kinds whose options are beside them; their readers get the whole action."""
