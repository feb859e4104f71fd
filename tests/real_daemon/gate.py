"""The gate of a dispatcher: the test says when the daemon's next evaluation works, and at which instant.

    the test                                    the code server, inside an evaluation of the daemon
    write the order ─────────────────────────►  waits for it; without one the evaluation skips
    waits for the receipt ◄───────────────────  works, and writes the receipt

The daemon evaluates as always, and an evaluation without an order has no effect. So a test neither races with
the daemon nor waits for its interval. Each case has a folder with both files.
"""

import os
import time
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from tidegate.domain.value import Value

POLL_SECONDS = 0.05
HOLD_SECONDS = 40
"""How long an evaluation waits for an order; a sensor's evaluation may take 60 s."""

CLOSED = "closed"
"""A file beside the cases: no evaluation waits any more, since the processes are to end."""

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


class Gate:
    """The gate of one case."""

    def __init__(self, folder: Path) -> None:
        self._order = folder / "order.json"
        self._receipt = folder / "receipt.json"
        self._closed = folder.parent / CLOSED

    def order(self, order: Order) -> None:
        """Let the next evaluation work."""
        _write(self._order, order)

    def receipt(self, serial: int) -> Receipt | None:
        """Return the receipt of an order, once it was carried out."""
        found = _read(self._receipt, Receipt)
        return found if found is not None and found.serial == serial else None

    def wait(self) -> Order | None:
        """Return the order that is to be carried out; None if none comes."""
        deadline = time.monotonic() + HOLD_SECONDS
        while time.monotonic() < deadline and not self._closed.exists():
            order, done = _read(self._order, Order), _read(self._receipt, Receipt)
            if order is not None and (done is None or done.serial < order.serial):
                return order
            time.sleep(POLL_SECONDS)
        return None

    def done(self, order: Order, tick: int) -> None:
        """Confirm that an order was carried out in a tick of Dagster."""
        _write(self._receipt, Receipt(serial=order.serial, tick=tick))


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None


def _write(path: Path, value: Value) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.encode(value))
    os.replace(fresh, path)
