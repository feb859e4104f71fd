"""Listening: one process that answers on an address until it gets a signal.

store ──► address is bound ──► requests are answered ──► the address is printed, and written to a file
                                       │ SIGTERM, SIGINT, the end of the terminal
                                       └──► open requests end ──► the host ends ──► the store is closed
"""

import signal
import socket
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from tidegate.domain.error import UserError
from tidegate.processes.interrupts import ending_signals
from tidegate.project.settings.settings import Anonymous
from tidegate.server.access import check_start, is_loopback
from tidegate.server.application import create_application
from tidegate.server.connections import limited_protocol, raise_descriptor_limit
from tidegate.server.peer import peer_of, sees_owners
from tidegate.server.service import Service

UNGUARDED: dict[Anonymous, str] = {
    "write": "all reads and writes are allowed, from this machine only",
    "read": "all reads are allowed, from this machine only; `tidegate token create` makes tokens for writes",
    "none": "every call is refused until `tidegate token create` has made one",
}
"""What is allowed without a token, by `[serve] anonymous`."""

OF_ONE_USER = "reads are allowed from this machine only, and writes to the user who runs this server"
"""What `write` means where the users of this machine are known."""

GRACE_SECONDS = 5
"""How long open requests may take at the end."""


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, answers: Callable[[], None]) -> None:
        super().__init__(config)
        self._answers = answers

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """A signal ends the server, also that of a closed terminal; it is not raised again."""
        with super().capture_signals():
            if threading.current_thread() is threading.main_thread():
                for number in ending_signals():
                    signal.signal(number, self.handle_exit)
            yield
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._answers()


def listen(
    service: Service,
    host: str,
    port: int,
    ready_files: Sequence[Path],
    say: Callable[[str], None],
    begun: Callable[[str], None],
) -> None:
    """Answer requests until a signal ends it.

    Args:
        port: 0 for any free one.
        ready_files: get the address once it answers.
        say: prints a line.
        begun: is called with the address once it answers.

    Raises:
        UserError: the address is taken, or others may reach it and there is no token.
    """
    guarded = check_start(service)
    if not guarded and not is_loopback(host):
        raise UserError(
            f"without a token in the store the server listens on this machine only, and {host} is reached"
            " by others",
            "create one with `tidegate token create NAME --role admin`, or leave --host out",
        )
    for file in ready_files:
        file.unlink(missing_ok=True)
    listening = bound(host, port)
    own_port = listening.getsockname()[1]
    address = _address(host, own_port)
    peer = peer_of if sees_owners(own_port) else None
    allowed = UNGUARDED[service.settings.anonymous]
    if peer is not None and service.settings.anonymous == "write":
        allowed = OF_ONE_USER
    config = uvicorn.Config(
        create_application(service, peer),
        log_level="warning",
        access_log=False,
        server_header=False,
        # The client's address decides what is allowed without tokens; a header must not.
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        http=limited_protocol(raise_descriptor_limit()),
    )

    def answers() -> None:
        say(f"serving {address}")
        if not guarded:
            say(f"there is no token in the store: {allowed}")
        for file in ready_files:
            _write(file, address)
        begun(address)

    with listening:
        _Server(config, answers).run([listening])


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Raises:
        UserError: the address is taken, or not of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()
    except OSError as error:
        raise UserError(
            f"{host}:{port} cannot be used: {error.strerror or error}",
            "choose another --host or --port; --port 0 takes a free one",
        ) from error
    return found


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _write(file: Path, address: str) -> None:
    """Write the address whole or not at all: another process waits for the file."""
    draft = file.with_name(f"{file.name}.new")
    draft.write_text(address)
    draft.replace(file)
