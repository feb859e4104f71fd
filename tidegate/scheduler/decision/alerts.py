"""Alerts: when people hear of an incident, and what.

    first happening            ──► an alert at once; then a quiet window begins
    further ones in the window ──► counted; one alert with the count when the window ends
    the last open cause is well ──► `recovered`, if an alert was made since the last one

A schedule that fails and recovers in turns within a window is counted as well: its window stays until it
ends. Pure.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from tidegate.scheduler.model.records.alert import (
    KEYS_NAMED,
    AlertKind,
    Happening,
    Incident,
    Message,
    incident_id,
)

OPEN_MAX = 1_000
"""Open causes that an incident remembers, the newest: a backlog of keys that never become well is bounded."""


class Said(NamedTuple):
    """An incident after something happened, and the message that people get of it, if any.

    Attributes:
        incident: None once nothing of it needs to be remembered.
    """

    incident: Incident | None
    message: Message | None


def troubled(before: Incident | None, happening: Happening, project: str, window: timedelta) -> Said:
    """Return what becomes of an incident when it happens for the first time, or again."""
    incident = before or Incident(
        id=incident_id(project, happening, window),
        project=project,
        kind=happening.kind,
        subject=happening.subject,
        opened_at=happening.at,
        last=happening,
        quiet_until=happening.at,
    )
    causes = (*(cause for cause in incident.open if cause != happening.cause), happening.cause)
    counted = msgspec.structs.replace(
        incident, count=incident.count + 1, last=happening, open=causes[-OPEN_MAX:]
    )
    if before is not None and happening.at < before.quiet_until:
        return Said(counted, None)
    return _said(counted, happening.at, window)


def well(incident: Incident, cause: str, at: datetime) -> Said:
    """Return what becomes of an incident when one of its causes is over."""
    if cause not in incident.open:
        return Said(incident, None)
    left = msgspec.structs.replace(incident, open=tuple(each for each in incident.open if each != cause))
    if left.open or not left.alarmed:
        return Said(left, None)
    over = msgspec.structs.replace(_message(left), kind=AlertKind.RECOVERED, at=at, recovered_from=left.kind)
    return Said(msgspec.structs.replace(left, alarmed=False), over)


def window_over(incident: Incident, now: datetime, window: timedelta) -> Said:
    """Return what becomes of an incident whose window is over."""
    if incident.count > incident.said:
        return _said(incident, now, window)
    return Said(incident if incident.open else None, None)


def is_owed(incident: Incident) -> bool:
    """Return whether something has to be done when its window ends."""
    return incident.count > incident.said or not incident.open


def _said(incident: Incident, at: datetime, window: timedelta) -> Said:
    after = msgspec.structs.replace(
        incident, said=incident.count, alarmed=bool(incident.open), quiet_until=at + window
    )
    return Said(after, _message(incident))


def _message(incident: Incident) -> Message:
    last = incident.last
    keys = tuple(cause for cause in incident.open if cause) if len(incident.open) > 1 else ()
    return Message(
        kind=incident.kind,
        project=incident.project,
        subject=incident.subject,
        key=last.key,
        job=last.job,
        run=last.run,
        reason=last.reason,
        text=last.text,
        at=last.at,
        since=incident.opened_at,
        count=incident.count,
        data=last.data,
        keys=keys[:KEYS_NAMED],
        more_keys=len(keys[KEYS_NAMED:]),
    )
