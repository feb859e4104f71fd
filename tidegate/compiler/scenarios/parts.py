"""The actions that a scenario gives and what it expects: one table for each, one reader a kind.

A new action is one entry in `ACTIONS`, its value in `compiler.scenarios.scenario`, and what it does in
`scheduler.simulation`. Part of `compiler.scenarios.reader`; how single values are read stands in
`compiler.scenarios.scope`.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, cast

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, plain
from tidegate.compiler.scenarios.scenario import (
    Action,
    Delete,
    Deploy,
    Down,
    Expectation,
    ExpectDiscarded,
    Expected,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
    FailLaunch,
    Given,
    PartitionsArrive,
    ReportGauges,
    Restart,
    Resume,
    RunEnd,
    RunSeen,
    Suspend,
    TriggerByHand,
    Update,
)
from tidegate.compiler.scenarios.scope import ENDS, ExampleScope
from tidegate.domain.model import At
from tidegate.domain.wording import listed, shown

# --- given ------------------------------------------------------------------------------


def read_given(nodes: Iterable[Node], scope: ExampleScope) -> tuple[Given, ...]:
    """The actions, in the order of the YAML."""
    found: list[Given] = []
    for node in nodes:
        mapping = _with_kind(node, "an action", ACTIONS, ("at",), scope)
        if mapping is None:
            continue
        kind = next(key for key in mapping.keys if key in ACTIONS)
        when = scope.instant(scope.needed(mapping, "at", "an action", "at: +1h"), "`at`")
        action = ACTIONS[kind](mapping.values[kind], scope)
        if when is not None and action is not None:
            found.append(Given(when=when, action=action, at=scope.findings.at(node)))
    return tuple(found)


def _with_kind(
    node: Node, label: str, kinds: Iterable[str], others: tuple[str, ...], scope: ExampleScope
) -> MappingNode | None:
    """The node as a mapping of exactly one kind. The schema has refused other shapes and unknown keys."""
    known = tuple(kinds)
    if not isinstance(node, MappingNode):
        return None
    named = [key for key in node.keys if key in known]
    strangers = [name for name in node.keys if name not in known and name not in others]
    if not named and not strangers:
        got = listed([f"`{key}`" for key in node.keys], "and") or "nothing"
        scope.findings.add(
            "S109", node, f"{label} names what it is about, got {got} alone", _kinds_hint(known)
        )
    for surplus in named[1:]:
        summary = f"{label} is about one thing, got `{named[0]}` and `{surplus}`"
        scope.findings.add("S110", node.keys[surplus], summary, "make two of it")
    return node if len(named) == 1 else None


def _kinds_hint(kinds: tuple[str, ...]) -> str:
    return f"write one of {listed(kinds)}"


def _partitions(node: Node, scope: ExampleScope) -> Action | None:
    mapping = scope.members(node, "`partitions`", ("dataset", "keys", "bytes", "rows"))
    if mapping is None:
        return None
    example = "{dataset: raw, keys: [2026-03-09]}"
    dataset = scope.name(scope.needed(mapping, "dataset", "`partitions`", example), "dataset")
    keys = None if dataset is None else scope.dataset_keys(mapping.get("keys"), mapping, dataset)
    size, rows = scope.size(mapping.get("bytes"), "`bytes`"), scope.count(mapping.get("rows"), "`rows`")
    if dataset is None or keys is None:
        return None
    return PartitionsArrive(dataset=dataset, keys=keys, bytes=size, rows=rows)


def _run(node: Node, scope: ExampleScope) -> Action | None:
    mapping = scope.members(node, "`run`", ("program", "id", "status", "args", "outputs"))
    if mapping is None:
        return None
    example = "{program: join, id: by-hand-1, status: succeeded}"
    program = scope.name(scope.needed(mapping, "program", "`run`", example), "program")
    id = scope.text(scope.needed(mapping, "id", "`run`", example), "`id`")
    status = scope.needed(mapping, "status", "`run`", example)
    word = scope.word(status, "`status`", ("started", *ENDS))
    args = mapping.get("args")
    given = {} if args is None else scope.json(args, "`args`")
    outputs = _outputs(mapping.get("outputs"), scope)
    if program is None or id is None or word is None or given is None or outputs is None:
        return None
    return RunSeen(program=program, id=id, status=cast("RunEnd", word), args=given, outputs=outputs)


def _outputs(node: Node | None, scope: ExampleScope) -> dict[str, tuple[str, ...]] | None:
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        hint = "write for example {clean_flights: [2026-03-09]}"
        summary = f"`outputs` is a mapping of datasets to keys, got {shown(plain(node))}"
        scope.findings.add("S104", node, summary, hint)
        return None
    found: dict[str, tuple[str, ...]] = {}
    for name, key in node.keys.items():
        dataset = scope.name(key, "dataset")
        keys = None if dataset is None else scope.dataset_keys(node.values[name], node.values[name], dataset)
        if keys is not None:
            found[name] = keys
    return found if len(found) == len(node.keys) else None


def _suspend(node: Node, scope: ExampleScope) -> Action | None:
    name = scope.name(node, "schedule")
    return None if name is None else Suspend(schedule=name)


def _resume(node: Node, scope: ExampleScope) -> Action | None:
    name = scope.name(node, "schedule")
    return None if name is None else Resume(schedule=name)


def _delete(node: Node, scope: ExampleScope) -> Action | None:
    name = scope.name(node, "schedule")
    return None if name is None else Delete(schedule=name)


def _update(node: Node, scope: ExampleScope) -> Action | None:
    if not isinstance(node, MappingNode) or not node.values:
        hint = "write for example {join: {timeout: 2h}}"
        scope.findings.add(
            "S104", node, f"`update` is a mapping of schedules, got {shown(plain(node))}", hint
        )
        return None
    changes: dict[str, dict[str, Any]] = {}
    for name, key in node.keys.items():
        known, change = scope.name(key, "schedule"), scope.json(node.values[name], f"`{name}`")
        if known is not None and change is not None:
            changes[name] = change
    return Update(changes=changes) if len(changes) == len(node.keys) else None


def _deploy(node: Node, scope: ExampleScope) -> Action | None:
    mapping = scope.members(node, "`deploy`", ("app", "file", "update_schedules"))
    if mapping is None:
        return None
    text, file = scope.text(mapping.get("app"), "`app`"), scope.text(mapping.get("file"), "`file`")
    update = scope.flag(mapping.get("update_schedules"), "`update_schedules`")
    if (text is None) == (file is None):
        got = "neither" if text is None else "both"
        summary = f"`deploy` takes either `app`, the text of an app, or `file`, a path, got {got}"
        scope.findings.add("S108", mapping, summary, "write for example {file: next/flights.yaml}")
        return None
    if file is not None and (file.startswith(("/", "~")) or ".." in file.split("/")):
        hint = "write a path that starts at the folder of this file"
        summary = f"a path is relative and stays inside the project, got {shown(file)}"
        scope.findings.add("V207", mapping.values["file"], summary, hint)
        return None
    return Deploy(text=text, file=file, update_schedules=update is not False)


def _trigger(node: Node, scope: ExampleScope) -> Action | None:
    if isinstance(node, ScalarNode):
        name = scope.name(node, "schedule")
        return None if name is None else TriggerByHand(schedule=name)
    mapping = scope.members(node, "`trigger`", ("schedule", "key", "force"))
    if mapping is None:
        return None
    name = scope.name(scope.needed(mapping, "schedule", "`trigger`", "{schedule: join}"), "schedule")
    key = mapping.get("key")
    found = "" if key is None else scope.key(key)
    force = scope.flag(mapping.get("force"), "`force`")
    if name is None or found is None:
        return None
    return TriggerByHand(schedule=name, key=found, force=force is True)


def _gauge(node: Node, scope: ExampleScope) -> Action | None:
    if not isinstance(node, MappingNode) or not node.values:
        hint = "write for example {cluster_load: 85}"
        scope.findings.add(
            "S104", node, f"`gauge` is a mapping of gauges to numbers, got {shown(plain(node))}", hint
        )
        return None
    found = {
        name: scope.number(value, f"`{name}`") if scope.gauge(node.keys[name]) else None
        for name, value in node.values.items()
    }
    values = {name: number for name, number in found.items() if number is not None}
    return ReportGauges(values=values) if len(values) == len(found) else None


def _restart(node: Node, scope: ExampleScope) -> Action | None:
    return Restart() if scope.flag(node, "`restart`") else None


def _down(node: Node, scope: ExampleScope) -> Action | None:
    duration = scope.duration(node, "`down`")
    return None if duration is None else Down(duration=duration)


def _fail_launch(node: Node, scope: ExampleScope) -> Action | None:
    if isinstance(node, ScalarNode):
        name = scope.name(node, "schedule")
        return None if name is None else FailLaunch(schedule=name)
    mapping = scope.members(node, "`fail_launch`", ("schedule", "times"))
    if mapping is None:
        return None
    example = "{schedule: join, times: 2}"
    name = scope.name(scope.needed(mapping, "schedule", "`fail_launch`", example), "schedule")
    times = scope.count(mapping.get("times"), "`times`", least=1)
    return None if name is None else FailLaunch(schedule=name, times=times or 1)


ACTIONS: dict[str, Callable[[Node, ExampleScope], Action | None]] = {
    "partitions": _partitions,
    "run": _run,
    "suspend": _suspend,
    "resume": _resume,
    "delete": _delete,
    "update": _update,
    "deploy": _deploy,
    "trigger": _trigger,
    "gauge": _gauge,
    "restart": _restart,
    "down": _down,
    "fail_launch": _fail_launch,
}


# --- expect -----------------------------------------------------------------------------

OPTIONS: dict[str, tuple[str, ...]] = {
    "launch": ("partitions", "args"),
    "waiting": ("reason", "next_check", "collected"),
    "discarded": ("reason",),
    "none": (),
    "refused": (),
}
"""What may stand beside each kind of expectation, apart from `at` and `within`."""


def read_expectations(
    nodes: Iterable[Node], within: timedelta, scope: ExampleScope
) -> tuple[Expectation, ...]:
    """The expectations, in the order of the YAML. `within` is the example's own slack."""
    found: list[Expectation] = []
    options = tuple({option for each in OPTIONS.values() for option in each})
    for node in nodes:
        mapping = _with_kind(node, "an expectation", OPTIONS, ("at", "within", *options), scope)
        if mapping is None:
            continue
        kind = next(key for key in mapping.keys if key in OPTIONS)
        for option in options:
            if option in mapping.values and option not in OPTIONS[kind]:
                owners = [owner for owner, own in OPTIONS.items() if option in own]
                summary = f"`{option}` stands beside {listed(owners)}, got it beside `{kind}`"
                scope.findings.add("S111", mapping.keys[option], summary, f"delete `{option}`")
        slack = scope.duration(mapping.get("within"), "`within`")
        expected = _expected(kind, mapping, scope)
        if expected is not None:
            at: At = scope.findings.at(node)
            found.append(Expectation(expected=expected, within=within if slack is None else slack, at=at))
    return tuple(found)


def _expected(kind: str, mapping: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(mapping.get("at"), "`at`")
    reason = scope.text(mapping.get("reason"), "`reason`")
    if kind == "refused":
        code = scope.text(mapping.values[kind], "`refused`")
        return None if code is None else ExpectRefused(code=code, when=when)
    name = scope.name(mapping.values[kind], "schedule")
    if name is None:
        return None
    if kind == "launch":
        args = mapping.get("args")
        return ExpectLaunch(
            schedule=name,
            when=when,
            partitions=scope.keys(mapping.get("partitions"), "`partitions`"),
            args=None if args is None else scope.json(args, "`args`"),
        )
    if kind == "discarded":
        return ExpectDiscarded(schedule=name, when=when, reason=reason)
    scope.needed(mapping, "at", f"`{kind}`", f"{{at: +1h, {kind}: {name}}}")
    return _state(kind, name, when, reason, mapping, scope)


def _state(
    kind: str, name: str, when: datetime | None, reason: str | None, mapping: MappingNode, scope: ExampleScope
) -> Expected | None:
    if when is None:
        return None
    if kind == "none":
        return ExpectNone(schedule=name, when=when)
    next_check = scope.instant(mapping.get("next_check"), "`next_check`", bounded=False)
    return ExpectWaiting(
        schedule=name,
        when=when,
        reason=reason,
        next_check=next_check,
        collected=scope.count(mapping.get("collected"), "`collected`"),
    )
