"""Reports from outside about instances of sources and external tasks (docs/cycles.md)."""

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Response

from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.reports import Reported, Times, report
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import OPERATE, Called, Caller
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import own_apps
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service
from tidegate.server.tasks import task_of, whole_ref

router = APIRouter(prefix="/tasks/{task}", tags=["tasks"])

Request = Annotated[str, msgspec.Meta(max_length=500, pattern=r"^[^\x00-\x1f]*$")]
"""A key of the caller's, without control characters, which PostgreSQL does not store."""


class Report(Value, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The body of a report.

    Attributes:
        task: as in the path; it may be left out.
        app: of the task, where several apps have its name.
        scheduled: scheduled times as keys; or a range.
        from_: the first scheduled time of a range.
        to: the last one, included.
        request: a second report with the same key does nothing.
    """

    status: Literal["successful", "failed"]
    task: str | None = None
    app: str | None = None
    scheduled: tuple[str, ...] | None = None
    from_: str | None = None
    to: str | None = None
    request: Request | None = None
    reason: str = ""


EXAMPLE = {"scheduled": ["2026-03-10-10:00"], "status": "successful", "request": "landing-10"}


@router.post(
    "/report",
    dependencies=[OPERATE],
    **contract(Reported, status=202, body=Report, example=EXAMPLE, errors=(409,), also={200: Reported}),
)
def report_task(
    task: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)]
) -> Response:
    """Report instances as successful or failed; the same `request` again answers as the first time."""
    wanted = as_form(body, Report)
    if bool(wanted.scheduled) == (wanted.from_ is not None or wanted.to is not None):
        raise Problem(400, "a report has either `scheduled` times, or a range `from` … `to`", code="E-TIME")
    times = Times(scheduled=wanted.scheduled or (), from_=wanted.from_, to=wanted.to)
    by = caller.by(wanted.reason)
    with service.store.transaction() as transaction:
        ref = task_of(service, transaction, caller, _name(service, transaction, caller, task, wanted)).ref
        with refused_as(409):
            answer = report(
                transaction,
                ref,
                times,
                wanted.status,
                service.clock(),
                by,
                wanted.request or "",
                strict=True,
            )
    return json_answer(answer, 200 if answer.repeated else 202)


def _name(service: Service, reader: EngineReader, caller: Caller, task: str, wanted: Report) -> str:
    """Return the name of the task, of which path and body must say the same.

    Raises:
        Problem: 400 for an unknown app and for another task in the body, 403 for an app that is not the
            token's.
    """
    path = whole_ref(service, task)
    names = [path] if wanted.task is None else [path, whole_ref(service, wanted.task)]
    apps = {app for app, whole, _ in (name.partition("/") for name in names) if whole}
    if wanted.app is not None:
        apps.add(wanted.app)
    known = own_apps(service, reader)
    for app in sorted(apps):
        caller.check_app(app)
        if app not in known:
            raise Problem(400, f'there is no app "{app:.100}"')
    if len(apps) > 1 or len({name.rpartition("/")[2] for name in names}) > 1:
        raise Problem(400, f"the body is about another task than {path}, which the path names")
    return "/".join([*apps, path.rpartition("/")[2]])
