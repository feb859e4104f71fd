"""Tasks and instances by the names of paths and bodies: `feed` where one app has it, else `shop.feed`."""

from tidegate.domain.error import UserError
from tidegate.domain.part_name import SEPARATOR, Ref, app_of, namespace_of, without_namespace
from tidegate.domain.tasks.key import TaskKeyError, parse_scheduled
from tidegate.scheduler.commands.tasks.instances import InstanceName, instance_named
from tidegate.scheduler.explain.names import find_task
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.refused import UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import Caller
from tidegate.server.deployed import check_name, own_apps
from tidegate.server.problem import Problem
from tidegate.server.service import Service
from tidegate.server.visible import named


def whole_ref(service: Service, name: str) -> str:
    """Return "app/task" of "app.task", "app/task" or "namespace/app/task", and a name alone as it is.

    Raises:
        Problem: 400 for what cannot be a name, 404 for another namespace.
    """
    if namespace_of(name) not in (None, service.namespace):
        raise Problem(404, f'the tasks here are of the namespace "{service.namespace}", got {name!r:.200}')
    ref = without_namespace(name) if "/" in name else name.replace(".", "/", 1)
    for part in ref.split(SEPARATOR, 1):
        check_name(part)
    return ref


def task_of(
    service: Service, reader: EngineReader, caller: Caller, name: str, *, or_schedule: bool = False
) -> ScheduleState:
    """Return a deployed task of the namespace.

    A token for one app has only the tasks of that app to choose from.

    Args:
        or_schedule: a schedule will do as well.

    Raises:
        Problem: 404 for an unknown one, 409 for a name of several, 403 for one of another app than the
            token's, 400 for a malformed name.
    """
    ref = whole_ref(service, name)
    app, part = Ref.of(ref)
    if part:
        caller.check_app(app)
    apps = own_apps(service, reader)
    own = {each for each in apps if caller.sees(each)}
    with named():
        try:
            return find_task(reader, ref, own, or_schedule=or_schedule)
        except UnknownName as error:
            for other in reader.schedules() if own != apps else ():
                fits = or_schedule or other.spec.task is not None
                if other.app in apps and fits and other.name == ref:
                    caller.check_app(other.app)
            raise Problem(404, error.message, hint=error.hint, code="E-TASK") from error


def instance_of(reader: EngineReader, state: ScheduleState, name: InstanceName) -> Job:
    """Return an instance of a task.

    Raises:
        Problem: 404 for an unknown one, 400 for a key that is malformed or names no time of the zone.
    """
    try:
        if state.spec.task is not None:
            parse_scheduled(state.spec.task, name.scheduled or "")
    except TaskKeyError as error:
        raise Problem(400, str(error), code="E-TIME") from error
    try:
        return instance_named(reader, state, name)
    except UserError as error:
        raise Problem(404, error.message, hint=error.hint) from error


def check_tasks(service: Service, reader: EngineReader, caller: Caller, refs: tuple[str, ...]) -> None:
    """Refuse what also touches tasks of other apps to a token for one; what is of another project is unknown.

    Raises:
        Problem: 403 or 404.
    """
    apps = {app_of(ref) for ref in refs}
    for app in sorted(apps):
        caller.check_app(app)
    if apps & {each.name for each in reader.app_headers()} - own_apps(service, reader):
        raise Problem(404, "that is of another project")
