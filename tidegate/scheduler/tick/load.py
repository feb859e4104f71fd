"""Load job views: the rows that decisions about a set of jobs need, read as sets.

Part of the shell. It makes one query each for schedules, apps, deliveries, slots, history, launches
and gauges, for any number of jobs, from a reader of the store or from the working set of a tick.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from tidegate.domain.model import App, Schedule
from tidegate.domain.model.others import others_of_schedules, with_others
from tidegate.scheduler.decision.launch.plan import keys_of_job
from tidegate.scheduler.decision.repairs import judged_spec, seen_by
from tidegate.scheduler.decision.view.job_view import JobView, resources_read
from tidegate.scheduler.model.deployed import APPS, ScheduleState, whole_app
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.obstacle import Obstacle, obstacles_cursor, obstacles_of
from tidegate.scheduler.model.run import GAUGES, Gauge, ProgramHistory, keys_of_backfill
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import InstanceRows, RecordRows, record
from tidegate.scheduler.tick.upstream import load_upstream


class Rows(InstanceRows, RecordRows, Protocol):
    """The rows that decisions depend on; see `scheduler.store.protocol.Reader` for each method."""

    def schedules(self, *, refs: Collection[str]) -> Sequence[ScheduleState]: ...

    def slots(self, resources: Collection[str]) -> Mapping[str, int]: ...

    def history(self, programs: Collection[str]) -> Mapping[str, ProgramHistory]: ...

    def launches(self, programs: Collection[str], since: datetime) -> Mapping[str, tuple[datetime, ...]]: ...

    def cursor(self, name: str) -> Any: ...


def load_apps(rows: RecordRows, states: Collection[ScheduleState]) -> dict[str, App]:
    """Return the apps of some schedules, by name, with the parts of other apps that these schedules name.

    The apps have no schedules.
    """
    others: dict[str, set[str]] = {}
    for state in states:
        others.setdefault(state.app, set()).update(others_of_schedules([state.spec]))
    found = {
        deployed.name: deployed.app
        for deployed in rows.records(APPS, name=set(others).union(*others.values()))
    }
    return {
        name: with_others(found[name], [found[each] for each in sorted(named) if each in found])
        for name, named in others.items()
        if name in found
    }


def load_app(rows: RecordRows, name: str) -> App | None:
    """Return a deployed app without its schedules; None if no app of that name is deployed."""
    found = record(rows, APPS, name=name)
    return None if found is None else found.app


def load_whole_app(reader: EngineReader, name: str) -> App | None:
    """Return a deployed app with its schedules; None if no app of that name is deployed."""
    for deployed in reader.records(APPS, name=(name,)):
        return whole_app(deployed, reader.schedules(app=name))
    return None


class Held(Protocol):
    """What decisions have to know of the events of jobs; see `scheduler.tick.held_events`."""

    def prepare(self, jobs: Sequence[Job]) -> None: ...

    def view(self, view: JobView, now: datetime) -> JobView: ...

    def whole_view(self, view: JobView) -> JobView: ...


class DeliveryRows(Protocol):
    """The events of jobs; see `scheduler.store.protocol.Reader`."""

    def deliveries(self, jobs: Collection[str]) -> Mapping[str, tuple[Delivery, ...]]: ...


class AllEvents:
    """All events of jobs, read for all views at once."""

    def __init__(self, rows: DeliveryRows) -> None:
        self._rows = rows
        self._found: Mapping[str, tuple[Delivery, ...]] = {}

    def prepare(self, jobs: Sequence[Job]) -> None:
        """Read the events of some jobs, and of those that they repair."""
        former = [id for job in jobs if job.repairs is not None for id in job.repairs.jobs]
        self._found = self._rows.deliveries([*dict.fromkeys((*(job.id for job in jobs), *former))])

    def view(self, view: JobView, now: datetime) -> JobView:
        """Return the view of a job with all its events."""
        seen = seen_by(view.job, view.schedule, self._found[view.job.id], self._found)
        return msgspec.structs.replace(view, deliveries=seen)

    def whole_view(self, view: JobView) -> JobView:
        """Return the view of a job, which has all its events."""
        return view


def load_job_views(
    rows: Rows, jobs: Sequence[Job], now: datetime, held: Held
) -> tuple[list[JobView], list[Job]]:
    """Return the views of waiting jobs, for a decision at `now`.

    Args:
        held: completes the views with what the jobs have collected.

    Returns:
        A view for each job whose schedule is deployed, in the given order, and the other jobs.
    """
    states = {state.ref: state for state in rows.schedules(refs={job.schedule for job in jobs})}
    apps = load_apps(rows, states.values())
    states = {ref: state for ref, state in states.items() if state.app in apps}
    orphans = [job for job in jobs if job.schedule not in states]
    kept = [job for job in jobs if job.schedule in states]
    held.prepare(kept)
    resources = {job.id: resources_read(apps[job.app], states[job.schedule].spec, job) for job in kept}
    slots = rows.slots({resource for each in resources.values() for resource in each})
    upstream = load_upstream(rows, [job for job in kept if job.satisfied_at is None], states, now)
    programs = {ref: f"{state.app}/{state.spec.program}" for ref, state in states.items()}
    history = _history(rows, states, programs)
    launches = _launches(rows, states, programs, now)
    gauges = _gauges(rows, states)
    in_the_way = _obstacles(rows, states, apps)
    views = [
        JobView(
            app=apps[job.app],
            schedule=judged_spec(states[job.schedule].spec, job),
            job=job,
            slots={resource: slots[resource] for resource in resources[job.id]},
            history=history.get(programs[job.schedule], ProgramHistory()),
            launches=launches.get(programs[job.schedule], ()),
            gauges={name: gauges[name] for name in _named(states[job.schedule].spec) if name in gauges},
            held=_holds(states[job.schedule], job),
            obstacle=in_the_way.get(programs[job.schedule]),
            upstream=upstream.get(job.id, ()),
        )
        for job in kept
    ]
    return _with_keys(rows, [held.view(view, now) for view in views], now, held), orphans


def _with_keys(rows: Rows, views: Sequence[JobView], now: datetime, held: Held) -> list[JobView]:
    """Return the views with the keys that their jobs are about, while jobs of backfills run for some."""
    found: dict[str, tuple[str, ...]] = {}
    for view in views:
        (runs,) = keys_of_backfill(view.job.schedule, [""])
        if view.job.instance is None and view.slots.get(runs, 0):
            found[view.job.id] = keys_of_job(held.whole_view(view), now)
    if not found:
        return list(views)
    named = {view.job.id: keys_of_backfill(view.job.schedule, found.get(view.job.id, ())) for view in views}
    taken = rows.slots({resource for each in named.values() for resource in each})
    return [
        msgspec.structs.replace(
            view,
            keys=found.get(view.job.id, ()),
            slots={**view.slots, **{resource: taken[resource] for resource in named[view.job.id]}},
        )
        for view in views
    ]


def _holds(state: ScheduleState, job: Job) -> bool:
    """Return whether a suspended schedule holds a job; a task holds all but those that it lets drain."""
    return state.holding if job.instance is None else not state.active and job.held_at is not None


def _obstacles(
    rows: Rows, states: Mapping[str, ScheduleState], apps: Mapping[str, App]
) -> dict[str, Obstacle]:
    """Return what is in the way of existing jobs, by program; apps without any are not asked for it."""
    found: dict[str, Obstacle] = {}
    for app in {state.app for state in states.values()}:
        if any(program.existing is not None for program in apps[app].programs.values()):
            noted = obstacles_of(rows.cursor(obstacles_cursor(app)))
            found |= {f"{app}/{name}": each for name, each in noted.items()}
    return found


def _history(
    rows: Rows, states: Mapping[str, ScheduleState], programs: Mapping[str, str]
) -> Mapping[str, ProgramHistory]:
    """Return the last runs of the programs whose schedules have a constraint on them."""
    read = {
        programs[ref]
        for ref, state in states.items()
        if any(constraint.reads_history for constraint in state.spec.constraints)
    }
    return rows.history(read) if read else {}


def _launches(
    rows: Rows, states: Mapping[str, ScheduleState], programs: Mapping[str, str], now: datetime
) -> Mapping[str, tuple[datetime, ...]]:
    """Return the launches that rates count, of the programs whose schedules have a rate."""
    longest: dict[str, timedelta] = {}
    for ref, state in states.items():
        for constraint in state.spec.constraints:
            within = constraint.launches_within
            if within is not None:
                longest[programs[ref]] = max(longest.get(programs[ref], timedelta(0)), within)
    return rows.launches(set(longest), now - max(longest.values())) if longest else {}


def _gauges(rows: Rows, states: Mapping[str, ScheduleState]) -> dict[str, Gauge]:
    """Return the reported gauges that the schedules' constraints name."""
    names = {name for state in states.values() for name in _named(state.spec)}
    return {gauge.name: gauge for gauge in rows.records(GAUGES, name=names)} if names else {}


def _named(schedule: Schedule) -> set[str]:
    """Return the names of the gauges in a schedule's constraints."""
    limits = (constraint.gauge_limit for constraint in schedule.constraints)
    return {limit[0] for limit in limits if limit is not None}
