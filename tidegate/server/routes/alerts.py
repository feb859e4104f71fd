"""Alerts: what was sent to people or could not be, in pages, and sending one again."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.part_name import app_of, name_of
from tidegate.scheduler.alerts.outbox import retry
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.alert import Alert, AlertState
from tidegate.scheduler.store.upkeep import UpkeepTransaction
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import ANY_OBJECT, contract, json_answer, listed, page_of
from tidegate.server.page import Page, before_instant, instant_key
from tidegate.server.problem import refused_as, unknown_value
from tidegate.server.routes.schedules import REASON, Reasoned
from tidegate.server.service import Here, Service
from tidegate.server.visible import known_app, named

router = APIRouter(prefix="/alerts", tags=["alerts"])


@router.get("", dependencies=[READ], **contract(page_of(Alert)))
def list_alerts(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    state: Annotated[str, Query(description="`pending`, `sent` or `dead` (abandoned), in either case.")] = "",
    channel: Annotated[str, Query(description="Only alerts to this channel of tidegate.toml.")] = "",
    app: Annotated[str, Query(description="Only alerts on schedules and datasets of this app.")] = "",
) -> Response:
    """List the alerts of the project, the newest first."""
    return listed(*alerts_page(service, caller, page, state, channel, app))


def alerts_page(
    service: Service, caller: Caller, page: Page, state: str, channel: str, app: str
) -> tuple[list[Alert], str | None]:
    """Return a page of the alerts that match all given filters, and the cursor of the next one.

    Raises:
        Problem: 400, the state or the app is unknown; 403 for another app than the token's.
    """
    if state and state.lower() not in list(AlertState):
        raise unknown_value("state", state, AlertState)
    wanted, app = app, name_of(app) or app
    if app:
        caller.check_app(app)
    with service.store.reading() as reader:
        found = reader.alerts(
            service.settings.name,
            states=[AlertState(state.lower())] if state else None,
            channel=channel or None,
            app=app or caller.app,
            before=before_instant(page),
            limit=page.limit + 1,
        )
        if wanted and (not found or app != wanted):
            # An app that is not deployed any more may have alerts.
            known_app(service, reader, caller, wanted)
    return page.cut(list(found), lambda alert: instant_key(alert.made_at, alert.id))


@router.post(
    "/{id}/retry",
    dependencies=[OPERATE],
    **contract(
        ANY_OBJECT, body=REASON, optional=True, errors=(409,), example={"reason": "the channel works again"}
    ),
)
def retry_alert(
    id: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Send an abandoned alert again, or at once one that waits for its next try; 409 if it was sent."""
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        return json_answer({"alert": sent_again(service, transaction, caller, id, by)})


def sent_again(service: Service, transaction: UpkeepTransaction, caller: Caller, id: str, by: By) -> Alert:
    """Put an alert back into the outbox, and return it.

    Raises:
        Problem: 403 for one of another app than the token's, 404 for an unknown one, 409 if it was sent.
    """
    for alert in transaction.alerts(service.settings.name, ids=[id]):
        caller.check_app(app_of(alert.subject))
    with refused_as(409), named():
        (again,) = retry(transaction, service.settings.name, [id], service.clock(), by)
    return again
