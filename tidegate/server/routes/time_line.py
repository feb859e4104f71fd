"""The time line over HTTP: what ran, waits and comes in a span, of each schedule, task and policy."""

import re
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.duration import DurationError, parse_duration
from tidegate.domain.error import WrongUsage
from tidegate.domain.part_name import SEPARATOR, app_of, without_namespace
from tidegate.domain.time.instant import instant_of
from tidegate.domain.value import Value
from tidegate.listings.queries.lanes import Wanted
from tidegate.listings.queries.time_line import time_line
from tidegate.listings.time_line import LaneState, TimeLine
from tidegate.project.local_time import machine_zone
from tidegate.scheduler.decision.marks import Span
from tidegate.scheduler.model.maintenance import POLICY
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import contract, json_answer
from tidegate.server.page import WholeNumber
from tidegate.server.problem import Problem, unknown_value
from tidegate.server.service import Here, Service
from tidegate.server.visible import visible_apps

router = APIRouter(tags=["timeline"])

FROM, TO = "-12h", "+24h"
SPAN_MAX = timedelta(days=7)
PAGES_MAX = 10_000
LANES_MAX = 100
LENGTH = re.compile(r"P[0-9A-Z]+|[0-9.]+[a-z]+")
"""What is meant as a duration; `parse_duration` says what is wrong with it."""

HINT = "write from=-12h&to=+24h, durations before and after now, or instants with a zone"

From = Annotated[
    str,
    Query(
        alias="from",
        max_length=40,
        description="The beginning: `-12h` before now, or an instant with a zone.",
    ),
]
To = Annotated[
    str,
    Query(
        max_length=40, description="The end: `+24h` after now, or an instant; at most 7 days after `from`."
    ),
]
Lanes = Annotated[
    str,
    Query(
        max_length=10_000,
        description="Only these lanes, also if the span has nothing of them: app/name, or app/policy:name,"
        " with commas between them.",
    ),
]
Text = Annotated[str, Query(max_length=200, description="Only lanes with this text in app/name.")]
States = Annotated[
    list[str],
    Query(description=f"Only lanes in this state; may be repeated. One of {', '.join(LaneState)}."),
]
PageNumber = Annotated[
    int, WholeNumber, Query(alias="page", ge=1, le=PAGES_MAX, description="Of the pages of 60 lanes, from 1.")
]


class Asked(Value, kw_only=True):
    """What of the time line is shown, as the address has it."""

    start: str
    end: str
    q: str
    states: tuple[str, ...]
    lanes: str


def asked(
    from_: From = FROM,
    to: To = TO,
    lanes: Lanes = "",
    q: Text = "",
    state: States = [],  # noqa: B006 -- FastAPI makes a new list for each request
) -> Asked:
    """Read what the address says."""
    return Asked(start=from_, end=to, q=q.strip(), states=tuple(filter(None, state)), lanes=lanes)


Asking = Annotated[Asked, Depends(asked)]
"""What of the time line is shown, as a parameter of a route."""


@router.get("/timeline", dependencies=[READ], **contract(TimeLine))
def show_time_line(service: Here, caller: Called, asking: Asking, number: PageNumber = 1) -> Response:
    """Show what ran, waits and comes in a span of time, grouped by app, the busiest first."""
    with service.store.reading() as reader:
        wanted = wanted_of(service, reader, caller, asking, number)
        return json_answer(time_line(reader, wanted, zone_of(service)))


def wanted_of(service: Service, reader: ListingReader, caller: Caller, asking: Asked, page: int) -> Wanted:
    """Return what a caller wants of a time line.

    Raises:
        Problem: 400, the span is malformed, empty or too long, or a lane or state is unknown; 403, a lane is
            of another app than the token's.
    """
    now = service.clock()
    start, end = _instant("from", asking.start, now), _instant("to", asking.end, now)
    if start >= end:
        raise Problem(400, f"from is not before to: {asking.start:.40}, {asking.end:.40}", hint=HINT)
    if end - start > SPAN_MAX:
        raise Problem(400, f"the span is longer than {SPAN_MAX.days}d", hint=HINT)
    known = {each.value: each for each in LaneState}
    for each in asking.states:
        if each not in known:
            raise unknown_value("state", each, known)
    apps = visible_apps(service, reader, caller)
    return Wanted(
        span=Span(start=start, end=end),
        now=now,
        apps=apps,
        refs=_lanes(reader, caller, apps, asking.lanes),
        text=asking.q,
        states=frozenset(known[each] for each in asking.states),
        page=page,
    )


def zone_of(service: Service) -> str:
    """Return the zone of the project, else that of this machine, else UTC."""
    machine = None if service.settings.timezone else machine_zone()
    return service.settings.timezone or ("UTC" if machine is None else machine.key)


def _instant(name: str, text: str, now: datetime) -> datetime:
    """Return an instant; a "+" in an address that was not escaped has come as a space."""
    written = text.strip()
    length = written.lstrip("+-")
    try:
        if length in ("now", "0"):
            return now
        if LENGTH.fullmatch(length):
            by = parse_duration(length)
            return now - by if written.startswith("-") else now + by
        return instant_of(written.replace(" ", "+"), name)
    except DurationError as error:
        raise Problem(400, f"{name}: {error.message}", hint=HINT) from error
    except WrongUsage as error:
        raise Problem(400, error.message, hint=HINT) from error
    except OverflowError:
        raise Problem(400, f"{name} is out of range, got {text!r:.60}", hint=HINT) from None


def _lanes(
    reader: ListingReader, caller: Caller, apps: frozenset[str] | None, text: str
) -> frozenset[str] | None:
    """Return the lanes that are named; None for all.

    Raises:
        Problem: see `wanted_of`.
    """
    names = {without_namespace(each.strip()) for each in text.split(",")} - {""}
    if not names:
        return None
    if len(names) > LANES_MAX:
        raise Problem(400, f"lanes names more than {LANES_MAX} lanes")
    for name in sorted(names):
        if SEPARATOR in name:
            caller.check_app(app_of(name))
    schedules = {name for name in names if f"{SEPARATOR}{POLICY}" not in name}
    known = {state.ref for state in reader.schedules(refs=schedules)} if schedules else set[str]()
    # A policy, or a schedule that is deployed no longer, has a lane where it has jobs.
    gone = [name for name in names - known if not reader.jobs(schedules=[name], limit=1)]
    hidden = [name for name in names if apps is not None and app_of(name) not in apps]
    if missing := sorted({*gone, *hidden}):
        raise Problem(400, f"there is no lane {missing[0]!r:.200}", hint="write app/name, as lanes show it")
    return frozenset(names)
