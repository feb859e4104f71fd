"""The rows of the engine under new names: events, jobs and schedules of renamed parts. Pure.

Ids stay: of jobs, since commit ids are made of them, and of events, since a fact reported again must be the
same one. History that only people read keeps the names that it had.
"""

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.renamed_app import renamed_schedule
from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, LaunchPlan
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.run import KEY, KEY_OF_BACKFILL, program_resource


def renamed_event_key(key: str, names: Renames) -> str:
    """Return the event key under the new names."""
    kind, _, rest = key.partition(":")
    if kind in ("partition", "checked"):
        return f"{kind}:{names.datasets.get(rest, rest)}"
    ref, colon, tail = rest.partition(":")
    new = names.schedule(ref) if kind == "fire" else names.programs.get(ref, ref)
    return f"{kind}:{new}{colon}{tail}"


def renamed_event(event: Event, names: Renames) -> Event:
    """Return the event under the new names."""
    only_for = names.schedule(event.only_for) if event.only_for else event.only_for
    return msgspec.structs.replace(event, key=renamed_event_key(event.key, names), only_for=only_for)


def renamed_delivery(delivery: Delivery, names: Renames) -> Delivery:
    """Return the delivery under the new names."""
    event, schedule = renamed_event(delivery.event, names), names.schedule(delivery.schedule)
    return msgspec.structs.replace(delivery, event=event, schedule=schedule)


def renamed_owner(job: Job, names: Renames) -> str:
    """Return the new name of a job's schedule, or of the policy of an operation on a table."""
    return names.schedule(job.schedule) if job.maintenance is None else names.policy(job.schedule)


def renamed_job(job: Job, names: Renames) -> Job:
    """Return the job under the new names."""
    return msgspec.structs.replace(
        job,
        schedule=renamed_owner(job, names),
        resources=tuple(_resource(each, names) for each in job.resources),
        blocked_on=None if job.blocked_on is None else _resource(job.blocked_on, names),
        needs=tuple((_resource(each, names), limit) for each, limit in job.needs),
        launch=None if job.launch is None else _launch(job.launch, job.app, names),
        instance=None if job.instance is None else _instance(job.instance, names),
    )


def renamed_state(state: ScheduleState, names: Renames) -> ScheduleState:
    """Return the deployed schedule under the new names."""
    spec = renamed_schedule(state.spec, state.app, names)
    return msgspec.structs.replace(
        state, ref=names.schedule(state.ref), spec=spec, fingerprint=fingerprint(spec)
    )


def renamed_override(override: Override, names: Renames) -> Override:
    """Return the override, with what it reverts to, under the new names."""
    ref = names.schedule(override.ref) if "/" in override.ref else names.app(override.ref)
    spec = None if override.spec is None else renamed_schedule(override.spec, override.app, names)
    return msgspec.structs.replace(override, ref=ref, spec=spec)


def renamed_key(resource: str, names: Renames) -> str:
    """Return the resource under the new names, if it is that of a key of a schedule."""
    for prefix in (KEY, KEY_OF_BACKFILL):
        if resource.startswith(prefix):
            ref, _, key = resource.removeprefix(prefix).partition(":")
            return f"{prefix}{names.schedule(ref)}:{key}"
    return resource


def _resource(resource: str, names: Renames) -> str:
    for old, new in names.programs.items():
        if resource == program_resource(old):
            return program_resource(new)
    return renamed_key(resource, names)


def _instance(instance: Instance, names: Renames) -> Instance:
    """Return an instance whose upstream instances are of tasks with new names."""
    upstream = tuple(
        msgspec.structs.replace(each, task=names.schedule(each.task)) for each in instance.upstream
    )
    return msgspec.structs.replace(instance, upstream=upstream)


def _launch(launch: LaunchPlan, app: str, names: Renames) -> LaunchPlan:
    return msgspec.structs.replace(
        launch,
        program=names.local("programs", launch.program, app),
        manifest={names.local("datasets", name, app): keys for name, keys in launch.manifest.items()},
    )
