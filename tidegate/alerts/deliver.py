"""Deliver: send what is due, one alert after the other, outside of any transaction."""

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock, Thread

from tidegate.alerts.calls import Calls
from tidegate.alerts.channel import Channel, NotSent
from tidegate.alerts.texts import plain
from tidegate.scheduler.alerts.outbox import mark_failed, mark_sent, take
from tidegate.scheduler.model.records.alert import Alert
from tidegate.scheduler.store.upkeep import UpkeepStore

ALERTS_PER_PASS = 50
"""Alerts that one pass sends."""


def deliver(
    store: UpkeepStore,
    project: str,
    channels: Mapping[str, Channel],
    clock: Callable[[], datetime],
    calls: Calls | None = None,
) -> int:
    """Send the alerts of a project that are due, and return how many were sent.

    Args:
        calls: of this process, from one pass to the next.
    """
    sent, calls = 0, calls or Calls()
    for _ in range(ALERTS_PER_PASS):
        alert = take(store, project, clock())
        if alert is None:
            break
        error = _error_of(calls, channels, alert)
        if error is None:
            mark_sent(store, alert, clock())
            sent += 1
        else:
            mark_failed(store, alert, error, clock())
    return sent


def _error_of(calls: Calls, channels: Mapping[str, Channel], alert: Alert) -> str | None:
    """Send an alert; return why it could not be sent, or None."""
    channel = channels.get(alert.channel)
    if channel is None:
        return f"tidegate.toml has no channel {alert.channel}; write [alerts.channels.{alert.channel}]"
    try:
        calls.send(alert.channel, channel, alert)
    except NotSent as error:
        return error.message
    except Exception as error:  # noqa: BLE001 -- a bug in one channel must not stop the others
        return plain(f"{type(error).__name__}: {error}")
    return None


class Delivery:
    """Delivers in a thread of its own, one at a time in a process: a slow channel delays no tick.

    The thread ends with the process. What it was sending is sent again.
    """

    def __init__(self) -> None:
        self.calls = Calls()
        self._turn = Lock()

    def start(self, work: Callable[[], object], log: Callable[[str], None]) -> None:
        """Start the work, unless it goes on from before."""
        if self._turn.acquire(blocking=False):
            Thread(target=self._work, args=(work, log), daemon=True, name="alerts").start()

    def _work(self, work: Callable[[], object], log: Callable[[str], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 -- the next pass tries again
            log(f"alerts were not sent: {type(error).__name__}: {error}")
        finally:
            self._turn.release()
