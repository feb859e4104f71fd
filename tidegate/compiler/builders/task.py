"""The builder of cycle tasks: a task is a schedule whose trigger makes its instances (docs/cycles.md).

Its upstream tasks are resolved later, when the tasks of all files are known (`compiler.upstream`).
"""

from datetime import date
from typing import cast

from tidegate.compiler.builders.dependencies import SELF, check_depends_on, read_depends_on
from tidegate.compiler.builders.schedule import build_constraints, build_timeout, common_fields, own_program
from tidegate.compiler.builders.task_times import build_times
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.rules.cycles.outputs import task_output_partition
from tidegate.compiler.rules.cycles.types import (
    check_business_date,
    check_source_cycle,
    check_type,
    update_of,
)
from tidegate.compiler.rules.references import check_references
from tidegate.compiler.rules.times.never_launched import check_windows
from tidegate.compiler.rules.times.timeout import check_closed_window, check_delay, check_timeout
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.calendar import calendar_at, parsed_day
from tidegate.compiler.values.texts import duration_at, zone_of
from tidegate.domain.model import (
    NEVER,
    Cycle,
    OnSuspend,
    Program,
    Schedule,
    TaskTrigger,
    TaskType,
    Timeout,
)
from tidegate.domain.model.triggers.task import CATCH_UP_AT_MOST
from tidegate.domain.wording import shown

PROGRAMMED = ("materialization", "acceleration")
"""The types whose instances are runs of a program."""


def build_task(key: ScalarNode, node: MappingNode, scope: Scope) -> Schedule | None:
    """Build a task of an app; return None after reporting an error."""
    type_ = cast("TaskType", node.text("type", "materialization"))
    sound = check_type(key, node, type_, scope)
    program = own_program(node, scope) if type_ in PROGRAMMED else None
    trigger = _trigger(key, node, type_, program, scope)
    constraints = build_constraints(node, scope)
    timeout = _timeout(node, scope)
    if trigger is None or constraints is None or timeout is None or not sound:
        return None
    if program is None and type_ in PROGRAMMED:
        return None
    schedule = Schedule(
        program=program.name if program is not None else "",
        trigger=trigger,
        constraints=constraints,
        timeout=timeout,
        output_partition=task_output_partition(node.get("output_partition"), key, program, trigger, scope),
        collect_existing=_collects_existing(node, trigger, scope),
        on_suspend=cast("OnSuspend", node.text("on_suspend", "hold")),
        timezone=trigger.timezone,
        **common_fields(key, node, scope),
    )
    check_closed_window(schedule, key, scope)
    check_timeout(schedule, key, scope)
    check_delay(schedule, key, scope)
    check_windows(schedule, key, scope)
    check_references(schedule, node.get("args"), scope)
    return schedule


def _trigger(
    key: ScalarNode, node: MappingNode, type_: TaskType, program: Program | None, scope: Scope
) -> TaskTrigger | None:
    name = str(key.value)
    cycle = cast("Cycle", node.text("cycle"))
    times = build_times(node, cycle, scope)
    written = node.get("dataset")
    dataset = scope.dataset(written) if isinstance(written, ScalarNode) else None
    calendar = calendar_at(node, scope)
    check_business_date(node, cycle, calendar, scope)
    at_most = duration_at(node.get("catch_up_at_most"), scope)
    first, last, valid = _validity(node, scope)
    sound = [
        valid,
        (dataset is None) == (written is None),
        (calendar is None) == ("calendar" not in node.values),
        (at_most is None) == ("catch_up_at_most" not in node.values),
        check_depends_on(node, name, scope),
    ]
    if times is None or not all(sound):
        return None
    trigger = TaskTrigger(
        type=type_,
        dataset=dataset.name if dataset is not None and type_ not in PROGRAMMED else None,
        cycle=cycle,
        times=times,
        update=update_of(node, type_, program, scope),
        depends_on=tuple(
            each.dependency for each in read_depends_on(node, name, scope.app, scope.week_starts).named
        ),
        timezone=zone_of(node, scope),
        calendar=calendar,
        previous_business_day="business_date" in node.values,
        day_starts=scope.day_starts,
        enabled=node.flag("enabled", True),
        valid_from=first,
        valid_to=last,
        catch_up_at_most=CATCH_UP_AT_MOST if at_most is None else at_most,
        at=scope.at(key),
    )
    check_source_cycle(node, trigger, dataset, scope)
    return trigger


def _collects_existing(node: MappingNode, trigger: TaskTrigger, scope: Scope) -> bool:
    """Return whether a source counts the events from before its deployment; report it for any other task."""
    if "collect_existing" in node.keys and trigger.dataset_collected is None:
        scope.findings.add(
            "L440",
            node.keys["collect_existing"],
            "`collect_existing` belongs to a source that data reports, got a task without events",
            "delete `collect_existing`, or write type: source and update: outside",
        )
        return False
    return node.flag("collect_existing", False)


def _timeout(node: MappingNode, scope: Scope) -> Timeout | None:
    """Return the timeout, by default one that never comes; None after reporting an error."""
    if "timeout" not in node.values:
        return Timeout(after=NEVER)
    written = node.mapping("timeout")
    if written is not None and "from" in written.keys:
        scope.findings.add(
            "L440",
            written.keys["from"],
            f"the timeout of a task counts from its start time, got `from: {written.text('from')}`",
            "delete `from`",
        )
        return None
    return build_timeout(node, scope)


def _validity(node: MappingNode, scope: Scope) -> tuple[date | None, date | None, bool]:
    """Return the first and the last day that has instances, and whether both are sound."""
    found: dict[str, date | None] = {}
    for key in ("valid_from", "valid_to"):
        text = node.text(key)
        found[key] = parsed_day(text) if text else None
        if text and found[key] is None:
            summary = f"`{key}` is a date that exists, got {shown(text)}"
            scope.findings.add("V242", node.values[key], summary, "write for example 2026-12-24")
            return None, None, False
    first, last = found["valid_from"], found["valid_to"]
    if first is not None and last is not None and last < first:
        scope.findings.add(
            "V242",
            node.values["valid_to"],
            f"`valid_to` is not before `valid_from`, got {last} and {first}",
            "swap them; both days are included",
        )
        return None, None, False
    return first, last, True


def check_task_name(key: ScalarNode, scope: Scope) -> bool:
    """Return whether a task may have its name; report `self`."""
    if key.value != SELF:
        return True
    scope.findings.add(
        "N317",
        key,
        f"`self` in `depends_on` is the task's own previous instance, got a task named {shown(SELF)}",
        "choose another name",
    )
    return False
