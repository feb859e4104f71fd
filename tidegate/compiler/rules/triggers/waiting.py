"""The warning for a trigger that may wait without end for one of several members (rule 20).

It concerns only a composite without a time limit that needs events of two members: there, one lost
delivery silently stops a pipeline. A single trigger needs no other member, and a clock always fires.
"""

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Composite, Schedule, Trigger


def check_waiting(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of a schedule whose job may wait for a member without a time limit."""
    if schedule.timeout.from_ == "first_event":
        return
    waiting = _waits_unbounded(schedule.trigger)
    if waiting is None:
        return
    scope.findings.add(
        "L406",
        waiting.at if waiting.at is not None else place,
        f"a job that lacks one member of `{waiting.kind}` waits without end, got no `wait_at_most`",
        f"add `wait_at_most: 3h` beside `{waiting.kind}`, or `from: first_event` to the timeout",
    )


def _waits_unbounded(trigger: Trigger) -> Composite | None:
    """Return the composite that may wait without end, or None."""
    if not isinstance(trigger, Composite) or _bounded(trigger):
        return None
    members = [member for member in trigger.of if not (_bounded(member) or _clock(member))]
    lacking = trigger.needed - (len(trigger.of) - len(members))
    if lacking > 1:
        return trigger
    waiting = [_waits_unbounded(member) for member in members]
    return waiting[0] if lacking == 1 and waiting and None not in waiting else None


def _bounded(trigger: Trigger) -> bool:
    return trigger.wait_at_most is not None or trigger.collect_within is not None


def _clock(trigger: Trigger) -> bool:
    return not isinstance(trigger, Composite) and trigger.fires_by_clock
