"""Apprise: any of the services that the package of this name knows, by the address of one.

The address has the secrets of the service, so it comes from a variable and is in no error. The package is an
extra (`tidegate[apprise]`), imported when an alert is sent. What it logs of a failure may name the address,
so it is kept from the logs.
"""

import logging
from importlib import import_module
from typing import Any

from tidegate.alerts.channel import Apprise, NotSent, secret
from tidegate.alerts.texts import body, title
from tidegate.scheduler.model.records.alert import Alert, AlertKind


def send_apprise(channel: Apprise, alert: Alert) -> None:
    """Send an alert.

    Raises:
        NotSent: the package is not installed, does not know the address, or the service has not accepted it.
    """
    try:
        apprise: Any = import_module("apprise")
    except ModuleNotFoundError:
        raise NotSent(
            "the package apprise is not installed", 'run `pip install "tidegate[apprise]"`'
        ) from None
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    service = apprise.Apprise()
    if not service.add(secret(channel.url_env)):
        raise NotSent("apprise does not know the address", f"correct the variable {channel.url_env}")
    message = alert.message
    kinds = apprise.NotifyType
    accepted = service.notify(
        title=title(message),
        body="\n".join(body(message)),
        notify_type=kinds.SUCCESS if message.kind is AlertKind.RECOVERED else kinds.FAILURE,
    )
    if not accepted:
        raise NotSent("the service has not accepted the message", "see its log")
