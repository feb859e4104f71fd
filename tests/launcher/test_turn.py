"""One launcher at a time starts a run server, and one that hangs in its turn stops no other."""

import socket
from pathlib import Path

import pytest

from tests.doubles.stopped_process import LOCKS_A_FILE, stopped
from tidegate.launcher import client
from tidegate.launcher.client import LOCK_FILE, LOG_FILE
from tidegate.launcher.protocol import SOCKET, address
from tidegate.scheduler.store.lock_holder import try_lock

pytestmark = pytest.mark.dagster


def test_a_launcher_that_hangs_in_its_turn_loses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TURN_SECONDS", 0.1)
    with stopped(LOCKS_A_FILE, tmp_path / LOCK_FILE) as pid:
        with client._turn(tmp_path) as connection:
            assert connection is None, "it is this launcher's turn"
            with (tmp_path / LOCK_FILE).open("a") as other:
                assert not try_lock(other), "and no other one's"
        said = (tmp_path / LOG_FILE).read_text()
    assert said.startswith(f"process {pid} (") and ", stopped) hung while it started" in said


def test_a_server_that_listens_is_used_whoever_has_the_turn(tmp_path: Path) -> None:
    with stopped(LOCKS_A_FILE, tmp_path / LOCK_FILE), socket.socket(socket.AF_UNIX) as listener:
        with address(tmp_path) as where:
            listener.bind(where)
        listener.listen()
        assert (tmp_path / SOCKET).is_socket()
        with client._turn(tmp_path) as connection:
            assert connection is not None
            connection.close()
    assert not (tmp_path / LOG_FILE).exists()
