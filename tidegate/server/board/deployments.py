"""*Deployment*: one with all its changes, and what a way back to it does.

/board/deployments/7             its changes with their fields, of one app or action where asked for
/board/deployments/7/rollback    what a rollback would delete and discard now ──► the button

The changes of a deployment as a list: what its entry in the journal names, with the fields that differ. The
entry is cheap to read; the fields follow from the specifications before and after it, which are read only
for the apps of the changes that are shown.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Request, Response

from tidegate.compiler.plan.diff import Diff, ScheduleChange
from tidegate.compiler.plan.part_change import FieldChange, PartChange
from tidegate.compiler.render.diff_text import field_lines
from tidegate.compiler.render.taken_away import taken_away
from tidegate.domain.value import Value
from tidegate.listings.deployments import DEPLOYMENTS, LoggedDeployment
from tidegate.listings.queries.deployments import find_deployment
from tidegate.scheduler.commands.deployment.deployments import (
    change_of,
    rollback_ahead,
)
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import ADMIN, READ, Called
from tidegate.server.board.listing import add_page
from tidegate.server.board.page import PageRoute, back, page
from tidegate.server.body import read_form
from tidegate.server.page import Page
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.deployments import (
    Wanted,
    number_of,
    rolled_back,
    scope_of,
)
from tidegate.server.service import Here, Service
from tidegate.server.visible import refused_to, visible_apps


class Changed(Value, kw_only=True):
    """A part of an app that a deployment has changed.

    Attributes:
        section: where the app has it: "datasets", "schedules", ….
        because: why it changed although its own text may be the same.
        fields: those that differ; none of a part that is new or gone, or if they are not kept.
        lines: the same as text.
    """

    app: str
    section: str
    name: str
    action: str
    because: str = ""
    fields: tuple[FieldChange, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def is_schedule(self) -> bool:
        """Whether it is a schedule or a task."""
        return self.section in ("schedules", "tasks")


def changes_of(deployment: LoggedDeployment) -> Iterator[Changed]:
    """Yield what a deployment has changed, without fields; tasks are among the schedules."""
    for app, noted in deployment.apps.items():
        for text in noted.parts:
            action, _, rest = text.partition(" ")
            section, _, name = rest.partition(".")
            yield Changed(app=app, section=section, name=name, action=action)
        for name, action in noted.schedules.items():
            yield Changed(app=app, section="schedules", name=name, action=action)


def with_fields(changes: Iterable[Changed], difference: Diff) -> Iterator[Changed]:
    """Yield changes with their fields.

    Args:
        difference: between what was deployed before and after, of the apps of these changes.
    """
    parts: dict[tuple[str, str, str], PartChange] = {}
    schedules: dict[tuple[str, str], ScheduleChange] = {}
    for app in difference.apps:
        parts |= {(app.name, each.section, each.name): each for each in app.parts}
        schedules |= {(app.name, each.name): each for each in app.schedules}
    for each in changes:
        schedule = schedules.get((each.app, each.name)) if each.is_schedule else None
        part = parts.get((each.app, each.section, each.name))
        if schedule is not None:
            each = msgspec.structs.replace(each, section=schedule.section, because=schedule.because)
        found = schedule or part
        fields = () if found is None else found.fields
        yield msgspec.structs.replace(each, fields=fields, lines=field_lines(each.section, fields))


router = APIRouter(prefix="/board/deployments", route_class=PageRoute, include_in_schema=False)


class Shown(Value, kw_only=True):
    """One deployment.

    Attributes:
        app: the only one whose changes are listed; "" for all.
        action: the only one that is listed; "" for all.
        changes: how many match.
        pages: the schedules of `items` that are deployed now, and so have a page.
    """

    newest: int
    deployment: LoggedDeployment
    app: str
    action: str
    changes: int
    items: tuple[Changed, ...]
    pages: tuple[str, ...]
    next: str | None


class Ahead(Value, kw_only=True):
    """What a rollback would do now.

    Attributes:
        changes: what it changes, by action.
        taken_away: what it deletes and discards, one line each.
        agreed: the hash of `taken_away`, which the form sends: nothing else is taken away than was shown.
        refusals: why it would be refused.
    """

    number: int
    changes: dict[str, int] = {}
    taken_away: tuple[str, ...] = ()
    agreed: str = ""
    refusals: tuple[str, ...] = ()


@router.get("/{number}", dependencies=[READ])
def show_page(
    number: str,
    request: Request,
    service: Here,
    caller: Called,
    page_of: Annotated[Page, Depends(Page)],
    app: str = "",
    action: str = "",
) -> Response:
    """Show a deployment, and each of its changes with the fields that differ."""
    with service.store.reading() as reader:
        with refused_as(404):
            found = find_deployment(reader, number_of(number), visible_apps(service, reader, caller))
        changed = [
            each for each in changes_of(found) if app in ("", each.app) and action in ("", each.action)
        ]
        items, cursor = page_of.of(changed, Changed, "app", "section", "name")
        difference = change_of(reader, found.number, {each.app for each in items})
        refs = [f"{each.app}/{each.name}" for each in items if each.is_schedule]
        view = Shown(
            newest=_newest(reader),
            deployment=found,
            app=app,
            action=action,
            changes=len(changed),
            items=tuple(with_fields(items, difference)),
            pages=tuple(state.ref for state in reader.schedules(refs=refs)),
            next=cursor,
        )
    return page(request, service, "deployment", f"Deployment {found.number}", view)


@router.get("/{number}/rollback", dependencies=[READ])
def ahead_page(number: str, request: Request, service: Here, caller: Called) -> Response:
    """Show what a rollback would change, delete and discard, and ask for a reason."""
    with service.store.reading() as reader:
        with refused_as(404):
            found = find_deployment(reader, number_of(number), visible_apps(service, reader, caller))
        try:
            with refused_to(reader, caller):
                view = _ahead(found.number, rollback_ahead(reader, found.number, scope_of(service, caller)))
        except Problem as problem:
            view = Ahead(number=found.number, refusals=(problem.message,))
    return page(request, service, "rollback", f"Roll back to {found.number}", view)


@router.post("/{number}/rollback", dependencies=[ADMIN])
def roll_back(
    number: str,
    service: Here,
    caller: Called,
    form: Annotated[dict[str, str], Depends(read_form)],
) -> Response:
    """Roll back to a deployment, if that takes away what the page has shown."""
    wanted, agreed = Wanted(reason=form.get("reason", "")), form.get("agreed")
    done = rolled_back(
        service,
        caller,
        number_of(number),
        wanted,
        None if agreed is None else lambda changes: _agreed(taken_away(changes)) == agreed,
    )
    return back("/board/deployments", f"rolled back to {number}: this is deployment {done.number}")


def _ahead(number: int, changes: Diff) -> Ahead:
    refusals = (*changes.taken, *changes.blocked, *changes.refusals)
    lines = taken_away(changes)
    return Ahead(
        number=number,
        changes=Counter(each.action for each in changes.schedules() if each.action != "unchanged"),
        taken_away=lines,
        agreed=_agreed(lines),
        refusals=tuple(each.summary for each in refusals),
    )


def _agreed(lines: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _newest(reader: ListingReader) -> int:
    newest = reader.newest_deployment()
    return 0 if newest is None else newest[0]


def _newest_of(service: Service, *_: object) -> int:
    with service.store.reading() as reader:
        return _newest(reader)


add_page(DEPLOYMENTS, template="deployments", more=_newest_of)
