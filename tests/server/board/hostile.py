"""A board whose every text was written by an attacker, and with what each page is asked."""

from datetime import timedelta
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from tests.alerts.samples import alert
from tests.server.board.board import DAYS, job_of, report
from tests.server.board.cal import SPEC as CALENDARS
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served
from tests.server.shop import shop
from tests.server.yard import REPORT, measured, yard
from tests.worlds.samples import verdict
from tidegate.listings.alerts import ALERTS as ALERTS_LISTED
from tidegate.listings.backfills import BACKFILLS
from tidegate.listings.instances import INSTANCES
from tidegate.listings.jobs import JOBS
from tidegate.listings.schedules import APP_ACTIONS, SCHEDULES
from tidegate.listings.tables import TABLES
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import ALERTS, AlertState
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish

MARK = "hostile"
"""In every text; what is built from one has it in its name."""

TEXT = (
    f"<script>{MARK}()</script>\"><img src=x onerror={MARK}()>' onmouseover='{MARK}() </textarea></title>"
    f"<svg onload={MARK}()>{{{{7*'{MARK}'}}}} javascript:{MARK}() &lt;b&gt;"
)
"""Ends a text, an attribute and an element of each kind, and begins a script."""

ODD = f"{TEXT} \u202e{MARK}\u2066\u0000\u001b[31m\ud7ff\U0001f4a3"
"""With marks that turn the direction, and what ends a text of C; only the store itself takes it."""

KEY = f'{DAYS[0]}"><svg onload={MARK}()>'

JOB = "sales.each_day-0badc0de0bad"

COMMIT = f"{JOB}.{TEXT}"


def described(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose parts have a hostile description, and an owner where they have one."""
    found = {**spec, "description": TEXT}
    for kind, fields in (
        ("datasets", ("description", "owner")),
        ("programs", ("description",)),
        ("schedules", ("description", "owner")),
        ("tasks", ("description", "owner")),
    ):
        if kind in spec:
            more = dict.fromkeys(fields, TEXT)
            found[kind] = {name: {**part, **more} for name, part in spec[kind].items()}
    return found


def fill(server: Served) -> None:
    """Put something hostile on every page."""
    deployed(server, described({**SPEC, "datasets": {**SPEC["datasets"], "regions": {"deadline": "1h"}}}))
    deployed(server, described(CALENDARS))
    shop(server)
    yard(server)
    measured(server, REPORT, small_files=900.0)
    reason = {"reason": TEXT}
    for path, body in (
        ("apps/sales/schedules/daily/enable", reason),
        ("apps/sales/schedules/daily/update", {"timeout": "2h", "description": TEXT, "owner": TEXT}),
        ("apps/sales/schedules/each_day/disable", reason),
        ("apps/sales/schedules/each_day/enable", reason),
        ("apps/yard/hold", reason),
        ("backfills", {"task": "shop.revenue", "from": "2026-03-01", "to": "2026-03-02", **reason}),
        ("gauges", {"name": MARK, "value": 3.0}),
    ):
        answer = server.client.post(f"{NS}/{path}", json=body)
        assert answer.is_success or path == "gauges", (path, answer.text)
    server.pass_time(timedelta(minutes=1))
    report(server, DAYS)
    server.pass_time(timedelta(minutes=1))
    _write_what_no_call_takes(server)


def _write_what_no_call_takes(server: Served) -> None:
    failed = {"state": JobState.FAILED, "reason": Reason.F_RUN, "detail": ODD, "ended_at": server.now}
    with server.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(server, DAYS[0])])
        transaction.put_jobs(
            [
                msgspec.structs.replace(job, **failed, next_check_at=None),
                msgspec.structs.replace(job, id=JOB, key=KEY, **failed, run_id=TEXT, next_check_at=None),
            ]
        )
        wrong = {"error": ODD, "project": server.service.settings.name, "text": ODD}
        dead = {"state": AlertState.DEAD, "next_at": None, "ended_at": server.now}
        sent = [alert(id=f"{MARK}-again"), alert("duty", id=f"{MARK}-dead")]
        again, ended = (
            msgspec.structs.replace(
                each,
                error=wrong["error"],
                project=wrong["project"],
                message=msgspec.structs.replace(each.message, text=wrong["text"], job=JOB),
            )
            for each in sent
        )
        transaction.put_records(ALERTS, [again, msgspec.structs.replace(ended, **dead)])
        transaction.put_records(WITHHELD_PUBLISHES, [withheld(server)])


def withheld(server: Served) -> WithheldPublish:
    """A publish of the hostile job whose checks and rows are hostile too."""
    found = verdict(
        "sales/cleaned", "not_null_id", ODD, kind="not_null", partitions=(ODD,),
        samples=({TEXT: ODD, "id": None},),
    )  # fmt: skip
    return WithheldPublish(
        commit=COMMIT, job=JOB, token=1, datasets=("sales/cleaned",), verdicts=(found,), at=server.now
    )


def addresses(server: Served, client: httpx.Client | None = None) -> dict[str, list[str]]:
    """Return with what addresses each page that has names in its path, or needs a query, is asked.

    Args:
        client: one that sees everything; None for the server's own.
    """
    with server.store.reading() as reader:
        job = reader.jobs(ids=[JOB])[0].id
        instance = next(each.id for each in reader.jobs() if each.instance is not None)
    newest, before = (
        each["number"]
        for each in (client or server.client).get("/board/deployments?format=json").json()["items"][:2]
    )
    actions = {
        "/board/jobs/{id}/{action}": [
            (f"/board/jobs/{job}/{{}}", JOBS),
            (f"/board/jobs/{instance}/{{}}", INSTANCES),
        ],
        "/board/schedules/{app}/{s}/{action}": [("/board/schedules/sales/each_day/{}", SCHEDULES)],
        "/board/backfills/{number}/{action}": [("/board/backfills/1/{}", BACKFILLS)],
        "/board/maintenance/table/{action}": [(f"/board/maintenance/table/{{}}?name={REPORT}", TABLES)],
        "/board/alerts/{id}/{action}": [(f"/board/alerts/{MARK}-dead/{{}}", ALERTS_LISTED)],
    }
    return {
        **{
            path: [address.format(action.name) for address, listing in of for action in listing.actions]
            for path, of in actions.items()
        },
        "/board/apps/{app}/{action}": [
            f"/board/apps/{app}/{action.name}" for app in ("sales", "yard") for action in APP_ACTIONS
        ],
        "/board/codes/{code}": ["/board/codes/W-WINDOW", "/board/codes/F-RUN"],
        "/board/search": ["/board/search", "/board/search?q=sales"],
        "/board/schedules/{app}/{s}": ["/board/schedules/sales/each_day", "/board/schedules/shop/revenue"],
        "/board/commits/{commit:path}": [f"/board/commits/{quote(COMMIT)}"],
        "/board/jobs/{id}": [f"/board/jobs/{job}", f"/board/jobs/{instance}"],
        "/board/datasets/{app}/{name}": [
            "/board/datasets/sales/raw",
            "/board/datasets/cal/feeds",
            "/board/datasets/sales/regions",
        ],
        "/board/backfills/{number}": ["/board/backfills/1"],
        "/board/maintenance/table": [f"/board/maintenance/table?name={REPORT}"],
        "/board/deployments/{number}": [f"/board/deployments/{newest}"],
        "/board/deployments/{number}/rollback": [f"/board/deployments/{before}/rollback"],
    }


class Markup(HTMLParser):
    """What a page is built of, as far as a text could have changed it.

    Attributes:
        links: the addresses that it leads to.
        wrong: scripts and styles in it, handlers, addresses of code, and whatever has the mark in its name.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.wrong: list[str] = []
        self.text = ""
        self._in = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in = tag
        if tag in ("img", "iframe", "object", "embed", "base", "style") or MARK in tag:
            self.wrong.append(tag)
        if tag == "script" and not given.get("src", "").startswith("/board/static/"):
            self.wrong.append(f"script {given}")
        for name, value in given.items():
            if name.startswith("on") or name == "style" or MARK in name:
                self.wrong.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action", "formaction") and not value.startswith(("/", "#", "?")):
                self.wrong.append(f"{tag} {name}={value}")
        if given.get("class", "").startswith("chip") and "&" in given.get("href", ""):
            return  # so many combinations of filters
        if tag != "form" or given.get("method", "get") == "get":
            self.links += [given[name] for name in ("href", "action") if name in given]

    def handle_data(self, data: str) -> None:
        if self._in == "script" and data.strip():
            self.wrong.append(f"script: {data[:50]}")
        self.text += data
