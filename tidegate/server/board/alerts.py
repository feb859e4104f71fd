"""*Alerts*: what was sent to people, what could not be, and a button that sends it again."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tidegate.alerts.texts import title
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.project.local_time import common_zone
from tidegate.scheduler.model.records.alert import Alert, AlertState
from tidegate.server.access import OPERATE, READ, Called
from tidegate.server.board.back import back
from tidegate.server.board.page import PageRoute, page
from tidegate.server.body import read_form
from tidegate.server.page import Page
from tidegate.server.routes.alerts import alerts_page, sent_again
from tidegate.server.service import Here

router = APIRouter(prefix="/board/alerts", route_class=PageRoute, include_in_schema=False)


class Line(Value, kw_only=True):
    """An alert with its title, as its receivers see it."""

    title: str
    alert: Alert


class Counted(Value, kw_only=True):
    """How many alerts are in a state."""

    state: AlertState
    alerts: int


class Listed(Value, kw_only=True):
    """The list, with its filters.

    Attributes:
        counts: of all alerts that the caller sees, whatever the filters.
        channels: those of the alerts, by name.
    """

    state: str
    channel: str
    app: str
    states: tuple[str, ...]
    channels: tuple[str, ...]
    counts: tuple[Counted, ...]
    items: tuple[Line, ...]
    next: str | None


@router.get("", dependencies=[READ])
def list_page(
    request: Request,
    service: Here,
    caller: Called,
    page_of: Annotated[Page, Depends(Page)],
    state: str = "",
    channel: str = "",
    app: str = "",
) -> Response:
    """List alerts, the newest first."""
    found, cursor = alerts_page(service, caller, page_of, state, channel, app)
    with service.store.reading() as reader:
        counts = reader.alert_counts(service.settings.name, caller.app)
        zone = common_zone(reader, {app_of(alert.subject) for alert in found})
    sums = Counter[AlertState]()
    for each in counts:
        sums[each.state] += each.alerts
    view = Listed(
        state=state.lower(),
        channel=channel,
        app=app,
        states=tuple(AlertState),
        channels=tuple(sorted({each.channel for each in counts})),
        counts=tuple(Counted(state=each, alerts=sums[each]) for each in AlertState if sums[each]),
        items=tuple(Line(title=title(alert.message), alert=alert) for alert in found),
        next=cursor,
    )
    return page(request, service, "alerts", "Alerts", view, zone)


@router.post("/{id}/retry", dependencies=[OPERATE])
def send_again(
    id: str, service: Here, caller: Called, form: Annotated[dict[str, str], Depends(read_form)]
) -> Response:
    """Send an alert again."""
    with service.store.transaction() as transaction:
        again = sent_again(service, transaction, caller, id, caller.by(form.get("reason", "").strip()))
    return back("/board/alerts", f"alert {again.id} is sent to {again.channel} again")
