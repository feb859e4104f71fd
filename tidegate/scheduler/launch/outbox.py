"""The outbox: jobs whose launch is decided, offered again and again until a run is seen.

Every offer of an attempt leaves under the same run key, and the launcher drops keys it knows,
so offering twice is harmless and offering never again would be a loss. What is *not* harmless
is a request that makes the launcher fail: it would take the others of its batch with it, for
ever. So a job whose offers come to nothing goes alone, with longer and longer pauses, and in
the end becomes a dead letter (F-LAUNCH), visible and out of the way, until a person queues it again
(`scheduler.launch.dead_letter`). A request that is rejected before it reaches the launcher can harm no
other: it is tried again after a pause, together with the others.

    offered, no run seen ──► offered alone ──► … ──► FAILED with F-LAUNCH
            │                      │
            └──── a run is seen ───┴──► LAUNCHED (tidegate.scheduler.intake.observe)
"""

from datetime import datetime, timedelta

from tidegate.domain.back_off import back_off
from tidegate.domain.model import Priority
from tidegate.domain.value import Value
from tidegate.scheduler.decision.after import record
from tidegate.scheduler.decision.launch_order import launch_order_key
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.end_jobs import end_jobs

OFFERS_PER_TICK = 25
"""One sensor tick of Dagster creates 2 to 6 runs a second and must stay far from its 60 s limit."""

SUSPECT_AFTER_OFFERS = 2
"""After so many offers without a run a job is offered alone."""

OFFERS_MAX = 7
"""After so many offers the job is a dead letter; with the back-off that takes about ten minutes."""

FIRST_BACK_OFF = timedelta(seconds=10)


class LaunchRequest(Value, kw_only=True):
    """What a launcher needs to make the run of one attempt of a job.

    Attributes:
        run_key: the same for every offer of the attempt.
        schedule: "app/name".
        reason: one line on what made the job ready, for people.
    """

    job: str
    attempt: int
    run_key: str
    schedule: str
    app: str
    launch: LaunchPlan
    priority: Priority
    reason: str


def offer_launches(
    transaction: Transaction, now: datetime, app: str, limit: int = OFFERS_PER_TICK
) -> tuple[LaunchRequest, ...]:
    """The launches of an app to hand out now, counted in the store as offered.

    Args:
        limit: the most requests to return.
    """
    pending = transaction.jobs(app=app, states=(JobState.PENDING_LAUNCH,))
    dead = [job for job in pending if job.offers >= OFFERS_MAX and _due(job, now)]
    for job in dead:
        _dead_letter(transaction, job, job.detail or "no run was seen after its offers", now)
    chosen = select([job for job in pending if job.offers < OFFERS_MAX and _due(job, now)], limit)
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


def select(due: list[Job], limit: int) -> list[Job]:
    """Return the due jobs to offer together: one suspect alone, or else the first ones in their order.

    A rejected request never reached the launcher, so it is not a suspect; it goes after the others, and
    takes no place that one of them could have.
    """
    suspects = [job for job in due if job.offers >= SUSPECT_AFTER_OFFERS and not _rejected(job)]
    if suspects:
        return [min(suspects, key=lambda job: (job.offers, job.id))]
    return sorted(due, key=lambda job: (_rejected(job), launch_order_key(job, job.satisfied_at)))[:limit]


def _rejected(job: Job) -> bool:
    """Return whether the last offer was rejected before it reached the launcher."""
    return job.offers > 0 and job.offered_at is None


def reject(
    transaction: Transaction, job_id: str, attempt: int, message: str, now: datetime, *, final: bool = False
) -> None:
    """Note that a launch could not even be asked for, for example for an unknown partition.

    It is tried again after a pause, since a definition may still be loading, and becomes a dead
    letter like any other launch that comes to nothing.

    Args:
        final: no later try can be valid, so the job becomes a dead letter at once.
    """
    for job in transaction.jobs(ids=(job_id,), states=(JobState.PENDING_LAUNCH,)):
        if job.attempt != attempt:
            continue
        if final or job.offers >= OFFERS_MAX:
            _dead_letter(transaction, job, message, now)
            continue
        entry = _failed(job, message, now)
        pause = back_off(FIRST_BACK_OFF, job.offers)
        transaction.put_jobs([record(job, entry, next_check_at=now + pause)])
        transaction.add_journal([entry])


def _due(job: Job, now: datetime) -> bool:
    return job.next_check_at is None or job.next_check_at <= now


def _next_offer(job: Job, now: datetime) -> datetime | None:
    """A fresh job may be offered at every tick; a suspect waits twice as long each time."""
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
        priority=job.priority,
        reason=launch_reason(job.launch),
    )


def launch_reason(launch: LaunchPlan) -> str:
    """One line on what a run was launched for."""
    parts = [f"{len(keys)} partition(s) of {dataset}" for dataset, keys in launch.manifest.items()]
    if launch.scheduled_time is not None:
        parts.append(f"cron of {launch.scheduled_time.isoformat()}")
    if launch.upstream_runs:
        parts.append(f"{len(launch.upstream_runs)} upstream run(s)")
    return ", ".join(parts) or "by hand"


def _dead_letter(transaction: Transaction, job: Job, message: str, now: datetime) -> None:
    entry = _failed(job, message, now, Reason.F_LAUNCH)
    end_jobs(transaction, [(job, entry)])
    transaction.add_journal([entry])


def _failed(job: Job, message: str, now: datetime, reason: Reason | None = None) -> Entry:
    """The entry of a launch that came to nothing, for good with a reason."""
    return Entry(
        at=now,
        kind=EntryKind.LAUNCH_FAILED,
        schedule=job.schedule,
        job=job.id,
        reason=reason,
        data={"message": message},
    )
