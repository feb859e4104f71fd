"""The section `[alerts]`: channels and default routes, as values."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from tidegate.alerts.channel import Alerting, Apprise, Channel, Command, Mail, Webhook
from tidegate.domain.duration import DurationError, parse_duration
from tidegate.domain.model.shared import KINDS
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown
from tidegate.project.settings.language import AlertsSection, SettingsError
from tidegate.scheduler.model.records.alert import AlertRules

CHANNEL_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
ADDRESS = re.compile(r"[!-?A-~]{1,64}@[A-Za-z0-9.\[\]:-]{1,255}")
"""A mail address of printable ASCII, without spaces and a second @."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")

_KINDS: dict[str, type[Channel]] = {
    "webhook": Webhook,
    "mail": Mail,
    "command": Command,
    "apprise": Apprise,
}
_SPELLED = {"sender": "from"}
"""Keys that are not named like their field."""


def alerts_of(
    file: Path, section: AlertsSection, *, environment: str = "", board: str = "", ui: str = ""
) -> Alerting:
    """Return what the settings say of alerts.

    Args:
        environment: the chosen one.
        board, ui: addresses of the board and of Dagster's UI; "" if they are not known.

    Raises:
        SettingsError: a channel, a route or a window is wrong.
    """
    window = _window(f"{file}: alerts.window", section.window)
    windows = {
        name: _window(f"{file}: alerts.channels.{name}.window", given["window"])
        for name, given in section.channels.items()
        if isinstance(given, dict) and "window" in given
    }
    channels = {name: _channel(file, name, given) for name, given in section.channels.items()}
    default = {kind: _route(file, kind, names, channels) for kind, names in section.default.items()}
    rules = AlertRules(
        window=window, windows=windows, default=default, environment=environment, board=board, ui=ui
    )
    return Alerting(rules=rules, channels=channels)


def _window(place: str, text: Any) -> timedelta:
    try:
        return parse_duration(text if isinstance(text, str) else "")
    except DurationError as error:
        raise SettingsError(
            f"{place} must be a duration, got {shown(text)}", 'write for example window = "1h"'
        ) from error


def _route(file: Path, kind: str, names: Any, channels: dict[str, Channel]) -> tuple[str, ...]:
    if kind not in KINDS:
        raise SettingsError(
            f"{file}: alerts.default has no kind {shown(kind)}", did_you_mean(kind, KINDS, "kinds")
        )
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SettingsError(
            f"{file}: alerts.default.{kind} must be a list of channels", f'write for example {kind} = ["ops"]'
        )
    for name in names:
        if name not in channels:
            raise SettingsError(
                f"{file}: alerts.default.{kind} names the unknown channel {shown(name)}",
                f"write [alerts.channels.{name}]" if CHANNEL_NAME.fullmatch(name) else "correct the name",
            )
    return tuple(dict.fromkeys(names))


def _channel(file: Path, name: str, given: Any) -> Channel:
    place = f"{file}: alerts.channels.{name:.100}"
    if not CHANNEL_NAME.fullmatch(name):
        raise SettingsError(f"{place}: a channel's name has lower-case letters, digits and `_`", "rename it")
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind not in _KINDS:
        raise SettingsError(
            f"{place}.kind must be one of {', '.join(_KINDS)}, got {shown(kind)}", 'write kind = "webhook"'
        )
    keys = {_SPELLED.get(field, field): field for field in _KINDS[kind].__struct_fields__}
    for key in given:
        if key not in ("kind", "window") and key not in keys:
            hint = did_you_mean(key, [*keys, "window"], "keys")
            if key in ("password", "token"):
                hint = f"a secret is a reference: write {key}_env and the name of a variable"
            raise SettingsError(f"{place} has no key {shown(key)}", hint)
    renamed = {keys.get(key, key): value for key, value in given.items() if key != "window"}
    try:
        channel = msgspec.convert(renamed, _KINDS[kind])
    except msgspec.ValidationError as error:
        raise SettingsError(f"{place}: {error}", "see docs/alerts.md") from error
    fault = _fault(channel)
    if fault is not None:
        raise SettingsError(f"{place}: {fault[0]}", fault[1])
    return channel


def _fault(channel: Channel) -> tuple[str, str] | None:
    """Return what is wrong with the values of a channel, and the remedy."""
    match channel:
        case Webhook(url=url, url_env=url_env):
            if bool(url) == bool(url_env):
                return "one of url and url_env is needed", 'write url_env = "ALERTS_URL"'
            if url and (not url.startswith(("http://", "https://")) or "@" in url or not url.isprintable()):
                return "url must be an address of http or https without a password", "write it to url_env"
            return _no_variable(url_env) or _no_variable(channel.token_env)
        case Apprise(url_env=url_env):
            return _no_variable(url_env or "-")
        case Mail(sender=sender, to=to, user=user, password_env=password_env):
            wrong = [each for each in (sender, *to) if not ADDRESS.fullmatch(each)]
            if wrong or not to:
                return (
                    f"{shown(next(iter(wrong), ''))} is not a mail address",
                    'write to = ["ops@example.com"]',
                )
            if bool(user) != bool(password_env):
                return "user and password_env belong together", 'write password_env = "SMTP_PASSWORD"'
            if user and channel.tls == "none":
                return "a password is not sent without TLS", 'write tls = "starttls"'
            return _no_variable(password_env)
        case Command(command=command):
            if not command or "{" in command[0]:
                return "command is a program with its arguments", 'write command = ["notify", "{title}"]'
            return None


def _no_variable(name: str) -> tuple[str, str] | None:
    if not name or VARIABLE.fullmatch(name):
        return None
    # What is written in place of a name is most likely the secret itself.
    return "the text of a key in _env is not the name of a variable", "write its name, not its value"
