"""The server as a process: its start and end, two writers at once, and `kill -9` during writes."""

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.effort import much
from tests.server.process import ServerProcess
from tests.server.sales import APP, DAILY, SCHEDULES, SPEC
from tidegate.scheduler.store.open import open_store

pytestmark = [pytest.mark.store, pytest.mark.endurance]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tidegate.toml").write_text("")
    (tmp_path / "schedules").mkdir()
    return tmp_path


@pytest.fixture
def process(project: Path) -> Iterator[ServerProcess]:
    found = ServerProcess(project, "--no-host")
    yield found
    if found.process.poll() is None:
        found.kill()


def test_it_says_where_it_answers_and_ends_by_a_signal(process: ServerProcess):
    with process.client() as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503

    assert process.end() == 0
    lines = process.output().splitlines()
    assert lines[0] == f"serving {process.address}"
    assert "no token" in lines[1]


def test_without_a_token_it_listens_on_this_machine_only(project: Path):
    command = [sys.executable, "-m", "tidegate.cli.main", "serve", "--no-host", "--host", "0.0.0.0"]

    refused = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=90, check=False)

    assert refused.returncode == 1
    assert "token create" in refused.stderr


def test_a_token_of_the_command_line_counts_at_once(process: ServerProcess, project: Path):
    command = [sys.executable, "-m", "tidegate.cli.main", "token", "create", "ops", "--role", "read"]
    created = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=90, check=True)
    token = created.stdout.splitlines()[-1]

    with process.client() as client:
        path = "/v3/namespaces/default/apps"
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_two_writers_at_once_lose_no_update(process: ServerProcess):
    count = 12

    def add(client: httpx.Client, name: str) -> None:
        """Add an argument to those that are there, as long as no other writer comes between."""
        while True:
            shown = client.get(f"{SCHEDULES}/daily")
            args = {**shown.json().get("args", {}), name: 1}
            match = {"If-Match": shown.headers["etag"]}
            answer = client.post(f"{SCHEDULES}/daily/update", json={"args": args}, headers=match)
            if answer.status_code == 200:
                return
            assert answer.status_code == 412, answer.text

    def write(writer: int) -> None:
        with process.client() as client:
            for number in range(count):
                add(client, f"a{writer}_{number}")

    with process.client() as client:
        assert client.put(APP, json={"spec": SPEC}).status_code == 200
    with ThreadPoolExecutor(2) as writers:
        list(writers.map(write, range(2)))

    with process.client() as client:
        found = client.get(f"{SCHEDULES}/daily").json()
    assert len(found["args"]) == 2 * count
    assert found["revision"] == 1 + 2 * count


def test_kill_9_during_writes_leaves_old_or_new(project: Path):
    chance = random.Random(7)
    first = ServerProcess(project, "--no-host")
    with first.client() as client:
        assert client.put(APP, json={"spec": SPEC}).status_code == 200
    server, known = first, 0
    for _ in range(much(3)):
        answered = [known]
        timer = threading.Timer(chance.uniform(0.05, 0.5), server.kill)
        timer.start()
        _write_until_it_dies(server, answered)
        timer.join()
        server = ServerProcess(project, "--no-host")
        with server.client() as client:
            known = client.get(f"{SCHEDULES}/daily").json().get("args", {"n": 0})["n"]
        # The write that was not answered was kept whole or not at all.
        assert known in (answered[-1], answered[-1] + 1)
        _check_store(project, known)
    server.kill()


def _write_until_it_dies(server: ServerProcess, answered: list[int]) -> None:
    with server.client() as client:
        while True:
            wanted = answered[-1] + 1
            try:
                answer = client.post(f"{SCHEDULES}/daily/update", json={"args": {"n": wanted}})
            except httpx.TransportError:
                return
            assert answer.status_code == 200, answer.text
            answered.append(wanted)


def _check_store(project: Path, number: int) -> None:
    store = open_store(f"sqlite:///{project / '.tidegate' / 'store.db'}")
    try:
        with store.reading() as reader:
            (state,) = reader.schedules(refs=["sales/daily"])
    finally:
        store.close()
    assert state.spec.args == state.spec.written.get("args", {})
    assert state.spec.args.get("n", 0) == number
    assert state.spec.written["trigger"] == DAILY["trigger"]
