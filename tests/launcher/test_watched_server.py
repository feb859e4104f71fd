"""`tidegate dev` keeps the code server alive: real processes, of which only the inner one is killed.

By its name it is the last file of this folder: what others have loaded from the code server is lost here.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.launcher.quick import Quick
from tidegate.cli.develop import dev
from tidegate.processes.site import ManagedProcess, ProcessFailed

pytestmark = pytest.mark.dagster

WAIT_SECONDS = 120


def inner(server: ManagedProcess) -> set[int]:
    """The processes that hold the definitions."""
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(parent) == server.pid and state != "Z" and b"grpc" in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
    return found


def test_the_inner_process_is_started_again(
    project: Quick, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "CODE_CHECK_SECONDS", 0)
    server = project.code_server
    (killed,) = inner(server)

    def no_changes(*_: object) -> Iterator[bool]:
        yield False
        os.kill(killed, signal.SIGKILL)
        deadline = time.monotonic() + WAIT_SECONDS
        while not inner(server) - {killed} and time.monotonic() < deadline:
            yield False

    monkeypatch.setattr(dev, "changes", no_changes)
    dev._serve(project.settings, project.processes)

    assert inner(server) - {killed}, "a new process has the definitions"
    assert server.alive
    assert not project.processes.revive_code_server(), "it answers again"
    assert "the code server's process had ended; it was started again" in capsys.readouterr().err


def test_definitions_that_cannot_be_loaded_again_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def revive_code_server(self) -> bool:
            raise ProcessFailed("the code server could not start again: no store")

    dev._revive(Broken())
    assert "error: the code server could not start again: no store" in capsys.readouterr().err
