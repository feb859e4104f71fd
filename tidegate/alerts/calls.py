"""Calls: each send has a limit for all of it, whatever the receiver does.

Timeouts of sockets limit each answer; a receiver that sends a byte now and then, or a name that is never
resolved, would hold the thread without end. So a send runs in a thread of its own, which is left behind when
the limit is over. A channel with such a thread gets nothing further until the thread has ended: there is
never more than one for each channel.
"""

from threading import Thread

from tidegate.alerts.apprise import send_apprise
from tidegate.alerts.channel import Apprise, Channel, Command, Mail, NotSent, Webhook
from tidegate.alerts.command import send_command
from tidegate.alerts.mail import send_mail
from tidegate.alerts.webhook import send_webhook
from tidegate.scheduler.model.records.alert import Alert

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
