"""A reminder: a trigger that needs several things may stay half collected for ever (rule 20).

Said only for a composite that needs two members of events and has no bound, since that is
where one lost delivery stops a pipeline silently. A single trigger waits for nothing but
itself, and a clock always comes.
"""

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.domain.model import Composite, Schedule, Trigger


def check_waiting(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of a schedule whose half-collected job nothing bounds."""
    if schedule.timeout.from_ == "first_event":
        return
    waiting = _waits_unbounded(schedule.trigger)
    if waiting is None:
        return
    scope.findings.add(
        "L406",
        waiting.at if waiting.at is not None else place,
        f"a job that lacks one member of `{waiting.kind}` waits for ever, got no `wait_at_most`",
        f"add `wait_at_most: 3h` beside `{waiting.kind}`, or `from: first_event` to the timeout",
    )


def _waits_unbounded(trigger: Trigger) -> Composite | None:
    """Return the composite that may wait for ever, None if there is none."""
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
