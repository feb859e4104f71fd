"""The list of events, each with what became of it in the schedules that have received it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.explain.listed_events import ListedEvent, listed_events
from tidegate.scheduler.explain.names_of_events import key_of_dataset, ref_of_schedule
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import EventsWanted, Outcome
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import ANY_OBJECT, contract, listed, page_of
from tidegate.server.instants import instant_of
from tidegate.server.page import Page, before_instant, instant_key
from tidegate.server.problem import one_of
from tidegate.server.service import Here, Service
from tidegate.server.visible import known_app, name_seen, named, visible_apps

router = APIRouter(prefix="/events", tags=["events"])


class Filters(Value, kw_only=True):
    """The filters as they were given; "" does not narrow."""

    app: str = ""
    dataset: str = ""
    partition: str = ""
    schedule: str = ""
    outcome: str = ""
    reason: str = ""
    job: str = ""
    since: str = ""
    until: str = ""


def filters(
    app: Annotated[str, Query(description="What became of them in this app, else its own events.")] = "",
    dataset: Annotated[str, Query(description='"app/dataset", or its name if one app has it.')] = "",
    partition: Annotated[str, Query(description="A partition key.")] = "",
    schedule: Annotated[
        str, Query(description='That have reached "app/schedule", or its name if one app has it.')
    ] = "",
    outcome: Annotated[
        str, Query(description=f"What became of them in a schedule: {', '.join(Outcome)}.")
    ] = "",
    reason: Annotated[str, Query(description="The reason code of that, such as D-SUSPENDED.")] = "",
    job: Annotated[str, Query(description="The id of a job that has received them.")] = "",
    since: Annotated[str, Query(alias="from", description="The earliest instant of their arrival.")] = "",
    until: Annotated[str, Query(description="The instant before which they arrived.")] = "",
) -> Filters:
    """Return the filters of a call."""
    return Filters(
        app=app,
        dataset=dataset,
        partition=partition,
        schedule=schedule,
        outcome=outcome.lower(),
        reason=reason.upper(),
        job=job,
        since=since,
        until=until,
    )


Filtered = Annotated[Filters, Depends(filters)]


@router.get("", dependencies=[READ], **contract(page_of(ANY_OBJECT)))
def list_events(
    service: Here, caller: Called, page: Annotated[Page, Depends(Page)], wanted: Filtered
) -> Response:
    """List events, the newest first, each with the schedules and jobs that have received it."""
    with service.store.reading() as reader:
        found, cursor = events_page(service, reader, caller, page, wanted)
    return listed([each.json for each in found], cursor)


def events_page(
    service: Service, reader: ListingReader, caller: Caller, page: Page, wanted: Filters
) -> tuple[list[ListedEvent], str | None]:
    """Return a page of the events that match all given filters, and the cursor of the next one.

    Of what became of them, a caller sees that in the schedules of its apps.

    Raises:
        Problem: 400, a filter has an unknown value; 403, a name is of another app than the token's.
    """
    apps = visible_apps(service, reader, caller)
    if wanted.app:
        apps = frozenset({known_app(service, reader, caller, wanted.app)})
    key = schedule = None
    with named(unknown=400, ambiguous=400):
        if wanted.dataset:
            key = key_of_dataset(reader, name_seen(reader, caller, wanted.dataset), apps)
        if wanted.schedule:
            schedule = ref_of_schedule(reader, name_seen(reader, caller, wanted.schedule), apps)
    found = reader.events_page(
        EventsWanted(
            key=key,
            partition=wanted.partition or None,
            schedule=schedule,
            job=wanted.job or None,
            outcome=None if not wanted.outcome else one_of(Outcome, wanted.outcome, "outcome"),
            reason=None if not wanted.reason else one_of(Reason, wanted.reason, "reason"),
            apps=apps,
            since=instant_of("from", wanted.since) if wanted.since else None,
            until=instant_of("until", wanted.until) if wanted.until else None,
            before=before_instant(page),
        ),
        page.limit + 1,
    )
    shown, cursor = page.cut(list(found), lambda event: instant_key(event.arrived, event.id))
    return [_seen(each, apps) for each in listed_events(reader, shown)], cursor


def _seen(each: ListedEvent, apps: frozenset[str] | None) -> ListedEvent:
    """Return an event with the schedules of some apps only."""
    received = tuple(one for one in each.received if apps is None or app_of(one.schedule) in apps)
    return ListedEvent(event=each.event, routed=each.routed, received=received)
