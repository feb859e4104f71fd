"""Mail: a message over SMTP.

Python's `EmailMessage` encodes headers and body and refuses line ends in headers, and the texts have none.
The `Message-ID` is made from the alert, so a mail that was sent twice is shown once by many readers.
"""

import smtplib
import ssl
from email.message import EmailMessage
from email.policy import SMTP

from tidegate.alerts.channel import Mail, NotSent, secret
from tidegate.alerts.texts import body, plain, title
from tidegate.scheduler.model.records.alert import Alert

SECONDS = 10
"""For each answer of the server."""


def send_mail(channel: Mail, alert: Alert) -> None:
    """Send an alert.

    Raises:
        NotSent: the server cannot be reached, or has not accepted it for all receivers.
    """
    try:
        with _connected(channel) as server:
            if channel.user:
                server.login(channel.user, secret(channel.password_env))
            refused = server.send_message(mail_of(channel, alert), channel.sender, list(channel.to))
    except (smtplib.SMTPException, OSError) as error:
        raise NotSent(
            f"the mail server refuses or cannot be reached: {_said(error)}", "see its log"
        ) from None
    if refused:
        raise NotSent(f"the mail server refuses {plain(', '.join(refused))}", "correct `to` in the settings")


def mail_of(channel: Mail, alert: Alert) -> EmailMessage:
    """Return the mail of an alert."""
    mail = EmailMessage(policy=SMTP)
    mail["From"] = channel.sender
    mail["To"] = ", ".join(channel.to)
    mail["Subject"] = f"[tidegate] {title(alert.message)}"
    mail["Message-ID"] = f"<{alert.id}@tidegate>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content("\n".join([title(alert.message), "", *body(alert.message), ""]))
    return mail


def _connected(channel: Mail) -> smtplib.SMTP:
    if channel.tls == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(channel.host, channel.port, timeout=SECONDS, context=context)
    server = smtplib.SMTP(channel.host, channel.port, timeout=SECONDS)
    if channel.tls == "starttls":
        server.starttls(context=ssl.create_default_context())
    return server


def _said(error: Exception) -> str:
    """Return what a server said, without what was sent to it."""
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        return plain(
            f"{error.smtp_code} {said.decode(errors='replace') if isinstance(said, bytes) else said}"
        )
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return plain(f"no receiver is accepted: {', '.join(error.recipients)}")
    return plain(f"{type(error).__name__}: {error}")
