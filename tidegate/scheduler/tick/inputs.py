"""Inputs: what an instance that is about to be launched has as its inputs, read by index. Part of the shell.

    of a task                              its upstream instances, by their ids: `decision.instances.inputs`
                                           says which partitions they are about
    of a schedule, which is in a backfill  what exists for its key

They are loaded at a launch only: an instance that waits for its constraints may have thousands of them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from tidegate.domain.part_name import app_of
from tidegate.scheduler.decision.instances.inputs import Inputs, datasets_of_sources
from tidegate.scheduler.decision.launch.existing import Existing, existing, newest_of_each, partitions_asked
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_rows import RecordRows


class InstanceInputs(RecordRows, Protocol):
    """The rows of upstream instances; see `scheduler.store.protocol.Reader` for each method."""

    def schedules(self, *, refs: Collection[str]) -> Sequence[ScheduleState]: ...

    def jobs(self, *, ids: Collection[str]) -> Sequence[Job]: ...


class Rows(Protocol):
    """The rows that are read; see `scheduler.store.protocol.Reader`."""

    def events(self, *, key: str, partitions: Collection[str], limit: int | None) -> tuple[Event, ...]: ...


def load_newest(rows: Rows, asked: Mapping[str, Collection[str]]) -> tuple[Event, ...]:
    """Return the newest event of each partition that exists, by arrival: one query for each key.

    Args:
        asked: partitions by the keys of their events.
    """
    found = [rows.events(key=key, partitions=keys, limit=None) for key, keys in asked.items()]
    return newest_of_each(event for each in found for event in each)


def load_existing(rows: Rows, view: JobView) -> Existing:
    """Return what exists for the key of a job."""
    asked = partitions_asked(view.app, view.schedule, view.job.key)
    return existing(view.app, view.schedule, view.job.schedule, load_newest(rows, asked))


def load_inputs(rows: InstanceInputs, view: JobView, instance: Instance) -> Inputs:
    """Return the upstream instances: those that were recorded, or have just been picked."""
    jobs = [job for each in view.upstream if each.recorded for job in each.picked]
    if instance.upstream:
        jobs = list(rows.jobs(ids={edge.job for edge in instance.upstream}))
    tasks = {state.ref: state for state in rows.schedules(refs={job.schedule for job in jobs})}
    names = {job.app for job in jobs} | {app_of(each) for each in datasets_of_sources(tasks.values())}
    apps = {deployed.name: deployed.app for deployed in rows.records(APPS, name=names)} if names else {}
    return Inputs(jobs=tuple(jobs), tasks=tasks, apps=apps)
