"""A board with two jobs, and what tests ask of it."""

from datetime import timedelta
from typing import Any

import msgspec

from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason

DAYS = ("2026-03-07", "2026-03-09")
HTML = {"Accept": "text/html"}
HOSTILE = "<script>alert(1)</script>"

LIKE_JOBS = tuple(
    f"/board/{name}" for name in ("commits", "events", "gauges", "late", "overrides", "tasks", "watermarks")
)
"""Lists of the template of `/board/jobs`, of rows without actions: a soak alone looks at each so closely."""


def fill(server: Served) -> Served:
    """Open a job that waits for its window, and one that has failed with a hostile message."""
    spec = {**SPEC, "description": HOSTILE}
    deployed(server, spec)
    server.client.post(f"{NS}/apps/sales/schedules/daily/enable", json={})
    server.pass_time(timedelta(minutes=1))
    report(server, DAYS)
    server.pass_time(timedelta(minutes=1))
    with server.store.transaction() as transaction:
        (job,) = [each for each in transaction.jobs() if each.key == DAYS[0]]
        transaction.put_jobs(
            [
                msgspec.structs.replace(
                    job, state=JobState.FAILED, reason=Reason.F_RUN, detail=HOSTILE, ended_at=server.now
                )
            ]
        )
    return server


def report(server: Served, days: tuple[str, ...]) -> None:
    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": day, "rows": 7} for day in days]}
    assert server.client.post(f"{NS}/events/partitions", json=body).status_code == 202


def job_of(server: Served, key: str) -> str:
    with server.store.reading() as reader:
        return next(job.id for job in reader.jobs() if job.key == key)


def shown(server: Served, path: str) -> dict[str, Any]:
    answer = server.client.get(f"{path}{'&' if '?' in path else '?'}format=json")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
