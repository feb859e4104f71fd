"""Events from outside: partitions that have landed, and custom events."""

from datetime import datetime
from typing import Annotated, Any
from uuid import uuid4

import msgspec
from fastapi import APIRouter, Depends, Response

from tidegate.domain.partition_key import WrittenKey
from tidegate.domain.value import Value
from tidegate.scheduler.intake.report import Accepted, accepted
from tidegate.scheduler.intake.report_partitions import (
    Landed,
    ReportRefused,
    RequestUsed,
    report_partitions,
)
from tidegate.scheduler.tick.load import load_app
from tidegate.server.access import OPERATE, Called, Caller
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer
from tidegate.server.problem import Problem
from tidegate.server.routes.task_reports import Request
from tidegate.server.service import Here, Service
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.watcher.unlanded import faults_of_report

router = APIRouter(prefix="/events", tags=["events"])

PARTITIONS_MAX = 10_000

Size = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A number that every database stores."""


class LandedPartition(Value, kw_only=True, forbid_unknown_fields=True):
    """A partition that has landed.

    Attributes:
        key: its text, or a mapping such as {"day": "2026-03-09", "origin": "JFK"}, as in the YAML; left out
            for a dataset without partitions.
        at: when its data came to be; the moment of the call if it is left out, and at the latest.
    """

    key: WrittenKey | None = None
    rows: Size | None = None
    bytes: Size | None = None
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class LandedReport(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a report.

    Attributes:
        request: a key of the caller's: a second report with it changes nothing.
    """

    app: str
    dataset: str
    partitions: Annotated[tuple[LandedPartition, ...], msgspec.Meta(min_length=1, max_length=PARTITIONS_MAX)]
    request: Request | None = None
    reason: str = ""


class CustomEvent(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a report of a custom event.

    Attributes:
        dataset: one without partitions, which schedules can wait for by its name.
        request: a key of the caller's: a second report with it changes nothing.
    """

    app: str
    dataset: str
    rows: Size | None = None
    bytes: Size | None = None
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    request: Request | None = None
    reason: str = ""


EXAMPLE = {
    "app": "sales",
    "dataset": "raw",
    "partitions": [{"key": "2026-03-09", "rows": 1200, "bytes": 48000, "at": "2026-03-10T02:15:00Z"}],
    "request": "landing-2026-03-09",
}

OCCURRED = {"app": "sales", "dataset": "month_closed", "request": "closed-2026-02"}


@router.post(
    "/partitions",
    dependencies=[OPERATE],
    **contract(Accepted, status=202, body=LandedReport, example=EXAMPLE, errors=(409,), also={200: Accepted}),
)
def report_landed(
    service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)]
) -> Response:
    """Report partitions of a dataset, all or none; the same `request` again answers as the first time."""
    wanted = as_form(body, LandedReport)
    landed = [
        Landed(key=each.key, rows=each.rows, bytes=each.bytes, at=each.at) for each in wanted.partitions
    ]
    return _taken_in(service, caller, wanted, landed)


@router.post(
    "/custom",
    dependencies=[OPERATE],
    **contract(Accepted, status=202, body=CustomEvent, example=OCCURRED, errors=(409,), also={200: Accepted}),
)
def report_occurred(
    service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)]
) -> Response:
    """Report that something has happened; the same `request` again answers as the first time."""
    wanted = as_form(body, CustomEvent)
    landed = [Landed(rows=wanted.rows, bytes=wanted.bytes, at=wanted.at)]
    return _taken_in(service, caller, wanted, landed)


def _taken_in(
    service: Service, caller: Caller, wanted: LandedReport | CustomEvent, landed: list[Landed]
) -> Response:
    """Route the events of a report, and answer."""
    caller.check_app(wanted.app)
    try:
        with service.store.transaction() as transaction:
            report, repeated = report_partitions(
                transaction,
                service.settings.name,
                wanted.app,
                wanted.dataset,
                landed,
                service.clock(),
                caller.by(wanted.reason),
                wanted.request or uuid4().hex,
            )
            deployed = load_app(transaction, wanted.app)
    except RequestUsed as error:
        raise Problem(409, error.message, hint=error.hint) from error
    except ReportRefused as error:
        found = [msgspec.to_builtins(each) for each in error.wrong]
        raise Problem(400, error.message, hint=error.hint, diagnostics=found) from error
    keys = [each.key for each in report.partitions]
    places = Warehouse(path=service.settings.warehouse, project=service.settings.paths_from)
    # The app may have gone since the first call.
    faults = [] if deployed is None else faults_of_report(deployed, wanted.dataset, keys, places)
    answer = accepted(report, wanted.app, wanted.dataset, wanted.request or "", repeated, faults)
    return json_answer(answer, 200 if repeated else 202)
