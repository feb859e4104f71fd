"""Jobs as all faces show them, and the list of them."""

from collections.abc import Iterator

from tidegate.listings.jobs import InstanceOfJob, Job
from tidegate.listings.read import Asked
from tidegate.scheduler.model import job as engine
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.wanted import JobsWanted

PAGE = 1000
"""Jobs that are read at once, where some of them are left out."""

_AS_IT_IS = set(Job.__struct_fields__) & {*engine.Job.__struct_fields__, "app"}


def public_job(job: engine.Job) -> Job:
    """Return what of a job all faces show."""
    of_task = job.instance
    fields = {name: getattr(job, name) for name in _AS_IT_IS} | {
        "priority": job.launch_priority,
        "next_check_at": job.next_check_at if job.decided_when_due else None,
        "partitions": () if job.launch is None else job.launch.partitions,
        "instance": None
        if of_task is None
        else InstanceOfJob(
            scheduled=of_task.key,
            start=of_task.start,
            business_date=of_task.business_date,
            backfill=of_task.number or None,
        ),
        "operation": None if job.maintenance is None else job.maintenance.operation,
    }
    return Job(**fields)


def list_jobs(asked: Asked) -> list[Job]:
    """Return the newest jobs of each state that match."""
    states: tuple[JobState | None, ...] = asked.wanted.get("state", (None,))
    return [public_job(job) for state in dict.fromkeys(states) for job in _newest(asked, state)]


def _newest(asked: Asked, state: JobState | None) -> Iterator[engine.Job]:
    """Yield the newest jobs of a state that match, also in what the store does not know."""
    schedule, maintenance = asked.wanted.get("schedule"), asked.wanted.get("maintenance")
    wanted = JobsWanted(
        apps=asked.apps,
        schedules=None if schedule is None else (schedule,),
        states=None if state is None else (state,),
        reason=asked.wanted.get("reason"),
        since=asked.wanted.get("since"),
        ended_since=asked.wanted.get("ended"),
        before=asked.after,
        limit=asked.limit if maintenance is None else PAGE,
    )
    if maintenance is None:
        yield from asked.reader.jobs(**wanted)[::-1]
        return
    left = asked.limit
    while page := asked.reader.jobs(**wanted)[::-1]:
        for job in page:
            if left and (job.maintenance is not None) is maintenance:
                left -= 1
                yield job
        if not left or len(page) < PAGE:
            return
        wanted["before"] = page[-1].opened_at, page[-1].id
