"""Alerts as all faces show them, and the list of them."""

import msgspec

from tidegate.alerts.texts import title
from tidegate.listings.alerts import Alert
from tidegate.listings.read import Asked
from tidegate.scheduler.model.records import alert as engine


def public_alert(alert: engine.Alert) -> Alert:
    """Return an alert as all faces show it."""
    facts = {name: getattr(alert, name) for name in alert.__struct_fields__}
    return msgspec.convert({**facts, "title": title(alert.message)}, Alert, from_attributes=True)


def list_alerts(asked: Asked) -> list[Alert]:
    """Return the newest alerts that match.

    A caller who sees one app sees the alerts on that; any other one sees those of the project, also on apps
    that are deployed no longer.
    """
    apps = asked.apps or ()
    found = asked.reader.alerts(
        asked.source.settings.name,
        states=asked.wanted.get("state"),
        channel=asked.wanted.get("channel"),
        app=next(iter(apps)) if len(apps) == 1 else None,
        before=asked.after,
        limit=asked.limit,
    )
    return [public_alert(alert) for alert in found]
