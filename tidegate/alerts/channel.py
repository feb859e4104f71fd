"""Channels: where alerts go, as the settings say (`[alerts.channels.NAME]`).

Secrets are references: a setting that ends in `_env` names an environment variable, which is read when an
alert is sent. So none is in the settings, the store or a message.
"""

import os
from typing import Literal

from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.domain.variables import shown_variable
from tidegate.scheduler.model.records.alert import AlertRules

Format = Literal["json", "slack", "teams"]
Tls = Literal["starttls", "tls", "none"]


class Webhook(Value, kw_only=True, tag_field="kind", tag="webhook"):
    """A URL that gets a POST.

    Attributes:
        format: of the body.
        url, url_env: the address, or the variable that has it; one of them.
        token_env: the variable that has a bearer token; "" for none.
    """

    format: Format = "json"
    url: str = ""
    url_env: str = ""
    token_env: str = ""


class Mail(Value, kw_only=True, tag_field="kind", tag="mail"):
    """A mail server that takes messages over SMTP.

    Attributes:
        tls: `starttls` upgrades the connection, `tls` begins with TLS, `none` sends in clear.
        user, password_env: to sign in; "" for none.
        sender: the address that mails are from.
    """

    host: str
    port: int = 587
    tls: Tls = "starttls"
    user: str = ""
    password_env: str = ""
    sender: str
    to: tuple[str, ...]


class Command(Value, kw_only=True, tag_field="kind", tag="command"):
    """A program that is started without a shell; it gets the alert as JSON on its standard input.

    Attributes:
        command: the program and its arguments; `{NAME}` in an argument becomes a member of the alert.
    """

    command: tuple[str, ...]


class Apprise(Value, kw_only=True, tag_field="kind", tag="apprise"):
    """Any other service, by Apprise, which is an extra of this package.

    Attributes:
        url_env: the variable that has the address of the service, with its secrets, as Apprise writes it.
    """

    url_env: str


Channel = Webhook | Mail | Command | Apprise


class Alerting(Value, kw_only=True):
    """What a project's settings say of alerts.

    Attributes:
        channels: by name.
    """

    rules: AlertRules = AlertRules()
    channels: dict[str, Channel] = {}


class NotSent(UserError):
    """An alert could not be sent; the message says why, without secrets."""


def secret(variable: str) -> str:
    """Return the value of an environment variable.

    Raises:
        NotSent: it is not set.
    """
    value = os.environ.get(variable, "")
    if not value:
        raise NotSent(
            f"the environment variable {shown_variable(variable)} is not set",
            "set it for the host, or for Dagster's code server without a host",
        )
    return value
