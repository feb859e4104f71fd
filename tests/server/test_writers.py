"""Several writers at once, and `kill -9` of the server during their writes, in either database."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from tests.databases import SQL_KINDS, new_url
from tests.effort import much, only
from tests.server import shadow
from tests.server.process import ServerProcess
from tests.server.sales import APP, SCHEDULES, SPEC
from tidegate.project.environment import STORE_VARIABLE
from tidegate.scheduler.store.open import open_store

pytestmark = [pytest.mark.store, pytest.mark.endurance]

WRITERS = 2


@pytest.fixture(params=only(SQL_KINDS, "sqlite"))
def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_url(request.param, request, tmp_path)


@pytest.fixture
def project(tmp_path: Path, sql_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a new store."""
    monkeypatch.setenv(STORE_VARIABLE, sql_url)
    (tmp_path / "tidegate.toml").write_text("[serve]\nrequests_per_minute = 0\n")
    (tmp_path / "schedules").mkdir()
    return tmp_path


@pytest.fixture
def servers(project: Path) -> Iterator[list[ServerProcess]]:
    """The servers of the test, which end with it."""
    found: list[ServerProcess] = []
    yield found
    for server in found:
        if server.process.poll() is None:
            server.kill()


def started(servers: list[ServerProcess], project: Path) -> ServerProcess:
    servers.append(ServerProcess(project, "--no-host"))
    return servers[-1]


def test_two_writers_at_once_lose_no_update(servers: list[ServerProcess], project: Path):
    process, count = started(servers, project), 12

    def add(writer: int) -> None:
        """Add arguments to those that are there, each as long as no other writer comes between."""
        with process.client() as client:
            for number in range(count):
                while True:
                    shown = client.get(f"{SCHEDULES}/daily")
                    args = {**shown.json().get("args", {}), f"a{writer}_{number}": 1}
                    match = {"If-Match": shown.headers["etag"]}
                    answer = client.post(f"{SCHEDULES}/daily/update", json={"args": args}, headers=match)
                    if answer.status_code == 200:
                        break
                    assert answer.status_code == 412, answer.text

    with process.client() as client:
        assert client.put(APP, json={"spec": SPEC}).status_code == 200
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(add, range(WRITERS)))
        found = client.get(f"{SCHEDULES}/daily").json()

    assert len(found["args"]) == WRITERS * count
    assert found["revision"] == 1 + WRITERS * count


def test_kill_9_during_writes_leaves_old_or_new(servers: list[ServerProcess], project: Path, sql_url: str):
    chance = random.Random(7)
    writers = [shadow.Writer(number, seed=7) for number in range(WRITERS)]
    server = started(servers, project)
    with server.client() as client:
        assert client.put(APP, json={"spec": shadow.APP}).status_code == 200
    for _ in range(much(1)):
        _write_until_it_dies(server, writers, chance)
        _check(sql_url, writers)
        server = started(servers, project)
        with server.client() as client:
            for writer in writers:
                writer.report_again(client)
        _check(sql_url, writers)


def _write_until_it_dies(server: ServerProcess, writers: list[shadow.Writer], chance: random.Random) -> None:
    """Kill the server a moment after a number of answers, most often while it works on the next."""
    answers, enough, moment = count(1), chance.randint(12, 40), chance.uniform(0, 0.05)

    def answered() -> None:
        if next(answers) == enough:
            threading.Timer(moment, server.kill).start()

    def write(writer: shadow.Writer) -> None:
        with server.client() as client:
            writer.write(client, answered)

    with ThreadPoolExecutor(len(writers)) as threads:
        list(threads.map(write, writers))


def _check(url: str, writers: list[shadow.Writer]) -> None:
    store = open_store(url, create=False)
    try:
        with store.reading() as reader:
            shadow.check(reader, writers)
    finally:
        store.close()
