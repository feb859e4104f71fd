"""A server process whose board has something on every page, and a token for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.alerts.samples import alert
from tests.server.board.cal import SPEC as CALENDARS
from tests.server.process import ServerProcess
from tests.server.sales import EACH_DAY, SPEC
from tests.server.serving import NS
from tests.server.shop import SHOP, where_it_is
from tests.server.yard import YARD
from tests.worlds.by import CLI
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.tokens import create_token
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import ALERTS, AlertState
from tidegate.scheduler.model.records.token import Role, token_hash
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.deadlines import sweep_deadlines
from tidegate.scheduler.tick.tick import tick

TOKEN = "a-token-of-a-person"
SIGNED = {"Authorization": f"Bearer {TOKEN}"}

LATE: dict[str, Any] = {
    **SPEC,
    "schedules": {**SPEC["schedules"], "each_day": {**EACH_DAY, "deadline": "1m"}},
}
"""The app whose jobs are late soon, as they wait for their window or are not launched."""


@contextmanager
def seeded(project: Path) -> Iterator[ServerProcess]:
    """A server with jobs that wait and are late, instances, a backfill, tables, an override, an app on hold,
    deployments, and alerts that could not be sent.
    """
    (project / "tidegate.toml").write_text("")
    (project / "schedules").mkdir()
    server = ServerProcess(project, "--no-host")
    try:
        with server.client() as client:
            _fill(client)
        _add_the_rest(project)
        yield server
    finally:
        server.end()


def _add_the_rest(project: Path) -> None:
    """Let time pass, and add what no call adds before there is a token; the last is the token."""
    store, now = store_of(project), datetime.now(UTC)
    for minutes in (0, 1):
        tick(store, now + timedelta(minutes=minutes))
    sweep_deadlines(store, now + timedelta(minutes=3))
    _add_alerts(store, load_settings(project).name)
    with store.transaction() as transaction:
        create_token(transaction, "person", Role.ADMIN, None, token_hash(TOKEN), now, CLI)
    store.close()


def store_of(project: Path) -> Store:
    """The store of the server."""
    return open_store(f"sqlite:///{project / '.tidegate' / 'store.db'}")


def _fill(client: httpx.Client) -> None:
    # Whenever the test runs, the instances of the running day are ahead, and no window is open.
    night, noon = ({"timezone": where_it_is(hour, datetime.now(UTC))} for hour in (1, 12))
    for spec in ({**SPEC, **noon}, {**SHOP, **night}, {**YARD, **noon}, CALENDARS, {**LATE, **noon}):
        assert client.put(f"{NS}/apps/{spec['app']}", json={"spec": spec}).status_code == 200
    dates = {"task": "shop.revenue", "from": "2026-03-01", "to": "2026-03-03"}
    for path, body in (
        ("apps/sales/schedules/daily/enable", {}),
        ("apps/sales/schedules/daily/update", {"timeout": "2h"}),
        ("apps/yard/hold", {"reason": "the lake is down"}),
        ("backfills", dates),
    ):
        assert client.post(f"{NS}/{path}", json=body).is_success, path
    hours = [f"2026-03-0{day}-{hour:02}:00" for day in (1, 3) for hour in range(24)]
    landed = {
        "sales/raw": [{"key": f"2026-03-0{day}", "rows": 100 * day} for day in (1, 2, 4, 5)],
        "cal/hours": [{"key": key} for key in hours],
        "cal/weeks": [{"key": "2026-02-08"}, {"key": "2026-02-22"}],
        "cal/minutes": [{"key": f"2026-03-03-05:{minute:02}"} for minute in range(60)],
        "cal/wide": [{"key": f"{hour}|s07"} for hour in hours],
    }
    for dataset, partitions in landed.items():
        app, _, name = dataset.partition("/")
        body = {"app": app, "dataset": name, "partitions": partitions}
        assert client.post(f"{NS}/events/partitions", json=body).status_code == 202


def _add_alerts(store: Store, project: str) -> None:
    tried = {"tries": 9, "error": "HTTP 500", "project": project}
    dead = {"state": AlertState.DEAD, "next_at": None, "ended_at": datetime.now(UTC)}
    with store.transaction() as transaction:
        transaction.put_records(
            ALERTS,
            [
                msgspec.structs.replace(alert(id="again"), **tried),
                msgspec.structs.replace(alert("duty", id="dead"), **tried, **dead),
            ],
        )


def report(address: str, day: str) -> None:
    """Report a day, as a program does over REST."""
    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": day}]}
    answer = httpx.post(f"{address}{NS}/events/partitions", json=body, headers=SIGNED)
    assert answer.status_code == 202, answer.text


def fail(project: Path, day: str, reason: Reason) -> None:
    """Let the job of a day have failed."""
    store = store_of(project)
    with store.transaction() as transaction:
        (job,) = [each for each in transaction.jobs(schedules=["sales/each_day"]) if each.key == day]
        failed = msgspec.structs.replace(
            job, state=JobState.FAILED, reason=reason, ended_at=job.opened_at, next_check_at=None
        )
        transaction.put_jobs([failed])
    store.close()


def run_job(project: Path, day: str) -> None:
    """Let the job of a day have run, for a minute."""
    store = store_of(project)
    with store.transaction() as transaction:
        (job,) = [each for each in transaction.jobs(schedules=["sales/each_day"]) if each.key == day]
        ended = job.opened_at + timedelta(minutes=1)
        done = {"state": JobState.SUCCEEDED, "launched_at": job.opened_at, "ended_at": ended, "reason": None}
        transaction.put_jobs([msgspec.structs.replace(job, next_check_at=None, **done)])
    store.close()
