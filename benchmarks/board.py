"""The board on a full store: 10,000 schedules and 100,000 jobs.

    server        the whole answer of the server's application, without a socket; the median, and beside it
                  the time of this process alone, which others on the machine do not make longer
    time line     the bytes of its JSON, as the page asks for it
    first paint   what Chromium itself notes of a page of a server process, from its click to the first pixel;
                  the median of several visits by a browser that has the styles already

The pages are those of the menu, of lists with filters, and one of each thing that has a page of its own.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient

from benchmarks.aims import verdict
from benchmarks.deployed import Databases, databases
from benchmarks.reads import JOBS, NS, SCHEDULES, Full, full_store
from tests.browser import FIRST_PAINT, launched
from tests.server.process import ServerProcess
from tidegate.server.application import create_application
from tidegate.server.board.rendering import PAGES

ROUNDS, VISITS = 21, 7
SHORT_ROUNDS, SHORT_VISITS = 7, 3
SERVER_MILLISECONDS, TIME_LINE_KILOBYTES, PAINT_MILLISECONDS = 200.0, 300.0, 500.0

TIME_LINE = f"{NS}/timeline?from=-12h&to=%2B24h"
SEARCH = f"{NS}/search?q=by_data_4"

OTHERS = (
    "/board/schedules?app=app_1",
    "/board/schedules/app_1/by_data_1",
    "/board/jobs?state=FAILED",
    "/board/jobs?reason=W-TRIGGER",
    "/board/datasets?app=app_1",
    "/board/datasets?q=raw_4",
    "/board/datasets/app_1/raw_1",
    "/board/events?schedule=app_1/by_data_1&outcome=pending",
    "/board/events?outcome=failed",
    "/board/search?q=by_data_4",
)
"""Pages with filters, and of one thing; those of a job, a deployment and a day of failures are added."""

PAINTED = ("/", "/board/schedules", "/board/jobs", "/board/datasets", "/board/schedules/app_1/by_data_1")


def main(*, short: bool = False) -> int:
    """Measure, print, and return the number of missed aims."""
    missed = 0
    with databases() as places:
        for kind in ("sqlite",) if short else ("sqlite", "postgres"):
            print(f"\n{kind}: {SCHEDULES:,} schedules, {JOBS:,} jobs", flush=True)
            missed += _measured(places, kind, short=short)
    return missed


def _measured(places: Databases, kind: str, *, short: bool) -> int:
    missed = 0
    with full_store(places, kind) as full:
        with TestClient(
            create_application(full.service), base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)
        ) as client:
            for path in _paths(client, full):
                wall, processor = _medians(client, path, SHORT_ROUNDS if short else ROUNDS)
                missed += verdict(
                    f"server {path} ({processor:.0f} ms of processor)", wall, SERVER_MILLISECONDS, " ms"
                )
            size = len(client.get(TIME_LINE).content) / 1e3
            missed += verdict("the time line", size, TIME_LINE_KILOBYTES, " kB")
        if kind == "sqlite":
            missed += _paint(full, SHORT_VISITS if short else VISITS)
    return missed


def _paths(client: TestClient, full: Full) -> Iterator[str]:
    yield from (path for path, _ in PAGES)
    yield from OTHERS
    yesterday = (datetime.now(UTC) - timedelta(hours=24)).strftime("%Y-%m-%dT%H:%MZ")
    yield f"/board/jobs?state=FAILED&ended={yesterday}"
    yield f"/board/jobs/{full.waiting}"
    (newest, *_) = client.get("/board/deployments?format=json").json()["items"]
    yield f"/board/deployments/{newest['number']}"
    yield from (TIME_LINE, SEARCH)


def _medians(client: TestClient, path: str, rounds: int) -> tuple[float, float]:
    """Return the milliseconds of an answer, on the clock and of this process's cores."""
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        answer = client.get(path)
        times.append((time.perf_counter() - began, time.process_time() - used))
        assert answer.is_success, (path, answer.text)
    wall, processor = zip(*times, strict=True)
    return statistics.median(wall) * 1e3, statistics.median(processor) * 1e3


def _paint(full: Full, visits: int) -> int:
    missed = 0
    server = ServerProcess(full.folder, "--no-host")
    try:
        with launched() as browser:
            page = browser.new_page(base_url=server.address)
            for path in PAINTED:
                page.goto(path)
                found: list[float] = []
                for _ in range(visits):
                    page.goto(path)
                    found.append(page.evaluate(FIRST_PAINT))
                missed += verdict(f"first paint {path}", statistics.median(found), PAINT_MILLISECONDS, " ms")
    finally:
        server.end()
    return missed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
