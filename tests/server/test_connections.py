"""Connections that never finish their header: they end, and the callers beside them are answered."""

import resource
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.server.process import ServerProcess
from tidegate.server import connections

pytestmark = pytest.mark.store  # a process of its own

DESCRIPTORS = 256
HALF_OPEN = 300
FEW_SECONDS = 1.0

SERVE = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS}, {DESCRIPTORS}))
from tidegate.server import body, connections
connections.HEADER_SECONDS = body.BODY_SECONDS = connections.SEND_SECONDS = {FEW_SECONDS}
from tidegate.cli.main import main
main()
"""
"""A server whose limits are low, on a machine that lets it open few descriptors."""


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    project = tmp_path_factory.mktemp("half open")
    (project / "tidegate.toml").write_text('[project]\nname = "p"\n')
    (project / "schedules").mkdir()
    found = ServerProcess(project, "--no-host", program=("-c", SERVE))
    yield found
    if found.process.poll() is None:
        found.kill()


def connect(process: ServerProcess, sent: bytes) -> socket.socket:
    host, port = process.address.removeprefix("http://").split(":")
    opened = socket.create_connection((host, int(port)), timeout=30)
    opened.sendall(sent)
    return opened


def test_hundreds_of_half_open_connections_do_not_end_the_server(process: ServerProcess) -> None:
    opened = [connect(process, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n") for _ in range(HALF_OPEN)]
    with process.client() as client:
        assert client.get("/healthz").status_code == 200
    assert all(each.recv(100) == b"" for each in opened[-10:]), "each ends when its header does not come"
    for each in opened:
        each.close()
    with process.client() as client:
        assert client.get("/v3/namespaces/default/apps").status_code == 200, "the store has its descriptors"


def test_a_header_that_comes_byte_by_byte_ends(process: ServerProcess) -> None:
    with connect(process, b"GET / HTTP/1.1\r\nX: ") as slow:
        began = time.monotonic()
        try:
            while time.monotonic() - began < 30:
                slow.sendall(b"x")
                time.sleep(FEW_SECONDS / 10)
        except OSError:
            return
    raise AssertionError("it goes on")


def test_a_header_without_an_end_is_refused(process: ServerProcess) -> None:
    """Within its time, a caller without a token could send hundreds of megabytes."""
    line, sent = b"X: " + b"x" * 1_000 + b"\r\n", 0
    with connect(process, b"GET / HTTP/1.1\r\nHost: localhost\r\n") as flood:
        try:
            while sent < 50 * connections.HEADER_BYTES_MAX:
                flood.sendall(line)
                sent += len(line)
        except OSError:
            return
        answer = flood.recv(1000)
    assert answer.startswith(b"HTTP/1.1 431 ")


def test_a_caller_that_reads_no_answer_is_ended(process: ServerProcess) -> None:
    """It asks for more than the buffers on the way hold, and no header of it is waited for."""
    host, port = process.address.removeprefix("http://").split(":")
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        deaf.connect((host, int(port)))
        deaf.settimeout(FEW_SECONDS / 2)
        with suppress(OSError):
            while True:
                deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        ended = select.poll()
        ended.register(deaf, select.POLLHUP | select.POLLERR)
        assert ended.poll(30_000)
    with process.client() as client:
        assert client.get("/healthz").status_code == 200


def test_a_body_that_is_not_read_does_not_hide_its_answer(process: ServerProcess) -> None:
    with process.client() as client:
        content = b"x" * 3_000_000
        assert client.post("/nothing-is-here", content=content).status_code == 404


def test_a_connection_is_kept_for_further_requests(process: ServerProcess) -> None:
    with connect(process, b"") as kept:
        for _ in range(2):
            kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            # Header and body may come one after the other.
            while not answer.endswith(b"}") and (part := kept.recv(1000)):
                answer += part
            assert answer.startswith(b"HTTP/1.1 200 OK")
            time.sleep(FEW_SECONDS / 2)
        kept.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert kept.recv(1000) == b""


def test_a_body_that_does_not_come_is_answered(process: ServerProcess) -> None:
    line = b"POST /v3/namespaces/default/gauges/cpu HTTP/1.1\r\nHost: localhost\r\n"
    header = b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    with connect(process, line + header) as slow:
        answer = slow.recv(1000)
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_the_limit_of_descriptors_is_raised_and_connections_stay_below_it() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard}));"
        "from tidegate.server.connections import raise_descriptor_limit as limit;"
        "print(limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    most, raised, _ = map(int, said.split())
    assert raised == min(connections.DESCRIPTORS_WANTED, hard)
    assert most <= raised // 2
