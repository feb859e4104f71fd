"""`tidegate alerts`: list alerts, send them again, and test a channel."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.printing import ReasonOption, print_line
from tidegate.listings.alerts import ALERTS

if TYPE_CHECKING:
    from tidegate.scheduler.model.records.alert import Alert

app = typer.Typer(no_args_is_help=True, help="List alerts, send them again, and test channels.")


def _parts(given: Given, _: Collection[str]) -> Parts:
    return Parts([Part("", given)], "No such alerts." if given else _nothing())


list_alerts = list_command(ALERTS, _parts, limit=50, missing_is_empty=True)
app.command("list")(list_alerts)


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


def _nothing() -> str:
    from tidegate.project.settings.settings import load_settings

    if load_settings().alerts.channels:
        return "No alerts."
    return "No alerts, and tidegate.toml has no channels: see `tidegate docs alerts`."


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
