"""A reminder: a trigger that needs several things may stay half collected for ever (DESIGN rule 20).

Said only for an `all` with two members of events and without any bound, since that is where
one lost delivery stops a pipeline silently. A single trigger waits for nothing but itself.
"""

from compiler.build.scope import Scope
from compiler.diagnostic import Place
from compiler.model import AllTrigger, AnyTrigger, CronTrigger, Schedule, Trigger


def check_waiting(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warns of a schedule whose half-collected job nothing bounds."""
    if schedule.timeout.from_ == "first_event" or not _waits_unbounded(schedule.trigger):
        return
    at = schedule.trigger.at
    scope.findings.add(
        "L406",
        at if at is not None else place,
        "a job that lacks one member of `all` waits for ever, got no `wait_at_most`",
        "add `wait_at_most: 3h` beside `all`, or `from: first_event` to the timeout",
    )


def _waits_unbounded(trigger: Trigger) -> bool:
    if trigger.wait_at_most is not None:
        return False
    if isinstance(trigger, AnyTrigger):
        return all(_waits_unbounded(member) for member in trigger.of)
    if isinstance(trigger, AllTrigger):
        members = [m for m in trigger.of if m.wait_at_most is None and not isinstance(m, CronTrigger)]
        return len(members) > 1 or any(_waits_unbounded(member) for member in members)
    return False
