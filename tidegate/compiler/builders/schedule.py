"""The builder of schedules: program, trigger, constraints, timeout, and the rules that combine them."""

from typing import Any

import msgspec

from tidegate.compiler.builders.failing import build_alerts, build_deadline, build_repair, build_retries
from tidegate.compiler.constraints import build_constraint
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, plain
from tidegate.compiler.rules.datasets.output_partition import output_partition
from tidegate.compiler.rules.references import RUN_OUTPUT, check_member_names, check_references
from tidegate.compiler.rules.times.caught_up import check_caught_up
from tidegate.compiler.rules.times.deadline import check_deadline
from tidegate.compiler.rules.times.never_launched import check_windows
from tidegate.compiler.rules.times.never_written import check_never_written
from tidegate.compiler.rules.times.not_begun import check_schedule_begun
from tidegate.compiler.rules.times.timeout import (
    check_closed_window,
    check_delay,
    check_held_date,
    check_timeout,
)
from tidegate.compiler.rules.triggers.batch import (
    check_batch,
    check_batching,
    check_collect_within,
    default_batching,
)
from tidegate.compiler.rules.triggers.for_each import check_for_each
from tidegate.compiler.rules.triggers.members import check_collect_existing, check_doubled, check_waiting
from tidegate.compiler.rules.triggers.repair import check_repair
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers import build_trigger
from tidegate.compiler.values.fields import read_value
from tidegate.compiler.values.texts import renamed_from
from tidegate.domain.model import Constraint, Priority, Program, Schedule, Timeout

_LAUNCH_HINT = "write the schedule in that app, or give this app a program with the same `run`"


def build_schedule(key: ScalarNode, node: MappingNode, scope: Scope) -> Schedule | None:
    """Build a schedule of an app; return None after reporting an error."""
    program = own_program(node, scope)
    written = node.mapping("trigger")
    trigger = build_trigger(written, scope, program.name if program else "")
    constraints = build_constraints(node, scope)
    timeout = build_timeout(node, scope)
    if program is None or written is None or trigger is None or constraints is None or timeout is None:
        return None
    for_each = node.text("for_each") or None
    on_suspend = node.text("on_suspend", "discard")
    batching = node.text("batching", "coalesce")
    outputs = node.get("output_partition") or node.keys.get("for_each") or key
    schedule = Schedule(
        program=program.name,
        trigger=trigger,
        constraints=constraints,
        timeout=timeout,
        for_each=for_each,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        batching=batching,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        max_batch=node.number("max_batch", 1) if "max_batch" in node.values else None,
        on_suspend=on_suspend,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        collect_existing=node.flag("collect_existing", False),
        repair=build_repair(node, scope),
        timezone=scope.timezone,
        **common_fields(key, node, scope),
    )
    check_waiting(schedule, key, scope)
    check_closed_window(schedule, key, scope)
    check_timeout(schedule, key, scope)
    check_delay(schedule, key, scope)
    check_windows(schedule, key, scope)
    check_deadline(schedule, key, scope)
    check_caught_up(schedule, key, scope)
    check_doubled(schedule.trigger, scope)
    check_collect_within(schedule.trigger, scope)
    check_collect_existing(schedule, node, scope)
    check_batch(schedule, node.values.get("max_batch", key), scope)
    check_batching(schedule, node.values.get("batching", key), scope)
    if not check_for_each(schedule, node.keys.get("for_each", key), scope):
        return None
    schedule = _with_outputs(schedule, _wanted(node), program, outputs, scope)
    check_never_written(schedule, program, key, scope)
    check_schedule_begun(schedule, program, key, scope)
    if "batching" not in node.values:
        schedule = msgspec.structs.replace(schedule, batching=default_batching(schedule))
    check_held_date(schedule, program, key, scope)
    check_repair(schedule, program, scope)
    check_references(schedule, node.mapping("args"), scope)
    check_member_names(written, scope.findings)
    return schedule


def common_fields(key: ScalarNode, node: MappingNode, scope: Scope) -> dict[str, Any]:
    """Return the fields that schedules and tasks read in the same way."""
    args = node.mapping("args")
    return {
        "name": str(key.value),
        "args": plain(args) if args else {},
        "retries": build_retries(node, scope),
        "deadline": build_deadline(node, scope),
        "priority": Priority(node.text("priority", "normal")),
        "on_update": "carry" if node.text("on_update", scope.on_update) == "carry" else "reset",
        "sensor": "own" if node.text("sensor") == "own" else "shared",
        "renamed_from": renamed_from(node),
        "status": "active" if node.text("status") == "active" else "suspended",
        "owner": node.text("owner"),
        "alerts": build_alerts(node),
        "description": node.text("description"),
        "written": plain(node),
        "at": scope.at(key),
    }


def own_program(node: MappingNode, scope: Scope) -> Program | None:
    """Return the program that a schedule or task launches; None without one, or after reporting it."""
    name = node.get("program")
    launches = "a schedule launches a program of its own app"
    own = isinstance(name, ScalarNode) and scope.is_own(name, launches, _LAUNCH_HINT)
    return scope.program(name) if isinstance(name, ScalarNode) and own else None


def build_constraints(node: MappingNode, scope: Scope) -> tuple[Constraint, ...] | None:
    """Return the constraints of a schedule or task; None after reporting an error."""
    built = [build_constraint(member, scope) for member in node.items("constraints")]
    constraints = tuple(each for each in built if each is not None)
    return constraints if len(constraints) == len(built) else None


def _with_outputs(schedule: Schedule, wanted: str, program: Program, place: Node, scope: Scope) -> Schedule:
    chosen = output_partition(wanted, program, schedule.trigger, schedule.for_each, place, scope)
    named = wanted.removeprefix(RUN_OUTPUT) if wanted.startswith(RUN_OUTPUT) else None
    return msgspec.structs.replace(schedule, output_partition=chosen, output_from=named)


def _wanted(node: MappingNode) -> str:
    """What the YAML says of the output partition, "" if nothing; of the long form its `from`."""
    long = node.mapping("output_partition")
    return node.text("output_partition") if long is None else long.text("from")


def build_timeout(node: MappingNode, scope: Scope) -> Timeout | None:
    """Return the timeout, by default the default one; None after reporting an error."""
    written = node.get("timeout")
    if written is None:
        return Timeout()
    return read_value(Timeout, written, scope, scope.at(node.keys["timeout"]), short="after")
