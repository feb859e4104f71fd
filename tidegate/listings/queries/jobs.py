"""Jobs as all faces show them, and the list of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidegate.listings.jobs import InstanceOfJob, Job
from tidegate.listings.read import Asked
from tidegate.scheduler.explain.outcome import JobRun, runs_of_jobs
from tidegate.scheduler.model import job as engine
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import RunState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.wanted import JobsWanted

if TYPE_CHECKING:
    from tidegate.scheduler.model.deployed import ScheduleState

PAGE = 1000
"""Jobs that are read at once, where some of them are left out."""

_AS_IT_IS = set(Job.__struct_fields__) & {*engine.Job.__struct_fields__, "app"}


def public_jobs(reader: EngineReader, jobs: Iterable[engine.Job]) -> list[Job]:
    """Return what of some jobs all faces show, with the moments of their discards, which schedules know."""
    several = list(jobs)
    runs = runs_of_jobs(reader, several)
    refs = sorted({job.schedule for job in several if job.waiting and job.maintenance is None})
    states = {state.ref: state for state in reader.schedules(refs=refs)} if refs else {}
    return [_public(job, runs.get(job.id), states.get(job.schedule)) for job in several]


def public_job(job: engine.Job, reader: EngineReader) -> Job:
    """Return what of a job all faces show."""
    return public_jobs(reader, [job])[0]


def _public(job: engine.Job, run: JobRun | None, state: "ScheduleState | None") -> Job:
    of_task = job.instance
    looked_at, discarded_at = job.next_check_at if job.decided_when_due else None, None
    if state is not None:
        # A list without waiting jobs loads nothing of the decisions.
        from tidegate.scheduler.decision.timeout import looked_and_discarded_at

        looked_at, discarded_at = looked_and_discarded_at(state.spec.timeout, job)
    fields = {name: getattr(job, name) for name in _AS_IT_IS} | {
        "run_state": None if run is None else run.state,
        "detail": job.detail or ("" if run is None else run.awaits),
        "priority": job.launch_priority,
        "next_check_at": looked_at,
        "discarded_at": discarded_at,
        "partitions": () if job.launch is None else job.launch.partitions,
        "provisional": job.launch is not None and bool(job.launch.provisional),
        "repairs": None if job.repairs is None else job.repairs.jobs[-1],
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
    if "run_state" in asked.wanted:
        # Only a launched job has a run that has not ended; one whose launch is decided is about to be queued.
        queued = RunState.QUEUED in asked.wanted["run_state"]
        active = (JobState.LAUNCHED, JobState.PENDING_LAUNCH) if queued else (JobState.LAUNCHED,)
        states = active if None in states else tuple(each for each in active if each in states)
    elif None in states and asked.apps is not None and len(asked.apps) == 1 and _is_of_app(asked):
        # An index has the jobs of an app in their order, those of each state by themselves.
        states = tuple(JobState)
    jobs = [job for state in dict.fromkeys(states) for job in _newest(asked, state)]
    return public_jobs(asked.reader, jobs)


def _is_of_app(asked: Asked) -> bool:
    """Return whether no other filter has an index of its own."""
    return not {"schedule", "reason", "maintenance"} & asked.wanted.keys()


def _newest(asked: Asked, state: JobState | None) -> Iterator[engine.Job]:
    """Yield the newest jobs of a state that match, also in what the store does not know."""
    schedule, operations = asked.wanted.get("schedule"), asked.wanted.get("maintenance")
    known = operations is not False and "run_state" not in asked.wanted
    wanted = JobsWanted(
        apps=asked.apps,
        schedules=None if schedule is None else (schedule,),
        states=None if state is None else (state,),
        reason=asked.wanted.get("reason"),
        operations=operations is True,
        since=asked.wanted.get("since"),
        ended_since=asked.wanted.get("ended"),
        before=asked.after,
        limit=asked.limit if known else PAGE,
    )
    if known:
        yield from asked.reader.jobs(**wanted)[::-1]
        return
    left = asked.limit
    while page := asked.reader.jobs(**wanted)[::-1]:
        for job in _matching(asked, page)[:left]:
            left -= 1
            yield job
        if not left or len(page) < PAGE:
            return
        wanted["before"] = page[-1].opened_at, page[-1].id


def _matching(asked: Asked, page: Sequence[engine.Job]) -> list[engine.Job]:
    """Return the jobs of a page that match what the store does not know."""
    maintenance, run_states = asked.wanted.get("maintenance"), asked.wanted.get("run_state")
    found = [job for job in page if maintenance in (None, job.maintenance is not None)]
    if run_states is None:
        return found
    runs = runs_of_jobs(asked.reader, found)
    return [job for job in found if _state_of_run(job, runs) in run_states]


def _state_of_run(job: engine.Job, runs: Mapping[str, JobRun]) -> RunState | None:
    if job.state is JobState.PENDING_LAUNCH:
        return RunState.QUEUED
    return runs[job.id].state if job.id in runs else None
