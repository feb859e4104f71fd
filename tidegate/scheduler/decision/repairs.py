"""Repairs: which job repairs the one before it of its key, and how it is judged (rule 30).

    the last launched job of a key
        was provisional ─────────────────────────► any event of the key repairs it
        consumed the partition of an event ──────► that event repairs it
        and the event was published by a repair ─► it runs again for it, without bounds
        otherwise, or beyond the bounds ─────────► new data; while it is provisional D-REPAIR

A repair sees the events of both. Its trigger holds when it is whole over both, or `after` its first event in
place of every `wait_at_most`; nothing drops out of it. The shell reads the last launches
(`scheduler.model.records.last_launch`) and the deliveries. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Composite, Leaf, Schedule, Trigger, leaves
from tidegate.domain.part_name import name_in
from tidegate.scheduler.decision.triggers.collected import in_order
from tidegate.scheduler.decision.triggers.wait_at_most import without_waits
from tidegate.scheduler.model.event import Delivery, Event, EventKind, dataset_of_key, listens_to
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import LastLaunch, Repairs
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.model.verdict import Verdict, earliest


def repairs_by(event: Event, last: LastLaunch, *, consumed: bool, waits: bool) -> Repairs | Reason | None:
    """Return what makes the job that an event opens or joins a repair; None for new data.

    Args:
        last: the last launch of the key.
        consumed: whether that job consumed an event of the same partition.
        waits: whether a job of the key waits, which the event joins.

    Returns:
        A reason if the event is discarded: launched alone it would replace what came before.
    """
    if event.repairs is not None and consumed:
        return _repairs(last, last.number)
    if last.repair is None or not (last.provisional or consumed):
        return None
    in_time = last.number < last.repair.at_most and event.arrived <= last.since + last.repair.within
    if in_time or event.origin is not None:
        # A person may replay what came too late.
        return _repairs(last, last.number + 1)
    return Reason.D_REPAIR if last.provisional and not waits else None


def repairs_by_hand(last: LastLaunch | None) -> Repairs | None:
    """Return what makes a job a repair that a person opens; None for one that is not."""
    return None if last is None or not last.awaits_repair else _repairs(last, last.number + 1)


def _repairs(last: LastLaunch, number: int) -> Repairs:
    after = None if last.repair is None else last.repair.after
    return Repairs(jobs=last.jobs, since=last.since, number=number, after=after)


def consumed(event: Event, launch: LaunchPlan | None, app: str) -> bool:
    """Return whether a launched job of an app consumed an event of the same partition."""
    if launch is None or event.kind is not EventKind.PARTITION or event.partition is None:
        return False
    return event.partition in launch.manifest.get(name_in(app, dataset_of_key(event.key)), ())


def last_launch(job: Job, spec: Schedule, plan: LaunchPlan, now: datetime) -> LastLaunch:
    """Return the last launch of the key of a job that is launched now."""
    found = job.repairs
    return LastLaunch(
        schedule=job.schedule,
        key=job.key,
        job=job.id,
        jobs=(*(() if found is None else found.jobs), job.id),
        since=now if found is None else found.since,
        number=0 if found is None else found.number,
        provisional=bool(plan.provisional),
        repair=spec.repair,
    )


# --- the job that is repaired ---------------------------------------------------------------


def awaits_attempt(job: Job) -> bool:
    """Return whether a launched job waits for a further attempt, or for a run of one."""
    asked = job.state is JobState.PENDING_LAUNCH and job.run_id is None
    return job.attempt > 1 and (job.waiting or asked)


def repaired_entry(job: Job, by: str, now: datetime) -> Entry:
    """Return the entry that ends a job which `awaits_attempt`: another one (id) was launched that repairs it.

    Its attempt would replace newer rows. It ends as its last run did, and is discarded if it has had none.
    """
    run = job.failed_run
    cancelled = run is not None and run.status is RunStatus.CANCELLED
    failed = Reason.F_CANCELLED if cancelled else Reason.F_RUN
    reason = Reason.D_REPAIRED if run is None else failed
    data = {"by": by}
    return Entry(at=now, kind=EntryKind.REPAIRED, schedule=job.schedule, job=job.id, reason=reason, data=data)


# --- how a repair is judged ---------------------------------------------------------------


def judged_spec(spec: Schedule, job: Job) -> Schedule:
    """Return the schedule by which a job is judged: nothing drops out of a repair, its wait is `after`."""
    if job.repairs is None:
        return spec
    trigger = _without_drops(spec.trigger)
    return msgspec.structs.replace(
        spec, trigger=trigger if job.repairs.after is None else without_waits(trigger)
    )


def _without_drops(trigger: Trigger) -> Trigger:
    if isinstance(trigger, Composite):
        trigger = msgspec.structs.replace(trigger, of=tuple(_without_drops(each) for each in trigger.of))
    return msgspec.structs.replace(trigger, collect_within=None)


def seen_by(
    job: Job, spec: Schedule, own: Sequence[Delivery], events: Mapping[str, Sequence[Delivery]]
) -> tuple[Delivery, ...]:
    """Return the deliveries that a job sees: its own, and those of the jobs that it repairs.

    Those of former jobs are delivered to each leaf that listens now, as if the schedule had never changed.

    Args:
        spec: of its schedule.
        events: the deliveries of jobs, by id; of former ones at least.
    """
    if job.repairs is None:
        return tuple(own)
    former = [each for id in job.repairs.jobs for each in events.get(id, ())]
    found = {
        (each.event.id, each.leaf): each for each in _heard(job, former, tuple(leaves(spec.trigger)), spec)
    }
    found.update({(each.event.id, each.leaf): each for each in own})
    return tuple(sorted(found.values(), key=in_order))


def _heard(
    job: Job, former: Iterable[Delivery], listening: Sequence[Leaf], spec: Schedule
) -> Iterable[Delivery]:
    heard = [(leaf.path, listens_to(job.app, job.schedule, leaf, spec.program)[0]) for leaf in listening]
    for each in former:
        for path, key in heard:
            if key == each.event.key:
                yield msgspec.structs.replace(each, leaf=path)


def as_repair(job: Job, trigger: Verdict, now: datetime) -> Verdict:
    """Return the verdict on the trigger of a job; that of a repair holds from its own first event on.

    Args:
        trigger: the verdict over all events that it sees.
    """
    first = job.first_event_at
    if job.repairs is None or first is None:
        return trigger
    if trigger.met:
        since = first if trigger.since is None else max(trigger.since, first)
        return msgspec.structs.replace(trigger, since=since)
    if job.repairs.after is None:
        return trigger
    over, text = first + job.repairs.after, duration_text(job.repairs.after)
    if now < over:
        return msgspec.structs.replace(
            trigger,
            next_check=earliest((trigger.next_check, over)),
            holds_at=earliest((trigger.holds_at, over)),
            summary=f"{trigger.summary}; a repair, which waits for {text}",
        )
    summary = f"{trigger.summary}; a repair, which continues with the events so far after {text}"
    return msgspec.structs.replace(
        trigger,
        met=True,
        since=over,
        next_check=None,
        holds_at=None,
        needs=None,
        reason=None,
        summary=summary,
    )
