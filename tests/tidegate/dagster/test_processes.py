"""Processes: they end with all they have started, and say why they failed. No Dagster is started."""

import os
import select
import signal
import sys
from pathlib import Path

import pytest

from tidegate.processes.code_servers import free_port
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.site import ManagedProcess, ProcessFailed, Site

GONE_SECONDS = 10

WITH_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(project=tmp_path, home=tmp_path / "home", logs=tmp_path / "logs")
    made.prepare()
    return made


def start(site: Site, code: str) -> ManagedProcess:
    return ManagedProcess("worker", [sys.executable, "-c", code], site)


def gone(pid: int, seconds: float = GONE_SECONDS) -> bool:
    """Whether a process ends within seconds: a signal that was sent takes effect a moment later."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([handle], [], [], seconds)
    os.close(handle)
    return bool(ended)


def child_of(process: ManagedProcess) -> int:
    process.wait_until(lambda: process.log.read_text().strip().isdigit(), 20)
    return int(process.log.read_text())


def test_a_process_is_stopped_with_its_children(site: Site) -> None:
    process = start(site, WITH_A_CHILD)
    child = child_of(process)

    process.stop()

    assert not process.alive
    assert gone(child)


def test_a_crash_takes_only_the_process_itself(site: Site) -> None:
    process = start(site, WITH_A_CHILD)
    child = child_of(process)

    process.kill()

    assert not process.alive
    assert not gone(child, 0)
    process.signal_group(signal.SIGKILL)


def test_a_process_that_ends_before_it_is_ready_shows_the_end_of_its_log(site: Site) -> None:
    process = start(site, "print('no such port'); raise SystemExit(3)")

    with pytest.raises(ProcessFailed, match="no such port"):
        process.wait_until(lambda: False, 20)


def test_a_process_that_never_gets_ready_is_told(site: Site) -> None:
    process = start(site, "import time; time.sleep(600)")
    try:
        with pytest.raises(ProcessFailed, match="was not ready after"):
            process.wait_until(lambda: False, 0.1)
    finally:
        process.stop()


def test_leaving_the_context_ends_all_and_tells_who_died(site: Site) -> None:
    with DagsterProcesses(site) as processes:
        living = processes._start("living", [sys.executable, "-c", "import time; time.sleep(600)"])
        assert processes.dead() is None
        dying = processes._start("dying", [sys.executable, "-c", "pass"])
        dying.wait(20)

        assert processes.dead() is dying

    assert not living.alive


def test_it_takes_the_snapshot_of_a_large_location_unless_the_limit_is_set(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_GRPC_MAX_RX_BYTES", "7")
    monkeypatch.delenv("DAGSTER_GRPC_MAX_SEND_BYTES", raising=False)

    environment = site.process_environment()

    assert environment["DAGSTER_GRPC_MAX_RX_BYTES"] == "7"
    assert environment["DAGSTER_GRPC_MAX_SEND_BYTES"] == "1000000000"


def test_its_environment_finds_our_packages_and_the_projects(site: Site) -> None:
    path = site.process_environment()["PYTHONPATH"].split(os.pathsep)

    assert str(Path(__file__).parents[3]) in path
    assert str(site.project) in path


def test_free_ports_differ() -> None:
    assert free_port() != free_port()
