"""The server as a process: its start and its end, and what it prints in between; one serves all tests."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.process import ServerProcess

pytestmark = [pytest.mark.store, pytest.mark.endurance]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("process")
    (made / "tidegate.toml").write_text("")
    (made / "schedules").mkdir()
    return made


def test_without_a_token_it_listens_on_this_machine_only(project: Path):
    command = [sys.executable, "-m", "tidegate.cli.main", "serve", "--no-host", "--host", "0.0.0.0"]

    refused = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=90, check=False)

    assert refused.returncode == 1
    assert "token create" in refused.stderr


@pytest.fixture(scope="module")
def process(project: Path) -> Iterator[ServerProcess]:
    found = ServerProcess(project, "--no-host")
    yield found
    if found.process.poll() is None:
        found.kill()


def test_it_says_that_it_is_up_but_not_ready_without_a_scheduler(process: ServerProcess):
    with process.client() as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503


def test_a_caller_that_goes_in_the_middle_of_its_body_is_no_failure_of_the_server(process: ServerProcess):
    host, port = process.address.removeprefix("http://").split(":")
    line = "POST /v3/namespaces/default/gauges/cpu HTTP/1.1"
    headers = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 100"

    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{line}\r\n{headers}\r\n\r\n{{".encode())
    with process.client() as client:
        assert client.get("/healthz").status_code == 200


def test_a_token_of_the_command_line_counts_at_once(process: ServerProcess, project: Path):
    command = [sys.executable, "-m", "tidegate.cli.main", "token", "create", "ops", "--role", "read"]
    created = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=90, check=True)
    token = created.stdout.splitlines()[-1]

    with process.client() as client:
        path = "/v3/namespaces/default/apps"
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_it_has_said_where_it_answers_and_nothing_else_and_ends_with_its_terminal(process: ServerProcess):
    assert process.end(signal.SIGHUP) == 0
    first, second = process.output().splitlines()
    assert first == f"serving {process.address}"
    assert "no token" in second
