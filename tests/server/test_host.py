"""The host of a server is a process of its own: started again when it ends, and ended with the server."""

import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.server.process import ServerProcess
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.launch.active_host import ActiveHost, active_host
from tidegate.scheduler.store.open import open_store
from tidegate.spark_jobs.commit.process import is_gone

pytestmark = pytest.mark.dagster

WAIT_SECONDS = 120
SERVE = """
from tidegate.server import host
host.AGAIN_SECONDS = 0.5
from tidegate.cli.main import main
main()
"""


def until(seen: Callable[[], ActiveHost | bool | None], what: str) -> ActiveHost | bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := seen()):
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
    return found


def test_a_host_that_is_killed_is_started_again_and_one_whose_server_is_killed_ends(tmp_path: Path) -> None:
    (tmp_path / "tidegate.toml").write_text('[project]\nname = "p"\n')
    (tmp_path / "schedules").mkdir()
    server = ServerProcess(tmp_path, program=("-c", SERVE))
    store = open_store(load_settings(tmp_path).store_url)

    def host() -> ActiveHost | None:
        with store.reading() as reader:
            return active_host(reader, "p", datetime.now(UTC))

    try:
        first = until(host, "a host is active")
        assert isinstance(first, ActiveHost)
        pid = int(first.process.split("/")[1])
        assert pid != server.process.pid
        os.kill(pid, signal.SIGKILL)
        with server.client() as client:
            assert client.get("/healthz").status_code == 200
        second = until(
            lambda: (found := host()) and found.process != first.process and found, "another one is active"
        )
        assert isinstance(second, ActiveHost)
    finally:
        server.kill()
        store.close()
    until(lambda: is_gone(second.process), "it ends with its server")
    assert "host: its process ended with -9" in server.output()
