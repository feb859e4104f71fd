"""Why: what a schedule or a job waits for, what it has collected, and when it can run next.

It loads the same job view and calls the same `decide` as the tick, so it reports what the
scheduler would do at that instant. It changes nothing. A past instant is explained with the store as
it was then, see `scheduler.explain.past`.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.duration import duration_text, is_never
from tidegate.domain.model import leaves
from tidegate.scheduler.decision.decide import decide
from tidegate.scheduler.decision.fires import due_fires
from tidegate.scheduler.decision.fold.retry import attempts_max
from tidegate.scheduler.decision.launch.plan import business_dates
from tidegate.scheduler.decision.outcome import Decision, Discard, Launch, Pass, Wait
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.upstream import diagnostics_of
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.history import failure_texts, history_of, published_nothing
from tidegate.scheduler.explain.instances.awaited import awaited, upstream_of
from tidegate.scheduler.explain.instances.roots import roots
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.explain.missed import missed_text
from tidegate.scheduler.explain.names import pruned_hint
from tidegate.scheduler.explain.operations.why import explain_operation_job
from tidegate.scheduler.explain.outcome import late_text, outcome_line, repair_text, run_line
from tidegate.scheduler.explain.overrides import overrides_of
from tidegate.scheduler.explain.unblock import Missing, can_run_at, missing
from tidegate.scheduler.explain.withheld import outputs_for, withheld_from
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, fire_event_key
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.model.launch_order import launch_order_key
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.load import AllEvents, Held, load_app, load_job_views
from tidegate.scheduler.tick.repaired import repaired_by

JOBS_EXPLAINED = 20
"""Of a schedule so many jobs that wait or have no run yet are explained, the first ones in launch order."""

INSTANCES_EXPLAINED = 5
"""Of a task whose instances are due so many are explained, the earliest ones."""


def explain(
    reader: EngineReader, target: str, now: datetime, *, every: bool = False
) -> tuple[Explanation, ...]:
    """Explain a schedule ("app/name") or a job (its id).

    Args:
        every: explain each job of the schedule; without it the first ones, with the counts of all by reason.

    Returns:
        One explanation for each job of a schedule that waits or has no run yet, or one of what the schedule
        needs to open a job; for a job exactly one.

    Raises:
        Refused: the schedule or the job does not exist.
    """
    if "/" in target:
        overridden = overrides_of(reader, target)
        found = _explain_schedule(reader, target, now, every)
        (state,) = reader.schedules(refs=[target])
        absent, withheld = missed_text(reader, state), withheld_from(reader, state)
        return tuple(
            msgspec.structs.replace(
                each,
                overrides=overridden,
                missed=absent,
                withheld=withheld,
                withheld_publishes=outputs_for(reader, each, state),
            )
            for each in found
        )
    job = next(iter(reader.jobs(ids=[target])), None)
    if job is None:
        raise Refused(
            f"there is no schedule or job {target}",
            "name a schedule as app/name, or a job by its id; `tidegate schedules list` shows them"
            + pruned_hint(reader),
        )
    state = next(iter(reader.schedules(refs=[job.schedule])), None)
    found = _explain_job(reader, job, state, now)
    return (
        msgspec.structs.replace(
            found,
            overrides=overrides_of(reader, job.schedule),
            withheld=withheld_from(reader, state) if state is not None and job.waiting else (),
            withheld_publishes=outputs_for(reader, found, state),
        ),
    )


def _explain_schedule(reader: EngineReader, ref: str, now: datetime, every: bool) -> tuple[Explanation, ...]:
    state = next(iter(reader.schedules(refs=[ref])), None)
    if state is None:
        raise Refused(f"no schedule {ref} is deployed", "`tidegate schedules list` shows what is")
    if state.spec.task is not None:
        return _explain_task(reader, state, now, every)
    found = reader.jobs(schedules=[ref], states=(*WAITING, JobState.PENDING_LAUNCH))
    if found:
        ordered = sorted(found, key=lambda job: (job.waiting, launch_order_key(job, job.satisfied_at)))
        return _explain_first(reader, ordered, state, now, None if every else JOBS_EXPLAINED)
    empty = Job(id="", schedule=ref, fingerprint=state.fingerprint, opened_at=now)
    decision = decide(_view(reader, empty, now), now)
    newest = next(iter(reader.jobs(schedules=[ref], limit=1)), None)
    failed = newest if newest is not None and newest.state is JobState.FAILED else None
    return (
        Explanation(
            schedule=ref,
            at=now,
            status=state.status,
            headline=_nothing_waits(state, failed),
            trigger=decision.trigger,
            constraints=decision.constraints,
            next_check=state.next_fire_at if state.active else None,
            can_run_at=_can_run_by_fire(reader, state, empty, now),
            missing=missing(decision) if state.active else (*_resumed(state), *missing(decision)),
            failed=failed,
        ),
    )


def _explain_first(
    reader: EngineReader, jobs: Sequence[Job], state: ScheduleState, now: datetime, most: int | None
) -> tuple[Explanation, ...]:
    """Explain the first of some jobs of a schedule, with the counts of all by reason if there are more."""
    shown = jobs[:most]
    found = tuple(_explain_job(reader, job, state, now) for job in shown)
    if len(shown) == len(jobs):
        return found
    counts = dict(Counter(str(job.reason or job.state) for job in jobs))
    return tuple(msgspec.structs.replace(each, open_jobs=counts) for each in found)


def _explain_task(
    reader: EngineReader, state: ScheduleState, now: datetime, every: bool
) -> tuple[Explanation, ...]:
    """Explain the instances of a task that are due and not done, or else the one that comes next."""
    states = (*WAITING, JobState.PENDING_LAUNCH, JobState.PAUSED)
    jobs = reader.jobs(schedules=[state.ref], states=states)
    timed = sorted((job.instance.scheduled, job.id, job) for job in jobs if job.instance is not None)
    due = [job for _, _, job in timed if job.instance is not None and job.instance.start <= now]
    shown = due or [job for _, _, job in timed[:1]]
    if shown:
        return _explain_first(reader, shown, state, now, None if every else INSTANCES_EXPLAINED)
    headline = "no instance waits: `tidegate instances list` shows those that are over"
    starts = state.next_start(now)
    return (
        Explanation(
            schedule=state.ref,
            at=now,
            status=state.status,
            headline=headline,
            next_check=starts if state.active else None,
            can_run_at=starts if state.active else None,
            missing=() if state.active else _resumed(state),
        ),
    )


def _can_run_by_fire(
    reader: EngineReader, state: ScheduleState, empty: Job, now: datetime
) -> datetime | None:
    """Return when a schedule without a job can run if no event arrives: by its next fire, if that is enough.

    The fire is decided as the tick will do, with the constraints as they are now.
    """
    fire = state.next_fire_at
    if fire is None or not state.active:
        return None
    at = max(fire, now)
    view = _view(reader, empty, now)
    fires = [
        Delivery(event=event, schedule=state.ref, leaf=leaf.path, at=at)
        for event in due_fires(state, at).events
        for leaf in leaves(state.spec.trigger)
        if event.key == fire_event_key(state.ref, leaf.path)
    ]
    return can_run_at(decide(msgspec.structs.replace(view, deliveries=tuple(fires)), at), at)


def _resumed(state: ScheduleState) -> tuple[Missing, ...]:
    """Return what a suspended schedule needs first."""
    command = f"tidegate schedules resume {state.ref}"
    return (Missing(kind="held", what=f"it is suspended: `{command}`", at=state.spec.at),)


def _nothing_waits(state: ScheduleState, failed: Job | None) -> str:
    if state.active and failed is not None and failed.reason is Reason.F_LAUNCH:
        return (
            f"no waiting job: the last job {failed.id} is a dead letter ({failed.detail}), which"
            f" `tidegate jobs requeue {failed.id}` queues again"
        )
    if state.active and failed is not None:
        return "no waiting job: no event has arrived since the last job, which failed"
    if state.active:
        return "no waiting job: no event has arrived since the last job"
    if state.spec.on_suspend == "backlog":
        return "suspended: no waiting job yet; new events are kept until it is resumed"
    return "suspended: events are ignored until it is resumed"


def _explain_job(reader: EngineReader, job: Job, state: ScheduleState | None, now: datetime) -> Explanation:
    if job.maintenance is not None:
        return explain_operation_job(reader, job, now)
    explanation = _explain_alone(reader, job, state, now)
    if job.instance is None:
        return explanation
    upstream = upstream_of(reader, [job], now).get(job.id, ())
    return msgspec.structs.replace(
        explanation,
        upstream=awaited(reader, upstream),
        diagnostics=diagnostics_of(upstream),
        roots=roots(reader, job, now),
    )


def _explain_alone(reader: EngineReader, job: Job, state: ScheduleState | None, now: datetime) -> Explanation:
    status = state.status if state is not None else "deleted"
    history = history_of(reader, job)
    if not job.waiting or state is None:
        return Explanation(
            schedule=job.schedule,
            at=now,
            status=status,
            headline=_asked_for(job)
            + outcome_line(job)
            + run_line(reader, job)
            + ("; it published 0 rows" if published_nothing(reader, job) else "")
            + repair_text(job, repaired_by(reader, job))
            + _limit(reader, job)
            + late_text(job),
            job=job,
            business_dates=() if job.launch is None else job.launch.dates,
            history=history,
        )
    view = _view(reader, job, now)
    decision = decide(view, now)
    ends = decision.outcome.discarded_at if isinstance(decision.outcome, Wait) else None
    never = ends is not None and is_never(ends, now)
    return Explanation(
        schedule=job.schedule,
        at=now,
        status=status,
        headline=_headline(reader, job, decision, state),
        job=job,
        business_dates=_dates(view, decision),
        trigger=decision.trigger,
        constraints=decision.constraints,
        next_check=decision.outcome.looked_at if isinstance(decision.outcome, Wait) else now,
        discarded_at=None if never else ends,
        never_discarded=never,
        can_run_at=can_run_at(decision, now),
        missing=missing(decision),
        history=history,
    )


def _limit(reader: EngineReader, job: Job) -> str:
    """Describe when the timeout of a running job's program ends; "" without one."""
    if job.state is not JobState.LAUNCHED or job.launch is None or job.run_id is None:
        return ""
    app = load_app(reader, job.app)
    program = None if app is None else app.programs.get(job.launch.program)
    run = next(iter(reader.runs(ids=[job.run_id])), None)
    if program is None or program.timeout is None or run is None or run.started_at is None:
        return ""
    until = run.started_at + program.timeout
    return f"; its timeout of {duration_text(program.timeout)} ends at {instant_text(until)}"


def _view(reader: EngineReader, job: Job, now: datetime) -> JobView:
    views, _ = load_job_views(reader, [job], now, _held(reader, job))
    return views[0]


def _held(reader: EngineReader, job: Job) -> Held:
    """Return what reads the events of a job; most keep no counts, and load nothing that reads these."""
    if not (counts := reader.tallies([job.id])):
        return AllEvents(reader)
    from tidegate.scheduler.explain.collected_events import CollectedEvents

    return CollectedEvents(reader, counts)


def _dates(view: JobView, decision: Decision) -> tuple[str, ...]:
    """Return the business dates of a waiting job; a further attempt has those of the first one."""
    if view.job.instance is not None:
        return (view.job.instance.business_date,)
    return business_dates(view, decision.satisfied_at) if view.job.launch is None else view.job.launch.dates


def _headline(reader: EngineReader, job: Job, decision: Decision, state: ScheduleState) -> str:
    more = repair_text(job) + late_text(job) + _attempt_before(reader, job, state)
    return _by_hand(job) + _outlook(decision) + more


def _by_hand(job: Job) -> str:
    return "" if job.by_hand is None else "triggered by hand; "


def _asked_for(job: Job) -> str:
    """Say of a decided launch that a person asked for it; what became of its run comes first later on."""
    return _by_hand(job) if job.state is JobState.PENDING_LAUNCH else ""


def _attempt_before(reader: EngineReader, job: Job, state: ScheduleState) -> str:
    """Describe the failed attempt that the job continues; "" for a first attempt."""
    if job.failed_run is None:
        return ""
    attempt = f"attempt {job.attempt}"
    if job.retry_at is not None:
        attempt = f"{attempt} of {attempts_max(job, state.spec)}"
    detail = job.detail or failure_texts(reader, job).get(job.failed_run.id, "")
    because = f": {detail}" if detail else ""
    return f"; {attempt} comes next, run {job.failed_run.id} failed{because}"


def _outlook(decision: Decision) -> str:
    match decision.outcome:
        case Launch():
            return "ready: the next tick launches it"
        case Pass():
            return "ready: the next tick makes it successful, since it has nothing to run"
        case Discard(reason=reason):
            return f"the next tick discards it: {reason} {reason.summary}"
        case waiting:
            return f"{waiting.reason}: {waiting.reason.summary}"
