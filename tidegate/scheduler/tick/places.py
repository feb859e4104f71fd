"""Places in the store: what Dagster's instance allows is noted by who drives the engine, and read by others.

Dagster's instance ─► noted with the heartbeat of the host, or of a dispatcher ─► polls, offers, `why`
"""

from collections.abc import Collection

import msgspec

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.job import ACTIVE, Job, JobState
from tidegate.scheduler.model.places import Noted, Places, Rooms, places_cursor
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction


def noted_places(reader: EngineReader, project: str) -> Noted | None:
    """Return what is noted of a project's Dagster; None where it is not known, or there is no limit."""
    return Noted.of(reader.cursor(places_cursor(project)))


def note_places(transaction: EngineTransaction, project: str, noted: Noted | None) -> None:
    """Note what a heartbeat has found."""
    transaction.set_cursor(places_cursor(project), None if noted is None else msgspec.to_builtins(noted))


def load_rooms(reader: EngineReader, *, decided: bool = True) -> Rooms:
    """Return the places of all projects, where they are known.

    Args:
        decided: whether operations whose launch is decided, and that have no run yet, take places.
    """
    projects = {app.name: app.project for app in reader.app_headers()}
    noted = {project: noted_places(reader, project) for project in set(projects.values())}
    known = {project: each for project, each in noted.items() if each is not None}
    if not known:
        return Rooms()
    jobs = reader.jobs(states=ACTIVE)
    taking = [projects.get(job.app) for job in jobs if _takes_a_place(job, decided)]
    queued = _queued(reader, jobs)
    return Rooms(
        places={
            project: Places(
                most=each.most,
                taken=max(each.in_progress, taking.count(project)),
                queued=sum(projects.get(app) == project for app in queued),
            )
            for project, each in known.items()
        },
        projects=projects,
    )


def _takes_a_place(job: Job, decided: bool) -> bool:
    if job.gave_back:
        return False
    return decided or job.maintenance is None or job.state is JobState.LAUNCHED


def _queued(reader: EngineReader, jobs: Collection[Job]) -> list[str]:
    """Return the app of each queued run of a pipeline."""
    operations = {job.id for job in jobs if job.maintenance is not None}
    return [
        app_of(run.program)
        for run in reader.runs(active=True)
        if run.status is RunStatus.QUEUED and run.job not in operations
    ]
