"""Inputs: the upstream instances of an instance that is about to be launched, read by their ids.

Part of the shell. They are loaded at a launch only: an instance that waits for its constraints may have
thousands of upstream instances. `scheduler.decision.instances.inputs` says which partitions they are about.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from tidegate.domain.part_name import app_of
from tidegate.scheduler.decision.instances.inputs import Inputs, datasets_of_sources
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job


class Rows(Protocol):
    """The rows that are read; see `scheduler.store.protocol.Reader` for each method."""

    def apps(self, *, names: Collection[str]) -> Sequence[DeployedApp]: ...

    def schedules(self, *, refs: Collection[str]) -> Sequence[ScheduleState]: ...

    def jobs(self, *, ids: Collection[str]) -> Sequence[Job]: ...


def load_inputs(rows: Rows, view: JobView, instance: Instance) -> Inputs:
    """Return the upstream instances: those that were recorded, or have just been picked."""
    jobs = [job for each in view.upstream if each.recorded for job in each.picked]
    if instance.upstream:
        jobs = list(rows.jobs(ids={edge.job for edge in instance.upstream}))
    tasks = {state.ref: state for state in rows.schedules(refs={job.schedule for job in jobs})}
    names = {job.app for job in jobs} | {app_of(each) for each in datasets_of_sources(tasks.values())}
    apps = {deployed.name: deployed.app for deployed in rows.apps(names=names)} if names else {}
    return Inputs(jobs=tuple(jobs), tasks=tasks, apps=apps)
