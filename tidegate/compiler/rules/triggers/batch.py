"""The rules for `max_batch`, `batching` and `collect_within` beside a trigger, and the default of `batching`.

They depend on the least number of events that satisfies the trigger: a batch must allow this number, and
if one event is enough, `collect_within` never drops an event.
"""

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.template import references_in
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Batching, Composite, Schedule, Trigger, leaves, satisfies_alone
from tidegate.domain.wording import plural


def least_events(trigger: Trigger) -> int:
    """Return the least number of events that satisfies a trigger; at least, where only the data can tell."""
    if trigger.wait_at_most is not None:
        return 1
    if isinstance(trigger, Composite):
        return sum(sorted(least_events(member) for member in trigger.of)[: trigger.needed])
    return trigger.least_events


def default_batching(schedule: Schedule) -> Batching:
    """Return how events become jobs where the schedule does not say: by date, so that no date is lost.

    That is where a run writes its business date, or passes it on, and one fire is enough for a run. Where a
    fire waits for other events, a run has the dates of all fires that it has collected.
    """
    clocks = [leaf for leaf in leaves(schedule.trigger) if leaf.trigger.wall_clock is not None]
    alone = any(satisfies_alone(schedule.trigger, leaf.path) for leaf in clocks)
    passed_on = schedule.output_partition == "none" and "business_date" in references_in(schedule.args)
    dated = schedule.output_partition in ("business_date", "business_day") or passed_on
    return "date" if alone and dated and schedule.for_each is None else "coalesce"


def may_launch_several(schedule: Schedule) -> bool:
    """Return whether one run of a schedule may have several partitions of its outputs.

    That is where a job collects the partitions, the upstream runs or the fires that come while it waits.
    """
    if schedule.output_partition not in ("manifest", "run", "business_date", "business_day"):
        return False
    if schedule.for_each is not None or schedule.task is not None or schedule.max_batch == 1:
        return False
    return schedule.batching == "coalesce" or (
        schedule.batching == "each" and least_events(schedule.trigger) > 1
    )


def check_batching(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Report dates as keys where jobs have other keys, or where nothing fires.

    Args:
        place: the place of `batching`.
    """
    if schedule.batching != "date":
        return
    if schedule.for_each is not None:
        got = f"`for_each: {schedule.for_each}`, which says which key a job has"
    elif not any(leaf.trigger.wall_clock is not None for leaf in leaves(schedule.trigger)):
        got = "a trigger without a `cron`"
    else:
        return
    summary = f"with `batching: date` each date of a `cron` has a job of its own, got {got}"
    scope.findings.add("V209", place, summary, "delete `batching`")


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
