"""Deliver: send what is due, one alert after the other, outside of any transaction.

Calls: each send has a limit for all of it, whatever the receiver does. Timeouts of sockets limit each
answer; a receiver that sends a byte now and then, or a name that is never resolved, would hold the thread
without end. So a send runs in a thread of its own, which is left behind when the limit is over. A channel
with such a thread gets nothing further until the thread has ended: there is never more than one for each
channel.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock, Thread

from tidegate.alerts.apprise import send_apprise
from tidegate.alerts.channel import Apprise, Channel, Command, Mail, NotSent, Webhook
from tidegate.alerts.command import send_command
from tidegate.alerts.mail import send_mail
from tidegate.alerts.texts import plain
from tidegate.alerts.webhook import send_webhook
from tidegate.scheduler.alerts.outbox import mark_failed, mark_sent, take
from tidegate.scheduler.model.records.alert import Alert
from tidegate.scheduler.store.upkeep import UpkeepStore

SECONDS = 90
"""For one send: more than a command may take, less than the lease of an alert in the outbox."""


class Calls:
    """The sends of a process, one at a time."""

    def __init__(self) -> None:
        self._hanging: dict[str, Thread] = {}

    def send(self, name: str, channel: Channel, alert: Alert) -> None:
        """Send an alert to a channel.

        Raises:
            NotSent: it could not be sent, or has not been by the end of the limit.
        """
        hanging = self._hanging.get(name)
        if hanging is not None and hanging.is_alive():
            raise NotSent(f"an earlier message to {name} is still being sent", "repair the receiver")
        errors: list[Exception] = []
        thread = Thread(target=_keep_error, args=(channel, alert, errors), daemon=True, name=f"to {name}")
        thread.start()
        thread.join(SECONDS)
        if thread.is_alive():
            self._hanging[name] = thread
            raise NotSent(f"the receiver took more than {SECONDS} s", "repair it")
        for error in errors:
            raise error


def _keep_error(channel: Channel, alert: Alert, errors: list[Exception]) -> None:
    try:
        send(channel, alert)
    except Exception as error:  # noqa: BLE001 -- raised again by the thread that waits
        errors.append(error)


def send(channel: Channel, alert: Alert) -> None:
    """Send an alert to a channel.

    Raises:
        NotSent: it could not be sent.
    """
    match channel:
        case Webhook():
            send_webhook(channel, alert)
        case Mail():
            send_mail(channel, alert)
        case Command():
            send_command(channel, alert)
        case Apprise():
            send_apprise(channel, alert)


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
