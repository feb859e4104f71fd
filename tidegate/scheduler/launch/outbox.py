"""The outbox: jobs whose launch is decided, offered to the launcher until a run is observed.

Every offer of an attempt has the same run key, and the launcher drops known keys, so a second
offer is harmless. A request that makes the launcher fail is not harmless: it would fail the other
requests of its batch every time. So a job whose offers led to no run is offered alone, with growing
pauses, and finally becomes a dead letter (F-LAUNCH), until a person queues it again
(`scheduler.launch.dead_letter`). A request that is rejected before it reaches the launcher cannot
harm others: it is offered again after a pause, together with the others. While all offers of a job were
rejected it can have no run, so it gives back its slots and its place in rates. After the pause a tick
decides when it takes them again (`scheduler.decision.decide`), and then it is offered again.

What would meet every launch (the code location is not loaded, a database is away) is not counted against a
job: its launch is postponed, it gives back its slots as well, and waits until that is over.

    offered, no run ──► offered alone ──► … ──► FAILED with F-LAUNCH
            │                  │
            └── run observed ──┴──► LAUNCHED (`scheduler.intake.observe`)
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.back_off import back_off
from tidegate.domain.launch_input import early_text
from tidegate.domain.model import Priority
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.launch_order import (
    OFFERS_MAX,
    SUSPECT_AFTER_OFFERS,
    LaunchOrderKey,
    is_suspect,
    launch_order_key,
)
from tidegate.scheduler.model.maintenance import Ended, Ending, Work
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.maintenance.end import close_run
from tidegate.scheduler.tick.places import load_rooms

OFFERS_PER_TICK = 25
"""One sensor tick of Dagster creates 2 to 6 runs a second and must stay well below its limit of 60 s."""

FIRST_BACK_OFF = timedelta(seconds=10)

POSTPONED_FOR = timedelta(minutes=5)
"""Until a postponed launch takes its slots again, if what postponed it is not known to be over before."""


class LaunchRequest(Value, kw_only=True):
    """A request to create the run of one attempt of a job.

    Attributes:
        run_key: the same for every offer of the attempt.
        schedule: "app/name".
        reason: one line for people on what the run was launched for.
        key: of the job: of `for_each`, of an instance, or table and operation; "" without one.
        by_hand: a person asked for it, or let it start.
        priority: None for an instance of a backfill that comes after all other jobs.
        instance: what makes the job an instance of a task; None for any other job.
        maintenance: what makes the job an operation on a table; None for any other job.
        commit: number of its commit id, see `Job.commit`.
    """

    job: str
    attempt: int
    run_key: str
    schedule: str
    app: str
    launch: LaunchPlan
    priority: Priority | None
    reason: str
    key: str = ""
    by_hand: bool = False
    instance: Instance | None = None
    maintenance: Work | None = None
    commit: int = 1


def offer_launches(
    transaction: EngineTransaction, now: datetime, app: str | Collection[str], limit: int = OFFERS_PER_TICK
) -> tuple[LaunchRequest, ...]:
    """Return the launch requests of an app or of several that are due, and count them as offered.

    Args:
        limit: the most requests to return.
    """
    apps = {app} if isinstance(app, str) else app
    chosen = _chosen(transaction, apps, now, limit)
    entries = [
        Entry(
            at=now,
            kind=EntryKind.OFFERED,
            schedule=job.schedule,
            job=job.id,
            data={"attempt": job.attempt, "offer": job.offers + 1},
        )
        for job in chosen
    ]
    transaction.put_jobs(
        [
            record(job, entry, next_check_at=_next_offer(job, now))
            for job, entry in zip(chosen, entries, strict=True)
        ]
    )
    transaction.add_journal(entries)
    return tuple(_request(job) for job in chosen)


def _chosen(transaction: EngineTransaction, apps: Collection[str], now: datetime, limit: int) -> list[Job]:
    """Return the jobs of one batch; what has had its last offer becomes a dead letter."""
    size = limit
    while True:
        page = transaction.jobs_to_offer(apps, now, size)
        dead = [job for job in page if job.offers >= OFFERS_MAX]
        for job in dead:
            _dead_letter(transaction, job, job.detail or "its offers led to no run", now)
        found = _batch(transaction, [job for job in page if job.offers < OFFERS_MAX], limit)
        if len(page) < size or (not dead and (len(found) == limit or any(map(is_suspect, found)))):
            return found
        # Behind the dead letters, and behind operations without a place, there may be others.
        size = size if dead else 2 * size


def _batch(transaction: EngineTransaction, due: Sequence[Job], limit: int) -> list[Job]:
    """Return one suspect alone, or else the first jobs, all in the order of offers.

    Operations are left out to which the pipelines leave no place since they were decided.
    """
    rooms, found = None, list[Job]()
    for job in due:
        if job.maintenance is not None:
            rooms = rooms or load_rooms(transaction, decided=False)
            if rooms.full(job.maintenance.policy):
                continue
            rooms = rooms.after(job.maintenance.policy)
        found.append(job)
        if is_suspect(job) or len(found) == limit:
            break
    return found


def _offer_order(job: Job) -> tuple[bool, bool, LaunchOrderKey]:
    return job.rejected > 0, job.maintenance is not None, launch_order_key(job, job.satisfied_at)


def reject(
    transaction: EngineTransaction,
    job_id: str,
    attempt: int,
    message: str,
    now: datetime,
    *,
    final: bool = False,
) -> None:
    """Record that a launch could not be requested, for example for an unknown partition.

    It is offered again after a pause, since a definition may still be loading, and becomes a dead
    letter like any other launch without a run.

    Args:
        final: no later try can be valid, so the job becomes a dead letter at once.
    """
    for job in transaction.jobs(ids=(job_id,), states=(JobState.PENDING_LAUNCH,)):
        if job.attempt != attempt:
            continue
        if final or job.offers >= OFFERS_MAX:
            _dead_letter(transaction, job, message, now)
            continue
        entry = _failed(job, message, now, rejected=_rejected_now(job))
        pause = back_off(FIRST_BACK_OFF, job.offers)
        waiting = record(job, entry, next_check_at=now + pause)
        transaction.put_jobs([waiting])
        transaction.add_journal([entry])
        if waiting.gave_back:
            transaction.drop_launches([job.launch_holder])
            transaction.wake(transaction.release_slots(job.id), now)


def postpone(
    transaction: EngineTransaction,
    apps: Collection[str],
    message: str,
    now: datetime,
    *,
    offered: Collection[str] = (),
    only: Collection[str] | None = None,
    pause: timedelta = POSTPONED_FOR,
) -> None:
    """Postpone launches that would all meet the same: no offer counts, and their slots are free meanwhile.

    Args:
        apps: whose launches.
        message: what they would meet.
        offered: jobs whose last offer has just been counted, and did not reach the launcher.
        only: the jobs; default: all whose launch is decided and that hold slots.
        pause: until they take their slots again by themselves.
    """
    postponed: list[tuple[Job, Entry]] = []
    decided = (
        transaction.jobs_to_offer(apps)
        if only is None
        else transaction.jobs(ids=only, apps=apps, states=(JobState.PENDING_LAUNCH,))
    )
    for job in decided:
        if job.gave_back:
            continue
        offers = job.offers - (job.id in offered)
        is_postponed = job.maintenance is not None and job.detail == message
        if job.id not in offered and (is_postponed or offers > job.rejected):
            # It keeps its table anyway, or may have a run by an offer before.
            continue
        data = {"message": message, "offers": offers, "rejected": min(job.rejected, offers)}
        entry = Entry(at=now, kind=EntryKind.LAUNCH_FAILED, schedule=job.schedule, job=job.id, data=data)
        postponed.append((record(job, entry, next_check_at=now + pause), entry))
    transaction.put_jobs([job for job, _ in postponed])
    transaction.add_journal([entry for _, entry in postponed])
    for job, _ in postponed:
        if job.gave_back:
            transaction.drop_launches([job.launch_holder])
            transaction.wake(transaction.release_slots(job.id), now)


def resume_launches(
    transaction: EngineTransaction,
    apps: Collection[str],
    message: str,
    now: datetime,
    limit: int | None = None,
) -> None:
    """Let the launches that a problem has postponed take their slots again.

    Args:
        limit: so many of them, the first ones in launch order; default: all, since the problem is over.
    """
    waiting = [
        job
        for job in transaction.jobs(states=(JobState.PENDING_LAUNCH,))
        if job.app in apps and job.detail == message and job.next_check_at is not None
    ]
    first = sorted(waiting, key=_offer_order)[:limit]
    transaction.put_jobs([msgspec.structs.replace(job, next_check_at=now) for job in first])


def _rejected_now(job: Job) -> int:
    """Return how many leading offers were rejected once the last one is."""
    return job.offers if job.rejected >= job.offers - 1 else job.rejected


def _next_offer(job: Job, now: datetime) -> datetime | None:
    """Return when to offer again: a new job at every tick, a suspect after twice as long each time."""
    tried = job.offers + 1
    if tried < SUSPECT_AFTER_OFFERS:
        return None
    return now + back_off(FIRST_BACK_OFF, tried - SUSPECT_AFTER_OFFERS + 1)


def _request(job: Job) -> LaunchRequest:
    if job.launch is None:
        raise ValueError(f"job {job.id} is PENDING_LAUNCH without a launch plan")
    return LaunchRequest(
        job=job.id,
        attempt=job.attempt,
        run_key=job.run_key,
        schedule=job.schedule,
        app=job.app,
        launch=job.launch,
        priority=job.launch_priority,
        reason=launch_reason(job.launch, job.instance, job.maintenance),
        key=job.key,
        by_hand=job.by_hand is not None or (job.maintenance is not None and job.maintenance.by_hand),
        instance=job.instance,
        maintenance=job.maintenance,
        commit=job.commit,
    )


def launch_reason(
    launch: LaunchPlan, instance: Instance | None = None, maintenance: Work | None = None
) -> str:
    """Return one line on what a run was launched for.

    Args:
        instance: what makes its job an instance of a task; None for any other job.
        maintenance: what makes it an operation on a table; None for any other job.
    """
    if maintenance is not None:
        by = "by hand" if maintenance.by_hand else f"by policy {maintenance.policy}"
        return f"{maintenance.operation} of {maintenance.table}, {by}"
    parts = [f"{len(keys)} partition(s) of {dataset}" for dataset, keys in launch.manifest.items()]
    if instance is not None:
        of = f" of backfill {instance.number}" if instance.number else ""
        parts.insert(0, f"{instance.key}{of}, business date {instance.business_date}")
    elif launch.scheduled_time is not None:
        parts.append(f"cron of {launch.scheduled_time.isoformat()}")
    parts += [each for each in (early_text(launch.provisional),) if each]
    if launch.repairs is not None:
        parts.append(f"repairs {launch.repairs}")
    if launch.upstream_runs:
        parts.append(f"{len(launch.upstream_runs)} upstream run(s)")
    return ", ".join(parts) or "by hand"


def _dead_letter(transaction: EngineTransaction, job: Job, message: str, now: datetime) -> None:
    entry = _failed(job, message, now, Reason.F_LAUNCH)
    end_jobs(transaction, [(job, entry)])
    transaction.add_journal([entry])
    if job.maintenance is not None:
        close_run(transaction, job, Ended(ending=Ending.FAILED, detail=message), now)


def _failed(
    job: Job, message: str, now: datetime, reason: Reason | None = None, rejected: int | None = None
) -> Entry:
    """Return the entry of a launch that failed; with a reason it is not tried again."""
    return Entry(
        at=now,
        kind=EntryKind.LAUNCH_FAILED,
        schedule=job.schedule,
        job=job.id,
        reason=reason,
        data={"message": message} | ({} if rejected is None else {"rejected": rejected}),
    )
