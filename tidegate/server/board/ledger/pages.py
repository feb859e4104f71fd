"""*Ledger*: what became of the events of each schedule."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.scheduler.store.answers import LedgerRow
from tidegate.scheduler.store.wanted import Outcome
from tidegate.server.access import READ, Called
from tidegate.server.board.ledger.flow import Flow, flow
from tidegate.server.board.page import PageRoute, page
from tidegate.server.page import Page
from tidegate.server.routes.records import ledger_rows
from tidegate.server.service import Here

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)

OUTCOMES = tuple(str(each) for each in Outcome)
BAR = 300
"""Width of the longest bar, in pixels."""


class Balance(Value, kw_only=True):
    """The line of a schedule.

    Attributes:
        events: by outcome.
        bars: outcome, left end and width of each part of its bar.
    """

    schedule: str
    landed: int
    events: dict[str, int]
    reasons: dict[str, int]
    bars: tuple[tuple[str, int, int], ...]


class Ledger(Value, kw_only=True):
    """The ledger.

    Attributes:
        flow: of all its lines.
        app: the only one, or "".
    """

    landed: int
    total: dict[str, int]
    flow: Flow
    items: tuple[Balance, ...]
    next: str | None
    app: str


@router.get("/ledger", dependencies=[READ])
def ledger_page(
    request: Request, service: Here, caller: Called, page_of: Annotated[Page, Depends(Page)], app: str = ""
) -> Response:
    """Show what became of the events of each schedule."""
    with service.store.reading() as reader:
        rows = ledger_rows(service, reader, caller, app)
    lines = [(row.schedule, _events(row)) for row in rows]
    shown, cursor = page_of.of(rows, lambda row: (row.schedule,))
    most = max((sum(events.values()) for _, events in lines), default=0) or 1
    total = {name: sum(events[name] for _, events in lines) for name in OUTCOMES}
    view = Ledger(
        landed=sum(total.values()),
        total=total,
        flow=flow(lines, OUTCOMES),
        items=tuple(_balance(row, most) for row in shown),
        next=cursor,
        app=app,
    )
    return page(request, service, "ledger", "Ledger", view)


def _events(row: LedgerRow) -> dict[str, int]:
    return {
        "succeeded": row.succeeded,
        "running": row.running,
        "failed": sum(row.failed.values()),
        "pending": row.pending,
        "discarded": sum(row.discarded.values()),
    }


def _balance(row: LedgerRow, most: int) -> Balance:
    events, bars, left = _events(row), [], 0
    for name in OUTCOMES:
        width = round(BAR * events[name] / most)
        bars.append((name, left, width))
        left += width
    return Balance(
        schedule=row.schedule,
        landed=row.landed,
        events=events,
        reasons={**row.failed, **row.discarded},
        bars=tuple(bars),
    )
