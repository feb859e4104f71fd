"""Connections that say nothing or too much: how long the server waits, and how many connections it holds.

    connected ─► header within `HEADER_SECONDS` ─► request ─► answer ─► next header …
        │         and `HEADER_BYTES_MAX`                       └── read within `SEND_SECONDS`
        └── more than the server holds: the one goes that has waited for its header for the longest time

A caller needs no token to open a connection. Without these limits a few hundred of them that never finish
their header, or never read what they asked for, use up the descriptors of the process, and with them its
store. The body of a request has a limit of its own (`server.body`).
"""

import asyncio
import resource
from collections.abc import Iterator
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0
"""From the connection, or from the first byte of a further request, to the end of the header."""

HEADER_BYTES_MAX = 65_536
"""A token, the cookies of a browser and the longest query are a tenth of it."""

SEND_SECONDS = 30.0
"""How long a caller may leave an answer unread that does not fit into the buffers on its way."""

CONNECTIONS_MAX = 1_000
"""More than the callers of a project ever have open; each costs a descriptor."""

DESCRIPTORS_WANTED = 8_192
"""For connections, the databases, and the files of processes that the server starts."""

BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

TOO_LONG = BUSY.replace(b"503 Service Unavailable\r\nRetry-After: 5", b"431 Request Header Fields Too Large")

OF_CONNECTION = "of_connection"
"""In the state of a request: a dictionary that all requests of one connection have in common."""

# The class is chosen at run time: with httptools, or with h11.
_Protocol = cast(type[Any], AutoHTTPProtocol)


def raise_descriptor_limit() -> int:
    """Let this process open as many descriptors as it may, at most `DESCRIPTORS_WANTED` of them.

    Returns:
        How many connections the server may hold.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS_WANTED if hard == resource.RLIM_INFINITY else min(DESCRIPTORS_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return CONNECTIONS_MAX if soft == resource.RLIM_INFINITY else max(1, min(CONNECTIONS_MAX, soft // 2))


def limited_protocol(most: int) -> type[asyncio.Protocol]:
    """Return the protocol of the connections of one server.

    Args:
        most: how many of them it holds at once.
    """
    return cast(type[asyncio.Protocol], type("Limited", (LimitedProtocol,), {"most": most}))


class LimitedProtocol(_Protocol):
    """A connection whose header has to come in time.

    Attributes:
        most: how many connections the server holds.
        waiting_since: when it began to wait for a header, by the clock of the loop; None while it does not.
    """

    most = CONNECTIONS_MAX
    waiting_since: float | None = None
    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, OF_CONNECTION: {}}
        if len(self.connections) > self.most and not self._make_room():
            transport.write(BUSY)
            transport.close()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self.waiting_since is None and not self._is_at_work():
            self._wait()
        super().data_received(data)
        if self._is_at_work():
            self._wait_no_more()
        elif not self._is_in_body():
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_BYTES_MAX:
                self.transport.write(TOO_LONG)
                self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(SEND_SECONDS, self.end)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def _is_at_work(self) -> bool:
        """Return whether a header has come whose request is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _is_in_body(self) -> bool:
        """Return whether the rest of a body comes, perhaps after its answer."""
        return self.cycle is not None and self.cycle.more_body

    def _wait(self) -> None:
        self.waiting_since = self.loop.time()
        self._header_bytes = 0
        self._timer = self.loop.call_later(HEADER_SECONDS, self.end)

    def _wait_no_more(self) -> None:
        self.waiting_since = None
        if self._timer is not None:
            self._timer.cancel()

    def end(self) -> None:
        """End the connection at once."""
        self._wait_no_more()
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> bool:
        """End the connection that has waited for its header for the longest time; return whether one has."""
        waiting = min(self._waiting(), key=lambda other: other.waiting_since or 0.0, default=None)
        if waiting is not None:
            waiting.end()
        return waiting is not None

    def _waiting(self) -> "Iterator[LimitedProtocol]":
        return (other for other in self.connections if getattr(other, "waiting_since", None) is not None)
