"""Outcome: what a job waits for, or how it goes on, in one line for people; and how far its run is.

A launched run is queued, starting or running; of a queued one also what it waits for.
"""

from collections.abc import Collection

from tidegate.domain.launch_input import early_text
from tidegate.domain.value import Value
from tidegate.domain.wording import plural
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.places import SETTING, Noted, places_cursor
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunState
from tidegate.scheduler.store.engine_reader import EngineReader


def outcome_line(job: Job) -> str:
    """Describe how a job that no longer waits went on."""
    if job.state is JobState.PENDING_LAUNCH:
        return f"{job.state}: {_asked(job)}"
    because = "" if job.reason is None else f" ({job.reason}: {job.reason.summary})"
    run = "" if job.run_id is None else f", run {job.run_id}"
    if job.attempt > 1 and not job.recovered:
        run += f", attempt {job.attempt}"
    detail = f"; {job.detail}" if job.detail else ""
    return f"{job.state}{because}{run}{detail}"


def _asked(job: Job) -> str:
    """Describe the offers of a decided launch and the last answer."""
    if job.offers == 0 and job.detail:
        return f"its launch is postponed: {job.detail}; it holds no slots meanwhile"
    if job.offers == 0:
        return "its run is asked for at the next tick of its dispatcher"
    times = "once" if job.offers == 1 else f"{job.offers} times"
    if job.offers == job.rejected:
        until = "; it holds no slots until it is offered again" if job.gave_back else ""
        return f"its run was asked for {times}; the last request was rejected: {job.detail}{until}"
    answer = f"the answer before: {job.detail}" if job.detail else "no run is seen yet"
    assert job.offered_at is not None, "it was offered"
    return f"its run was asked for {times}, last at {instant_text(job.offered_at)}; {answer}"


def repair_text(job: Job, repaired_by: str | None = None) -> str:
    """Describe what a job was launched without, and the jobs that repair it and that it repairs.

    Args:
        repaired_by: a launched job (id) that repairs it; None for none.
    """
    early = "" if job.launch is None else early_text(job.launch.provisional)
    found = f"; {early}" if early else ""
    if repaired_by is not None:
        final = "" if job.state is JobState.SUCCEEDED else ", so no further attempt follows"
        found += f"; job {repaired_by} repairs it{final}"
    if job.repairs is None:
        return found
    return f"{found}; it repairs job {job.repairs.jobs[-1]}, whose events it sees too"


def late_text(job: Job) -> str:
    """Describe that a job has missed its deadline; "" if not."""
    return (
        "" if job.late_at is None else f"; late, noted at {instant_text(job.late_at)} ({Reason.L_DEADLINE})"
    )


def waiting_line(job: Job) -> str:
    """Describe one waiting job in one line: name, key, reason.

    When it is looked at next is left out: it may be the moment of its discard, which its schedule knows.
    """
    name = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    reason = job.reason or Reason.W_TRIGGER
    return f"{name}: {reason} {reason.summary}"


class JobRun(Value, kw_only=True):
    """The run of a launched job.

    Attributes:
        awaits: the place that a queued one waits for; "" for any other.
    """

    state: RunState
    awaits: str = ""


def runs_of_jobs(reader: EngineReader, jobs: Collection[Job]) -> dict[str, JobRun]:
    """Return how far the runs of jobs are, by job; a job without a run that has not ended is left out."""
    launched = {job.run_id: job for job in jobs if job.state is JobState.LAUNCHED and job.run_id is not None}
    runs = reader.runs(ids=launched.keys()) if launched else ()
    states = {run.run_id: run.state for run in runs if run.state is not None}
    queued = {launched[id_].app for id_, state in states.items() if state is RunState.QUEUED}
    places = _places(reader, queued) if queued else {}
    return {
        job.id: JobRun(state=state, awaits=places[job.app] if state is RunState.QUEUED else "")
        for id_, state in states.items()
        for job in [launched[id_]]
    }


def _places(reader: EngineReader, apps: Collection[str]) -> dict[str, str]:
    """Return for each app what its queued runs wait for, with the number of places where it is known."""
    projects = {app.name: app.project for app in reader.app_headers()}
    found: dict[str, str] = {}
    for app in apps:
        noted = Noted.of(reader.cursor(places_cursor(projects[app]))) if app in projects else None
        place = "a place" if noted is None else f"one of {plural(noted.most, 'place')}"
        found[app] = f"queued for {place} ({SETTING})"
    return found


def run_line(reader: EngineReader, job: Job) -> str:
    """Return how far the run of a job is, to end a line for people; "" for one at work, or without one."""
    found = runs_of_jobs(reader, [job]).get(job.id)
    if found is None or found.state is RunState.RUNNING:
        return ""
    return f"; {found.awaits or found.state}"
