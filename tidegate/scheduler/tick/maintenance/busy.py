"""Busy: the partitions that pipelines write, which an operation leaves out (docs/maintenance.md).

A job writes the partitions of its launch plan; one that waits for its constraints those that it would have
now. The table of a dataset without partitions is one partition. Part of the shell: it loads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from tidegate.domain.model import App, Schedule
from tidegate.domain.part_name import Ref, app_of
from tidegate.scheduler.decision.launch.plan import plan_launch
from tidegate.scheduler.decision.maintenance.poll import Busy
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.partitions import WHOLE, keys_of
from tidegate.scheduler.model.job import WRITING, Job, JobState
from tidegate.scheduler.tick.load import AllEvents, DeliveryRows, Rows, load_job_views


class BusyRows(Rows, DeliveryRows, Protocol):
    """The rows that say what pipelines write."""

    def jobs(self, *, apps: Collection[str], states: Collection[JobState]) -> Sequence[Job]: ...

    def keys_written(self, dataset: str) -> tuple[str, ...]: ...


def load_busy(
    rows: Any, apps: Mapping[str, App], datasets: Collection[str], now: datetime
) -> dict[str, Busy]:
    """Return what pipelines write of some datasets ("app/dataset"); one that nothing writes has no entry.

    Args:
        rows: see `BusyRows`: a reader of the store.
        apps: the deployed apps by name.
    """
    reader: BusyRows = rows
    found: dict[str, dict[str, None]] = {}
    jobs: dict[str, dict[str, None]] = {}
    for name in sorted({app_of(dataset) for dataset in datasets} & set(apps)):
        for job, dataset, keys in _written(reader, apps[name], datasets, now):
            found.setdefault(dataset, {}).update(dict.fromkeys(keys))
            jobs.setdefault(dataset, {})[job.id] = None
    return {
        dataset: _busy(reader, apps[app], name, tuple(sorted(keys)), tuple(jobs[dataset]))
        for dataset, keys in found.items()
        for app, name in [Ref.of(dataset)]
    }


def _busy(rows: BusyRows, app: App, dataset: str, keys: tuple[str, ...], jobs: tuple[str, ...]) -> Busy:
    whole = app.datasets[dataset].partitions is None or WHOLE in keys
    written = set(rows.keys_written(f"{app.name}/{dataset}"))
    free = not whole and not written.issubset(keys)
    return Busy(keys=keys, known=tuple(key for key in keys if key in written), free=free, jobs=jobs)


def _written(
    rows: BusyRows, app: App, datasets: Collection[str], now: datetime
) -> Iterator[tuple[Job, str, tuple[str, ...]]]:
    """Return each job that writes one of some datasets, with that dataset and its keys."""
    writing = rows.jobs(apps=(app.name,), states=WRITING)
    jobs = sorted((job for job in writing if job.maintenance is None), key=lambda job: job.id)
    refs = {job.schedule for job in jobs if job.launch is None}
    specs = {state.ref: state.spec for state in rows.schedules(refs=refs)} if refs else {}
    writers: list[tuple[Job, list[str]]] = []
    for job in jobs:
        program = app.programs.get(_program(job, specs))
        writes = () if program is None else program.writes
        names = [name for name in writes if f"{app.name}/{name}" in datasets]
        if names:
            writers.append((job, names))
    planned = [job for job, _ in writers if job.launch is None and job.instance is None]
    found = load_job_views(rows, planned, now, AllEvents(rows))[0] if planned else []
    views = {view.job.id: view for view in found}
    for job, names in writers:
        if job.launch is not None:
            keys = job.launch.partitions
        elif job.instance is not None:
            keys = keys_of(app, specs[job.schedule], job.instance)
        else:
            keys = _planned(views[job.id])
        for name in names:
            whole = app.datasets[name].partitions is None or not keys
            yield job, f"{app.name}/{name}", (WHOLE,) if whole else keys


def _program(job: Job, specs: Mapping[str, Schedule]) -> str:
    if job.launch is not None:
        return job.launch.program
    return specs[job.schedule].program if job.schedule in specs else ""


def _planned(view: JobView) -> tuple[str, ...]:
    """Return the partitions that a waiting job would write now; none if they are unknown."""
    try:
        return plan_launch(view, view.job.satisfied_at).partitions
    except Exception:  # noqa: BLE001 - its own decision reports it; it must not stop what others do
        return ()
