"""Inputs: the partitions that the upstream instances of an instance are about, by dataset.

    an upstream task with a program   the partitions that it wrote, of the datasets that the program writes
    a source or an external task      the partitions of its dataset that contain its business date
    an empty run                      none: it has written nothing

They are the manifest of the instance's run. Pure.
"""

from collections.abc import Iterable, Mapping

from tidegate.domain.model import App, Program
from tidegate.domain.part_name import app_of, name_of, whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.decision.view.partitions import partitions_of, written
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job


class Inputs(Value, kw_only=True):
    """The upstream instances of an instance, with their tasks by ref and the apps of datasets by name."""

    jobs: tuple[Job, ...] = ()
    tasks: Mapping[str, ScheduleState] = {}
    apps: Mapping[str, App] = {}


def manifest_of_inputs(app: str, program: Program, inputs: Inputs) -> dict[str, tuple[str, ...]]:
    """Return the partitions by dataset that a program reads, as its app names it, both sorted.

    Args:
        app: the program's app.
    """
    reads = {whole_name(app, name): name for name in program.reads}
    found: dict[str, set[str]] = {}
    for job in inputs.jobs:
        for dataset, keys in _about(job, inputs):
            if dataset in reads:
                found.setdefault(reads[dataset], set()).update(keys)
    return {name: tuple(sorted(keys)) for name, keys in sorted(found.items())}


def datasets_of_sources(tasks: Iterable[ScheduleState]) -> frozenset[str]:
    """Return the datasets ("app/name") of the sources and external tasks among some tasks."""
    named = ((state.app, state.spec.task) for state in tasks)
    return frozenset(
        whole_name(app, task.dataset) for app, task in named if task is not None and task.dataset is not None
    )


def _about(job: Job, inputs: Inputs) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Yield each dataset ("app/name") that an instance is about, with the partitions."""
    state, instance = inputs.tasks.get(job.schedule), job.instance
    if state is None or state.spec.task is None or instance is None or instance.empty:
        return
    app, task = inputs.apps.get(job.app), state.spec.task
    if task.launches and app is not None:
        for name, keys in written(app, state.spec, instance).items():
            if job.launch is not None and name in app.datasets and app.datasets[name].partitions is not None:
                # Perhaps the task was changed since. One that was marked may never have run.
                keys = job.launch.partitions
            yield whole_name(app.name, name), keys
    elif task.dataset is not None:
        whole = whole_name(job.app, task.dataset)
        owner = inputs.apps.get(app_of(whole))
        dataset = None if owner is None else owner.datasets.get(name_of(whole))
        if dataset is not None:
            yield whole, partitions_of(dataset.partitions, task, instance)
