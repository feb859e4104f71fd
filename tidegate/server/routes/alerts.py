"""Sending an alert again."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.alerts import Alert
from tidegate.listings.queries.alerts import public_alert
from tidegate.scheduler.alerts.outbox import retry_one
from tidegate.scheduler.model.records import alert as engine
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import OPERATE, Called, Caller
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.problem import Problem, refused_as
from tidegate.server.routes.schedules import REASON, Reasoned
from tidegate.server.service import Here, Service

router = APIRouter(prefix="/alerts", tags=["alerts"])


class SentAgain(Value, kw_only=True):
    """What was put into the outbox again.

    Attributes:
        alert: as lists have it.
    """

    alert: Alert


@router.post(
    "/{id}/retry",
    dependencies=[OPERATE],
    **contract(
        SentAgain, body=REASON, optional=True, errors=(409,), example={"reason": "the channel works again"}
    ),
)
def retry_alert(
    id: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Send an abandoned alert again, or at once one that waits for its next try; 409 if it was sent."""
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        alert = alert_of(service, transaction, caller, id)
        with refused_as(409):
            again = retry_one(transaction, (alert.project, alert.id), service.clock(), by)
        return json_answer(SentAgain(alert=public_alert(again)))


def alert_of(service: Service, reader: ListingReader, caller: Caller, id: str) -> engine.Alert:
    """Return an alert of the project.

    Raises:
        Problem: 403 for one of another app than the token's, 404 for an unknown one.
    """
    for alert in reader.alerts(service.settings.name, ids=[id]):
        caller.check_app(app_of(alert.subject))
        return alert
    raise Problem(404, f"there is no alert {id:.200}", hint="`tidegate alerts list` shows them")
