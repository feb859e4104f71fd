"""The host of a server: it ticks and launches what was deployed over REST, and ends with the server."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from tests.server.process import ServerProcess
from tests.server.sales import APP, SCHEDULES
from tidegate.launcher.client import stop_servers
from tidegate.processes.home import site_of
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.dagster

SOON_SECONDS = 240.0
"""On a busy machine, where Dagster is loaded twice."""

SPEC: dict[str, Any] = {
    "app": "sales",
    "programs": {"report": {"run": "programs.report.run"}},
    "schedules": {"daily": {"program": "report", "trigger": {"cron": "0 6 * * *"}}},
}


def until(met: Callable[[], bool], what: str) -> None:
    deadline = monotonic() + SOON_SECONDS
    while not met():
        assert monotonic() < deadline, what
        sleep(0.5)


def test_a_program_that_was_deployed_over_rest_is_launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("DAGSTER_HOME", "TIDEGATE_PROJECT", "TIDEGATE_STORE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tidegate.toml").write_text("")
    (tmp_path / "schedules").mkdir()
    server = ServerProcess(tmp_path)
    store = open_store(f"sqlite:///{tmp_path / '.tidegate' / 'store.db'}", create=False)

    def asked(question: Callable[[EngineReader], Any]) -> Any:
        with store.reading() as reader:
            return question(reader)

    try:
        with server.client() as client:
            until(lambda: client.get("/readyz").status_code == httpx.codes.OK, "nothing ticks")
            assert client.put(APP, json={"spec": SPEC}).status_code == httpx.codes.OK
            job = client.post(f"{SCHEDULES}/daily/trigger").json()["job"]
            until(lambda: asked(lambda reader: reader.jobs(ids=[job]))[0].run_id is not None, "no run")
        assert server.end() == 0
        assert "host: is active" in server.output()
        lease = asked(lambda reader: reader.cursor(f"host:{tmp_path.name}"))
        assert lease is None
    finally:
        store.close()
        if server.process.poll() is None:
            server.kill()
        # It outlives its host, for the next run.
        stop_servers(site_of(load_settings(tmp_path), None).home, tmp_path)
