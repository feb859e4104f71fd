"""What can be acted on: jobs, schedules, apps, backfills, tables and alerts, by the paths of their pages."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter

from tidegate.domain.model import Operation
from tidegate.domain.part_name import app_of
from tidegate.listings.alerts import ALERTS
from tidegate.listings.backfills import BACKFILLS
from tidegate.listings.instances import INSTANCES
from tidegate.listings.jobs import JOBS
from tidegate.listings.listing import Action
from tidegate.listings.schedules import APP_ACTIONS, SCHEDULES
from tidegate.listings.tables import TABLES
from tidegate.scheduler.commands.backfills.request import Backfill, backfill_of
from tidegate.scheduler.explain.effect import Effect
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import TableState
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.held_apps import held_apps
from tidegate.server.access import Caller
from tidegate.server.board.actions import Subject, add_actions
from tidegate.server.board.page import PageRoute
from tidegate.server.body import as_form
from tidegate.server.deployed import check_name, deployed_app, schedule_of
from tidegate.server.forms.action import Field, Given
from tidegate.server.problem import Problem
from tidegate.server.routes.alerts import alert_of
from tidegate.server.routes.backfills import BackfillBody, check_backfill, start_within
from tidegate.server.service import Service
from tidegate.server.tables import table_named
from tidegate.server.visible import visible_job

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)

Names = Mapping[str, Any]
"""The parameters of a path."""

PRIORITIES = (("", "behind all others"), ("low", "low"), ("normal", "normal"), ("high", "high"))

WHICH = (
    ("all", "all"),
    ("missing", "those without a success"),
    ("failed", "those that failed last"),
    ("stale", "those with newer inputs"),
)

START = Action(
    "start",
    "",
    "",
    "Runs a schedule or a task, or all tasks of an app, for dates or keys of the past.",
    takes=(
        "name",
        "app",
        "from",
        "to",
        "keys",
        "which",
        "lot",
        "priority",
        "upstream",
        "quiet_downstream",
        "reason",
    ),
)

_FIELDS = (
    Field(
        name="name", label="Schedule or task", placeholder="shop.revenue", help="Or an app with its tasks."
    ),
    Field(name="app", label="App"),
    Field(name="from", label="From", placeholder="2026-03-01"),
    Field(name="to", label="To", placeholder="2026-03-03", help="The last date or key, included."),
    Field(
        name="keys", label="Or single keys", placeholder="2026-03-01, 2026-03-05", help="In place of a range."
    ),
    Field(name="which", label="Of these", choices=WHICH),
    Field(name="lot", label="Dates at once", value="1"),
    Field(name="priority", label="Priority", choices=PRIORITIES),
    Field(name="upstream", label="with all upstream tasks and schedules", kind="checkbox"),
    Field(name="quiet_downstream", label="what it publishes starts no schedule", kind="checkbox"),
)


def of_job(job: Job) -> Subject:
    """Return a job as a subject: of an instance of a task also what is done to instances."""
    name = f"{job.schedule}[{job.key}]" if job.key else job.schedule
    actions = JOBS.actions if job.instance is None else (*INSTANCES.actions, *JOBS.actions)
    path = f"/board/jobs/{job.id}"
    return Subject(name=name, id=job.id, item=job, app=job.app, path=path, actions=actions)


def of_schedule(reader: EngineReader, state: ScheduleState) -> Subject:
    """Return a schedule or task as a subject."""
    key = Field(
        name="key",
        label="Key",
        placeholder="" if state.spec.for_each is None else f"of one {state.spec.for_each}",
        help="" if state.spec.for_each else "Of the partition to write; empty: what it has collected.",
        required=state.spec.for_each is not None,
    )
    of_text = any(each.of_text for each in reader.records(OVERRIDES, ref=[state.ref]))
    return Subject(
        name=state.ref,
        id=state.ref,
        item=state,
        app=app_of(state.ref),
        path=f"/board/schedules/{state.ref}",
        actions=SCHEDULES.actions,
        home=lambda reader, _: _home(reader, state.ref),
        fields={"key": key},
        asks={"key": True} if state.spec.for_each is not None else {},
        admin=frozenset({"revert"}) if of_text else frozenset(),
    )


def of_app(app: str) -> Subject:
    """Return an app as a subject."""
    return Subject(
        name=app,
        id=app,
        item=app,
        app=app,
        path=f"/board/apps/{app}",
        actions=APP_ACTIONS,
        page=f"/board/schedules?{urlencode({'app': app})}",
        home=lambda *_: ("/board/schedules", {"app": app}),
    )


def of_backfill(backfill: Backfill) -> Subject:
    """Return a backfill as a subject."""
    number = backfill.number
    return Subject(
        name=f"backfill {number}",
        id=number,
        item=backfill,
        path=f"/board/backfills/{number}",
        actions=BACKFILLS.actions,
    )


def of_table(table: TableState) -> Subject:
    """Return a table as a subject."""
    choices = (("", "all that are configured"), *((each, each.replace("_", " ")) for each in Operation))
    return Subject(
        name=table.name,
        id=table.name,
        item=table,
        app=None if table.dataset is None else app_of(table.dataset),
        path="/board/maintenance/table",
        actions=TABLES.actions,
        query={"name": table.name},
        fields={"operation": Field(name="operation", label="Operation", choices=choices)},
        asks={"operation": False},
    )


def _home(reader: EngineReader, ref: str) -> tuple[str, Given]:
    """Return the page of a schedule; of one that is gone, that of its app."""
    if reader.schedules(refs=[ref]):
        return f"/board/schedules/{ref}", {}
    return "/board/schedules", {"app": app_of(ref)}


def _find_job(service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given) -> Subject:
    return of_job(visible_job(service, reader, caller, names["id"]))


def _find_schedule(
    service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given
) -> Subject:
    return of_schedule(reader, schedule_of(service, reader, names["app"], names["s"]))


def _find_app(service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given) -> Subject:
    app = names["app"]
    check_name(app)
    gone = app in held_apps(reader) and not reader.records(APPS, name=[app])
    if names["action"] == "hold" or not gone:
        deployed_app(service, reader, app)
    return of_app(app)


def _find_backfill(
    service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given
) -> Subject:
    text = names["number"]
    if not re.fullmatch("[0-9]{1,9}", text):
        raise Problem(400, f"a backfill has a number, got {text!r:.100}")
    number = int(text)
    check_backfill(service, reader, caller, number)
    return of_backfill(backfill_of(reader, number))


def _find_backfills(
    service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given
) -> Subject:
    def start(transaction: EngineTransaction, given: Given) -> Any:
        return start_within(service, transaction, caller, as_form(_asked(given), BackfillBody))[0]

    def started(_: EngineReader, effect: Effect) -> tuple[str, Given]:
        return f"/board/backfills/{effect.done.number}", {}

    return Subject(
        name="a backfill",
        id="",
        item=None,
        path="/board/backfills",
        actions=(START,),
        home=started,
        fields={each.name: each for each in _FIELDS},
        asks={"name": False},
        do=start,
    )


def _asked(given: Given) -> dict[str, Any]:
    """Return the body of a call that asks for the same as a form."""
    found = {name: value.strip() for name, value in given.items() if value.strip()}
    names = ("name", "task", "app", "from", "to", "which", "priority", "reason")
    body: dict[str, Any] = {name: found[name] for name in names if name in found}
    if "keys" in found:
        body["keys"] = [each for each in re.split(r"[\s,]+", found["keys"]) if each]
    try:
        lot = msgspec.convert(found.get("lot", "1"), int, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(400, f"a lot is a whole number of business dates, got {found['lot']!r:.100}") from error
    chosen = {name: found.get(name) == "on" for name in ("upstream", "quiet_downstream")}
    return {**body, "lot": lot, **chosen}


def _find_table(
    service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given
) -> Subject:
    return of_table(table_named(service, reader, caller, given.get("name", "")))


def _find_alert(
    service: Service, reader: ListingReader, caller: Caller, names: Names, given: Given
) -> Subject:
    alert = alert_of(service, reader, caller, names["id"])
    return Subject(
        name=f"the alert {alert.id}",
        id=(alert.project, alert.id),
        item=alert,
        path=f"/board/alerts/{alert.id}",
        actions=ALERTS.actions,
        page="/board/alerts",
        home=lambda *_: ("/board/alerts", {}),
    )


for _path, _find in (
    ("/jobs/{id}/{action}", _find_job),
    ("/schedules/{app}/{s}/{action}", _find_schedule),
    ("/apps/{app}/{action}", _find_app),
    ("/backfills/start", _find_backfills),
    ("/backfills/{number}/{action}", _find_backfill),
    ("/maintenance/table/{action}", _find_table),
    ("/alerts/{id}/{action}", _find_alert),
):
    add_actions(router, _path, _find)
