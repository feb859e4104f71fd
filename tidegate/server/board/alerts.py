"""*Alerts*: what was sent to people, what could not be, and a button that sends it again."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from tidegate.listings.alerts import ALERTS
from tidegate.scheduler.model.records.alert import AlertState
from tidegate.server.access import OPERATE, Called, Caller
from tidegate.server.board.listing import add_page
from tidegate.server.board.page import PageRoute, back
from tidegate.server.body import read_form
from tidegate.server.routes.alerts import send_again
from tidegate.server.service import Here, Service

router = APIRouter(prefix="/board/alerts", route_class=PageRoute, include_in_schema=False)


def _counts(service: Service, caller: Caller, *_: object) -> dict[str, int]:
    """Return how many alerts that a caller sees are in each state, whatever the filters."""
    sums = Counter[AlertState]()
    with service.store.reading() as reader:
        for each in reader.alert_counts(service.settings.name, caller.app):
            sums[each.state] += each.alerts
    return {str(each): sums[each] for each in AlertState if sums[each]}


add_page(ALERTS, template="alerts", more=_counts)


@router.post("/{id}/retry", dependencies=[OPERATE])
def retry(
    id: str, service: Here, caller: Called, form: Annotated[dict[str, str], Depends(read_form)]
) -> Response:
    """Send an alert again."""
    with service.store.transaction() as transaction:
        again = send_again(service, transaction, caller, id, caller.by(form.get("reason", "").strip()))
    return back("/board/alerts", f"alert {again.id} is sent to {again.channel} again")
