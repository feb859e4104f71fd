"""The rules for `max_batch`, `batching` and `collect_within` beside a trigger.

They depend on the least number of events that satisfies the trigger: a batch must allow this number, and
if one event is enough, `collect_within` never drops an event.
"""

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Composite, Schedule, Trigger
from tidegate.domain.wording import plural


def least_events(trigger: Trigger) -> int:
    """Return the least number of events that satisfies a trigger; at least, where only the data can tell."""
    if trigger.wait_at_most is not None:
        return 1
    if isinstance(trigger, Composite):
        return sum(sorted(least_events(member) for member in trigger.of)[: trigger.needed])
    return trigger.least_events


def check_batch(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Report a batch that is too small for the trigger, or that is never filled.

    Args:
        place: the place of `max_batch`.
    """
    if schedule.max_batch is None:
        return
    if schedule.batching == "each":
        scope.findings.add(
            "V209",
            place,
            "with `batching: each` a job takes no events once it is ready, got `max_batch` beside it",
            "delete one of the two",
        )
        return
    needed = least_events(schedule.trigger)
    if schedule.max_batch < needed:
        scope.findings.add(
            "L410",
            place,
            f"`max_batch` is at least the number of events that the trigger needs,"
            f" got {schedule.max_batch} for {plural(needed, 'event')}",
            f"write max_batch: {needed} or more, or `batching: each` to launch as soon as there are enough",
        )


def check_collect_within(trigger: Trigger, scope: Scope) -> None:
    """Warn of a `collect_within` that never drops an event.

    It checks the trigger and the members of an `any`, each of which satisfies the whole trigger. A member
    of an `all` that one event satisfies can still lose that event while other members lack theirs.
    """
    if isinstance(trigger, Composite) and trigger.alternatives and trigger.quiet is None:
        for member in trigger.of:
            check_collect_within(member, scope)
    within, at_most = trigger.collect_within, trigger.wait_at_most
    if within is None or trigger.at is None:
        return
    got = None
    if at_most is not None and within >= at_most:
        got = f"a `wait_at_most` of {duration_text(at_most)}, which ends the collecting earlier"
    elif trigger.quiet is None and any_event_satisfies(trigger):
        got = "a trigger that one event satisfies"
    if got is not None:
        scope.findings.add(
            "V209",
            trigger.at,
            f"`collect_within: {duration_text(within)}` drops nothing here, got {got}",
            "delete `collect_within`",
        )


def any_event_satisfies(trigger: Trigger) -> bool:
    """Return whether every event satisfies the trigger at once."""
    if isinstance(trigger, Composite):
        return trigger.needed == 1 and all(
            member.quiet is None and any_event_satisfies(member) for member in trigger.of
        )
    return trigger.any_event_satisfies
