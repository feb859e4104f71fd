"""Alerts: what people hear of, as values: happenings, incidents, and the alerts in the outbox.

    entry of the journal ─► happening ─► incident of its subject ─► message ─► an alert for each channel

An incident joins what has one cause: a schedule that fails again and again is one. An alert is a message to
one channel; it is stored before it is sent, so a crash sends it again and loses none.
"""

import hashlib
import json
from datetime import datetime, timedelta
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind

ID_DIGITS = 16
LOST_ROWS = "lost rows: "
"""Begins the text of a `blocked_commit` whose table has lost rows that a watermark has passed."""


class AlertKind(StrEnum):
    """What an alert is about. Each but `recovered` opens an incident, which `recovered` ends."""

    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    LATE = "late"
    BLOCKED_COMMIT = "blocked_commit"
    RECOVERED = "recovered"


class AlertState(StrEnum):
    """The state of an alert in the outbox; `dead`: abandoned after many tries, until a person retries it."""

    PENDING = "pending"
    SENT = "sent"
    DEAD = "dead"


class AlertRules(Value, kw_only=True):
    """What a project's settings say of alerts.

    Attributes:
        window: how long after an alert the same incident is only counted.
        default: the channels of each kind where neither schedule nor app names any.
    """

    window: timedelta = timedelta(hours=1)
    default: dict[str, tuple[str, ...]] = {}


class Happening(Value, kw_only=True):
    """Something that people hear of.

    Attributes:
        kind: not `recovered`.
        subject: "app/schedule"; of a blocked commit and of late data the dataset, "app/dataset".
        cause: what has to become well again: the key of a job, or its id; the id of a commit; a period.
        at: aware, UTC.
        key: of the job; "" without one.
        reason: a reason code; "" without one.
        text: one line for people, such as the first line of an exception.
        data: the subject is a dataset whose data is late; a schedule may have the same name.
    """

    kind: AlertKind
    subject: str
    cause: str
    at: datetime
    key: str = ""
    job: str = ""
    run: str = ""
    reason: str = ""
    text: str = ""
    data: bool = False


class Incident(Value, kw_only=True):
    """Trouble of one kind that one subject has.

    Attributes:
        id: see `incident_id`.
        count: how often it happened.
        said: how often it had happened when the last alert was made.
        alarmed: an alert was made, and none yet that it is well.
        open: causes that are not well; the newest ones.
        last: what happened last.
        quiet_until: no further alert is made before; then one with the count, if it has happened meanwhile.
    """

    id: str
    project: str
    kind: AlertKind
    subject: str
    opened_at: datetime
    count: int = 0
    said: int = 0
    alarmed: bool = False
    open: tuple[str, ...] = ()
    last: Happening
    quiet_until: datetime


class Message(Value, kw_only=True):
    """What an alert says.

    Attributes:
        at: of what happened last.
        since: of what happened first.
        count: how often it has happened since then.
        owner: of the schedule, as its YAML names it.
        recovered_from: of `recovered`, the kind of trouble that is over.
        data: the subject is a dataset whose data is late.
    """

    kind: AlertKind
    project: str
    subject: str
    key: str = ""
    job: str = ""
    run: str = ""
    reason: str = ""
    text: str = ""
    at: datetime
    since: datetime
    count: int = 1
    owner: str = ""
    recovered_from: AlertKind | None = None
    data: bool = False


class Alert(Value, kw_only=True):
    """A message to one channel.

    Attributes:
        id: made from what the message is about and the channel; sent too, so that receivers can drop repeats.
        made_at: when it was put into the outbox.
        tries: how often sending was begun.
        next_at: when it is sent, or sent again; None once it is sent or abandoned.
        error: of the last try.
        ended_at: when it was sent or abandoned.
    """

    id: str
    project: str
    channel: str
    kind: AlertKind
    subject: str
    message: Message
    made_at: datetime
    state: AlertState = AlertState.PENDING
    tries: int = 0
    next_at: datetime | None
    error: str = ""
    ended_at: datetime | None = None


def incident_id(project: str, kind: AlertKind, subject: str, *, data: bool = False) -> str:
    """Return the id of the incident of a subject.

    Args:
        data: the subject is a dataset whose data is late.
    """
    return _digest(project, kind, subject, "data") if data else _digest(project, kind, subject)


def alert_id(incident: Incident, kind: AlertKind, channel: str) -> str:
    """Return the id of an alert on an incident: the same when the same is collected again."""
    return _digest(incident.id, incident.opened_at.isoformat(), str(incident.count), kind, channel)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:ID_DIGITS]


INCIDENTS = Kind(name="incidents", value=Incident, key=("id",), by=("project",))
ALERTS = Kind(name="alerts", value=Alert, key=("id",), by=("project",), due="next_at")
