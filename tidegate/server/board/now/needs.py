"""What needs a person, the newest first, with its cause and one action.

a job has failed in the last 24 hours   what runs it again
a publish is withheld, however long     its page, which releases or abandons it
a job or a period is late               what lets it go on
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from tidegate.domain.value import Value
from tidegate.domain.wording import capitalized, first_of, plural
from tidegate.listings.actions import refusal_of
from tidegate.listings.late import Late
from tidegate.scheduler.explain.answer import deepest_cause
from tidegate.scheduler.explain.withheld import failed_checks, publishes_with_jobs
from tidegate.scheduler.explain.work import RECENTLY
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import Caller
from tidegate.server.board.now.waits import wait_text
from tidegate.server.board.rendering import job_path
from tidegate.server.board.subjects import of_job

NEEDS_MAX = 6

FAILED_READ = 50
"""The newest failed jobs, of which those that ended last are shown."""

MISSING_SHOWN = 3

WITHHELD_READ = 50
"""Those that are withheld for longest; `tidegate commits list` has all."""

FAILED_HELPS = ("requeue", "retry", "rerun", "mark_successful")
"""What helps a failed job, the first one that would not be refused."""

LATE_HELPS = ("mark_successful", "force")
"""What helps a late job that waits."""

_EARLIEST = datetime.min.replace(tzinfo=UTC)


class Need(Value, kw_only=True):
    """Something that needs a person.

    Attributes:
        state: failed, withheld or late.
        name: "app/name" of a schedule, task or dataset.
        key: of the job, or the period.
        job: its id; "" for a dataset.
        says: the cause in one line.
        at: when it failed, was withheld, or was due.
        action: what helps, in a word.
        href: of the page that does it, or shows more.
    """

    state: str
    name: str
    key: str
    job: str
    says: str
    at: datetime
    action: str
    href: str


def needs(
    reader: ListingReader,
    now: datetime,
    zone: str,
    apps: frozenset[str] | None,
    late: Sequence[Late],
    caller: Caller,
) -> tuple[Need, ...]:
    """Return what needs a person, the newest first."""
    failed = reader.jobs(apps=apps, states=(JobState.FAILED,), ended_since=now - RECENTLY, limit=FAILED_READ)
    withheld = [*_of_withheld(reader, apps)]
    decided_there = {need.job for need in withheld}
    pipelines = [job for job in failed if job.maintenance is None and job.id not in decided_there]
    newest = sorted(pipelines, key=lambda job: (job.ended_at or job.opened_at, job.id), reverse=True)
    acts = caller.may(Role.OPERATE)
    found = [_of_failed(reader, now, job, acts) for job in newest[:NEEDS_MAX]]
    found += [*withheld, *_of_late(reader, now, zone, late[:NEEDS_MAX], acts)]
    return tuple(sorted(found, key=lambda each: (each.at, each.name), reverse=True)[:NEEDS_MAX])


def _of_failed(reader: ListingReader, now: datetime, job: Job, acts: bool) -> Need:
    action, href = _action(reader, now, job, FAILED_HELPS if acts else ())
    return Need(
        state="failed",
        name=job.schedule,
        key=job.key,
        job=job.id,
        says=deepest_cause(job.detail) or ("it has failed" if job.reason is None else job.reason.summary),
        at=job.ended_at or job.opened_at,
        action=action,
        href=href,
    )


def _of_withheld(reader: ListingReader, apps: frozenset[str] | None) -> Iterator[Need]:
    """Yield the withheld publishes. A person decides about one on its page, where the verdicts are."""
    for publish, job in publishes_with_jobs(reader, apps, WITHHELD_READ):
        yield Need(
            state="withheld",
            name=publish.datasets[0] if job is None else job.schedule,
            key="" if job is None else job.key,
            job="" if job is None else job.id,
            says=capitalized(failed_checks(publish)),
            at=publish.at,
            action="Open",
            href=f"/board/commits/{quote(publish.commit)}",
        )


def _action(reader: ListingReader, now: datetime, job: Job, wanted: Sequence[str]) -> tuple[str, str]:
    """Return the first of some actions that would not be refused, with its page; else the page of the job."""
    subject = of_job(job)
    for each in (each for name in wanted for each in subject.actions if each.name == name):
        if refusal_of(each, reader, job, now) is None:
            return each.title, f"{job_path(job.id)}/{each.name}"
    return "Open", job_path(job.id)


def _of_late(
    reader: ListingReader, now: datetime, zone: str, late: Sequence[Late], acts: bool
) -> Iterator[Need]:
    ids = [each.job for each in late if each.job]
    jobs = {job.id: job for job in reader.jobs(ids=ids)} if ids else {}
    for each in late:
        job = jobs.get(each.job)
        says, action, href = _missing(each), "Open", _page_of(each)
        if job is not None:
            waits = job.waiting or job.state is JobState.PAUSED
            says = wait_text(reader, now, zone, job) if waits else _at_work(job)
            if acts and waits:
                action, href = _action(reader, now, job, LATE_HELPS)
        yield Need(
            state="late",
            name=each.name,
            key=each.key,
            job=each.job,
            says=capitalized(says),
            at=each.due or each.late_at or _EARLIEST,
            action=action,
            href=href,
        )


def _at_work(job: Job) -> str:
    return "its run is at work" if job.state is JobState.LAUNCHED else "its launch is decided"


def _missing(late: Late) -> str:
    """Return what of a period of a dataset has not landed."""
    if not late.missing:
        return "its data has not landed"
    several = len(late.missing)
    first = first_of(late.missing, MISSING_SHOWN)
    return f"{plural(several, 'part')} of it {'has' if several == 1 else 'have'} not landed: {first}"


def _page_of(late: Late) -> str:
    return job_path(late.job) if late.job else f"/board/datasets/{quote(late.name)}"
