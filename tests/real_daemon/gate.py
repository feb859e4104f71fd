"""The gate of a dispatcher: the test says when the daemon's next evaluation works, and at which instant.

    the test                                    the code server, inside an evaluation of the daemon
    write the order ─────────────────────────►  waits for it; without one the evaluation skips
    waits for the receipt ◄───────────────────  works, and writes the receipt

The daemon evaluates as always, and an evaluation without an order has no effect. So a test neither races with
the daemon nor waits for its interval. Each case has a folder with both files.
"""

import os
import select
import time
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from tidegate.domain.value import Value

PIPE_BYTES = 4096
MOMENT_SECONDS = 2
HOLD_SECONDS = 20
"""How long an evaluation waits for an order; a sensor's evaluation may take 60 s."""

CLOSED = "closed"
"""A file beside the cases: while it exists, no evaluation waits or works."""

T = TypeVar("T")


class Order(Value, kw_only=True):
    """One tick that the test asks for.

    Attributes:
        serial: the number of the order, from 1.
        now: what the clock of the product says during the tick.
        lost: the tick dies after its work, before the daemon has its requests.
        failing: of each schedule ("app/name") how many launches must have failed by now.
    """

    serial: int
    now: datetime
    lost: bool = False
    failing: dict[str, int] = {}


class Receipt(Value, kw_only=True):
    """The tick of Dagster in which an order was carried out."""

    serial: int
    tick: int


class Bell:
    """A named pipe that wakes the other process; what it is about is in the files.

    Both sides keep it open in both directions: so no opening blocks, and no ring is lost.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def ring(self) -> None:
        """Wake who waits, now or later."""
        os.write(self._pipe, b".")

    def dispose(self) -> None:
        """Close the pipe."""
        os.close(self._pipe)

    def wait(self, seconds: float) -> None:
        """Return at the next ring, or after a time."""
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        if poll.poll(seconds * 1000):
            os.read(self._pipe, PIPE_BYTES)


class Gate:
    """The gate of one case."""

    def __init__(self, folder: Path) -> None:
        self._order = folder / "order.json"
        self._receipt = folder / "receipt.json"
        self._closed = folder.parent / CLOSED
        self._ordered = Bell(folder / "ordered")
        self._done = Bell(folder / "done")

    def order(self, order: Order) -> None:
        """Let the next evaluation work."""
        _write(self._order, order)
        self._ordered.ring()

    def wake(self) -> None:
        """Let a waiting evaluation look again, for example whether the gates are closed."""
        self._ordered.ring()

    def dispose(self) -> None:
        """Close the pipes."""
        self._ordered.dispose()
        self._done.dispose()

    def receipt(self, serial: int) -> Receipt | None:
        """Return the receipt of an order, once it was carried out; wait for it for a moment."""
        self._done.wait(MOMENT_SECONDS)
        found = _read(self._receipt, Receipt)
        return found if found is not None and found.serial == serial else None

    def wait(self) -> Order | None:
        """Return the order that is to be carried out; None if none comes."""
        deadline = time.monotonic() + HOLD_SECONDS
        while not self._closed.exists():
            order, done = _read(self._order, Order), _read(self._receipt, Receipt)
            if order is not None and (done is None or done.serial < order.serial):
                return order
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._ordered.wait(left)
        return None

    def done(self, order: Order, tick: int) -> None:
        """Confirm that an order was carried out in a tick of Dagster."""
        _write(self._receipt, Receipt(serial=order.serial, tick=tick))
        self._done.ring()


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None


def _write(path: Path, value: Value) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.encode(value))
    fresh.replace(path)
