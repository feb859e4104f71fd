"""What `tidegate doctor` finds of the channels of alerts: can each send, and how did the last message end."""

import os
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidegate.cli.operate.health.findings import Finding, Health
from tidegate.cli.printing import instant

if TYPE_CHECKING:
    from tidegate.alerts.channel import Channel
    from tidegate.scheduler.model.records.alert import Alert
    from tidegate.scheduler.store.listing_reader import ListingReader

LOOKED_BACK = 100
"""The newest alerts of a channel, among which its last result is looked for."""


def channel_findings(
    channels: "Mapping[str, Channel]", newest: "Mapping[str, tuple[Alert, ...]]"
) -> list[Finding]:
    """Return a finding for each channel.

    Args:
        newest: alerts by channel, the newest first.
    """
    return [_found(name, channel, newest.get(name, ())) for name, channel in channels.items()]


def newest_alerts(
    reader: "ListingReader", project: str, channels: "Mapping[str, Channel]"
) -> "dict[str, tuple[Alert, ...]]":
    """Return the newest alerts of each channel."""
    return {name: reader.alerts(project, channel=name, limit=LOOKED_BACK) for name in channels}


def _found(name: str, channel: "Channel", newest: "tuple[Alert, ...]") -> Finding:
    from tidegate.scheduler.model.records.alert import AlertState

    part = f"channel {name}"
    ended = [each for each in newest if each.ended_at is not None]
    last = max(ended, key=lambda each: (each.ended_at, each.id), default=None)
    if last is not None and last.state is AlertState.DEAD:
        return Finding(
            part=part,
            health=Health.WRONG,
            text=f"its last message was abandoned at {instant(last.ended_at)}: {last.error}",
            remedy=f"`tidegate alerts test {name}`; once it works, `tidegate alerts retry --all-dead`",
        )
    failing = next((each for each in newest if each.state is AlertState.PENDING and each.error), None)
    if failing is not None:
        return Finding(
            part=part,
            health=Health.WRONG,
            text=f"try {failing.tries} of a message has failed: {failing.error}",
            remedy=f"`tidegate alerts test {name}` sends one at once",
        )
    lacking = _lacking(channel)
    if lacking:
        return Finding(part=part, health=Health.NOTE, text=lacking, remedy="it must be there for the host")
    said = "has sent nothing yet" if last is None else f"last message sent at {instant(last.ended_at)}"
    return Finding(part=part, health=Health.OK, text=said)


def _lacking(channel: "Channel") -> str:
    """Return what this process lacks to send to a channel; "" if nothing."""
    from importlib.util import find_spec

    from tidegate.alerts.channel import Apprise, Command, Mail, Webhook
    from tidegate.domain.variables import shown_variable

    match channel:
        case Webhook():
            variables = [channel.url_env, channel.token_env]
        case Apprise():
            if find_spec("apprise") is None:
                return 'the package apprise is not installed here: `pip install "tidegate[apprise]"`'
            variables = [channel.url_env]
        case Mail():
            variables = [channel.password_env]
        case Command():
            found = shutil.which(channel.command[0])
            return "" if found else f"the program {channel.command[0]} is not found here"
    unset = [each for each in variables if each and not os.environ.get(each)]
    return f"the environment variable {shown_variable(unset[0])} is not set here" if unset else ""
