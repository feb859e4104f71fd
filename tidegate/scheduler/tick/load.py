"""Loading views: the rows that decisions about a set of jobs need, fetched as sets.

Part of the shell. One look-up each for schedules, apps, deliveries, slots, history, launches and
gauges, whatever the number of jobs. What it reads from is only asked to have these rows: a
reader of the store, or the working set of a tick.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from tidegate.domain.model import App, Schedule
from tidegate.scheduler.decision.job_view import JobView, resources_of
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState, whole_app
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import Gauge, ProgramHistory
from tidegate.scheduler.store.protocol import Reader


class Rows(Protocol):
    """What decisions are made from; see `scheduler.store.protocol.Reader` for each."""

    def apps(self, *, names: Collection[str]) -> Sequence[DeployedApp]: ...

    def schedules(self, *, refs: Collection[str]) -> Sequence[ScheduleState]: ...

    def deliveries(self, jobs: Collection[str]) -> Mapping[str, tuple[Delivery, ...]]: ...

    def slots(self, resources: Collection[str]) -> Mapping[str, int]: ...

    def history(self, programs: Collection[str]) -> Mapping[str, ProgramHistory]: ...

    def launches(self, programs: Collection[str], since: datetime) -> Mapping[str, tuple[datetime, ...]]: ...

    def gauges(self, names: Collection[str]) -> Sequence[Gauge]: ...


def load_apps(rows: Rows, names: Collection[str]) -> dict[str, App]:
    """The named apps' datasets and programs, without their schedules."""
    return {deployed.name: deployed.app for deployed in rows.apps(names=names)}


def load_whole_app(reader: Reader, name: str) -> App | None:
    """An app as it is deployed, with its schedules; None where there is none of that name."""
    for deployed in reader.apps(names=(name,)):
        return whole_app(deployed, reader.schedules(app=name))
    return None


def load_job_views(rows: Rows, jobs: Sequence[Job], now: datetime) -> tuple[list[JobView], list[Job]]:
    """The views of waiting jobs, for a decision at `now`.

    Returns:
        A slice for each job whose schedule is deployed, in the given order, and the other jobs.
    """
    states = {state.ref: state for state in rows.schedules(refs={job.schedule for job in jobs})}
    apps = load_apps(rows, {state.app for state in states.values()})
    orphans = [job for job in jobs if job.schedule not in states]
    kept = [job for job in jobs if job.schedule in states]
    deliveries = rows.deliveries([job.id for job in kept])
    resources = {ref: resources_of(state.app, state.spec) for ref, state in states.items()}
    slots = rows.slots({resource for held in resources.values() for resource in held})
    programs = {ref: f"{state.app}/{state.spec.program}" for ref, state in states.items()}
    history = rows.history(set(programs.values()))
    launches = _launches(rows, states, programs, now)
    gauges = _gauges(rows, states)
    views = [
        JobView(
            app=apps[job.app],
            schedule=states[job.schedule].spec,
            job=job,
            deliveries=deliveries[job.id],
            slots={resource: slots[resource] for resource in resources[job.schedule]},
            history=history[programs[job.schedule]],
            launches=launches.get(programs[job.schedule], ()),
            gauges={name: gauges[name] for name in _named(states[job.schedule].spec) if name in gauges},
            held=states[job.schedule].holding,
        )
        for job in kept
    ]
    return views, orphans


def _launches(
    rows: Rows, states: Mapping[str, ScheduleState], programs: Mapping[str, str], now: datetime
) -> Mapping[str, tuple[datetime, ...]]:
    """The launches that rates count, of the programs whose schedules have a rate."""
    longest: dict[str, timedelta] = {}
    for ref, state in states.items():
        for constraint in state.spec.constraints:
            within = constraint.launches_within
            if within is not None:
                longest[programs[ref]] = max(longest.get(programs[ref], timedelta(0)), within)
    return rows.launches(set(longest), now - max(longest.values())) if longest else {}


def _gauges(rows: Rows, states: Mapping[str, ScheduleState]) -> dict[str, Gauge]:
    """The gauges that the schedules' constraints name, as far as they were ever reported."""
    names = {name for state in states.values() for name in _named(state.spec)}
    return {gauge.name: gauge for gauge in rows.gauges(names)} if names else {}


def _named(schedule: Schedule) -> set[str]:
    """The gauges that a schedule's constraints name."""
    limits = (constraint.gauge_limit for constraint in schedule.constraints)
    return {limit[0] for limit in limits if limit is not None}
