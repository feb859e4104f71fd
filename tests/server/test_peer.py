"""Without a token the user of this machine who writes is known: the kernel says whose a connection is."""

import os
import pwd
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from tests.crashes.processes import in_child
from tests.server.process import ServerProcess
from tests.server.serving import NS, Served, problem, served
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.run import GAUGES
from tidegate.scheduler.store.open import open_store
from tidegate.server.application import create_application
from tidegate.server.connections import OF_CONNECTION
from tidegate.server.peer import Peer, peer_of, sees_owners

pytestmark = [pytest.mark.store, pytest.mark.endurance]

ME = pwd.getpwuid(os.geteuid()).pw_name
STRANGER = 54_321
"""A number that no user has."""

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 {user:5d} 0 {inode} 1 0 100
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 {user:5d} 0 {inode} 1 0 20 4
"""  # fmt: skip
"""A server on 8080 and a client on 50000, as Linux lists them."""


COUNTING = """
from tidegate.server import peer
sockets = peer._sockets

def counted(tables):
    with open("looks", "a") as looks:
        looks.write("x")
    return sockets(tables)

peer._sockets = counted
from tidegate.cli.main import main
main()
"""
"""A server that notes how often it has read the list of all sockets."""


def request(client: tuple[str, int], server: int = 8080) -> Request:
    return Request({"type": "http", "client": client, "server": ("127.0.0.1", server)})


def table(folder: Path, user: int, inode: int = 7) -> tuple[Path, ...]:
    (folder / "tcp").write_text(TABLE.format(user=user, inode=inode))
    return folder / "tcp", folder / "tcp6"


@pytest.mark.parametrize(
    ("user", "inode", "peer"),
    [
        (os.geteuid(), 7, Peer(ME, is_trusted=True)),
        (0, 7, Peer("root", is_trusted=True)),
        (STRANGER, 7, Peer(str(STRANGER), is_trusted=False)),
        # Its process has closed it: the kernel says 0, whatever it was before.
        (0, 0, Peer("", is_trusted=False)),
    ],
)
def test_the_owner_of_the_connection_is_the_caller(tmp_path: Path, user: int, inode: int, peer: Peer):
    assert peer_of(request(("127.0.0.1", 50_000)), table(tmp_path, user, inode)) == peer


@pytest.mark.parametrize("client", [("127.0.0.2", 50_000), ("127.0.0.1", 50_001), ("::1", 50_000)])
def test_another_connection_is_not_taken_for_it(tmp_path: Path, client: tuple[str, int]):
    assert peer_of(request(client), table(tmp_path, os.geteuid())) == Peer("", is_trusted=False)
    assert peer_of(request(("127.0.0.1", 50_000), 8081), table(tmp_path, 0)).is_trusted is False


def test_a_connection_is_looked_up_once(tmp_path: Path):
    """Its port may be that of another user later; the connection is another one then."""
    ours, other = request(("127.0.0.1", 50_000)), request(("127.0.0.1", 50_000))
    ours.scope["state"], other.scope["state"] = {OF_CONNECTION: {}}, {OF_CONNECTION: {}}

    assert not peer_of(ours, (tmp_path / "none",)).is_trusted
    assert peer_of(ours, table(tmp_path, os.geteuid())).is_trusted
    assert peer_of(ours, table(tmp_path, STRANGER)).is_trusted
    assert not peer_of(other, table(tmp_path, STRANGER)).is_trusted


def test_a_list_that_lacks_it_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    full, _ = table(tmp_path, os.geteuid())
    texts = ["  sl\n", full.read_text()]
    monkeypatch.setattr(Path, "read_text", lambda _: texts.pop(0))

    assert peer_of(request(("127.0.0.1", 50_000)), (full,)).is_trusted
    assert texts == []


def test_owners_are_known_where_our_own_socket_is_listed(tmp_path: Path):
    assert sees_owners(8080, table(tmp_path, os.geteuid()))
    assert not sees_owners(50_000, table(tmp_path, os.geteuid())), "that one does not listen"
    assert not sees_owners(8080, table(tmp_path, STRANGER)), "a machine that says nothing useful"
    assert not sees_owners(8080, table(tmp_path, os.geteuid(), inode=0))
    assert not sees_owners(8080, (tmp_path / "none",)), "a machine that has no such list"


@pytest.mark.parametrize(
    ("family", "own", "seen"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::ffff:127.0.0.1", "127.0.0.1"),
    ],
)
def test_real_connections_are_ours(family: int, own: str, seen: str):
    listens = socket.AF_INET6 if seen == "::1" else socket.AF_INET
    with socket.socket(listens) as server, socket.socket(family) as client:
        server.bind((seen, 0))
        server.listen()
        port = server.getsockname()[1]
        assert sees_owners(port)
        client.connect((own, port))
        accepted, (host, of_client, *_) = server.accept()
        with accepted:
            assert peer_of(request((host, of_client), port)) == Peer(ME, is_trusted=True)
            client.close()
            assert peer_of(request((host, of_client), port)).is_trusted is False


@pytest.fixture
def strangers_server(tmp_path: Path, empty_store: Path) -> Iterator[Served]:
    with served(tmp_path, empty=empty_store) as found:
        yield found


def test_another_user_may_read_and_not_write(strangers_server: Served):
    stranger = create_application(strangers_server.service, lambda _: Peer("ann", is_trusted=False))
    client = TestClient(stranger, base_url="http://127.0.0.1:8080", client=("127.0.0.1", 50_000))

    assert client.get(f"{NS}/apps").status_code == 200
    assert client.post(f"{NS}/nextruntime", json=[]).status_code == 200, "it only reads"
    refused = problem(client.post(f"{NS}/gauges/cpu", json={"value": 1}), 401)

    assert "not the user ann: `tidegate token create`" in refused["detail"]
    with strangers_server.store.reading() as reader:
        assert reader.records(GAUGES) == ()


def test_a_server_that_runs_takes_writes_of_its_own_user_only(tmp_path: Path):
    (tmp_path / "tidegate.toml").write_text("")
    (tmp_path / "schedules").mkdir()
    process = ServerProcess(tmp_path, "--no-host", program=("-c", COUNTING))
    gauge = f"{NS}/gauges/cpu"

    def as_stranger() -> None:
        os.setuid(STRANGER)
        with process.client() as client:
            assert client.get(f"{NS}/apps").status_code == 200
            problem(client.post(gauge, json={"value": 9}), 401)

    try:
        with process.client() as client:
            # At the start it looks for its own socket, and then for that of the connection.
            for looks in (2, 2):
                assert client.post(gauge, json={"value": 1, "reason": "calm"}).status_code == 200
                assert (tmp_path / "looks").read_text() == "x" * looks
        if os.geteuid() == 0:
            assert in_child(as_stranger) == 0
    finally:
        process.kill()
    store = open_store(load_settings(tmp_path).store_url)
    with store.reading() as reader:
        noted = [entry.data for entry in reader.journal() if entry.kind is EntryKind.GAUGE]
    store.close()
    assert [(each["by"], each["why"]) for each in noted] == [(f"rest (user {ME})", "calm")] * 2
