"""Loading slices: the rows that decisions about a set of jobs need, fetched as sets.

Part of the shell. One query each for schedules, apps, deliveries, slots and history, whatever
the number of jobs.
"""

from collections.abc import Collection, Sequence

from compiler.model import App
from scheduler.deployed import whole_app
from scheduler.job import Job
from scheduler.slice import Slice, resources_of
from scheduler.store.protocol import Reader


def load_apps(reader: Reader, names: Collection[str]) -> dict[str, App]:
    """The named apps' datasets and programs, without their schedules."""
    return {deployed.name: deployed.app for deployed in reader.apps(names=names)}


def load_whole_app(reader: Reader, name: str) -> App | None:
    """An app as it is deployed, with its schedules; None where there is none of that name."""
    for deployed in reader.apps(names=(name,)):
        return whole_app(deployed, reader.schedules(app=name))
    return None


def load_slices(reader: Reader, jobs: Sequence[Job]) -> tuple[list[Slice], list[Job]]:
    """The slices of waiting jobs.

    Returns:
        A slice for each job whose schedule is deployed, in the given order, and the other jobs.
    """
    states = {state.ref: state for state in reader.schedules(refs={job.schedule for job in jobs})}
    apps = load_apps(reader, {state.app for state in states.values()})
    orphans = [job for job in jobs if job.schedule not in states]
    kept = [job for job in jobs if job.schedule in states]
    deliveries = reader.deliveries([job.id for job in kept])
    specs = {ref: state.spec for ref, state in states.items()}
    resources = {ref: resources_of(states[ref].app, spec) for ref, spec in specs.items()}
    slots = reader.slots({resource for held in resources.values() for resource in held})
    programs = {ref: f"{states[ref].app}/{spec.program}" for ref, spec in specs.items()}
    history = reader.history(set(programs.values()))
    slices = [
        Slice(
            app=apps[job.app],
            schedule=specs[job.schedule],
            job=job,
            deliveries=deliveries[job.id],
            slots={resource: slots[resource] for resource in resources[job.schedule]},
            history=history[programs[job.schedule]],
        )
        for job in kept
    ]
    return slices, orphans
