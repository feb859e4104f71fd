"""Deployments: what each changed, the difference between two, and the way back."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.ownership import Scope, Storage
from tidegate.compiler.render.diff_json import Difference, shown_difference
from tidegate.domain.value import Value
from tidegate.listings.deployments import LoggedDeployment
from tidegate.listings.queries.deployments import find_deployment
from tidegate.scheduler.commands.deployment.deployments import (
    change_between,
    change_of,
    rollback,
)
from tidegate.scheduler.commands.deployment.specifications import newest_deployment
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import ADMIN, READ, Called, Caller
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import discarded
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service
from tidegate.server.visible import refused_to, visible_apps

router = APIRouter(prefix="/deployments", tags=["records"])

NUMBER_MAX = 2**63 - 2

BODY: dict[str, Any] = {
    "type": "object",
    "required": ["reason"],
    "properties": {
        "reason": {"type": "string", "minLength": 1},
        "force": {"type": "boolean"},
        "remove_apps": {"type": "boolean"},
    },
}
"""The schema of the body of a rollback."""


class Wanted(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a rollback."""

    reason: str
    force: bool = False
    remove_apps: bool = False


class ShownDeployment(Value, kw_only=True):
    """A deployment with what it changed.

    Attributes:
        deployment: as lists have it.
        changes: as a plan shows them, without what became of jobs.
    """

    deployment: LoggedDeployment
    changes: Difference


class RolledBack(Value, kw_only=True):
    """What a rollback did.

    Attributes:
        number: of the new deployment.
        discarded_jobs: how many waiting jobs it discarded.
        changes: as a plan shows them.
    """

    number: int
    discarded_jobs: int
    changes: Difference


@router.get("/{number}", dependencies=[READ], **contract(ShownDeployment))
def show(number: str, service: Here, caller: Called) -> Response:
    """Show a deployment, and what it changed as a plan shows it."""
    with service.store.reading() as reader, refused_as(404):
        apps = visible_apps(service, reader, caller)
        found = find_deployment(reader, number_of(number), apps)
        change = change_of(reader, found.number, apps)
    return json_answer(ShownDeployment(deployment=found, changes=shown_difference(change)))


@router.get("/{number}/diff", dependencies=[READ], **contract(Difference))
def difference(
    number: str,
    service: Here,
    caller: Called,
    to: Annotated[str, Query(description="Another number; without it, what is deployed.")] = "",
) -> Response:
    """Show what changed between two deployments, or since one."""
    with service.store.reading() as reader, refused_as(404):
        apps = visible_apps(service, reader, caller)
        other = number_of(to) if to else None
        found = change_between(reader, number_of(number), other, service.settings.name, apps)
    return json_answer(shown_difference(found))


@router.post(
    "/{number}/rollback",
    dependencies=[ADMIN],
    **contract(RolledBack, body=BODY, example={"reason": "the new trigger never fires"}, errors=(409,)),
)
def roll_back(
    number: str,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_object)],
) -> Response:
    """Deploy what was deployed after an earlier one; the token of an app rolls back that app alone."""
    return json_answer(rolled_back(service, caller, number_of(number), as_form(body, Wanted)))


def rolled_back(
    service: Service,
    caller: Caller,
    number: int,
    wanted: Wanted,
    agrees: Callable[[Diff], bool] | None = None,
) -> RolledBack:
    """Roll back, and return the new deployment with what it changed.

    Args:
        agrees: whether a person has agreed to what it does; None where no person was asked.

    Raises:
        Problem: 400 without a reason, 404 for an unknown deployment, 409 if it is refused, or does something
            else than a person has agreed to.
    """
    if not wanted.reason.strip():
        raise Problem(400, "a rollback has a reason", hint='write {"reason": "..."}')
    with service.store.transaction() as transaction:
        with refused_as(404):
            find_deployment(transaction, number, visible_apps(service, transaction, caller))
        with refused_to(transaction, caller):
            changes = rollback(
                transaction,
                number,
                scope_of(service, caller),
                service.clock(),
                caller.by(wanted.reason.strip()),
                force=wanted.force,
                remove_apps=wanted.remove_apps,
            )
        if agrees is not None and not agrees(changes):
            raise Problem(
                409,
                f"a rollback to {number} takes away something else now than was shown",
                hint="open its page again, and decide again",
            )
        new = newest_deployment(transaction).number
    return RolledBack(number=new, discarded_jobs=discarded(changes), changes=shown_difference(changes))


def scope_of(service: Service, caller: Caller) -> Scope:
    """Return what a caller rolls back: the project, or the apps where it may; or sees, if it may nowhere."""
    settings, apps = service.settings, caller.apps_with(Role.ADMIN)
    return Scope(
        project=settings.name,
        namespace=settings.namespace,
        only=caller.apps if apps == frozenset() else apps,
        removable=frozenset(),
        storage=Storage(paths_from=str(settings.paths_from), warehouse=str(settings.warehouse)),
    )


def number_of(text: str) -> int:
    """Return the number of a deployment in a path.

    Raises:
        Problem: 400 for anything else.
    """
    if not text.isascii() or not text.isdecimal() or not 0 < len(text) < len(str(NUMBER_MAX)):
        raise Problem(400, f"the number of a deployment is a whole number, got {text!r:.100}")
    return int(text)
