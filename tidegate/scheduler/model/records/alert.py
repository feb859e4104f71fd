"""Alerts: what people hear of, as values: happenings, incidents, and the alerts in the outbox.

    entry of the journal ─► happening ─► incident of its subject ─► message ─► an alert for each channel

An incident joins what has one cause: a schedule that fails again and again with one error is one, and seven
errors are seven. An alert is a message to one channel; it is stored before it is sent, so a crash sends it
again and loses none.
"""

import hashlib
import json
import re
from datetime import datetime, timedelta
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind

ID_DIGITS = 16
KEYS_NAMED = 10
"""So many keys are in a message; of the others their number."""

_VARYING = re.compile(r"\b(?:0x)?(?=[0-9a-f]*[0-9])[0-9a-f]+\b|\b[0-9a-f]{8,}\b|[0-9]+", re.IGNORECASE)
"""Numbers and hexadecimal words: what differs from one occurrence of an error to the next."""

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
        windows: of the channels that have one of their own.
        default: the channels of each kind where neither schedule nor app names any.
        environment: whose alerts they are; "" without one.
        board, ui: addresses of the board and of Dagster's UI, without a slash at their ends; "" if not known.
    """

    window: timedelta = timedelta(hours=1)
    windows: dict[str, timedelta] = {}
    default: dict[str, tuple[str, ...]] = {}
    environment: str = ""
    board: str = ""
    ui: str = ""

    def window_of(self, channel: str) -> timedelta:
        """Return the window of a channel."""
        return self.windows.get(channel, self.window)


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

    @property
    def like(self) -> str:
        """What one error has in common with its next occurrences; "" of lateness, which has none."""
        if self.kind is AlertKind.LATE:
            return ""
        return " ".join(_VARYING.sub("", self.text.partition("\n")[0]).split())


class Incident(Value, kw_only=True):
    """Trouble of one kind that one subject has, with one error, as the channels of one window hear of it.

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
        keys: those that are not well, the first ones; empty where one alone is, or none has a key.
        more_keys: the number of the others.
        environment: of the project; "" without one.
        run_url, board_url: the pages of the run and of the job; "" if they are not known.
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
    keys: tuple[str, ...] = ()
    more_keys: int = 0
    environment: str = ""
    run_url: str = ""
    board_url: str = ""


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


def incident_id(project: str, happening: Happening, window: timedelta) -> str:
    """Return the id of the incident that a happening belongs to.

    Args:
        window: of the channels that hear of it.
    """
    return _digest(
        project,
        happening.kind,
        happening.subject,
        "data" if happening.data else "",
        happening.like,
        str(window.total_seconds()),
    )


def alert_id(incident: Incident, kind: AlertKind, channel: str) -> str:
    """Return the id of an alert on an incident: the same when the same is collected again."""
    return _digest(incident.id, incident.opened_at.isoformat(), str(incident.count), kind, channel)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:ID_DIGITS]


INCIDENTS = Kind(name="incidents", value=Incident, key=("id",), by=("project",))
ALERTS = Kind(name="alerts", value=Alert, key=("id",), by=("project",), due="next_at")
