"""Apps: list, read as a specification, deploy and delete."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.ownership import Scope, Storage
from tidegate.compiler.render.written import written_app
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.deployed import whole_app
from tidegate.server.access import ADMIN, READ, Called
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer, listed, page_of
from tidegate.server.deployed import check_name, deployed_app, deployed_apps, discarded
from tidegate.server.page import Page
from tidegate.server.problem import Problem
from tidegate.server.routes.holds import HeldApp, held
from tidegate.server.routes.schedules import Deleted, Flag, Reason
from tidegate.server.service import Here, Service
from tidegate.server.specification import compiled_app
from tidegate.server.visible import refused_to

router = APIRouter(prefix="/apps", tags=["apps"])

UPDATE = "app.deploy.update.schedules"
UPDATE_HEADER = "X-App-Deploy-Update-Schedules"
FLAGS = {"true": True, "false": False}

DEPLOYMENT: dict[str, Any] = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {"type": "object", "description": "The YAML of the app as JSON."},
        UPDATE: {"type": "boolean"},
        "force": {"type": "boolean"},
        "reason": {"type": "string"},
    },
}
"""The schema of the body of a deployment."""

EXAMPLE: dict[str, Any] = {
    "spec": {
        "app": "sales",
        "programs": {"report": {"run": "programs.report"}},
        "schedules": {"daily": {"program": "report", "trigger": {"cron": "0 6 * * *"}}},
    },
    UPDATE: True,
}


class AppLine(Value, kw_only=True):
    """A deployed app in a list.

    Attributes:
        namespace: of the project that owns it.
        app: its name.
        revision: number of the deployments that changed it, from 1.
        description: as its YAML has it; "" without one.
        hold: who holds its launches; None if it is not on hold.
    """

    namespace: str
    app: str
    revision: int
    description: str
    hold: HeldApp | None = None


class DeployedSpec(Value, kw_only=True):
    """A deployed app; its `spec` put again changes nothing.

    Attributes:
        namespace: of the project that owns it.
        app: its name.
        revision: number of the deployments that changed it, from 1.
        spec: the keys of its YAML.
    """

    namespace: str
    app: str
    revision: int
    spec: dict[str, Any]


class Wanted(Value, kw_only=True, forbid_unknown_fields=True, rename={"update": UPDATE}):
    """The body of a deployment."""

    spec: dict[str, Any]
    update: bool | None = None
    force: bool = False
    reason: str = ""


class Deployment(Value, kw_only=True):
    """What a deployment changed: names of schedules and tasks, and the number of discarded jobs.

    Attributes:
        revision: of the app now.
        created, updated, deleted, unchanged: names of schedules and tasks.
        discarded_jobs: how many jobs are discarded.
    """

    revision: int
    created: list[str]
    updated: list[str]
    deleted: list[str]
    unchanged: list[str]
    discarded_jobs: int


@router.get("", dependencies=[READ], **contract(page_of(AppLine)))
def list_apps(service: Here, caller: Called, page: Annotated[Page, Depends(Page)]) -> Response:
    """List the apps of the namespace, by name."""
    with service.store.reading() as reader:
        found = [each for each in deployed_apps(service, reader) if caller.sees(each.name)]
        holds = {each.app: each for each in held(reader, caller.sees)}
    lines = [
        AppLine(
            namespace=service.namespace,
            app=each.name,
            revision=each.revision,
            description=each.app.description,
            hold=holds.get(each.name),
        )
        for each in found
    ]
    return listed(*page.of(lines, AppLine, "app"))


@router.get("/{app}", dependencies=[READ], **contract(DeployedSpec, errors=(409,)))
def show(app: str, service: Here) -> Response:
    """Show the deployed specification of an app."""
    with service.store.reading() as reader:
        deployed = deployed_app(service, reader, app)
        whole = whole_app(deployed, reader.schedules(app=app))
    spec = written_app(whole)
    if spec is None:
        hint = "deploy its YAML once more, with `tidegate deploy`"
        raise Problem(409, f"the store has no text of app {app}, which was renamed", hint=hint)
    return json_answer(
        DeployedSpec(namespace=service.namespace, app=app, revision=deployed.revision, spec=spec)
    )


@router.put(
    "/{app}",
    dependencies=[ADMIN],
    **contract(Deployment, body=DEPLOYMENT, example=EXAMPLE, errors=(409,)),
)
def put(
    app: str,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_object)],
    header: Annotated[
        str | None, Header(alias=UPDATE_HEADER, description="true or false; the body comes first.")
    ] = None,
) -> Response:
    """Deploy an app."""
    check_name(app)
    wanted = as_form(body, Wanted)
    if wanted.spec.get("app", app) != app:
        raise Problem(400, f'the spec is of app {wanted.spec["app"]!r:.100}, and the path of "{app}"')
    update = _update(service, wanted, header)
    with service.store.reading() as reader:
        model = compiled_app(service, reader, caller, app, {"app": app, **wanted.spec})
    with service.store.transaction() as transaction, refused_to(transaction, caller):
        changes = deploy(
            transaction,
            {app: model},
            service.clock(),
            update_schedules=update,
            force=wanted.force,
            scope=_scope(service, app),
            by=caller.by(wanted.reason),
            assume_published=False,
        )
        revision = deployed_app(service, transaction, app).revision
    return json_answer(_deployment(changes, revision, app))


@router.delete("/{app}", dependencies=[ADMIN], **contract(Deleted, errors=(409,)))
def delete(
    app: str,
    service: Here,
    caller: Called,
    force: Annotated[Flag, Query(description="Delete it though other apps need it.")] = "false",
    reason: Reason = "",
) -> Response:
    """Delete an app with its schedules and tasks, and discard their jobs."""
    with service.store.transaction() as transaction:
        owner = deployed_app(service, transaction, app).project
        scope = Scope(project=owner, only=frozenset({app}), removable=frozenset({app}))
        with refused_to(transaction, caller):
            changes = deploy(
                transaction, {}, service.clock(), force=force == "true", scope=scope, by=caller.by(reason)
            )
    names = tuple(change.name for change in changes.schedules() if change.action == "delete")
    return json_answer(Deleted(deleted=names, discarded_jobs=discarded(changes)))


def _update(service: Service, wanted: Wanted, header: str | None) -> bool:
    """Return whether schedules follow the specification: by the body, the header, or the project."""
    if header is not None and header.lower() not in FLAGS:
        raise Problem(400, f"{UPDATE_HEADER} is true or false, got {header!r:.100}")
    if wanted.update is not None:
        return wanted.update
    return service.settings.update_schedules if header is None else FLAGS[header.lower()]


def _scope(service: Service, app: str) -> Scope:
    settings = service.settings
    return Scope(
        project=settings.name,
        namespace=settings.namespace,
        only=frozenset({app}),
        removable=frozenset(),
        storage=Storage(paths_from=str(settings.paths_from), warehouse=str(settings.warehouse)),
    )


def _deployment(changes: Diff, revision: int, app: str) -> Deployment:
    found: dict[str, list[str]] = {"create": [], "replace": [], "amend": [], "delete": [], "unchanged": []}
    for change in changes.schedules():
        if change.app != app:
            continue
        # What would be created without the flag does not exist; the others stay as they are.
        action = "unchanged" if change.action == "kept" and change.would != "create" else change.action
        found.setdefault(action, []).append(change.name)
    return Deployment(
        revision=revision,
        created=found["create"],
        updated=sorted([*found["replace"], *found["amend"]]),
        deleted=found["delete"],
        unchanged=found["unchanged"],
        discarded_jobs=discarded(changes),
    )
