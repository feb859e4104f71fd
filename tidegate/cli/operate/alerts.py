"""`tidegate alerts`: list alerts, send them again, and test a channel."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    ReasonOption,
    instant,
    print_json,
    print_line,
    print_table,
)
from tidegate.scheduler.model.records.alert import AlertState

if TYPE_CHECKING:
    from tidegate.scheduler.model.records.alert import Alert
    from tidegate.scheduler.store.listing_reader import ListingReader

DEFAULT_LIMIT = 50

app = typer.Typer(no_args_is_help=True, help="List alerts, send them again, and test channels.")


@app.command("list")
def list_alerts(
    state: Annotated[
        list[AlertState] | None,
        typer.Option(help="Only alerts in this state; may be repeated.", case_sensitive=False),
    ] = None,
    channel: Annotated[str | None, typer.Option(help="Only alerts to this channel.")] = None,
    app: Annotated[
        str | None, typer.Option(help="Only alerts on schedules and datasets of this app.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=NUMBER_MAX, help="Maximum number of alerts, the newest.")
    ] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List the alerts of the project, the newest first."""
    from tidegate.alerts.texts import title
    from tidegate.cli.opened_store import ask_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.names import find_app

    settings = load_settings()

    def find(reader: "ListingReader") -> "tuple[Alert, ...]":
        only = find_app(reader, app)
        return reader.alerts(settings.name, states=state or None, channel=channel, app=only, limit=limit)

    found = ask_store(settings, find, ())
    if format is Format.JSON:
        print_json(found)
        return
    if not found:
        print_line(
            _nothing(has_channels=bool(settings.alerts.channels), filtered=bool(state or channel or app))
        )
        return
    print_table(
        ["alert", "made", "channel", "what", "state", "because"],
        [
            [each.id, instant(each.made_at), each.channel, title(each.message), _state(each), each.error]
            for each in found
        ],
    )


@app.command("test")
def test_channel(
    channel: Annotated[str, typer.Argument(help="The name of a channel of tidegate.toml.")],
) -> None:
    """Send a message to a channel, at once and without the outbox."""
    from tidegate.alerts.deliver import Delivery
    from tidegate.domain.error import UserError
    from tidegate.domain.suggest import did_you_mean
    from tidegate.project.settings.settings import load_settings

    settings = load_settings()
    channels = settings.alerts.channels
    if channel not in channels:
        raise UserError(
            f"tidegate.toml has no channel {channel}", did_you_mean(channel, channels, "channels")
        )
    Delivery().calls.send(channel, channels[channel], _sample(settings.name, channel, datetime.now(UTC)))
    print_line(f"channel {channel} has taken the message")


@app.command("retry")
def retry_alerts(
    alerts: Annotated[list[str] | None, typer.Argument(help="Ids of alerts.")] = None,
    every: Annotated[bool, typer.Option("--all-dead", help="Every alert that was abandoned.")] = False,
    reason: ReasonOption = "",
) -> None:
    """Send abandoned alerts again; the host, or the sensor without one, does so at its next look."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.error import UserError
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.alerts.outbox import retry

    if bool(alerts) == every:
        raise UserError(
            "give the alerts to send again, or --all-dead" + (", not both" if every else ""),
            "list them with: tidegate alerts list --state dead",
        )
    settings = load_settings()
    with opened_store(settings) as store, store.transaction() as transaction:
        ids = None if every else alerts
        again = retry(transaction, settings.name, ids, datetime.now(UTC), by_hand(reason))
    for alert in again:
        print_line(f"alert {alert.id} is sent to {alert.channel} again")
    if not again:
        typer.echo("No alerts were abandoned.")


def _nothing(*, has_channels: bool, filtered: bool) -> str:
    if filtered:
        return "No such alerts."
    if has_channels:
        return "No alerts."
    return "No alerts, and tidegate.toml has no channels: see `tidegate docs alerts`."


def _state(alert: "Alert") -> str:
    match alert.state:
        case AlertState.PENDING if alert.tries:
            return f"pending, tried {alert.tries} times, again {instant(alert.next_at)}"
        case AlertState.SENT | AlertState.DEAD:
            return f"{alert.state} {instant(alert.ended_at)}"
        case _:
            return str(alert.state)


def _sample(project: str, channel: str, now: datetime) -> "Alert":
    from tidegate.scheduler.model.records.alert import Alert, AlertKind, Message

    message = Message(
        kind=AlertKind.FAILED,
        project=project,
        subject="example/schedule",
        text="this is a test by `tidegate alerts test`; nothing has failed",
        at=now,
        since=now,
    )
    return Alert(
        id=f"test-{now:%Y%m%dT%H%M%S%f}",
        project=project,
        channel=channel,
        kind=message.kind,
        subject=message.subject,
        message=message,
        made_at=now,
        next_at=None,
    )
