"""The texts of an alert: its title, its lines, and its members for a webhook of JSON or a command.

Names, keys and messages come from users and their data. What is made of them is one line of printable
characters each, so that none becomes a header, a second line or a control code anywhere.
"""

from datetime import UTC
from typing import Any

from tidegate.scheduler.model.records.alert import LOST_ROWS, Alert, AlertKind, Message

TITLE_CHARACTERS = 200
LINE_CHARACTERS = 1_000

_HAPPENED = {
    AlertKind.FAILED: "failed",
    AlertKind.DEAD_LETTER: "could not be launched",
    AlertKind.LATE: "is late",
    AlertKind.BLOCKED_COMMIT: "has a blocked commit",
    AlertKind.RECOVERED: "is well again",
}


def plain(text: str, most: int = LINE_CHARACTERS) -> str:
    """Return a text as one line of printable characters, cut to a length."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return line if len(line) <= most else line[: most - 1] + "…"


def title(message: Message) -> str:
    """Return what happened, in one line."""
    one = message.key and not message.keys
    subject = f"{message.subject}[{message.key}]" if one else message.subject
    if message.kind is AlertKind.BLOCKED_COMMIT and message.text.startswith(LOST_ROWS):
        happened = "has lost rows that a watermark has passed"
    elif message.count == 1 or message.kind is AlertKind.RECOVERED:
        happened = _HAPPENED[message.kind]
    else:
        since = f"{message.since.astimezone(UTC):%Y-%m-%d %H:%MZ}"
        happened = f"{_HAPPENED[message.kind]}, {message.count} times since {since}"
    return plain(f"{subject} {happened}", TITLE_CHARACTERS)


def lines(message: Message) -> list[str]:
    """Return the lines below the title: the error, the facts, and the command that shows more."""
    facts = {
        "error": message.text,
        "keys": _keys(message),
        "reason": message.reason,
        "was": "" if message.recovered_from is None else message.recovered_from.value,
        "job": message.job,
        "run": message.run,
        "owner": message.owner,
        "project": message.project,
        "environment": message.environment,
        "at": f"{message.at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}",
        "more": _command(message),
    }
    return [plain(f"{name}: {value}") for name, value in facts.items() if value]


def links(message: Message) -> list[tuple[str, str]]:
    """Return the pages of the run and of the board, each with its name, where they are known."""
    pages = (("run in Dagster", message.run_url), ("board", message.board_url))
    return [(name, url) for name, url in pages if url]


def body(message: Message) -> list[str]:
    """Return the lines below the title, with the links, as plain text."""
    return [*lines(message), *(plain(f"{name}: {url}") for name, url in links(message))]


def members(alert: Alert) -> dict[str, Any]:
    """Return an alert as builtin values, for JSON."""
    message = alert.message
    return {
        "id": alert.id,
        "kind": message.kind.value,
        "title": title(message),
        "project": message.project,
        "subject": message.subject,
        "environment": message.environment,
        "key": message.key,
        "keys": list(message.keys),
        "more_keys": message.more_keys,
        "job": message.job,
        "run": message.run,
        "run_url": message.run_url,
        "board_url": message.board_url,
        "reason": message.reason,
        "text": plain(message.text),
        "owner": message.owner,
        "count": message.count,
        "since": message.since.isoformat(),
        "at": message.at.isoformat(),
        "recovered_from": None if message.recovered_from is None else message.recovered_from.value,
    }


def _keys(message: Message) -> str:
    more = f", and {message.more_keys} more" if message.more_keys else ""
    return ", ".join(message.keys) + more


def _command(message: Message) -> str:
    if message.kind is AlertKind.BLOCKED_COMMIT:
        lost = message.text.startswith(LOST_ROWS)
        return "tidegate commits fsck" if lost else "tidegate commits list"
    if message.data:
        return f"tidegate late --dataset {message.subject}"
    return f"tidegate why {message.job or message.subject}"
