"""The rule that what is caught up with is not discarded again.

With `catch_up: all` each missed fire has a job of its own, and all of them are ready at the return. A
constraint that counts runs lets only the first ones go; with `otherwise: skip` it discards the others.
"""

from collections.abc import Iterator

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Composite, Constraint, Schedule, Trigger
from tidegate.domain.model.constraint import ConcurrencyConstraint, LoadConstraint, RateConstraint


def check_caught_up(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of each constraint that discards the jobs of missed fires."""
    crons = [cron for cron in _fire_alone(schedule.trigger) if _catches_up_with_all(cron)]
    if not crons:
        return
    for constraint in schedule.constraints:
        left = _left(constraint)
        if constraint.otherwise == "skip" and left is not None:
            scope.findings.add(
                "L425",
                constraint.at or place,
                f"`catch_up: all` gives each missed fire a job, got `{constraint.kind}` with `otherwise:"
                f" skip`, which discards {left}",
                "write `otherwise: wait`, or `catch_up: latest`",
            )


def _fire_alone(trigger: Trigger) -> Iterator[Trigger]:
    """Return the members of a trigger that satisfy it alone: those below `any` only."""
    if not isinstance(trigger, Composite):
        yield trigger
    elif trigger.alternatives:
        for member in trigger.of:
            yield from _fire_alone(member)


def _catches_up_with_all(trigger: Trigger) -> bool:
    cron = None if isinstance(trigger, Composite) else trigger.wall_clock
    return cron is not None and cron.catch_up == "all"


def _left(constraint: Constraint) -> str | None:
    """Return which jobs a constraint discards that are ready together; None if it counts no runs."""
    match constraint:
        case ConcurrencyConstraint() | RateConstraint():
            return f"all but {_number(constraint.max)}"
        case LoadConstraint(max_active_runs=int() as most):
            return f"all but {_number(most)}"
        case LoadConstraint(gauge=str() as gauge):
            return f"all of them while {gauge} is too high"
        case _ if constraint.reads_history:
            return "all but one"
        case _:
            return None


def _number(most: int) -> str:
    return "one" if most == 1 else str(most)
