"""Provisional: the members of a trigger that were missing when a job was launched without them (rule 30).

    held without its waits                              ──► whole: nothing is missing
    held only by a `wait_at_most`, or by
    `timeout: {then: run, from: first_event}`           ──► provisional: the members that do not hold
    a person has satisfied it                           ──► whole, whatever it lacks: it was meant so

What counts is the decision to launch, with all events of its instant: what came while the job waited for its
constraints is not missing any more. Pure.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.launch_input import MissingMember
from tidegate.domain.model import Composite, LeafTrigger, Schedule, Trigger, child_path
from tidegate.domain.schedule_keys import keys_about, scheme_of_key
from tidegate.scheduler.decision.outcome import Decision
from tidegate.scheduler.decision.triggers import evaluate
from tidegate.scheduler.decision.triggers.collected import Collected, collected
from tidegate.scheduler.decision.triggers.tree import LEAVES
from tidegate.scheduler.decision.triggers.wait_at_most import waits, without_waits
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.verdict import Verdict


def missing_members(view: JobView, decision: Decision, now: datetime) -> tuple[MissingMember, ...]:
    """Return the members of the trigger that a job is launched without; none for a job that is whole.

    Args:
        view: with all events of the job.
        decision: to launch it.
    """
    if view.job.instance is not None or _is_whole(view, decision.trigger):
        return ()
    has, trigger = collected(view), without_waits(view.schedule.trigger)
    verdict = evaluate(trigger, has, now)
    if verdict.met or (view.job.by_hand is not None and not _waited(view, has, decision.satisfied_at, now)):
        return ()
    return tuple(_unmet(trigger, "", verdict, view, has))


def of_leaf(trigger: LeafTrigger, schedule: Schedule) -> str | None:
    """Return the dataset or the program that a leaf of a schedule's trigger is about; None for a cron."""
    runs = trigger.runs_heard(schedule.program)
    return trigger.dataset_heard or (None if runs is None else runs[0])


def _is_whole(view: JobView, decided: Verdict) -> bool:
    """Return whether a trigger that cannot hold by waiting was found to hold: it is not evaluated again."""
    return decided.met and view.job.repairs is None and not waits(view.schedule.trigger)


def _waited(view: JobView, has: Collected, satisfied_at: datetime | None, now: datetime) -> bool:
    """Return whether the trigger held by waiting before a person touched the job."""
    since = evaluate(view.schedule.trigger, has, now).since
    return since is not None and satisfied_at is not None and since <= satisfied_at


def _unmet(
    trigger: Trigger, path: str, verdict: Verdict, view: JobView, has: Collected
) -> Iterator[MissingMember]:
    """Yield the leaves that do not hold; a part whose leaves all hold waits for its `quiet`, and is named."""
    if not isinstance(trigger, Composite):
        of, keys = of_leaf(trigger, view.schedule), _missing_keys(trigger, path, view, has)
        yield MissingMember(kind=trigger.kind, member=path, of=of, name=trigger.as_, keys=keys)
        return
    parts = [
        (member, child_path(path, index), part)
        for index, (member, part) in enumerate(zip(trigger.of, verdict.parts, strict=True))
        if not part.met
    ]
    if not parts:
        yield MissingMember(kind=trigger.kind, member=path, name=trigger.as_)
    for member, place, part in parts:
        yield from _unmet(member, place, part, view, has)


def _missing_keys(trigger: LeafTrigger, path: str, view: JobView, has: Collected) -> tuple[str, ...]:
    """Return the partition keys that a leaf lacks; none where others would do as well."""
    deliveries, kind = has.by_leaf.get(path, ()), LEAVES[type(trigger)]
    named = None if kind.missing is None else kind.missing(trigger, kind.read(trigger, deliveries, has), has)
    if named is not None:
        return named
    scheme, key = has.scheme(trigger.dataset_collected or ""), view.collects_for
    of = scheme_of_key(view.app, view.schedule, key) if key else None
    if scheme is None or of is None:
        return ()
    about, arrived = keys_about(scheme, key, of), {each.event.partition for each in deliveries}
    return tuple(each for each in about if each not in arrived) if len(about) <= trigger.least_events else ()
