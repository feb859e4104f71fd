"""Send: one alert, by the kind of its channel."""

from tidegate.alerts.channel import Channel, Command, Mail, Webhook
from tidegate.alerts.command import send_command
from tidegate.alerts.mail import send_mail
from tidegate.alerts.webhook import send_webhook
from tidegate.scheduler.model.records.alert import Alert


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
