"""*Events*: the newest events, and what became of each in every schedule that received it."""

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response

from tidegate.domain.model.triggers.tree import leaves
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.project.local_time import common_zone
from tidegate.scheduler.explain.listed_events import ListedEvent, Received, listed_events
from tidegate.scheduler.model.event import app_of_key, listens_to, partition_event_key
from tidegate.scheduler.store.protocol import Reader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.board.ledger.pages import OUTCOMES
from tidegate.server.board.page import PageRoute, page
from tidegate.server.problem import Problem
from tidegate.server.service import Here, Service
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/board/events", route_class=PageRoute, include_in_schema=False)

SHOWN = 100

EVERY_KEY = [""]

READ_MAX = 2000
"""The newest events of a dataset or schedule, among which those that match are looked for."""


class Wanted(Value, kw_only=True):
    """The filters: events that match all that are given.

    Attributes:
        schedule: that has received them, "app/schedule".
        outcome: a column of the ledger, of that schedule or of any.
        reason: of that outcome.
    """

    dataset: str
    partition: str
    schedule: str
    outcome: str
    reason: str


class Listed(Value, kw_only=True):
    """The page.

    Attributes:
        whole: whether all events that match are shown.
    """

    wanted: Wanted
    outcomes: tuple[str, ...]
    items: tuple[ListedEvent, ...]
    whole: bool


@router.get("", dependencies=[READ])
def list_page(
    request: Request,
    service: Here,
    caller: Called,
    dataset: str = "",
    partition: str = "",
    schedule: str = "",
    outcome: str = "",
    reason: str = "",
) -> Response:
    """List the newest events that match."""
    if outcome not in ("", *OUTCOMES):
        raise Problem(
            400, f"outcome has the unknown value {outcome!r:.100}", hint=f"one of {', '.join(OUTCOMES)}"
        )
    wanted = Wanted(
        dataset=dataset, partition=partition, schedule=schedule, outcome=outcome, reason=reason.upper()
    )
    with service.store.reading() as reader:
        view = _view(service, reader, caller, wanted)
        zone = common_zone(reader, {app_of_key(each.event.key) for each in view.items})
    return page(request, service, "events", "Events", view, zone)


def _view(service: Service, reader: Reader, caller: Caller, wanted: Wanted) -> Listed:
    apps = visible_apps(service, reader, caller)
    filtered = any((wanted.partition, wanted.schedule, wanted.outcome, wanted.reason))
    limit = READ_MAX if filtered else SHOWN + 1
    keys = _keys(reader, wanted)
    read = [event for key in keys for event in reader.events(key_prefix=key, limit=limit)]
    own = {
        event.id: event
        for event in read
        if keys == EVERY_KEY or event.key in keys
        if (not wanted.partition or event.partition == wanted.partition)
        and (apps is None or app_of_key(event.key) in apps)
    }
    newest = sorted(own.values(), key=lambda event: (event.arrived, event.id), reverse=True)
    found = list(_matching(listed_events(reader, newest), wanted, apps))
    return Listed(
        wanted=wanted,
        outcomes=OUTCOMES,
        items=tuple(found[:SHOWN]),
        whole=len(found) <= SHOWN and len(read) < limit,
    )


def _keys(reader: Reader, wanted: Wanted) -> list[str]:
    """Return the keys of the events that are read; those of all events are `EVERY_KEY`."""
    if wanted.dataset:
        return [partition_event_key("", wanted.dataset)]
    state = next(iter(reader.schedules(refs=[wanted.schedule])), None) if wanted.schedule else None
    if state is None:
        return EVERY_KEY
    heard = (
        key
        for leaf in leaves(state.spec.trigger)
        for key in listens_to(state.app, state.name, leaf, state.spec.program)
    )
    return list(dict.fromkeys(heard))


def _matching(
    events: Iterable[ListedEvent], wanted: Wanted, apps: frozenset[str] | None
) -> Iterable[ListedEvent]:
    """Yield the events that match, each with the schedules that the caller sees."""
    for each in events:
        seen = tuple(one for one in each.received if apps is None or app_of(one.schedule) in apps)
        narrowed = wanted.schedule or wanted.outcome or wanted.reason
        if not narrowed or any(_fits(one, wanted) for one in seen):
            yield ListedEvent(event=each.event, routed=each.routed, received=seen)


def _fits(received: Received, wanted: Wanted) -> bool:
    return (
        wanted.schedule in ("", received.schedule)
        and wanted.outcome in ("", received.outcome)
        and wanted.reason in ("", received.reason or "")
    )
