"""*Alerts*: what was sent to people, what waits, and what was abandoned."""

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Action, Column, Filter, Instant, Listing


class Message(Value, kw_only=True):
    """What an alert says.

    Attributes:
        kind: failed, dead_letter, late, blocked_commit or recovered.
        project: which sends it.
        subject: "app/schedule"; of a blocked commit and of late data the dataset, "app/dataset".
        key: of the job; "" without one.
        job: which it is about; "" without one.
        run: of that job; "" without one.
        reason: a reason code; "" without one.
        text: one line, such as the first line of an exception.
        at: when it happened last.
        since: when it happened first.
        count: how often it has happened since then.
        owner: of the schedule, as its YAML names it.
        recovered_from: of `recovered`, the kind of trouble that is over.
        data: the subject is a dataset whose data is late.
    """

    kind: str
    project: str
    subject: str
    key: str
    job: str
    run: str
    reason: str
    text: str
    at: Instant
    since: Instant
    count: int
    owner: str
    recovered_from: str | None
    data: bool


class Alert(Value, kw_only=True):
    """A message to one channel.

    Attributes:
        id: it is sent too, so that receivers can drop repeats.
        project: which sends it.
        channel: of tidegate.toml.
        kind: of the message.
        subject: of the message.
        title: what happened, in one line, as receivers see it.
        message: what it says.
        made_at: when it was put into the outbox.
        state: pending, sent, or dead: abandoned.
        tries: how often sending was begun.
        next_at: when it is sent, or sent again; null once it is sent or abandoned.
        error: of the last try; "" for none.
        ended_at: when it was sent or abandoned.
    """

    id: str
    project: str
    channel: str
    kind: str
    subject: str
    title: str
    message: Message
    made_at: Instant
    state: str
    tries: int
    next_at: Instant | None
    error: str
    ended_at: Instant | None

    @property
    def app(self) -> str:
        return app_of(self.subject)

    @property
    def job(self) -> str:
        return self.message.job

    @property
    def text(self) -> str:
        return self.message.text


OUTBOX = "tidegate.scheduler.alerts.outbox"

ALERTS = Listing(
    name="alerts",
    title="Alerts",
    help="List the alerts of the project, the newest first.",
    item=Alert,
    query="tidegate.listings.queries.alerts:list_alerts",
    filters=(
        Filter(
            "state",
            "state",
            "Only alerts in this state; may be repeated.",
            of="tidegate.scheduler.model.records.alert:AlertState",
        ),
        Filter("channel", "text", "Only alerts to this channel of tidegate.toml."),
        Filter("app", "app", "Only alerts on schedules and datasets of this app.", gone=True),
    ),
    columns=(
        Column("id", "id", 1, "alert"),
        Column("made_at", "instant", 1),
        Column("channel", "id", 1),
        Column("title", "text", 1, "what"),
        Column("text", "text", 3),
        Column("job", "job", 3),
        Column("state", "text", 1),
        Column("ended_at", "instant"),
        Column("tries", "number", 1),
        Column("next_at", "instant", 2, "next try"),
        Column("error", "text", 2, "because"),
    ),
    order=("-made_at", "id"),
    actions=(
        Action(
            "retry", f"{OUTBOX}:retry_one", f"{OUTBOX}:check_retry", "Sends it again, at once if it waits."
        ),
    ),
)
