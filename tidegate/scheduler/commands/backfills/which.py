"""Which dates and keys a backfill runs again: all, or those that are missing, failed or stale.

    missing   no job of the task or schedule has succeeded for the key
    failed    its newest job that was launched, or is a dead letter, failed
    stale     that one succeeded, and a partition about the key, of a dataset of its trigger or reads, has a
              newer event than the newest of its manifest, or than its launch if it has none

Jobs that were discarded or still wait say nothing. Nor do those that retention has removed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidegate.domain.model import App
from tidegate.scheduler.commands.backfills.points import Point
from tidegate.scheduler.commands.backfills.request import Which
from tidegate.scheduler.decision.launch.existing import is_stale, partitions_asked
from tidegate.scheduler.decision.launch.plan import keys_of_plan
from tidegate.scheduler.decision.view.partitions import partitions_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.inputs import load_newest

COUNTING = frozenset({JobState.PENDING_LAUNCH, JobState.LAUNCHED, JobState.SUCCEEDED, JobState.FAILED})

Asked = Mapping[str, Sequence[str]]
"""Partitions by the keys of their events."""


def chosen(reader: EngineReader, app: App, points: Sequence[Point], which: Which) -> list[Point]:
    """Return those points of one task or schedule that are to run, in order."""
    if which == "all" or not points:
        return list(points)
    state = points[0].state
    jobs = _jobs_by_key(reader, state)
    match which:
        case "missing":
            succeeded = {
                key for key, each in jobs.items() if any(job.state is JobState.SUCCEEDED for job in each)
            }
            return [point for point in points if point.key not in succeeded]
        case "failed":
            return [point for point in points if _newest_is(jobs, point, JobState.FAILED)]
        case "stale":
            done = [point for point in points if _newest_is(jobs, point, JobState.SUCCEEDED)]
            return _stale(reader, app, done, jobs)


def _newest_is(jobs: Mapping[str, list[Job]], point: Point, state: JobState) -> bool:
    return point.key in jobs and jobs[point.key][-1].state is state


def _jobs_by_key(reader: EngineReader, state: ScheduleState) -> dict[str, list[Job]]:
    """Return the jobs that count by the keys that they are about, the newest last."""
    found: dict[str, list[Job]] = {}
    for job in reader.jobs(schedules=[state.ref], states=COUNTING):
        for key in _keys(state, job):
            found.setdefault(key, []).append(job)
    return found


def _keys(state: ScheduleState, job: Job) -> tuple[str, ...]:
    if job.instance is not None:
        return (job.instance.key if job.instance.keyed else job.instance.business_date,)
    if job.launch is not None:
        return keys_of_plan(state.spec, job.launch)
    return (job.key,) if job.key else ()


def _stale(
    reader: EngineReader, app: App, points: Sequence[Point], jobs: Mapping[str, list[Job]]
) -> list[Point]:
    asked = {point.key: _asked(app, point) for point in points}
    newest = _newest_events(reader, asked.values())
    return [
        point
        for point in points
        if (job := jobs[point.key][-1]).launch is not None
        and is_stale(job.launch, job.decided_at, _about(newest, asked[point.key]))
    ]


def _asked(app: App, point: Point) -> Asked:
    """Return the partitions that a job of a point depends on."""
    spec, task = point.state.spec, point.state.spec.task
    if task is None:
        return partitions_asked(app, spec, point.key)
    program = app.programs.get(spec.program)
    found: dict[str, Sequence[str]] = {}
    for name in () if program is None else program.reads:
        dataset = app.datasets.get(name)
        scheme = None if dataset is None else dataset.partitions
        if program is not None and scheme is not None and name not in program.writes:
            found[partition_event_key(app.name, name)] = partitions_of(scheme, task, point.instance)
    return found


def _newest_events(reader: EngineReader, asked: Iterable[Asked]) -> dict[tuple[str, str], Event]:
    """Return the newest event of each partition that some points ask for."""
    wanted: dict[str, dict[str, None]] = {}
    for each in asked:
        for key, partitions in each.items():
            wanted.setdefault(key, {}).update(dict.fromkeys(partitions))
    return {(event.key, event.partition or ""): event for event in load_newest(reader, wanted)}


def _about(newest: Mapping[tuple[str, str], Event], asked: Asked) -> Iterator[Event]:
    for key, partitions in asked.items():
        yield from (newest[key, each] for each in partitions if (key, each) in newest)
